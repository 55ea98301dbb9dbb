//! The control tables: `sys.faults` arms rules, `sys.counters` shows counts.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::{Shared, Worker};
use crate::{
    catalogue::{Catalogue, literal},
    failure::Failure,
    faults::Rule,
    plan::Plan,
};

/// Which tables they are, and the rules that were there when they were last looked at.
pub(crate) struct Control {
    faults: u32,
    counters: u32,
    followed: Mutex<BTreeMap<String, Rule>>,
}

impl Control {
    pub(super) async fn new(catalogue: &Catalogue) -> Result<Control, Failure> {
        Ok(Control {
            faults: oid(catalogue, "sys.faults").await?,
            counters: oid(catalogue, "sys.counters").await?,
            followed: Mutex::default(),
        })
    }

    fn is_touched(&self, tables: &[u32]) -> bool {
        tables.contains(&self.faults) || tables.contains(&self.counters)
    }
}

async fn oid(catalogue: &Catalogue, table: &str) -> Result<u32, Failure> {
    let text = catalogue.ask(&format!("SELECT {}::regclass::oid", literal(table))).await?;
    text.and_then(|text| text.parse().ok()).ok_or_else(|| Failure::new("XX000", format!("no table {table}")))
}

impl Shared {
    /// Whether a statement is about the simulator itself. No fault strikes it: else one that strikes everything could
    /// not be disarmed.
    pub(crate) fn is_control(&self, plan: &Plan) -> bool {
        self.control.is_touched(&plan.tables)
    }

    /// Writes the counts into the control tables, for whoever is about to read them.
    pub(crate) async fn show_counts(&self) -> Result<(), Failure> {
        let mut sql = String::from("BEGIN; SET LOCAL lock_timeout = 100; DELETE FROM sys.counters;");
        for (name, value) in self.counters.all() {
            sql += &format!("INSERT INTO sys.counters VALUES ({}, {value});", literal(name));
        }
        for report in self.faults.report() {
            let (matched, fired, name) = (report.matched, report.fired, literal(&report.rule.name));
            sql +=
                &format!("UPDATE sys.faults SET matched = {matched}, fired = {fired} WHERE name = {name};");
        }
        sql += "COMMIT";
        if let Err(failure) = self.catalogue.ask(&sql).await {
            tracing::debug!(%failure, "counts could not be shown");
            self.catalogue.ask("ROLLBACK").await?;
        }
        Ok(())
    }

    /// The rules as a transaction that wrote the control table is about to leave them.
    pub(crate) async fn rules_of(
        &self,
        worker: &mut Worker,
        tables: &[u32],
    ) -> Result<Option<Vec<Rule>>, Failure> {
        if !tables.contains(&self.control.faults) {
            return Ok(None);
        }
        let outcome = worker.connection.simple("SELECT rule::text FROM sys.faults").await?.one()?;
        let texts = outcome.text_rows().into_iter().filter_map(|mut row| row.pop().flatten());
        let rules: Result<Vec<Rule>, _> = texts.map(|text| Rule::read(&text)).collect();
        rules.map(Some).map_err(|error| Failure::new("22023", error.to_string()))
    }

    /// Arms what is new or changed in the control table, disarms what is gone from it, leaves the rest as it is: a rule
    /// that was disarmed by other means stays so, although its row is there.
    pub(crate) fn follow(&self, rules: Vec<Rule>) {
        let mut followed = self.control.followed.lock();
        let before = std::mem::take(&mut *followed);
        followed.extend(rules.into_iter().map(|rule| (rule.name.clone(), rule)));
        for gone in before.keys().filter(|name| !followed.contains_key(*name)) {
            self.faults.disarm(gone);
        }
        for (name, rule) in &*followed {
            if before.get(name) != Some(rule) {
                self.faults.arm(rule.clone());
            }
        }
    }
}

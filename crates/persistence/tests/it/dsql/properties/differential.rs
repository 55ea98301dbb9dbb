//! Differential: the same requests in the same order, on PostgreSQL and on DSQL, have the same answers and leave the same
//! rows.

use std::ops::Range;

use leasehold_persistence::Result;
use leasehold_txn::DsqlLevel;
use tokio_postgres::Client;

use crate::fixture::{Dice, Fixture};
use crate::writes::{Prepared, all};

/// A few in a normal run.
const CASES: Range<u64> = 1..41;
/// How many requests a case makes; some of them are of cases before.
const STEPS: u64 = 8;
/// Comparing everything takes longer than a case.
const CASES_BETWEEN_LOOKS: u64 = 10;
/// Requests that are kept to be made later, or again.
const KEPT_MAX: usize = 40;

/// A database, and the requests that are known there.
struct Side {
    fixture: Fixture,
    outside: Client,
    rows: String,
    kept: Vec<(&'static str, Prepared)>,
}

impl Side {
    async fn new(fixture: Fixture) -> Self {
        let outside = fixture.outside().await;
        let rows = statement_of_rows(&outside).await;
        Side { fixture, outside, rows, kept: Vec::new() }
    }

    async fn prepare(&mut self, number: usize, seed: u16) {
        let write = all().nth(number).expect("a number of one");
        let prepared = (write.prepare)(self.fixture.database.clone(), seed).await;
        if self.kept.len() == KEPT_MAX {
            drop(self.kept.remove(0));
        }
        self.kept.push((write.name, prepared));
    }

    async fn make(&self, number: usize) -> Answer {
        let (name, prepared) = &self.kept[number];
        Answer::of(name, &prepared(self.fixture.database.clone()).await)
    }

    async fn rows(&self) -> Vec<String> {
        let rows = self.outside.query(&self.rows, &[]).await.expect("rows");
        let mut rows: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        rows.sort();
        rows
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Answer {
    name: &'static str,
    code: Option<&'static str>,
}

impl Answer {
    fn of(name: &'static str, answer: &Result<()>) -> Self {
        Answer { name, code: answer.as_ref().err().map(leasehold_persistence::Error::code) }
    }
}

/// Every row of every table as text, ids as plain digits whatever their type. Left out are the names of databases; times,
/// which pass; ids of task queues, of which DSQL keeps a digest (the hash beside them is there); and numbers of buffered
/// events, which only order them.
async fn statement_of_rows(outside: &Client) -> String {
    let columns =
        "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns
                   WHERE table_schema = current_schema() AND table_name NOT LIKE 'schema\\_%'
                     AND column_name <> 'task_queue_id'
                     AND (table_name, column_name) <> ('buffered_events', 'id')
                     AND data_type NOT LIKE 'timestamp%' ORDER BY 1, 2";
    let columns = outside.query(columns, &[]).await.expect("columns");
    let mut tables: Vec<(&str, Vec<String>)> = Vec::new();
    for row in &columns {
        let (table, column, kind): (&str, &str, &str) = (row.get(0), row.get(1), row.get(2));
        let value = match kind {
            "bytea" => format!("encode(\"{column}\", 'hex')"),
            "uuid" => format!("replace(\"{column}\"::text, '-', '')"),
            _ => format!("\"{column}\"::text"),
        };
        let value = format!("'{column}=' || coalesce({value}, 'null')");
        match tables.last_mut() {
            Some((last, values)) if *last == table => values.push(value),
            _ => tables.push((table, vec![value])),
        }
    }
    let each = tables.iter().map(|(table, values)| {
        format!("SELECT concat_ws(' ', '{table}', {}) FROM \"{table}\"", values.join(", "))
    });
    each.collect::<Vec<_>>().join(" UNION ALL ")
}

/// `cases` are their seeds; enough of them that some are refused.
pub(crate) async fn same_requests_end_the_same(level: DsqlLevel, cases: Range<u64>) {
    let mut sides = [Side::new(Fixture::postgres().await).await, Side::new(Fixture::dsql(level).await).await];
    let writes = u64::try_from(all().count()).expect("a few");
    let (mut seed, mut failed) = (0, 0);
    for case in cases.clone() {
        let mut dice = Dice(case);
        for step in 0..STEPS {
            let is_new = sides[0].kept.is_empty() || !dice.once_in(3);
            if is_new {
                seed += 1;
                let number = index(dice.roll(writes));
                for side in &mut sides {
                    side.prepare(number, seed).await;
                }
            }
            // Kept for later, when it may be too late.
            if is_new && dice.once_in(4) {
                continue;
            }
            let newest = sides[0].kept.len() - 1;
            let number =
                if is_new { newest } else { index(dice.roll(u64::try_from(newest + 1).expect("few"))) };
            let on_postgres = sides[0].make(number).await;
            let on_dsql = sides[1].make(number).await;
            assert_eq!(on_postgres, on_dsql, "case {case} step {step}: PostgreSQL, DSQL");
            failed += u64::from(on_postgres.code.is_some());
        }
        if case % CASES_BETWEEN_LOOKS == 0 {
            let (on_postgres, on_dsql) = (sides[0].rows().await, sides[1].rows().await);
            let here = |rows: &[String], others: &[String]| -> Vec<String> {
                rows.iter().filter(|row| !others.contains(row)).cloned().collect()
            };
            assert!(
                on_postgres == on_dsql,
                "until case {case} only on PostgreSQL {:#?}, only on DSQL {:#?}, of {} and {}",
                here(&on_postgres, &on_dsql),
                here(&on_dsql, &on_postgres),
                on_postgres.len(),
                on_dsql.len(),
            );
            assert!(!on_postgres.is_empty());
        }
    }
    assert!(
        failed > (cases.end - cases.start) / 2,
        "only {failed} were refused: that is no test of refusals"
    );
}

fn index(rolled: u64) -> usize {
    usize::try_from(rolled).expect("below the number of writes")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn same_requests_end_the_same_as_at_2025_05() {
    same_requests_end_the_same(DsqlLevel::UpdateOnly, CASES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn same_requests_end_the_same_as_at_2026_09() {
    same_requests_end_the_same(DsqlLevel::KeyShare, CASES).await;
}

//! Rates of several forms of the same work, measured in turns: a table of medians and of ratios within a round.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

/// A way to take and give back a lock on PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Every statement a round trip.
    Naive,
    /// Not a lock: one row inserted, twice per pair would be the floor.
    Commits,
    /// Not a lock either: the rows of a pair written and deleted, and nothing looked at.
    Least,
    /// Beside SyncGuard, by the functions.
    Shared,
    /// Beside SyncGuard, statement by statement in one round trip.
    SharedByStatements,
    /// Among ourselves, by the functions.
    Exclusive,
    /// Beside SyncGuard, as many callers as others have connections, fused.
    FusedCallers,
    /// The same among ourselves.
    FusedCallersExclusive,
    /// Many callers in one statement, beside SyncGuard.
    FusedShared,
    /// Many callers in one statement, among ourselves.
    FusedExclusive,
}

impl Form {
    /// Every form, the one that others are compared with first.
    pub const ALL: [Form; 10] = [
        Form::Naive,
        Form::Commits,
        Form::Least,
        Form::Shared,
        Form::SharedByStatements,
        Form::Exclusive,
        Form::FusedCallers,
        Form::FusedCallersExclusive,
        Form::FusedShared,
        Form::FusedExclusive,
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Form::Naive => "13 round trips",
            Form::Commits => "raw commits",
            Form::Least => "least work",
            Form::Shared => "shared",
            Form::SharedByStatements => "shared, no functions",
            Form::Exclusive => "exclusive",
            Form::FusedCallers => "shared, fused",
            Form::FusedCallersExclusive => "exclusive, fused",
            Form::FusedShared => "shared, 128 fused",
            Form::FusedExclusive => "exclusive, 128 fused",
        }
    }
}

/// Rates by form and number of connections, one per round.
#[derive(Clone, Debug)]
pub struct Rates {
    name: &'static str,
    base: &'static str,
    rates: BTreeMap<(usize, Form), Vec<f64>>,
}

impl Rates {
    /// No rates yet; `base` names the form that the others are compared with.
    #[must_use]
    pub const fn new(name: &'static str, base: &'static str) -> Self {
        Self { name, base, rates: BTreeMap::new() }
    }

    /// Adds the rate of a round.
    pub fn add(&mut self, form: Form, connections: usize, rate: f64) {
        self.rates.entry((connections, form)).or_default().push(rate);
    }

    /// The median over rounds of the rate divided by the naive one of the same round.
    #[must_use]
    pub fn ratio(&self, form: Form, connections: usize) -> f64 {
        let of = |form| self.rates.get(&(connections, form)).map_or(&[][..], Vec::as_slice);
        median(&of(form).iter().zip(of(Form::Naive)).map(|(rate, base)| rate / base).collect::<Vec<_>>())
    }

    /// A block of lines for people.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = format!("{}; median (lowest to highest round), times {}\n", self.name, self.base);
        for ((connections, form), rates) in &self.rates {
            let (low, high) = range(rates);
            let ratio = self.ratio(*form, *connections);
            let (name, median) = (form.name(), median(rates));
            writeln!(
                table,
                "  {connections:>2} connections  {name:<22} {median:>9.0}  ({low:.0} to {high:.0})  {ratio:>6.2} x"
            )
            .expect("a string takes everything");
        }
        table
    }

    /// The same for machines.
    #[must_use]
    pub fn json(&self) -> Value {
        let rows = self.rates.iter().map(|((connections, form), rates)| {
            let (min, max) = range(rates);
            json!({
                "connections": connections, "form": form.name(), "median": median(rates),
                "min": min, "max": max, "ratio": self.ratio(*form, *connections),
            })
        });
        rows.collect()
    }
}

/// The middle value; nothing has no middle.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_taken_within_rounds() {
        let mut rates = Rates::new("test", "naive");
        // A machine that gets slower: ratios stay.
        for (naive, shared) in [(100.0, 300.0), (50.0, 150.0), (10.0, 30.0)] {
            rates.add(Form::Naive, 8, naive);
            rates.add(Form::Shared, 8, shared);
        }
        assert!((rates.ratio(Form::Shared, 8) - 3.0).abs() < 1e-9);
    }
}

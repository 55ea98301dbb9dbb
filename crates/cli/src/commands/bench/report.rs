//! The figures at the end.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::figures::{Figures, Operation};
use super::{Bench, Mode};
use crate::table::Table;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    mode: Mode,
    clients: u16,
    batch: u16,
    payload_bytes: usize,
    seconds: f64,
    items: u64,
    items_per_second: f64,
    /// Answers that asked to try again.
    refused: u64,
    operations: BTreeMap<&'static str, Times>,
}

/// Times of answers.
#[derive(Debug, Serialize)]
struct Times {
    answers: u64,
    per_second: f64,
    p50_micros: u64,
    p90_micros: u64,
    p99_micros: u64,
    p999_micros: u64,
    max_micros: u64,
}

impl Report {
    pub(super) fn new(bench: &Bench, figures: &Figures, elapsed: Duration) -> Self {
        let seconds = elapsed.as_secs_f64();
        let measured = Operation::ALL.into_iter().filter(|operation| !figures.of(*operation).is_empty());
        let times = |operation: Operation| {
            let times = figures.of(operation);
            Times {
                answers: times.len(),
                per_second: times.len() as f64 / seconds,
                p50_micros: times.value_at_quantile(0.5),
                p90_micros: times.value_at_quantile(0.9),
                p99_micros: times.value_at_quantile(0.99),
                p999_micros: times.value_at_quantile(0.999),
                max_micros: times.max(),
            }
        };
        Report {
            mode: bench.mode,
            clients: bench.clients,
            batch: bench.batch,
            payload_bytes: bench.payload,
            seconds,
            items: figures.items,
            items_per_second: figures.items as f64 / seconds,
            refused: figures.refused,
            operations: measured.map(|operation| (operation.name(), times(operation))).collect(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table =
            Table::new(&["OPERATION", "ANSWERS", "PER SECOND", "P50", "P90", "P99", "P99.9", "MAX"]);
        let shown = |micros: u64| format!("{:.2?}", Duration::from_micros(micros));
        for operation in Operation::ALL {
            if let Some(times) = self.operations.get(operation.name()) {
                table.row([
                    &operation.name(),
                    &times.answers,
                    &format!("{:.0}", times.per_second),
                    &shown(times.p50_micros),
                    &shown(times.p90_micros),
                    &shown(times.p99_micros),
                    &shown(times.p999_micros),
                    &shown(times.max_micros),
                ]);
            }
        }
        writeln!(out, "{table}")?;
        write!(
            out,
            "{:.0} items/s: {} items of {} bytes in {:.1} s by {} clients, {} a request",
            self.items_per_second, self.items, self.payload_bytes, self.seconds, self.clients, self.batch
        )?;
        if self.refused > 0 {
            write!(out, "; {} requests were asked to try again", self.refused)?;
        }
        Ok(())
    }
}

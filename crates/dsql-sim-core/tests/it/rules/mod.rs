//! The rules: what is refused at which level, what stands next to it and is taken, and what hostile texts do.

mod hostile;
mod linted;
mod refused;
mod taken;
mod transactions;

use leasehold_dsql_sim_core::rules::{Level, Place, Refusal, check, parse};

pub(crate) const OLD: Level = Level::L2025_05;
pub(crate) const NEW: Level = Level::L2026_09;

/// What becomes of a text of one statement, outside a transaction.
pub(crate) fn outcome(sql: &str, level: Level, strict: bool) -> Result<(), Refusal> {
    let parsed = parse(sql)?;
    assert_eq!(parsed.len(), 1, "{sql}");
    check(&parsed[0], level, strict, Place::default())
}

//! The version, in the tables in which Temporal keeps its own.

use leasehold_txn::{Abort, Failure, Policy, Pool, run};

use super::apply::APPLY;
use crate::{Error, Result};

/// The version of Temporal's PostgreSQL schema that these tables are.
pub const VERSION: &str = "1.19";

const RECORD_UPDATE: &str = include_str!("sql/record_update.sql");
const RECORD_VERSION: &str = include_str!("sql/record_version.sql");
/// Both, for a script.
pub(super) const VERSION_SQL: &str =
    concat!(include_str!("sql/record_update.sql"), ";\n\n", include_str!("sql/record_version.sql"));

/// Somebody else recorded a version at the same moment.
struct Recorded;

/// Records the version where none is recorded. Of several who do so at once one does.
pub(super) async fn record(pool: &Pool, policy: &Policy) -> Result<()> {
    let recorded = run(pool, APPLY, policy, |tx| {
        Box::pin(async move {
            tx.execute(RECORD_UPDATE, &[]).await?;
            match tx.execute(RECORD_VERSION, &[]).await? {
                0 => Err(Abort::Condition(Recorded)),
                _ => Ok(()),
            }
        })
    });
    match recorded.await {
        Ok(()) | Err(Failure::Condition(Recorded)) => Ok(()),
        Err(Failure::Transaction(error)) => Err(Error::of(APPLY, error)),
    }
}

/// Whether a recorded version has all that is used here. Numbers are compared, not text: 1.9 is before 1.19.
pub(super) fn is_new_enough(version: &str) -> bool {
    match (numbers(version), numbers(VERSION)) {
        (Some(found), Some(wanted)) => found >= wanted,
        _ => false,
    }
}

fn numbers(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.trim_start_matches('v').split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for version in ["1.19", "v1.19", "1.20", "2.0"] {
            assert!(is_new_enough(version), "{version}");
        }
        for version in ["1.9", "1.18", "0.99", "", "1", "1.x"] {
            assert!(!is_new_enough(version), "{version}");
        }
    }

    #[test]
    fn version_is_the_one_that_is_recorded() {
        for sql in [RECORD_UPDATE, RECORD_VERSION] {
            assert!(sql.contains(&format!("'{VERSION}'")), "{sql}");
        }
    }
}

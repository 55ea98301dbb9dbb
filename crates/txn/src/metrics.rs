//! Counts and times of operations. Every label comes from a closed set.

use std::time::Instant;

use metrics::{Gauge, counter, gauge, histogram};

use crate::{DatabaseError, Error, Operation};

/// One operation under way. Dropping it, by return, panic or cancellation, takes it off the gauge.
pub(crate) struct Observed {
    operation: Operation,
    active: Gauge,
    started: Instant,
}

impl Observed {
    pub(crate) fn start(operation: Operation) -> Self {
        let active = gauge!("dsql_active_transactions", "operation" => operation.name());
        active.increment(1.0);
        Self { operation, active, started: Instant::now() }
    }

    /// An attempt lost to another transaction.
    pub(crate) fn conflict(&self) {
        counter!("dsql_tx_conflicts_total", "operation" => self.operation.name()).increment(1);
    }

    /// The attempt after the `attempt`-th is about to be made.
    pub(crate) fn retry(&self, source: Option<&DatabaseError>, attempt: u32) {
        counter!(
            "dsql_tx_retries_total",
            "operation" => self.operation.name(),
            "sqlstate" => conflict_label(source.and_then(DatabaseError::sqlstate)),
            "attempt" => attempt.to_string(),
        )
        .increment(1);
    }

    /// A body answered that its condition does not hold.
    pub(crate) fn condition_failed(&self) {
        counter!("dsql_condition_failed_total", "operation" => self.operation.name()).increment(1);
    }

    pub(crate) fn failed(&self, error: &Error) {
        let operation = self.operation.name();
        counter!("dsql_errors_total", "operation" => operation, "error_type" => error.code()).increment(1);
        match error {
            Error::UnknownOutcome { .. } => {
                counter!("dsql_unknown_outcome_total", "operation" => operation).increment(1);
            }
            Error::Unsupported { source, .. } => {
                let message = source.server().map_or("", tokio_postgres::error::DbError::message);
                counter!(
                    "dsql_unsupported_feature_total",
                    "operation" => operation,
                    "feature" => feature(message),
                )
                .increment(1);
            }
            _ => {}
        }
    }

    /// The operation ended, well or not, after this many attempts.
    pub(crate) fn finished(&self, attempts: u32) {
        let operation = self.operation.name();
        histogram!("dsql_retry_attempts_histogram", "operation" => operation).record(f64::from(attempts));
        histogram!("dsql_operation_duration_seconds", "operation" => operation)
            .record(self.started.elapsed().as_secs_f64());
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.active.decrement(1.0);
    }
}

/// The codes a retry can have; the label must not follow whatever a server invents.
fn conflict_label(sqlstate: Option<&str>) -> &'static str {
    match sqlstate {
        Some("40001") => "40001",
        Some("40P01") => "40P01",
        Some("0A000") => "0A000",
        Some("OC000") => "OC000",
        Some("OC001") => "OC001",
        _ => "other",
    }
}

/// The feature that a refusal is about, from the words of the server's message.
fn feature(message: &str) -> &'static str {
    const FEATURES: [(&str, &str); 12] = [
        ("locking clause", "locking_clause"),
        ("for update", "locking_clause"),
        ("savepoint", "savepoint"),
        ("advisory", "advisory_lock"),
        ("isolation level", "isolation_level"),
        ("set transaction", "set_transaction"),
        ("ddl", "ddl_in_transaction"),
        ("truncate", "truncate"),
        ("in a key", "key_type"),
        ("index", "index"),
        ("function", "function"),
        ("datatype", "datatype"),
    ];
    let message = message.to_ascii_lowercase();
    FEATURES.iter().find(|(words, _)| message.contains(words)).map_or("other", |(_, feature)| feature)
}

#[cfg(test)]
mod tests {
    use super::{conflict_label, feature};

    #[test]
    fn features_come_from_a_closed_set() {
        for (message, expected) in [
            ("locking clauses other than FOR UPDATE/FOR KEY SHARE are not supported", "locking_clause"),
            ("unsupported transaction statement: SAVEPOINT", "savepoint"),
            ("function pg_advisory_lock not supported", "advisory_lock"),
            ("Unsupported isolation level", "isolation_level"),
            ("multiple ddl statements not supported in a transaction", "ddl_in_transaction"),
            ("datatype bytea is not supported in a key", "key_type"),
            ("something about row 4711", "other"),
        ] {
            assert_eq!(feature(message), expected, "{message}");
        }
    }

    #[test]
    fn unknown_states_share_one_label() {
        assert_eq!(conflict_label(Some("40001")), "40001");
        assert_eq!(conflict_label(Some("99999")), "other");
        assert_eq!(conflict_label(None), "other");
    }
}

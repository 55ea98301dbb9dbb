//! What a failure means: decided once, on the driver's own error, in a fixed order.

use crate::{DatabaseError, Dialect, Error, Operation};

/// Where in its life the transaction was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before `COMMIT` was sent: the server rolls back whatever happens.
    Body,
    /// `COMMIT`, or a lone writing statement, was sent.
    Commit,
}

/// What a failure means for the caller and the retry loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Conflict,
    Unsupported,
    LimitExceeded,
    UnknownOutcome,
    ConnectionLost,
    Permanent,
}

/// The parts of a driver error that decide.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence<'a> {
    sqlstate: Option<&'a str>,
    disconnect: bool,
    stale_plan: bool,
}

/// A failed attempt: what happened and what it means.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) meaning: Meaning,
    pub(crate) source: Option<DatabaseError>,
}

impl Failed {
    pub(crate) fn new(source: DatabaseError, phase: Phase, dialect: Dialect) -> Self {
        let evidence = Evidence {
            sqlstate: source.sqlstate(),
            disconnect: source.is_disconnect(),
            stale_plan: source.is_stale_plan(),
        };
        Self { meaning: meaning(evidence, phase, dialect), source: Some(source) }
    }

    /// The connection was found dead before `COMMIT` was sent.
    pub(crate) const fn connection_lost() -> Self {
        Self { meaning: Meaning::ConnectionLost, source: None }
    }

    pub(crate) fn into_error(self, operation: Operation, attempts: u32) -> Error {
        match (self.meaning, self.source) {
            (Meaning::UnknownOutcome, source) => Error::UnknownOutcome { operation, source },
            (Meaning::ConnectionLost, source) | (_, source @ None) => {
                Error::ConnectionLost { operation, source }
            }
            (Meaning::Conflict, Some(source)) => Error::ConflictExhausted { operation, attempts, source },
            (Meaning::Unsupported, Some(source)) => Error::Unsupported { operation, source },
            (Meaning::LimitExceeded, Some(source)) => Error::LimitExceeded { operation, source },
            (Meaning::Permanent, Some(source)) => Error::Database { operation, source },
        }
    }
}

/// First match wins. A conflict at `COMMIT` must be seen before the question whether the outcome is known: the
/// server that reports it has rolled back.
fn meaning(evidence: Evidence<'_>, phase: Phase, dialect: Dialect) -> Meaning {
    let sqlstate = evidence.sqlstate.unwrap_or_default();
    if dialect.is_conflict(sqlstate) || (evidence.stale_plan && dialect.retries_conflicts()) {
        return Meaning::Conflict;
    }
    match sqlstate {
        "0A000" if !evidence.stale_plan => return Meaning::Unsupported,
        "54000" | "54001" | "54011" | "53200" => return Meaning::LimitExceeded,
        _ => {}
    }
    match phase {
        Phase::Commit if !proves_rollback(evidence) => Meaning::UnknownOutcome,
        Phase::Commit => Meaning::Permanent,
        Phase::Body if evidence.disconnect || is_connection_state(sqlstate) => Meaning::ConnectionLost,
        Phase::Body => Meaning::Permanent,
    }
}

/// Whether an error in place of the answer to `COMMIT` shows that nothing was committed. `40003` says in so many
/// words that the completion is unknown, and an internal or system error may strike after the commit record.
fn proves_rollback(evidence: Evidence<'_>) -> bool {
    match evidence.sqlstate {
        None => false,
        Some(_) if evidence.disconnect => false,
        Some("40003") => false,
        Some(sqlstate) => !is_connection_state(sqlstate) && !matches!(sqlstate.get(..2), Some("XX" | "58")),
    }
}

fn is_connection_state(sqlstate: &str) -> bool {
    sqlstate.starts_with("08") || sqlstate.starts_with("57P0")
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Meaning, Phase, meaning};
    use crate::{Dialect, Isolation};

    const RETRYING: Dialect =
        Dialect::Postgres { isolation: Isolation::RepeatableRead, retry_conflicts: true };

    fn answered(sqlstate: &str) -> Evidence<'_> {
        Evidence { sqlstate: Some(sqlstate), ..Evidence::default() }
    }

    const DISCONNECT: Evidence<'_> = Evidence { sqlstate: None, disconnect: true, stale_plan: false };

    #[test]
    fn each_state_has_its_meaning_in_each_phase() {
        use Meaning::{ConnectionLost, LimitExceeded, Permanent, UnknownOutcome, Unsupported};
        for (sqlstate, body, commit) in [
            ("0A000", Unsupported, Unsupported),
            ("54000", LimitExceeded, LimitExceeded),
            ("54001", LimitExceeded, LimitExceeded),
            ("54011", LimitExceeded, LimitExceeded),
            ("53200", LimitExceeded, LimitExceeded),
            ("08006", ConnectionLost, UnknownOutcome),
            ("57P01", ConnectionLost, UnknownOutcome),
            ("57P02", ConnectionLost, UnknownOutcome),
            ("XX000", Permanent, UnknownOutcome),
            ("58030", Permanent, UnknownOutcome),
            ("40003", Permanent, UnknownOutcome),
            ("23505", Permanent, Permanent),
            ("25P02", Permanent, Permanent),
            ("57014", Permanent, Permanent),
            ("42P01", Permanent, Permanent),
        ] {
            for dialect in [Dialect::POSTGRES, RETRYING, Dialect::DSQL] {
                assert_eq!(meaning(answered(sqlstate), Phase::Body, dialect), body, "{sqlstate} in the body");
                assert_eq!(
                    meaning(answered(sqlstate), Phase::Commit, dialect),
                    commit,
                    "{sqlstate} at commit"
                );
            }
        }
    }

    #[test]
    fn serialization_failure_is_a_conflict_at_any_point_where_the_dialect_retries() {
        for phase in [Phase::Body, Phase::Commit] {
            assert_eq!(meaning(answered("40001"), phase, RETRYING), Meaning::Conflict);
            assert_eq!(meaning(answered("40001"), phase, Dialect::DSQL), Meaning::Conflict);
            assert_eq!(meaning(answered("40001"), phase, Dialect::POSTGRES), Meaning::Permanent);
        }
    }

    #[test]
    fn deadlock_is_a_conflict_only_on_postgres() {
        assert_eq!(meaning(answered("40P01"), Phase::Body, RETRYING), Meaning::Conflict);
        assert_eq!(meaning(answered("40P01"), Phase::Body, Dialect::DSQL), Meaning::Permanent);
    }

    #[test]
    fn silence_means_not_knowing_only_after_commit_was_sent() {
        assert_eq!(meaning(DISCONNECT, Phase::Body, Dialect::POSTGRES), Meaning::ConnectionLost);
        assert_eq!(meaning(DISCONNECT, Phase::Commit, Dialect::POSTGRES), Meaning::UnknownOutcome);
    }

    #[test]
    fn an_error_the_server_did_not_send_proves_nothing_about_a_commit() {
        assert_eq!(meaning(Evidence::default(), Phase::Commit, Dialect::DSQL), Meaning::UnknownOutcome);
        assert_eq!(meaning(Evidence::default(), Phase::Body, Dialect::DSQL), Meaning::Permanent);
    }

    #[test]
    fn a_fatal_answer_to_commit_leaves_the_outcome_open() {
        let fatal = Evidence { sqlstate: Some("23505"), disconnect: true, stale_plan: false };
        assert_eq!(meaning(fatal, Phase::Commit, Dialect::POSTGRES), Meaning::UnknownOutcome);
    }

    #[test]
    fn a_stale_plan_is_a_conflict_with_a_schema_change_and_never_a_missing_feature() {
        let stale = Evidence { sqlstate: Some("0A000"), disconnect: false, stale_plan: true };
        assert_eq!(meaning(stale, Phase::Body, RETRYING), Meaning::Conflict);
        assert_eq!(meaning(stale, Phase::Body, Dialect::POSTGRES), Meaning::Permanent);
    }
}

//! Where PostgreSQL and Aurora DSQL differ in how a transaction begins and which conflicts may be retried.

/// The database behind a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// PostgreSQL: locks wait, so a conflict is the exception.
    Postgres {
        /// Sent with every `BEGIN`, whatever the session's default is.
        isolation: Isolation,
        /// Re-run bodies that ended in a serialization failure (`40001`) or a deadlock (`40P01`).
        retry_conflicts: bool,
    },
    /// Aurora DSQL: nothing waits, the later commit fails, so conflicts are always retried.
    Dsql {
        /// What the cluster can lock.
        level: DsqlLevel,
    },
}

/// The isolation levels the stores are proven under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// Each statement sees what was committed before it.
    ReadCommitted,
    /// The transaction sees one snapshot; a write that raced with another fails with `40001`.
    RepeatableRead,
}

/// What a DSQL cluster can lock: it gained `FOR KEY SHARE` on 2026-08-25.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DsqlLevel {
    /// `FOR UPDATE` only.
    UpdateOnly,
    /// `FOR UPDATE` and `FOR KEY SHARE`.
    KeyShare,
}

impl Dialect {
    /// PostgreSQL at READ COMMITTED, conflicts reported and not retried.
    pub const POSTGRES: Self = Self::Postgres { isolation: Isolation::ReadCommitted, retry_conflicts: false };

    /// DSQL at the level every cluster has.
    pub const DSQL: Self = Self::Dsql { level: DsqlLevel::UpdateOnly };

    /// The statement that starts a transaction.
    ///
    /// DSQL has one level and refuses `SET TRANSACTION`; naming that one level is allowed, and keeps a
    /// PostgreSQL that stands in for DSQL at snapshot isolation.
    #[must_use]
    pub const fn begin(self) -> &'static str {
        match self {
            Self::Postgres { isolation: Isolation::ReadCommitted, .. } => {
                "BEGIN ISOLATION LEVEL READ COMMITTED"
            }
            Self::Postgres { isolation: Isolation::RepeatableRead, .. } | Self::Dsql { .. } => {
                "BEGIN ISOLATION LEVEL REPEATABLE READ"
            }
        }
    }

    /// What a new connection is told before its first use: a lone statement has no `BEGIN` to carry the level.
    pub(crate) const fn session_setup(self) -> Option<&'static str> {
        match self {
            Self::Postgres { isolation: Isolation::ReadCommitted, .. } => {
                Some("SET default_transaction_isolation = 'read committed'")
            }
            Self::Postgres { isolation: Isolation::RepeatableRead, .. } => {
                Some("SET default_transaction_isolation = 'repeatable read'")
            }
            Self::Dsql { .. } => None,
        }
    }

    /// Whether this SQLSTATE means "nothing happened, run it again". Some versions of DSQL were seen to report
    /// their own codes in place of `40001`.
    pub(crate) fn is_conflict(self, sqlstate: &str) -> bool {
        match self {
            Self::Postgres { retry_conflicts, .. } => {
                retry_conflicts && matches!(sqlstate, "40001" | "40P01")
            }
            Self::Dsql { .. } => matches!(sqlstate, "40001" | "OC000" | "OC001"),
        }
    }

    pub(crate) const fn retries_conflicts(self) -> bool {
        match self {
            Self::Postgres { retry_conflicts, .. } => retry_conflicts,
            Self::Dsql { .. } => true,
        }
    }

    /// DSQL ignores cancel requests; asking would only cost one of its scarce new connections.
    pub(crate) const fn cancels(self) -> bool {
        matches!(self, Self::Postgres { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, DsqlLevel, Isolation};

    const ALL: [Dialect; 4] = [
        Dialect::POSTGRES,
        Dialect::Postgres { isolation: Isolation::RepeatableRead, retry_conflicts: true },
        Dialect::DSQL,
        Dialect::Dsql { level: DsqlLevel::KeyShare },
    ];

    #[test]
    fn every_begin_names_its_isolation() {
        for dialect in ALL {
            assert!(dialect.begin().starts_with("BEGIN ISOLATION LEVEL "), "{dialect:?}");
        }
    }

    #[test]
    fn dsql_names_no_level_but_its_own_and_sets_nothing() {
        for level in [DsqlLevel::UpdateOnly, DsqlLevel::KeyShare] {
            let dialect = Dialect::Dsql { level };
            assert_eq!(dialect.begin(), "BEGIN ISOLATION LEVEL REPEATABLE READ");
            assert_eq!(dialect.session_setup(), None);
        }
    }

    #[test]
    fn postgres_retries_only_when_told() {
        let told = Dialect::Postgres { isolation: Isolation::ReadCommitted, retry_conflicts: true };
        for sqlstate in ["40001", "40P01"] {
            assert!(told.is_conflict(sqlstate));
            assert!(!Dialect::POSTGRES.is_conflict(sqlstate));
        }
        assert!(!told.is_conflict("23505"));
    }

    #[test]
    fn dsql_knows_its_own_codes_but_no_deadlock() {
        for sqlstate in ["40001", "OC000", "OC001"] {
            assert!(Dialect::DSQL.is_conflict(sqlstate));
        }
        assert!(!Dialect::DSQL.is_conflict("40P01"));
    }
}

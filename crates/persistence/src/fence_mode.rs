//! How a write makes sure that its shard still has the same owner when it commits.

use leasehold_txn::{Dialect, DsqlLevel};

/// The lock that a writing transaction takes on the row of its shard. A database has one for all its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FenceMode {
    /// `FOR SHARE`: conflicts with every change of the row. PostgreSQL alone has it.
    Share,
    /// `FOR KEY SHARE`: conflicts with a change of the range, which locks the row `FOR UPDATE` first, and with nothing else.
    KeyShare,
    /// `FOR UPDATE`: conflicts with every write of the row and with every other write under it, so that the owner must
    /// send one at a time.
    Update,
    /// A plain read. It stops nobody, and loses tasks: in builds with the feature `unfenced`, to show and to measure that.
    #[cfg(feature = "unfenced")]
    Unfenced,
}

impl FenceMode {
    /// The name, as in logs and configurations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Share => "share",
            Self::KeyShare => "key-share",
            Self::Update => "update",
            #[cfg(feature = "unfenced")]
            Self::Unfenced => "unfenced",
        }
    }

    /// What a database of this dialect fences with unless told.
    pub(crate) const fn preferred(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Postgres { .. } => Self::Share,
            Dialect::Dsql { level: DsqlLevel::KeyShare } => Self::KeyShare,
            Dialect::Dsql { level: DsqlLevel::UpdateOnly } => Self::Update,
        }
    }

    /// Whether a database of this dialect has the lock.
    pub(crate) const fn is_known_to(self, dialect: Dialect) -> bool {
        !matches!(
            (self, dialect),
            (Self::Share, Dialect::Dsql { .. })
                | (Self::KeyShare, Dialect::Dsql { level: DsqlLevel::UpdateOnly })
        )
    }
}

impl std::fmt::Display for FenceMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferred_mode_is_known_to_its_dialect() {
        for dialect in [Dialect::POSTGRES, Dialect::DSQL, Dialect::Dsql { level: DsqlLevel::KeyShare }] {
            assert!(FenceMode::preferred(dialect).is_known_to(dialect), "{dialect:?}");
            assert!(FenceMode::Update.is_known_to(dialect), "{dialect:?}");
        }
        assert!(!FenceMode::Share.is_known_to(Dialect::DSQL));
        assert!(!FenceMode::KeyShare.is_known_to(Dialect::DSQL));
    }
}

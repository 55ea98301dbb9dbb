//! The words of PostgreSQL: table names, keys it cannot hold.

use crate::{Error, Key, Result};

/// Names of the two tables locks are kept in. Plain lower-case identifiers: SyncGuard creates its tables with
/// unquoted names and uses them quoted, so only names that folding leaves alone mean one table to both.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableNames {
    locks: String,
    fences: String,
}

impl TableNames {
    /// The lock table SyncGuard uses unless told otherwise.
    pub const DEFAULT_LOCKS: &str = "syncguard_locks";
    /// The fence counter table SyncGuard uses unless told otherwise.
    pub const DEFAULT_FENCES: &str = "syncguard_fence_counters";
    /// Bytes a name may have: PostgreSQL cuts identifiers at 63, and index names add 12 to the table's.
    pub const LEN_MAX: usize = 50;

    /// Checks configured names. An empty one means the default, as with SyncGuard.
    pub fn parse(locks: &str, fences: &str) -> Result<Self> {
        let locks = if locks.is_empty() { Self::DEFAULT_LOCKS } else { locks };
        let fences = if fences.is_empty() { Self::DEFAULT_FENCES } else { fences };
        if locks == fences {
            return Err(Error::TableNamesEqual);
        }
        Ok(Self { locks: table("table_name", locks)?, fences: table("fence_table_name", fences)? })
    }

    /// The table of locks.
    pub fn locks(&self) -> &str {
        &self.locks
    }

    /// The table of fence counters.
    pub fn fences(&self) -> &str {
        &self.fences
    }
}

impl Default for TableNames {
    fn default() -> Self {
        Self { locks: Self::DEFAULT_LOCKS.into(), fences: Self::DEFAULT_FENCES.into() }
    }
}

fn table(field: &'static str, name: &str) -> Result<String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !name.bytes().all(plain) || name.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(Error::TableNameMalformed { field });
    }
    if name.len() > TableNames::LEN_MAX {
        return Err(Error::TableNameTooLong { field, len: name.len(), limit: TableNames::LEN_MAX });
    }
    Ok(name.into())
}

/// Whether a key may be used on PostgreSQL, whose text type cannot hold NUL.
pub fn admit(key: &Key) -> Result<()> {
    if key.as_str().contains('\0') { Err(Error::KeyNul) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_names_the_option() {
        assert_eq!(TableNames::parse("Locks", "").unwrap_err().field(), "table_name");
        assert_eq!(TableNames::parse("", "1f").unwrap_err().field(), "fence_table_name");
        assert_eq!(
            TableNames::parse("", &"f".repeat(51)),
            Err(Error::TableNameTooLong { field: "fence_table_name", len: 51, limit: 50 })
        );
        assert_eq!(TableNames::parse(&"l".repeat(50), "").unwrap().locks().len(), 50);
    }

    #[test]
    fn key_with_nul_is_refused() {
        assert_eq!(admit(&Key::parse("a\0b").unwrap()), Err(Error::KeyNul));
        assert_eq!(admit(&Key::parse("a b").unwrap()), Ok(()));
    }
}

//! The configuration file: YAML with kebab-case keys. What it does not say stays at its default; what it says and
//! nobody knows is refused.

use std::fs;
use std::path::Path;

use leasehold_core::firestore::Collections;
use leasehold_core::postgres::TableNames;
use leasehold_core::redis::KeyPrefix;
use leasehold_locks::backend::BackendOptions;
use serde::Deserialize;

use crate::{Error, LocksConfig, Result};

/// Bytes a configuration file may have.
const FILE_BYTES_MAX: u64 = 1_000_000;

/// What a file says. Flags and the environment are over it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigFile {
    /// `HOST:PORT`.
    pub address: Option<String>,
    /// A folder or a URL.
    pub store: Option<String>,
    #[serde(default)]
    locks: Option<Locks>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Locks {
    backend: Option<String>,
    table_name: Option<String>,
    fence_table_name: Option<String>,
    key_prefix: Option<String>,
    collection: Option<String>,
    fence_collection: Option<String>,
    cleanup_in_is_locked: bool,
}

impl ConfigFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let unreadable = |source| Error::ConfigUnreadable { path: path.to_owned(), source };
        if fs::metadata(path).map_err(unreadable)?.len() > FILE_BYTES_MAX {
            return Err(Error::ConfigTooLong { path: path.to_owned(), limit: FILE_BYTES_MAX });
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        ConfigFile::parse(&text).map_err(|reason| Error::ConfigMalformed { path: path.to_owned(), reason })
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(ConfigFile::default());
        }
        // Its first line says where and what; the lines of the file that follow may hold a password.
        let first_line =
            |error: serde_saphyr::Error| error.to_string().lines().next().unwrap_or_default().to_owned();
        serde_saphyr::from_str(text).map_err(first_line)
    }

    /// How locks are kept, if the file says anything about it.
    pub fn locks(&self) -> Result<LocksConfig> {
        let Some(locks) = &self.locks else { return Ok(LocksConfig::default()) };
        let backend = locks.backend.as_deref().map(str::parse).transpose()?;
        let invalid = leasehold_locks::Error::from;
        let or = |value: &Option<String>, default: &str| value.clone().unwrap_or_else(|| default.to_owned());
        let tables = TableNames::parse(
            &or(&locks.table_name, TableNames::DEFAULT_LOCKS),
            &or(&locks.fence_table_name, TableNames::DEFAULT_FENCES),
        );
        let collections = Collections::parse(
            &or(&locks.collection, Collections::DEFAULT_LOCKS),
            &or(&locks.fence_collection, Collections::DEFAULT_FENCES),
        );
        let options = BackendOptions {
            tables: tables.map_err(invalid)?,
            key_prefix: KeyPrefix::parse(&or(&locks.key_prefix, KeyPrefix::DEFAULT)).map_err(invalid)?,
            collections: collections.map_err(invalid)?,
            cleanup_in_is_locked: locks.cleanup_in_is_locked,
        };
        Ok(LocksConfig { backend, options })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locks(text: &str) -> Result<LocksConfig> {
        ConfigFile::parse(text).expect("is a configuration").locks()
    }

    #[test]
    fn everything_said_about_locks_arrives() {
        let config = locks(
            "address: 0.0.0.0:1\nstore: \"memory:\"\nlocks:\n  backend: redis://127.0.0.1\n  table-name: l\n  \
             fence-table-name: f\n  key-prefix: app\n  collection: c\n  fence-collection: d\n  cleanup-in-is-locked: true\n",
        );
        let LocksConfig { backend, options } = config.expect("is valid");
        assert!(backend.is_some());
        assert_eq!((options.tables.locks(), options.tables.fences()), ("l", "f"));
        assert_eq!(options.key_prefix.as_str(), "app");
        assert_eq!((options.collections.locks(), options.collections.fences()), ("c", "d"));
        assert!(options.cleanup_in_is_locked);
    }

    #[test]
    fn nothing_said_is_the_default() {
        for text in ["", "address: 127.0.0.1:1\n", "locks: {}\n"] {
            let LocksConfig { backend, options } = locks(text).expect("is valid");
            assert!(backend.is_none());
            assert_eq!(options.tables.locks(), TableNames::DEFAULT_LOCKS);
        }
    }

    #[test]
    fn unknown_and_mistyped_keys_are_refused_by_name() {
        for (text, named) in [
            ("adress: x\n", "adress"),
            ("locks:\n  table_name: x\n", "table_name"),
            ("locks:\n  cleanup-in-is-locked: maybe\n", "boolean"),
            ("- a\n", ""),
        ] {
            let reason = ConfigFile::parse(text).expect_err(text);
            assert!(reason.contains(named), "{text}: {reason}");
        }
    }

    #[test]
    fn refusal_does_not_repeat_the_lines_around_it() {
        let text = "store: postgres://u:hunter2@h/d\nlocks:\n  backend: redis://u:hunter2@h\nnonsense: 1\n";
        let reason = ConfigFile::parse(text).expect_err("nonsense");
        assert!(reason.contains("nonsense") && !reason.contains("hunter2"), "{reason}");
    }

    #[test]
    fn values_that_no_backend_takes_are_refused() {
        for (text, code) in [
            ("locks:\n  table-name: \"a; DROP\"\n", "table_name.malformed"),
            ("locks:\n  table-name: x\n  fence-table-name: x\n", "table_name.not_distinct"),
            ("locks:\n  key-prefix: my-fence\n", "key_prefix.reserved"),
            ("locks:\n  collection: a/b\n", "collection.malformed"),
            ("locks:\n  backend: mysql://h\n", "lock.bad_config"),
        ] {
            assert_eq!(locks(text).expect_err(text).code(), code, "{text}");
        }
    }
}

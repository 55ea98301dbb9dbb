use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use leasehold_txn::ConnectionString;

use crate::{Error, Result};

/// What holds the data, as the user names it: a folder, or a URL that picks another store.
#[derive(Clone)]
pub enum StoreLocation {
    /// `memory:`: gone with the process.
    Memory,
    /// A folder for the embedded store.
    Folder(PathBuf),
    /// `postgres://…` or `postgresql://…`.
    Postgres(Box<ConnectionString>),
    /// `dsql://…`: Aurora DSQL.
    Dsql(Box<ConnectionString>),
}

impl StoreLocation {
    /// Whether both surely name one place. No memory is another's.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Folder(one), Self::Folder(other)) => one == other,
            (Self::Postgres(one), Self::Postgres(other)) | (Self::Dsql(one), Self::Dsql(other)) => {
                one == other
            }
            _ => false,
        }
    }
}

impl FromStr for StoreLocation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::StoreEmpty);
        }
        let Some((scheme, rest)) = text.split_once(':') else {
            return Ok(StoreLocation::Folder(text.into()));
        };
        match scheme {
            "memory" if rest.is_empty() => Ok(StoreLocation::Memory),
            "memory" => Err(Error::StoreMemorySuffix),
            "dsql" => Ok(StoreLocation::Dsql(Box::new(text.parse()?))),
            "postgres" | "postgresql" => Ok(StoreLocation::Postgres(Box::new(text.parse()?))),
            scheme if looks_like_url(scheme, rest) => Err(Error::StoreScheme { scheme: scheme.to_owned() }),
            _ => Ok(StoreLocation::Folder(text.into())),
        }
    }
}

/// A folder may hold a colon (`C:\data`, `a:b`); only `scheme://` is read as a URL.
fn looks_like_url(scheme: &str, rest: &str) -> bool {
    let letters = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    letters && rest.starts_with("//")
}

/// For logs and messages: never a password.
impl fmt::Display for StoreLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreLocation::Memory => out.write_str("memory:"),
            StoreLocation::Folder(path) => path.display().fmt(out),
            StoreLocation::Postgres(connection) | StoreLocation::Dsql(connection) => connection.fmt(out),
        }
    }
}

impl fmt::Debug for StoreLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> StoreLocation {
        text.parse().expect("is a location")
    }

    #[test]
    fn paths_are_folders_even_with_a_colon() {
        for path in ["./leasehold-data", "/var/lib/leasehold", "a:b", "data"] {
            assert!(matches!(parsed(path), StoreLocation::Folder(found) if found.as_os_str() == path));
        }
    }

    #[test]
    fn urls_pick_a_store() {
        assert!(matches!(parsed("memory:"), StoreLocation::Memory));
        assert!(matches!(parsed("postgres://db/app"), StoreLocation::Postgres(_)));
        assert!(matches!(parsed("postgresql://db/app"), StoreLocation::Postgres(_)));
        assert!(matches!(parsed("dsql://abc.dsql.us-east-1.on.aws"), StoreLocation::Dsql(_)));
    }

    #[test]
    fn unknown_scheme_is_named_and_never_becomes_a_folder() {
        let refused =
            "mysql://root:hunter2@db/app".parse::<StoreLocation>().expect_err("not a store of ours");
        assert_eq!(refused.code(), "server.store_scheme");
        assert!(refused.to_string().contains("mysql"), "{refused}");
        assert!(!format!("{refused:?} {refused}").contains("hunter2"), "{refused:?}");
    }

    #[test]
    fn empty_and_half_urls_are_refused() {
        assert_eq!("".parse::<StoreLocation>().expect_err("empty").code(), "server.store_empty");
        assert_eq!(
            "memory:x".parse::<StoreLocation>().expect_err("suffix").code(),
            "server.store_memory_suffix"
        );
    }

    #[test]
    fn password_is_not_shown() {
        let location = parsed("postgres://app:hunter2@db:5433/orders");
        let shown = format!("{location} {location:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("orders"), "{shown}");
    }
}

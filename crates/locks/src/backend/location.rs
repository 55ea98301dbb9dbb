//! A backend by its URL, as configuration files and command lines name it.

use std::fmt;
#[cfg(feature = "embedded")]
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use super::LockBackend;
use super::memory::MemoryBackend;
use crate::{Error, Result};

/// Where locks are kept. Parsing connects to nothing.
#[derive(Clone)]
pub enum BackendLocation {
    /// `memory:`: gone with the process.
    Memory,
    /// The folder of an embedded store.
    #[cfg(feature = "embedded")]
    Folder(PathBuf),
    /// `postgres://…` or `postgresql://…`.
    #[cfg(feature = "postgres")]
    Postgres(Box<leasehold_txn::ConnectionString>),
    /// `dsql://…`.
    #[cfg(feature = "dsql")]
    Dsql(Box<leasehold_txn::ConnectionString>),
    /// `firestore://PROJECT` or `firestore://PROJECT/DATABASE`; the emulator where `FIRESTORE_EMULATOR_HOST` is set.
    #[cfg(feature = "firestore")]
    Firestore(Box<super::firestore::Config>),
    /// `redis://…`, `rediss://…`, `redis-cluster://…` or `rediss-cluster://…`.
    #[cfg(feature = "redis")]
    Redis(Box<super::redis::RedisConfig>),
}

/// How locks are kept there: SyncGuard's names unless others are given.
#[derive(Debug, Clone, Default)]
pub struct BackendOptions {
    /// The tables, on PostgreSQL and DSQL.
    pub tables: leasehold_core::postgres::TableNames,
    /// What every Redis key begins with.
    pub key_prefix: leasehold_core::redis::KeyPrefix,
    /// The collections, on Firestore.
    pub collections: leasehold_core::firestore::Collections,
    /// Whether asking if a key is locked also removes a hold that is long over.
    pub cleanup_in_is_locked: bool,
    /// Whether a folder without an embedded store is refused instead of getting a new one.
    pub must_exist: bool,
}

impl BackendLocation {
    /// Opens the backend with its default settings.
    pub async fn open(&self) -> Result<Arc<dyn LockBackend>> {
        self.open_with(&BackendOptions::default()).await
    }

    /// Opens the backend. Databases are reached when they are first used.
    #[cfg_attr(
        not(any(feature = "embedded", feature = "postgres", feature = "redis", feature = "firestore")),
        allow(unused_variables, reason = "memory has no options")
    )]
    pub async fn open_with(&self, options: &BackendOptions) -> Result<Arc<dyn LockBackend>> {
        match self {
            BackendLocation::Memory => Ok(Arc::new(MemoryBackend::default())),
            #[cfg(feature = "embedded")]
            BackendLocation::Folder(folder) => open_folder(folder.clone(), options.must_exist).await,
            #[cfg(feature = "postgres")]
            BackendLocation::Postgres(connection) => {
                use super::postgres::{Config, FusedBackend, FusedConfig, PostgresBackend};
                let config = Config::of(options);
                let backend = PostgresBackend::connect_to((**connection).clone(), config)?;
                Ok(Arc::new(FusedBackend::new(Arc::new(backend), FusedConfig::default())))
            }
            #[cfg(feature = "dsql")]
            BackendLocation::Dsql(connection) => {
                let config = super::dsql::Config::of(options);
                Ok(Arc::new(super::dsql::DsqlBackend::connect_to((**connection).clone(), config)?))
            }
            #[cfg(feature = "firestore")]
            BackendLocation::Firestore(config) => {
                let config = (**config).clone().collections(options.collections.clone());
                let config = config.cleanup_in_is_locked(options.cleanup_in_is_locked);
                Ok(Arc::new(super::firestore::FirestoreBackend::connect(&config).await?))
            }
            #[cfg(feature = "redis")]
            BackendLocation::Redis(config) => {
                let config = super::redis::RedisConfig {
                    key_prefix: options.key_prefix.clone(),
                    cleanup_in_is_locked: options.cleanup_in_is_locked,
                    ..(**config).clone()
                };
                Ok(Arc::new(super::redis::RedisBackend::new(&config)?))
            }
        }
    }
}

#[cfg(feature = "embedded")]
async fn open_folder(folder: PathBuf, must_exist: bool) -> Result<Arc<dyn LockBackend>> {
    let unavailable = |source: Box<dyn std::error::Error + Send + Sync>| Error::Store {
        operation: "open",
        lock_code: leasehold_core::LockCode::ServiceUnavailable,
        source,
    };
    let open = move || match must_exist {
        true => leasehold_embedded::Store::open_existing(folder),
        false => leasehold_embedded::Store::open(folder),
    };
    let opened = tokio::task::spawn_blocking(open).await;
    let store =
        opened.map_err(|lost| unavailable(lost.into()))?.map_err(|error| unavailable(error.into()))?;
    Ok(Arc::new(super::embedded::EmbeddedBackend::open(store)?))
}

impl FromStr for BackendLocation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let scheme = text.split_once(':').map(|(scheme, _)| scheme);
        match scheme {
            Some("memory") if text == "memory:" => Ok(BackendLocation::Memory),
            #[cfg(feature = "postgres")]
            Some("postgres" | "postgresql") => {
                let parsed = leasehold_txn::ConnectionString::parse(text);
                Ok(BackendLocation::Postgres(Box::new(parsed.map_err(|error| bad(error.to_string()))?)))
            }
            #[cfg(feature = "dsql")]
            Some("dsql") => {
                let parsed = leasehold_txn::ConnectionString::parse(text);
                Ok(BackendLocation::Dsql(Box::new(parsed.map_err(|error| bad(error.to_string()))?)))
            }
            #[cfg(feature = "firestore")]
            Some("firestore") => firestore(text),
            #[cfg(not(feature = "firestore"))]
            Some("firestore") => {
                Err(bad("is Firestore, which this build was made without: build with '--features firestore'"
                    .to_owned()))
            }
            #[cfg(feature = "redis")]
            Some("redis" | "rediss" | "redis-cluster" | "rediss-cluster") => {
                super::redis::check_url(text)?;
                Ok(BackendLocation::Redis(Box::new(super::redis::RedisConfig::new(text))))
            }
            _ if text.contains("://") || text.is_empty() || scheme == Some("memory") => Err(bad(format!(
                "is none that this build knows: it knows {}",
                KNOWN.iter().flatten().copied().collect::<Vec<_>>().join(", ")
            ))),
            #[cfg(feature = "embedded")]
            _ => Ok(BackendLocation::Folder(text.into())),
            #[cfg(not(feature = "embedded"))]
            _ => Err(bad("is no URL, and this build has no embedded store".to_owned())),
        }
    }
}

#[cfg(feature = "firestore")]
fn firestore(url: &str) -> Result<BackendLocation> {
    let named = url.strip_prefix("firestore://").unwrap_or_default();
    let (project, database) = named.split_once('/').unwrap_or((named, ""));
    if project.is_empty() || database.contains('/') {
        return Err(bad("is not firestore://PROJECT or firestore://PROJECT/DATABASE".to_owned()));
    }
    let mut config = super::firestore::Config::new(project);
    if !database.is_empty() {
        config = config.database(database);
    }
    if let Ok(emulator) = std::env::var("FIRESTORE_EMULATOR_HOST") {
        config = config.emulator(emulator);
    }
    Ok(BackendLocation::Firestore(Box::new(config)))
}

const KNOWN: [Option<&str>; 6] = [
    Some("memory:"),
    if cfg!(feature = "embedded") { Some("a folder") } else { None },
    if cfg!(feature = "postgres") { Some("postgres://") } else { None },
    if cfg!(feature = "dsql") { Some("dsql://") } else { None },
    if cfg!(feature = "redis") { Some("redis://") } else { None },
    if cfg!(feature = "firestore") { Some("firestore://") } else { None },
];

fn bad(reason: String) -> Error {
    Error::BadConfig { field: "backend", reason }
}

/// For logs and messages: never a password.
impl fmt::Display for BackendLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendLocation::Memory => out.write_str("memory:"),
            #[cfg(feature = "embedded")]
            BackendLocation::Folder(folder) => write!(out, "{}", folder.display()),
            #[cfg(feature = "postgres")]
            BackendLocation::Postgres(connection) => write!(out, "{connection}"),
            #[cfg(feature = "dsql")]
            BackendLocation::Dsql(connection) => write!(out, "{connection}"),
            #[cfg(feature = "firestore")]
            BackendLocation::Firestore(_) => out.write_str("firestore:"),
            #[cfg(feature = "redis")]
            BackendLocation::Redis(_) => out.write_str("redis:"),
        }
    }
}

impl fmt::Debug for BackendLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(all(test, feature = "dsql", feature = "embedded", feature = "postgres", feature = "redis"))]
mod tests {
    use super::*;

    #[test]
    fn urls_and_folders_pick_their_backend() {
        for (text, shown) in [
            ("memory:", "memory:"),
            ("./data", "./data"),
            ("postgres://app@db/app", "postgres: host=db user=app dbname=app"),
            ("dsql://abc.dsql.eu-west-1.on.aws", "dsql: host=abc.dsql.eu-west-1.on.aws user=admin"),
            ("redis://127.0.0.1:6379", "redis:"),
        ] {
            let location: BackendLocation = text.parse().unwrap();
            assert!(format!("{location:?}").starts_with(shown), "{text}: {location:?}");
        }
    }

    #[test]
    fn what_picks_none_is_refused_without_repeating_it() {
        for text in [
            "",
            "memory:x",
            "mysql://u:hunter2@h/d",
            "dsql://u:hunter2@h:port",
            "dsql://u:hunter2@example.com/d?sslmode=disable",
            "redis://u:hunter2@h:port",
            "postgres://h:port",
        ] {
            let refused = text.parse::<BackendLocation>().unwrap_err();
            assert_eq!(refused.code(), "lock.bad_config", "{text}");
            assert!(!format!("{refused} {refused:?}").contains("hunter2"), "{refused:?}");
        }
    }

    #[test]
    fn password_is_not_shown() {
        for text in ["postgres://u:hunter2@h/d", "dsql://u:hunter2@h/d", "redis://u:hunter2@h"] {
            let location: BackendLocation = text.parse().unwrap();
            assert!(!format!("{location:?}").contains("hunter2"), "{location:?}");
        }
    }
}

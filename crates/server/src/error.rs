use std::io;
use std::path::PathBuf;

use leasehold_core::Class;

/// Why the server could not start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `--store` was given as empty text.
    #[error("store is empty; give a folder, memory:, a postgres:// or a dsql:// url")]
    StoreEmpty,
    /// `memory:` takes nothing behind the colon.
    #[error("store memory: takes nothing after the colon")]
    StoreMemorySuffix,
    /// A URL whose scheme picks no store.
    #[error("store scheme {scheme} is not known; give a folder, memory:, a postgres:// or a dsql:// url")]
    StoreScheme {
        /// The scheme alone: the rest of a URL may hold a password.
        scheme: String,
    },
    /// The configuration file cannot be read.
    #[error("configuration file {path} cannot be read", path = path.display())]
    ConfigUnreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The configuration file is longer than any of ours.
    #[error("configuration file {path} exceeds {limit} bytes", path = path.display())]
    ConfigTooLong {
        /// The file.
        path: PathBuf,
        /// Bytes it may have.
        limit: u64,
    },
    /// The configuration file is not YAML, or says what nobody knows.
    #[error("configuration file {path}: {reason}", path = path.display())]
    ConfigMalformed {
        /// The file.
        path: PathBuf,
        /// Where and what.
        reason: String,
    },
    /// A driver that picks no store.
    #[error("invalid driver; '{driver}' is not one of (Memory, Badger, Embedded, Postgres, Dsql)")]
    Driver {
        /// As given.
        driver: String,
    },
    /// A driver that judges nobody.
    #[error("invalid auth-backend driver; '{driver}' is not one of (none, internal)")]
    AuthDriver {
        /// As given.
        driver: String,
    },
    /// A way to log that nobody knows.
    #[error("invalid handler; '{handler}' is not one of (color, text, json)")]
    LogHandler {
        /// As given.
        handler: String,
    },
    /// A name to be reached by that is none.
    #[error("allowed-hosts has '{given}', not a host name such as leasehold.example.com")]
    AllowedHost {
        /// As given.
        given: String,
    },
    /// A timeout that is none.
    #[error("{field} is '{given}', not a duration above zero such as 30s")]
    Timeout {
        /// Which.
        field: &'static str,
        /// As given.
        given: String,
    },
    /// A file of `tls:` cannot be used.
    #[error("{field} {path} cannot be used: {reason}", path = path.display())]
    TlsFile {
        /// Which.
        field: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Certificate and key do not belong together.
    #[error("tls.certificate-file and tls.key-file are refused: {reason}")]
    TlsPair {
        /// Why.
        reason: String,
    },
    /// Something that `tls:` cannot do without is not said.
    #[error("tls needs {missing}")]
    TlsIncomplete {
        /// What.
        missing: &'static str,
    },
    /// Traces are asked of a build without them.
    #[error("tracing is not compiled into this build; build with the feature otlp, or remove it")]
    TracingMissing,
    /// Traces cannot be sent there.
    #[error("tracing.endpoint is not a url such as http://127.0.0.1:4318/v1/traces")]
    TracingEndpoint,
    /// A part of the traces that is none.
    #[error("tracing.sample-ratio is {given}, not a number from 0 to 1")]
    TracingSampleRatio {
        /// As given.
        given: f64,
    },
    /// Test hooks are asked of a build without them.
    #[error("test-hooks are not compiled into this build; build with the feature test-hooks, or remove them")]
    TestHooksMissing,
    /// Test hooks on an address that others can reach.
    #[error("test-hooks address {address} is not on loopback")]
    TestHooksPublic {
        /// As given.
        address: String,
    },
    /// A database without an address.
    #[error("connection string is required")]
    ConnectionStringMissing,
    /// A number of connections that is none.
    #[error("max-conns is '{given}', not a number above zero")]
    MaxConns {
        /// As given.
        given: String,
    },
    /// A queue of the configuration breaks a rule.
    #[error("queue '{queue}' of the configuration is invalid")]
    Queue {
        /// Its name.
        queue: String,
        /// The rule.
        source: leasehold_queue::Refusal,
    },
    /// A queue of the configuration has a timeout that is none.
    #[error("queue '{queue}' of the configuration has an invalid timeout")]
    QueueTimeout {
        /// Its name.
        queue: String,
        /// What is wrong with it.
        source: leasehold_core::Error,
    },
    /// A queue of the configuration names a store that is not configured.
    #[error("invalid partition storage; queue '{queue}' references '{storage}' which is undefined")]
    QueueStorage {
        /// Its name.
        queue: String,
        /// The store's.
        storage: String,
    },
    /// The embedded store could not be used.
    #[error(transparent)]
    Embedded(#[from] leasehold_embedded::Error),
    /// The PostgreSQL store could not be used.
    #[error(transparent)]
    Postgres(#[from] leasehold_txn::Error),
    /// The store of queues could not be opened.
    #[error(transparent)]
    Queues(#[from] leasehold_queue::StoreError),
    /// The store of users, keys and roles could not be opened.
    #[error(transparent)]
    Access(#[from] leasehold_access::StoreError),
    /// An administrator could not be made.
    #[error(transparent)]
    Recover(leasehold_access::Error),
    /// The lock backend could not be opened.
    #[error(transparent)]
    Locks(#[from] leasehold_locks::Error),
    /// The address is not `HOST:PORT`, or cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// As given.
        address: String,
        /// What the operating system said.
        source: io::Error,
    },
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Stable code; every one has its entry in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::StoreEmpty => "server.store_empty",
            Error::StoreMemorySuffix => "server.store_memory_suffix",
            Error::StoreScheme { .. } => "server.store_scheme",
            Error::ConfigUnreadable { .. } => "server.config_unreadable",
            Error::ConfigTooLong { .. } => "server.config_too_long",
            Error::ConfigMalformed { .. } => "server.config_malformed",
            Error::Driver { .. } => "server.driver",
            Error::AuthDriver { .. } => "server.auth_driver",
            Error::LogHandler { .. } => "server.log_handler",
            Error::AllowedHost { .. } => "server.allowed_host",
            Error::Timeout { .. } => "server.timeout",
            Error::TlsFile { .. } => "server.tls_file",
            Error::TlsPair { .. } => "server.tls_pair",
            Error::TlsIncomplete { .. } => "server.tls_incomplete",
            Error::TracingMissing => "server.tracing_missing",
            Error::TracingEndpoint => "server.tracing_endpoint",
            Error::TracingSampleRatio { .. } => "server.tracing_sample_ratio",
            Error::TestHooksMissing => "server.test_hooks_missing",
            Error::TestHooksPublic { .. } => "server.test_hooks_public",
            Error::ConnectionStringMissing => "server.connection_string_missing",
            Error::MaxConns { .. } => "server.max_conns",
            Error::Queue { .. } => "server.queue",
            Error::QueueTimeout { .. } => "server.queue_timeout",
            Error::QueueStorage { .. } => "server.queue_storage",
            Error::Embedded(inner) => inner.code(),
            Error::Postgres(inner) => inner.code(),
            Error::Queues(inner) => inner.code(),
            Error::Access(inner) => inner.code(),
            Error::Recover(inner) => inner.code(),
            Error::Locks(inner) => inner.code(),
            Error::Listen { .. } => "server.listen",
        }
    }

    /// What the caller should do next.
    pub fn class(&self) -> Class {
        match self {
            Error::StoreEmpty
            | Error::StoreMemorySuffix
            | Error::StoreScheme { .. }
            | Error::ConfigUnreadable { .. }
            | Error::ConfigTooLong { .. }
            | Error::ConfigMalformed { .. }
            | Error::Driver { .. }
            | Error::AuthDriver { .. }
            | Error::LogHandler { .. }
            | Error::AllowedHost { .. }
            | Error::Timeout { .. }
            | Error::TlsFile { .. }
            | Error::TlsPair { .. }
            | Error::TlsIncomplete { .. }
            | Error::TracingMissing
            | Error::TracingEndpoint
            | Error::TracingSampleRatio { .. }
            | Error::TestHooksMissing
            | Error::TestHooksPublic { .. }
            | Error::ConnectionStringMissing
            | Error::MaxConns { .. }
            | Error::Queue { .. }
            | Error::QueueTimeout { .. }
            | Error::QueueStorage { .. } => Class::Rejected,
            Error::Embedded(inner) => inner.class(),
            Error::Postgres(inner) => inner.class(),
            Error::Queues(inner) => inner.class(),
            Error::Access(inner) => inner.class(),
            Error::Recover(inner) => inner.class(),
            Error::Locks(inner) => inner.class(),
            Error::Listen { source, .. } if source.kind() == io::ErrorKind::InvalidInput => Class::Rejected,
            Error::Listen { .. } => Class::Unavailable,
        }
    }
}

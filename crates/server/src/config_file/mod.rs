//! The configuration file: YAML with kebab-case keys. What it does not say stays at its default; what it says and
//! nobody knows is refused.

mod effective;
mod limits;
mod logging;
mod suggestion;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use leasehold_access::Driver;
use leasehold_core::duration;
use leasehold_core::firestore::Collections;
use leasehold_core::postgres::TableNames;
use leasehold_core::redis::KeyPrefix;
use leasehold_locks::backend::BackendOptions;
use leasehold_queue::{PinnedPartition, Placement, QueueChange, QueueName, Refusal};
use serde::Deserialize;

pub use self::effective::EffectiveConfig;
use self::limits::{Limits, Timeouts};
pub use self::logging::LogHandler;
use self::logging::Logging;
use self::suggestion::with_suggestion;
use crate::{
    Config, DEFAULT_ADDRESS, DEFAULT_STORE, Error, LocksConfig, PartitionsConfig, QueueConfig, QueuesConfig,
    Result, StoreLocation, TlsOptions, TracingOptions,
};

/// Bytes a configuration file may have.
const FILE_BYTES_MAX: u64 = 1_000_000;

/// What a file says. Flags and the environment are over it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigFile {
    address: Option<String>,
    #[serde(default)]
    allowed_hosts: Vec<String>,
    admin_address: Option<String>,
    #[serde(default)]
    metrics: Metrics,
    store: Option<String>,
    #[serde(default)]
    must_exist: bool,
    #[serde(default)]
    locks: Option<Locks>,
    #[serde(default)]
    logging: Logging,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    timeouts: Timeouts,
    #[serde(default)]
    tls: TlsOptions,
    #[serde(default)]
    tracing: TracingOptions,
    test_hooks: Option<TestHooks>,
    queue_storage: Option<Storage>,
    #[serde(default)]
    partition_storage: Vec<Storage>,
    auth_backend: Option<AuthBackend>,
    auth_storage: Option<Storage>,
    #[serde(default)]
    queues: Vec<Queue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Metrics {
    enabled: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct TestHooks {
    address: String,
}

/// A place to keep things in, as Querator's files name it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Storage {
    name: String,
    driver: String,
    affinity: Option<f64>,
    config: BTreeMap<String, Scalar>,
}

/// Querator reads text; people write numbers.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(i64),
    Flag(bool),
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Scalar::Text(text) => text.clone(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Flag(flag) => flag.to_string(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct AuthBackend {
    driver: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Queue {
    name: String,
    dead_queue: String,
    lease_timeout: Option<String>,
    expire_timeout: Option<String>,
    max_attempts: i64,
    reference: String,
    requested_partitions: Option<i64>,
    partitions: Vec<Partition>,
}

/// A partition whose place is chosen.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Partition {
    partition: i64,
    read_only: bool,
    storage_name: String,
}

impl Storage {
    fn location(&self) -> Result<StoreLocation> {
        let setting = |key: &str| self.config.get(key).map(Scalar::text);
        let driver = self.driver.to_ascii_lowercase();
        let location = match driver.as_str() {
            "" | "memory" => "memory:".to_owned(),
            "badger" | "embedded" => setting("storage-dir").unwrap_or_else(|| DEFAULT_STORE.to_owned()),
            "postgres" | "postgresql" | "dsql" => {
                setting("connection-string").ok_or(Error::ConnectionStringMissing)?
            }
            _ => return Err(Error::Driver { driver: self.driver.clone() }),
        };
        match driver.as_str() {
            // A connection string need not be a URL.
            "postgres" | "postgresql" => Ok(StoreLocation::Postgres(Box::new(location.parse()?))),
            _ => location.parse(),
        }
    }

    fn connections_max(&self) -> Result<Option<usize>> {
        let Some(given) = self.config.get("max-conns").map(Scalar::text) else { return Ok(None) };
        let parsed = given.parse().ok().filter(|connections| *connections > 0);
        parsed.map(Some).ok_or(Error::MaxConns { given })
    }
}

impl Queue {
    fn config(&self) -> Result<QueueConfig> {
        let refused = |source| Error::Queue { queue: self.name.clone(), source };
        let timeout = |text: &Option<String>, default| match text {
            None => Ok(default),
            Some(text) => duration::parse(text)
                .map_err(|source| Error::QueueTimeout { queue: self.name.clone(), source }),
        };
        let pinned: Result<Vec<_>, _> = self.partitions.iter().map(Partition::pinned).collect();
        let placement = pinned.and_then(Placement::new).map_err(refused)?;
        // Partitions that are listed are there, also where fewer were asked for.
        let listed = i64::try_from(self.partitions.len()).unwrap_or(i64::MAX);
        let change = QueueChange {
            lease_timeout: timeout(&self.lease_timeout, Duration::from_secs(60))?,
            expire_timeout: timeout(&self.expire_timeout, Duration::from_secs(3_600))?,
            max_attempts: self.max_attempts,
            dead_queue: QueueName::parse_dead(&self.dead_queue).map_err(refused)?,
            reference: self.reference.clone(),
            requested_partitions: self.requested_partitions.unwrap_or(1).max(listed),
        };
        let name = self.name.parse().map_err(refused)?;
        change.clone().create().map_err(refused)?;
        Ok(QueueConfig { name, change, placement })
    }
}

impl Partition {
    fn pinned(&self) -> Result<PinnedPartition, Refusal> {
        let unknown = |_| Refusal::PartitionUnknown { partition: self.partition };
        Ok(PinnedPartition {
            number: u32::try_from(self.partition).map_err(unknown)?,
            store: Some(self.storage_name.clone()).filter(|name| !name.is_empty()),
            read_only: self.read_only,
        })
    }
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

    /// Reads what a file says. The reason of a refusal is one line, and none of the text around it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(ConfigFile::default());
        }
        // Its first line says where and what; the lines of the file that follow may hold a password.
        let first_line = |error: serde_saphyr::Error| {
            let shown = error.to_string();
            let line = shown.lines().next().unwrap_or_default();
            line.strip_prefix("error: ").unwrap_or(line).to_owned()
        };
        serde_saphyr::from_str(text).map_err(first_line).map_err(with_suggestion)
    }

    /// What the file says, with defaults for what it does not.
    pub fn config(&self) -> Result<Config> {
        let address = self.address.as_deref().unwrap_or(DEFAULT_ADDRESS);
        let default = Config::new(address, self.store.as_deref().unwrap_or(DEFAULT_STORE).parse()?);
        Ok(Config {
            allowed_hosts: self.allowed_hosts.iter().map(|name| name.parse()).collect::<Result<_>>()?,
            admin_address: self.admin_address.clone(),
            must_exist: self.must_exist,
            metrics_enabled: self.metrics.enabled.unwrap_or(default.metrics_enabled),
            queues: self.queues()?,
            auth: self.auth()?,
            locks: self.locks()?,
            limits: self.limits.config(),
            tls: self.tls.clone().config()?,
            tracing: self.tracing.clone().config()?,
            timeouts: self.timeouts.config()?,
            test_hooks: self.test_hooks.as_ref().map(|hooks| hooks.address.clone()),
            stop_timeout: self.timeouts.stop(default.stop_timeout)?,
            ..default
        })
    }

    /// As if the file had said this of TLS.
    #[must_use]
    pub fn with_tls(self, tls: TlsOptions) -> Self {
        ConfigFile { tls: tls.or(self.tls), ..self }
    }

    /// As if the file had said this of traces.
    #[must_use]
    pub fn with_tracing(self, tracing: TracingOptions) -> Self {
        ConfigFile { tracing: tracing.or(self.tracing), ..self }
    }

    /// How to log, if the file says it.
    pub fn log_handler(&self) -> Result<Option<LogHandler>> {
        self.logging.handler()
    }

    /// What to log, if the file says it.
    pub fn log_level(&self) -> Option<&'static str> {
        self.logging.level()
    }

    /// Where queues are kept and which there are.
    fn queues(&self) -> Result<QueuesConfig> {
        let named = |index: usize, storage: &Storage| -> Result<PartitionsConfig> {
            Ok(PartitionsConfig {
                name: match storage.name.as_str() {
                    "" => format!("store-{index}"),
                    name => name.to_owned(),
                },
                affinity: storage.affinity.unwrap_or(1.0),
                store: storage.location()?,
                connections_max: storage.connections_max()?,
            })
        };
        let partitions: Result<Vec<_>> =
            self.partition_storage.iter().enumerate().map(|(index, storage)| named(index, storage)).collect();
        let queues: Result<Vec<_>> = self.queues.iter().map(Queue::config).collect();
        let config = QueuesConfig {
            records: self.queue_storage.as_ref().map(Storage::location).transpose()?,
            access: self.auth_storage.as_ref().map(Storage::location).transpose()?,
            partitions: partitions?,
            queues: queues?,
        };
        config.check_placements()?;
        Ok(config)
    }

    /// Whether requests are judged.
    fn auth(&self) -> Result<Driver> {
        let driver = self.auth_backend.as_ref().map(|backend| backend.driver.as_str()).unwrap_or_default();
        match driver.to_ascii_lowercase().as_str() {
            "" | "none" => Ok(Driver::None),
            "internal" => Ok(Driver::Internal),
            _ => Err(Error::AuthDriver { driver: driver.to_owned() }),
        }
    }

    /// How locks are kept, if the file says anything about it.
    fn locks(&self) -> Result<LocksConfig> {
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
            ..BackendOptions::default()
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
            ("adress: x\n", "`adress`, expected one of"),
            ("adress: x\n", "did you mean `address`?"),
            ("locks:\n  table_name: x\n", "did you mean `table-name`?"),
            ("locks:\n  cleanup-in-is-locked: maybe\n", "boolean"),
            ("metrics:\n  enabled: maybe\n", "boolean"),
            ("metrics:\n  enable: false\n", "did you mean `enabled`?"),
            ("- a\n", ""),
        ] {
            let reason = ConfigFile::parse(text).expect_err(text);
            assert!(reason.contains(named), "{text}: {reason}");
        }
    }

    #[test]
    fn limits_timeouts_and_addresses_arrive() {
        let text = "admin-address: 127.0.0.1:9\nlimits:\n  connections: 7\n  streams: 8\n  produce-items: 1\n  lease-items: 2\n  \
                    complete-items: 3\n  requests-per-queue: 4\n  produce-body-bytes: 5\n  body-bytes: 6\n  \
                    lease-answer-bytes: 9\n  answer-bytes: 10\n\
                    timeouts:\n  idle: 1s\n  body: 2s\n  write: 3s\n  stop: 4s\n  \
                    handshake: 5s\n";
        let config = ConfigFile::parse(text).expect("is a configuration").config().expect("is valid");
        assert_eq!(config.admin_address.as_deref(), Some("127.0.0.1:9"));
        let limits = config.limits;
        assert_eq!((limits.connections, limits.produce_items, limits.lease_items), (7, 1, 2));
        assert_eq!(limits.streams, 8);
        assert_eq!((limits.complete_items, limits.requests_per_queue), (3, 4));
        assert_eq!((limits.produce_body_bytes, limits.body_bytes), (5, 6));
        assert_eq!((limits.lease_answer_bytes, limits.answer_bytes), (9, 10));
        let timeouts = config.timeouts;
        assert_eq!(
            [timeouts.idle, timeouts.body, timeouts.write, config.stop_timeout, timeouts.handshake],
            [1, 2, 3, 4, 5].map(Duration::from_secs)
        );
    }

    #[test]
    fn limits_of_zero_and_timeouts_that_are_none_are_refused() {
        for text in
            ["limits:\n  connections: 0\n", "limits:\n  lease-items: -1\n", "limits:\n  body-bytes: many\n"]
        {
            ConfigFile::parse(text).expect_err(text);
        }
        for given in ["0s", "soon", "-1s", "5"] {
            let file = ConfigFile::parse(&format!("timeouts:\n  body: \"{given}\"\n")).expect("is a file");
            let refused = file.config().expect_err(given);
            assert_eq!(
                refused.to_string(),
                format!("timeouts.body is '{given}', not a duration above zero such as 30s")
            );
        }
    }

    #[test]
    fn logging_is_read_as_querator_reads_it() {
        let read = |text: &str| ConfigFile::parse(text).expect("is a file");
        for (handler, expected) in
            [("color", LogHandler::Color), ("TEXT", LogHandler::Text), ("json", LogHandler::Json)]
        {
            let file = read(&format!("logging:\n  handler: {handler}\n  level: WARN\n"));
            assert_eq!(
                (file.log_handler().expect(handler), file.log_level()),
                (Some(expected), Some("warn"))
            );
        }
        assert_eq!(read("logging:\n  level: chatty\n").log_level(), Some("info"));
        assert_eq!((read("").log_handler().expect("nothing"), read("").log_level()), (None, None));
        let refused = read("logging:\n  handler: xml\n").log_handler().expect_err("no such handler");
        assert_eq!(refused.to_string(), "invalid handler; 'xml' is not one of (color, text, json)");
    }

    #[test]
    fn effective_configuration_says_everything_but_secrets_and_reads_back() {
        let text = "allowed-hosts: [Leasehold, db.example.com]\nstore: postgres://app:hunter2@db/orders\nlocks:\n  backend: redis://:hunter2@cache\npartition-storage:\n  \
                    - name: pg\n    driver: postgres\n    config:\n      connection-string: postgres://u:hunter2@h/d\n\
                    tls:\n  certificate-file: \"a b.pem\"\n  key-file: k.pem\n  client-ca-file: ca.pem\n  min-version: 1.2\n\
                    tracing:\n  endpoint: http://127.0.0.1:4318/v1/traces\n  sample-ratio: 0.25\n\
                    metrics:\n  enabled: false\nlimits:\n  connections: 7\nqueues:\n  - name: q\n    dead-queue: dead\n    reference: \"a: \\\"b\\\"\"\n    \
                    partitions:\n      - partition: 4\n        read-only: true\n        storage-name: pg\n";
        let config = ConfigFile::parse(text).expect("is a file").config().expect("is valid");
        let shown = EffectiveConfig(&config).to_string();
        assert!(!shown.contains("hunter2"), "{shown}");
        for said in [
            "allowed-hosts: [\"leasehold\", \"db.example.com\"]\n",
            "  connections: 7\n",
            "metrics:\n  enabled: false\n",
            "  lease-items: 1000\n",
            "  idle: 2m0s\n",
            "orders",
            "partition-storage pg",
            "# partition 4: in \"pg\", read-only\n",
        ] {
            assert!(shown.contains(said), "{said}: {shown}");
        }
        let again = ConfigFile::parse(&shown).expect(&shown).config().expect(&shown);
        assert_eq!((again.limits, again.timeouts), (config.limits, config.timeouts));
        assert_eq!((&again.tls, &again.tracing), (&config.tls, &config.tracing));
        assert_eq!(again.allowed_hosts, config.allowed_hosts);
        assert!(config.tls.is_some() && config.tracing.is_some() && !again.metrics_enabled);
        assert_eq!(again.queues.queues[0].change.reference, "a: \"b\"");
    }

    #[test]
    fn file_of_querator_is_read_as_it_is() {
        let text = "address: localhost:2319\nlogging:\n  handler: color\n  level: debug\nqueue-storage:\n  \
                    driver: badger\n  config:\n    storage-dir: /tmp/q\npartition-storage:\n  - name: badger-00\n    \
                    driver: Badger\n    affinity: 1\n    config:\n      storage-dir: /tmp/q\n  - name: mem-00\n    \
                    driver: Memory\n    affinity: 0.5\n  - name: pg-00\n    driver: postgres\n    config:\n      \
                    connection-string: postgres://u@h/d\n      max-conns: 7\nauth-backend:\n  driver: internal\n\
                    queues:\n  - name: q1\n    dead-queue: q1-dead\n    lease-timeout: 10m\n    expire-timeout: 10m\n    \
                    max-attempts: 10\n    reference: r\n    requested-partitions: 2\n    partitions:\n      \
                    - partition: 0\n        read-only: false\n        storage-name: mem-00\n      \
                    - partition: 1\n        read-only: true\n        storage-name: badger-00\n";
        let file = ConfigFile::parse(text).expect("is a configuration");
        let queues = file.queues().expect("is valid");
        assert!(matches!(queues.records, Some(StoreLocation::Folder(_))));
        let names: Vec<_> = queues.partitions.iter().map(|store| store.name.as_str()).collect();
        assert_eq!(names, ["badger-00", "mem-00", "pg-00"]);
        assert_eq!(queues.partitions[2].connections_max, Some(7));
        assert_eq!(queues.queues[0].change.requested_partitions, 2);
        let pinned = |number, store: &str, read_only| PinnedPartition {
            number,
            store: Some(store.to_owned()),
            read_only,
        };
        let wanted = [pinned(0, "mem-00", false), pinned(1, "badger-00", true)];
        assert_eq!(queues.queues[0].placement.pinned(), wanted);
        assert_eq!(file.auth().expect("is valid"), Driver::Internal);
    }

    #[test]
    fn mistakes_about_queues_are_told_in_the_known_words() {
        for (text, words) in [
            ("partition-storage:\n  - driver: mongo\n", "invalid driver; 'mongo' is not one of"),
            ("queue-storage:\n  driver: postgres\n", "connection string is required"),
            ("partition-storage:\n  - driver: memory\n    config:\n      max-conns: none\n", "max-conns"),
            ("queues:\n  - name: a b\n", "cannot contain whitespace"),
            ("queues:\n  - name: a\n    lease-timeout: 2h\n", "lease timeout is too long"),
            (
                "queues:\n  - name: a\n    partitions:\n      - storage-name: x\n",
                "invalid partition storage; queue 'a' references 'x' which is undefined",
            ),
            (
                "queues:\n  - name: a\n    partitions:\n      - partition: -1\n",
                "'-1' is not a valid partition",
            ),
            (
                "queues:\n  - name: a\n    partitions:\n      - partition: 1\n      - partition: 1\n",
                "partition '1' is there twice",
            ),
        ] {
            let refused = ConfigFile::parse(text).expect("is a configuration").queues().expect_err(text);
            let chain =
                format!("{refused}: {:?}", std::error::Error::source(&refused).map(ToString::to_string));
            assert!(chain.contains(words), "{chain}");
        }
        let refused = ConfigFile::parse("auth-backend:\n  driver: ldap\n").expect("parses").auth();
        assert_eq!(
            refused.expect_err("ldap").to_string(),
            "invalid auth-backend driver; 'ldap' is not one of (none, internal)"
        );
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

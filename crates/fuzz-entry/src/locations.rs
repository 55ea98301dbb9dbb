//! Configuration files, and where things are.

use leasehold_client::Endpoint;
use leasehold_locks::backend::BackendLocation;
use leasehold_server::{ConfigFile, EffectiveConfig, StoreLocation};
use leasehold_txn::ConnectionString;

use crate::{seeds, text};

/// What stands for a password in the seeds.
const SECRET: &str = "hunter2";

pub(crate) fn config_yaml(bytes: &[u8]) {
    let Ok(file) = ConfigFile::parse(text(bytes)) else { return };
    let Ok(config) = file.config() else { return };
    let shown = EffectiveConfig(&config).to_string();
    let again = ConfigFile::parse(&shown).unwrap_or_else(|error| panic!("{error}: {shown}"));
    let again = again.config().unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert_eq!(
        (again.limits, again.timeouts, again.tls),
        (config.limits, config.timeouts, config.tls),
        "{shown}"
    );
}

pub(crate) fn location(bytes: &[u8]) {
    let text = text(bytes);
    let shown = [
        text.parse::<StoreLocation>().map(|location| location.to_string()).ok(),
        text.parse::<BackendLocation>().map(|location| location.to_string()).ok(),
        ConnectionString::parse(text).map(|connection| connection.to_string()).ok(),
        text.parse::<Endpoint>().map(|endpoint| endpoint.to_string()).ok(),
    ];
    if !is_password(text) {
        return;
    }
    let shown = shown.into_iter().flatten().find(|shown| shown.contains(SECRET));
    assert_eq!(shown, None, "a password is not shown");
}

/// Whether the one place of it is where URLs have a password: in the name of a folder or a database it is none.
fn is_password(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let password = authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    text.matches(SECRET).count() == 1
        && !scheme.is_empty()
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && password.is_some_and(|(_, password)| password.contains(SECRET))
}

pub(crate) fn config_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "address: localhost:2319\nlogging:\n  handler: color\n  level: debug\nqueue-storage:\n  driver: badger\n  config:\n    \
         storage-dir: /tmp/q\npartition-storage:\n  - name: mem-00\n    driver: Memory\n    affinity: 0.5\n",
        "store: postgres://u:hunter2@h/d\nlimits:\n  connections: 7\n  streams: 8\ntimeouts:\n  idle: 1s\n  stop: 1m30s\n",
        "tls:\n  certificate-file: a.pem\n  key-file: b.pem\n  client-ca-file: c.pem\n  client-auth: optional\n  min-version: \"1.2\"\n",
        "locks:\n  backend: redis://:hunter2@cache\n  table-name: l\n  key-prefix: app\nauth-backend: {driver: internal}\n",
        "queues:\n  - name: q1\n    dead-queue: d\n    lease-timeout: 10m\n    reference: \"a: \\\"b\\\"\"\n    requested-partitions: 2\n",
    ])
}

pub(crate) fn location_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "memory:",
        "./leasehold-data",
        "postgres://app:hunter2@db.example:5432/orders?sslmode=verify-full",
        "host=db user=app password=hunter2 dbname=orders",
        "redis://:hunter2@cache:6379/1",
        "rediss://app:hunter2@[::1]:6379",
        "firestore://project/database",
        "https://localhost:2319",
        "http://u:hunter2@h",
    ])
}

//! The doctor, who is shown a Redis that keeps what it is told, and some that do not.

use leasehold_testkit::redis::{Server, Settings};

use crate::diagnosis::diagnose;

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn durable_redis_is_well_and_others_are_told_what_they_lose() {
    let durable = Server::start(Settings::durable()).expect("starts");
    let well = diagnose(&["--store", &durable.url()]);
    assert_eq!(well.code, 0, "{}", well.text);
    assert!(well.has_only("ok"), "{}", well.text);
    well.expect("ok", "clock", "the store's clock");
    well.expect("ok", "persistence", "written through");

    let everysec =
        Settings::durable().with("appendfsync", "everysec").with("maxmemory-policy", "allkeys-lru");
    let everysec = Server::start(everysec).expect("starts");
    let warned = diagnose(&["--store", &everysec.url()]);
    assert_eq!(warned.code, 7, "{}", warned.text);
    warned.expect("warning", "persistence", "appendfsync everysec");
    warned.expect("warning", "eviction", "allkeys-lru");

    let volatile = Settings::volatile().with("maxmemory", "100mb").with("maxmemory-policy", "volatile-ttl");
    let volatile = Server::start(volatile).expect("starts");
    let ill = diagnose(&["--store", &volatile.url()]);
    assert_eq!(ill.code, 8, "{}", ill.text);
    ill.expect("problem", "persistence", "no append-only file");
    ill.expect("problem", "eviction", "volatile-ttl");
}

//! Property 8: initialisation.

use std::collections::BTreeSet;

use leasehold_persistence::{
    Blob, Config, NamespaceId, NamespaceRecord, Namespaces, Queue, QueueType, Schema, Shard, Shards,
};
use leasehold_txn::Dialect;

use super::{REPEATABLE_READ, waited_for};
use crate::cases::schema::{change, expect_complete, schema};
use crate::fixture::{Dice, Place};
use crate::properties::opening::two_services_open_an_empty_database_twice;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn two_services_open_an_empty_database_at_once_and_again() {
    for dialect in [Dialect::POSTGRES, REPEATABLE_READ] {
        two_services_open_an_empty_database_twice(&Place::postgres_as(dialect).await).await;
    }
}

/// The history of versions has the moment for a key, and two transactions may begin in the same one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn two_services_that_record_the_version_in_the_same_moment_record_it_once() {
    for dialect in [Dialect::POSTGRES, REPEATABLE_READ] {
        let place = Place::postgres_as(dialect).await;
        schema(&place).apply(&place.pool()).await.expect("the tables");
        let forget = "CREATE TABLE first_history AS TABLE schema_update_history;
                      CREATE TABLE first_version AS TABLE schema_version;
                      TRUNCATE schema_update_history, schema_version;
                      CREATE FUNCTION now() RETURNS timestamptz LANGUAGE sql STABLE
                          AS $$ SELECT update_time AT TIME ZONE 'UTC' FROM first_history $$";
        change(&place, forget).await;
        let one = place.outside().await;
        let record = "BEGIN;
                      INSERT INTO schema_update_history TABLE first_history;
                      INSERT INTO schema_version TABLE first_version";
        one.batch_execute(record).await.expect("recorded");
        let other = tokio::spawn({
            let (schema, pool) = (schema(&place), place.pool_with_own_clock());
            async move { schema.apply(&pool).await }
        });
        waited_for(&one, &place.outside().await).await;
        one.batch_execute("COMMIT").await.expect("recorded");
        other.await.expect("no panic").expect("the version");
        expect_complete(&place).await;
    }
}

/// What a service finds when it is the first, or thinks so.
async fn begin(place: &Place, service: u8) -> (Shard, i64, i64) {
    let pool = place.pool_of(2);
    Schema::of(pool.dialect()).apply(&pool).await.expect("the tables");
    let config = Config { timeout: std::time::Duration::from_secs(60), ..Config::new(pool.dialect()) };
    let database = place.open(pool, config).await.expect("a database");
    let make = || (i64::from(service), Blob::proto3(vec![service]));
    let shard = Shards::new(database.clone()).get_or_create(1, make).await.expect("a shard");
    let id = NamespaceId::from_bytes([service; 16]);
    let record = NamespaceRecord::new(id, format!("service {service}"), Blob::proto3(vec![service]), false);
    let version = Namespaces::new(database.clone()).create(&record.expect("a record")).await;
    let queue = Queue::new(database, QueueType::NAMESPACE_REPLICATION);
    queue.init(&Blob::proto3(vec![])).await.expect("a queue");
    let message = queue.enqueue(&Blob::proto3(vec![service])).await.expect("an id");
    (shard, version.expect("a namespace"), message)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn two_services_open_many_empty_databases_at_once() {
    open_empty_databases(0..12).await;
}

/// In each round two services meet a database with nothing in it, a moment apart: both find it as if either had been alone.
pub(crate) async fn open_empty_databases(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let (mut dice, place) = (Dice(seed), Place::postgres().await);
        let (one, other) = (dice.late(Box::pin(begin(&place, 1))), dice.late(Box::pin(begin(&place, 2))));
        let (one, other) = tokio::join!(one, other);
        assert_eq!(one.0, other.0, "seed {seed}: one made the shard");
        assert_eq!(BTreeSet::from([one.1, other.1]), BTreeSet::from([1, 2]), "seed {seed}");
        assert_eq!(BTreeSet::from([one.2, other.2]), BTreeSet::from([0, 1]), "seed {seed}");
        expect_complete(&place).await;
    }
}

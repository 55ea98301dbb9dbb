//! The index of fences, which PostgreSQL has only where it is asked for.

use leasehold_persistence::{Config, Database, Difference, Error, FenceMode};

use crate::cases::schema::{change, expect_complete, schema};
use crate::fixture::Place;

async fn open(place: &Place) -> FenceMode {
    let config = Config { fence_mode: Some(FenceMode::KeyShare), ..Config::new(place.pool().dialect()) };
    Database::open(place.pool(), config).await.expect("a database").fence_mode()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn index_of_fences_is_built_once_by_many() {
    let place = &Place::postgres().await;
    schema(place).apply(&place.pool()).await.expect("the tables");
    let fenced = schema(place).with_fence_index();
    let plan = fenced.plan(&place.pool()).await.expect("a plan");
    assert_eq!(plan.iter().map(ToString::to_string).collect::<Vec<_>>(), ["index shards_fence"]);
    let appliers: Vec<_> = (0..8)
        .map(|_| {
            let pool = place.pool_of(2);
            tokio::spawn(async move { fenced.apply(&pool).await })
        })
        .collect();
    for applier in appliers {
        applier.await.expect("no panic").expect("an index");
    }
    assert_eq!(fenced.check(&place.pool()).await.expect("a look").differences, []);
    assert_eq!(open(place).await, FenceMode::KeyShare);
    expect_complete(place).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn index_of_fences_that_was_left_half_built_is_built_anew() {
    let place = &Place::postgres().await;
    let fenced = schema(place).with_fence_index();
    fenced.apply(&place.pool()).await.expect("the tables");
    change(place, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'shards_fence'::regclass").await;
    let named = fenced.check(&place.pool()).await.expect("a look");
    assert_eq!(named.differences.iter().map(Difference::kind).collect::<Vec<_>>(), ["missing_index"]);
    assert_eq!(named.notes, ["index shards_fence of table shards is not valid"]);
    fenced.apply(&place.pool()).await.expect("an index");
    assert_eq!(open(place).await, FenceMode::KeyShare);
}

/// What an index includes is no part of its key, and a takeover that changes it waits for no writer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn index_that_only_includes_the_range_fences_nothing() {
    let place = &Place::postgres().await;
    schema(place).apply(&place.pool()).await.expect("the tables");
    change(place, "CREATE UNIQUE INDEX beside ON shards (shard_id, data_encoding) INCLUDE (range_id)").await;
    let config = Config { fence_mode: Some(FenceMode::KeyShare), ..Config::new(place.pool().dialect()) };
    let opened = Database::open(place.pool(), config).await.map(|database| database.fence_mode());
    assert!(opened.is_err(), "{opened:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn index_of_fences_needs_two_connections() {
    let place = &Place::postgres().await;
    let error = schema(place).with_fence_index().apply(&place.pool_of(1)).await.expect_err("one is too few");
    assert!(matches!(error, Error::InvalidRequest { field: "pool", .. }), "{error:?}");
}

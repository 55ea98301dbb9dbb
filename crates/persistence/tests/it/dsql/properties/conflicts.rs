//! Property 3: conflict retry. A write that meets k conflicts is done in k + 1 attempts, or, when that is more than its
//! budget, is not done and says so.

use std::time::{Duration, Instant};

use leasehold_persistence::{Config, Error};
use leasehold_txn::{DsqlLevel, Policy};

use crate::properties::conflicts::every_write_takes_one_attempt_more_than_conflicts;
use crate::properties::{Bench, write};
use crate::writes::all;

/// At one level the conflicts are of data, at the other of the schema.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn every_write_takes_one_attempt_more_than_conflicts_of_data() {
    let bench = Bench::dsql(DsqlLevel::KeyShare).await;
    let failures = ["conflict_at_commit", "conflict_at_statement"];
    every_write_takes_one_attempt_more_than_conflicts(bench, &failures).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn every_write_takes_one_attempt_more_than_conflicts_of_the_schema() {
    let bench = Bench::dsql(DsqlLevel::UpdateOnly).await;
    let failures = ["schema_conflict_at_commit", "schema_conflict_at_statement"];
    every_write_takes_one_attempt_more_than_conflicts(bench, &failures).await;
}

/// The clock cannot be stopped while a socket is waited for, so this one takes as long as it says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn pauses_double_up_to_their_limit() {
    let mut bench = Bench::dsql(DsqlLevel::KeyShare).await;
    let policy = Policy::new(5, Duration::from_millis(40), Duration::from_millis(100)).expect("a policy");
    let database = bench.fixture.with_retries(policy.with_spread(0.0).expect("a policy")).await;
    let about = bench.about(write("shard.take_over")).await;
    bench.strike("conflict_at_commit", 4).await;
    let started = Instant::now();
    (about.prepared)(database).await.expect("the fifth attempt");
    let took = started.elapsed();
    // 40 + 80 + 100 + 100. How much longer it takes is up to the machine; that pauses have a limit is tested beside them.
    assert!(took.as_millis() >= 320, "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn who_gives_up_in_a_pause_leaves_nothing() {
    let mut bench = Bench::dsql(DsqlLevel::KeyShare).await;
    // With its spread it stays within the time that an operation has.
    let long = Duration::from_secs(30);
    let patient = bench.fixture.with_retries(Policy::new(3, long, long).expect("a policy")).await;
    for write in all() {
        let about = bench.about(write).await;
        bench.strike("conflict_at_commit", 1).await;
        let conflict = async {
            while bench.fixture.fired() == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            answer = (about.prepared)(patient.clone()) => panic!("{}: {answer:?}", about.name),
            () = conflict => {}
        }
        bench.fixture.disarm();
        about.expect_nothing_then_do(&patient, &bench.outside, "giving up").await;
    }
}

/// A pause that would outlast the caller is not begun.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn nothing_is_tried_that_could_not_start_in_time() {
    let mut bench = Bench::dsql(DsqlLevel::KeyShare).await;
    // However it is spread, it is longer than the time that an operation has.
    let (long, timeout) = (Duration::from_secs(60), Duration::from_secs(40));
    let retries = Policy::new(3, long, long).expect("a policy");
    let database = bench
        .fixture
        .configured(|config| Config {
            retries: retries.clone(),
            takeover_retries: retries,
            timeout,
            ..config
        })
        .await;
    let about = bench.about(write("namespace.update")).await;
    bench.strike("conflict_at_commit", 1).await;
    let error = (about.prepared)(database.clone()).await.expect_err("no time");
    assert!(matches!(error, Error::OccExhausted { attempts: 1, .. }), "{error:?}");
    about.expect_nothing_then_do(&database, &bench.outside, "no time").await;
}

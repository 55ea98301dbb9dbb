//! Property 3: conflict retry. A write that meets k conflicts is done in k + 1 attempts, or, when that is more than its
//! budget, is not done and says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use leasehold_core::Class;
use leasehold_persistence::Error;
use leasehold_txn::{DsqlLevel, Jitter, Policy};

use super::{Bench, all, write};

const BUDGET: u32 = 2;

const CONFLICTS: [&str; 4] = [
    "conflict_at_commit",
    "conflict_at_statement",
    "schema_conflict_at_commit",
    "schema_conflict_at_statement",
];

fn rule(action: &str, times: u32) -> String {
    format!(r#"{{"name": "conflict", "action": "{action}", "times": {times}}}"#)
}

/// Counts the pauses: each is spread by one sample.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicU64>);

impl Jitter for Counting {
    fn sample(&self) -> f64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        0.5
    }
}

/// At one level the conflicts are of data, at the other of the schema.
async fn every_write_takes_one_attempt_more_than_conflicts(level: DsqlLevel, actions: &[&str]) {
    let mut bench = Bench::at(level).await;
    let pauses = Counting::default();
    let policy = Policy::new(BUDGET, Duration::ZERO, Duration::ZERO).expect("a policy");
    let database = bench.fixture.with_retries(policy.with_jitter(pauses.clone())).await;
    for action in actions {
        for write in all() {
            for conflicts in 0..=BUDGET + 1 {
                let case = format!("{conflicts} × {action}");
                let about = bench.about(write).await;
                bench.fixture.arm(&rule(action, conflicts));
                let sampled = pauses.0.load(Ordering::Relaxed);
                let answer = (about.prepared)(database.clone()).await;
                let sampled = pauses.0.load(Ordering::Relaxed) - sampled;
                let fired = bench.fixture.fired();
                bench.fixture.disarm();
                assert_eq!(
                    sampled, fired,
                    "{} {case}: what happened before is known to nobody else",
                    about.name
                );
                if conflicts < BUDGET {
                    answer.unwrap_or_else(|error| panic!("{} {case}: {error:?}", about.name));
                    assert_eq!(fired, u64::from(conflicts), "{} {case}", about.name);
                    assert_eq!(about.change(&bench.outside).await, about.wanted, "{} {case}", about.name);
                } else {
                    let error = answer.expect_err(&case);
                    assert!(
                        matches!(error, Error::OccExhausted { attempts: BUDGET, .. }),
                        "{} {case}: {error:?}",
                        about.name
                    );
                    assert_eq!((error.class(), error.may_have_been_committed()), (Class::Conflict, false));
                    assert_eq!(fired, u64::from(BUDGET), "{} {case}", about.name);
                    about.expect_nothing_then_do(&database, &bench.outside, &case).await;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn every_write_takes_one_attempt_more_than_conflicts_of_data() {
    every_write_takes_one_attempt_more_than_conflicts(DsqlLevel::KeyShare, &CONFLICTS[..2]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn every_write_takes_one_attempt_more_than_conflicts_of_the_schema() {
    every_write_takes_one_attempt_more_than_conflicts(DsqlLevel::UpdateOnly, &CONFLICTS[2..]).await;
}

/// The clock cannot be stopped while a socket is waited for, so this one takes as long as it says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn pauses_double_up_to_their_limit() {
    let mut bench = Bench::at(DsqlLevel::KeyShare).await;
    let policy = Policy::new(5, Duration::from_millis(40), Duration::from_millis(100)).expect("a policy");
    let database = bench.fixture.with_retries(policy.with_spread(0.0).expect("a policy")).await;
    let about = bench.about(write("shard.update")).await;
    bench.fixture.arm(&rule("conflict_at_commit", 4));
    let started = Instant::now();
    (about.prepared)(database).await.expect("the fifth attempt");
    let took = started.elapsed();
    // 40 + 80 + 100 + 100.
    assert!((320..2_000).contains(&took.as_millis()), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn who_gives_up_in_a_pause_leaves_nothing() {
    let mut bench = Bench::at(DsqlLevel::KeyShare).await;
    // With its spread it stays within the time that an operation has.
    let long = Duration::from_secs(30);
    let patient = bench.fixture.with_retries(Policy::new(3, long, long).expect("a policy")).await;
    for write in all() {
        let about = bench.about(write).await;
        bench.fixture.arm(&rule("conflict_at_commit", 1));
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
    let mut bench = Bench::at(DsqlLevel::KeyShare).await;
    // However it is spread, it is longer than the minute that an operation has.
    let long = Duration::from_secs(300);
    let database = bench.fixture.with_retries(Policy::new(3, long, long).expect("a policy")).await;
    let about = bench.about(write("namespace.update")).await;
    bench.fixture.arm(&rule("conflict_at_commit", 1));
    let error = (about.prepared)(database.clone()).await.expect_err("no time");
    assert!(matches!(error, Error::OccExhausted { attempts: 1, .. }), "{error:?}");
    about.expect_nothing_then_do(&database, &bench.outside, "no time").await;
}

//! Many want one row: one gets it, the others learn so.

use std::sync::atomic::{AtomicU32, Ordering};

use leasehold_core::Class;
use leasehold_txn::{Abort, Dialect, Failure, Isolation, Pool, run};
use tokio::sync::Barrier;

use crate::fixture::{Fixture, SNAPSHOT, TEST, eager};

#[derive(Debug)]
struct Lost;

const CONTENDERS: usize = 8;

/// Every contender has read the row before the first one writes it. Who won, and how often bodies ran.
async fn contend(fixture: &Fixture, dialect: Dialect) -> (usize, u32) {
    let pool = Pool::new(fixture.config().dialect(dialect).size_max(CONTENDERS)).unwrap();
    let (barrier, runs) = (Barrier::new(CONTENDERS), AtomicU32::new(0));
    let policy = eager(4);
    let contenders = (0..CONTENDERS).map(|owner| {
        let (pool, policy, barrier, runs) = (&pool, &policy, &barrier, &runs);
        let (owner, first) = (i64::try_from(owner).unwrap(), AtomicU32::new(1));
        async move {
            let first = &first;
            run(pool, TEST, policy, |tx| {
                Box::pin(async move {
                    runs.fetch_add(1, Ordering::Relaxed);
                    tx.query_one("SELECT version FROM counter WHERE id = 1", &[]).await?;
                    if first.swap(0, Ordering::Relaxed) == 1 {
                        barrier.wait().await;
                    }
                    let sql = "UPDATE counter SET version = 1, owner = $1 WHERE id = 1 AND version = 0";
                    match tx.execute(sql, &[&owner]).await? {
                        1 => Ok(owner),
                        _ => Err(Abort::Condition(Lost)),
                    }
                })
            })
            .await
        }
    });
    let mut winners = 0;
    for outcome in futures_util::future::join_all(contenders).await {
        match outcome {
            Ok(owner) => {
                winners += 1;
                assert_eq!(fixture.number("SELECT owner FROM counter WHERE id = 1").await, owner);
            }
            Err(Failure::Condition(Lost)) => {}
            Err(Failure::Transaction(error)) => panic!("{error:?}"),
        }
    }
    (winners, runs.into_inner())
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn under_read_committed_one_wins_and_nobody_retries() {
    let fixture = Fixture::start().await;
    let dialect = Dialect::Postgres { isolation: Isolation::ReadCommitted, retry_conflicts: true };
    assert_eq!(contend(&fixture, dialect).await, (1, 8));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn under_snapshot_isolation_each_loser_retries_once_and_then_sees_the_winner() {
    // As DSQL, the same server is asked the same way, and the first 40001 is retried without being told to.
    for dialect in [SNAPSHOT, Dialect::DSQL] {
        let fixture = Fixture::start().await;
        assert_eq!(contend(&fixture, dialect).await, (1, 8 + 7), "{dialect:?}");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn rerun_body_sees_fresh_values() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().dialect(SNAPSHOT)).unwrap();
    let (runs, outside) = (AtomicU32::new(0), &fixture.outside);
    let runs = &runs;
    let seen = run::<_, Lost, _>(&pool, TEST, &eager(3), |tx| {
        Box::pin(async move {
            let row = tx.query_one("SELECT version FROM counter WHERE id = 1", &[]).await?;
            let version: i64 = row.try_get(0)?;
            if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                outside.execute("UPDATE counter SET version = 41 WHERE id = 1", &[]).await?;
            }
            tx.execute("UPDATE counter SET version = $1 WHERE id = 1", &[&(version + 1)]).await?;
            Ok(version)
        })
    })
    .await
    .unwrap();
    assert_eq!((seen, runs.load(Ordering::Relaxed)), (41, 2));
    assert_eq!(fixture.number("SELECT version FROM counter WHERE id = 1").await, 42);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn endless_conflict_uses_up_the_attempts() {
    let fixture = Fixture::start().await;
    let (pool, runs) = (Pool::new(fixture.config().dialect(SNAPSHOT)).unwrap(), AtomicU32::new(0));
    let (runs, outside) = (&runs, &fixture.outside);
    let failure = run::<(), Lost, _>(&pool, TEST, &eager(3), |tx| {
        Box::pin(async move {
            runs.fetch_add(1, Ordering::Relaxed);
            tx.query_one("SELECT version FROM counter WHERE id = 1", &[]).await?;
            outside.execute("UPDATE counter SET version = version + 1 WHERE id = 1", &[]).await?;
            tx.execute("UPDATE counter SET owner = 1 WHERE id = 1", &[]).await?;
            Ok(())
        })
    })
    .await
    .unwrap_err();
    let Failure::Transaction(error) = failure else { panic!("{failure:?}") };
    assert_eq!(
        (error.code(), error.class(), error.sqlstate()),
        ("txn.conflict_exhausted", Class::Conflict, Some("40001"))
    );
    assert_eq!(error.to_string(), "test lost to other transactions 3 times");
    assert_eq!(runs.load(Ordering::Relaxed), 3);
}

/// Two transactions that take two rows in opposite order. How often the bodies ran, and how each ended.
async fn deadlock(retry_conflicts: bool) -> (u32, Vec<Result<(), Failure<Lost>>>) {
    let fixture = Fixture::start().await;
    let dialect = Dialect::Postgres { isolation: Isolation::ReadCommitted, retry_conflicts };
    let (pool, policy) = (Pool::new(fixture.config().dialect(dialect)).unwrap(), eager(5));
    let (barrier, runs) = (Barrier::new(2), AtomicU32::new(0));
    let side = |first: i64, second: i64| {
        let (pool, policy, barrier, runs, fresh) = (&pool, &policy, &barrier, &runs, AtomicU32::new(1));
        async move {
            let fresh = &fresh;
            run(pool, TEST, policy, |tx| {
                Box::pin(async move {
                    runs.fetch_add(1, Ordering::Relaxed);
                    tx.batch_execute("SET LOCAL deadlock_timeout = '10ms'").await?;
                    let sql = "UPDATE counter SET version = version + 1 WHERE id = $1";
                    tx.execute(sql, &[&first]).await?;
                    if fresh.swap(0, Ordering::Relaxed) == 1 {
                        barrier.wait().await;
                    }
                    tx.execute(sql, &[&second]).await?;
                    Ok(())
                })
            })
            .await
        }
    };
    let (one, two) = futures_util::future::join(side(1, 2), side(2, 1)).await;
    (runs.into_inner(), vec![one, two])
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn deadlock_is_retried_when_asked_for() {
    let (runs, outcomes) = deadlock(true).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(runs >= 3, "{runs}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn deadlock_is_an_answer_otherwise() {
    let (runs, outcomes) = deadlock(false).await;
    let failures: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
    let [Failure::Transaction(error)] = failures.as_slice() else { panic!("{failures:?}") };
    assert_eq!(
        (error.code(), error.class(), error.sqlstate()),
        ("txn.database", Class::Conflict, Some("40P01"))
    );
    assert_eq!(runs, 2);
}

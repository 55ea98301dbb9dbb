//! A call that is dropped midway, wherever that is, leaves the pool and the data in order.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::Duration;

use leasehold_core::Deadline;
use leasehold_txn::{Abort, Failure, Policy, Pool, Statement, run};

use crate::fixture::{Fixture, PATIENCE, TEST, eager};

/// Polls at most so often, then drops; `None` when that was before the end.
async fn dropped_after<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = Box::pin(future);
    let mut polled = 0;
    poll_fn(|context| {
        if polled == polls {
            return Poll::Ready(None);
        }
        polled += 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

async fn write_both(pool: &Pool, id: i64) -> Result<(), Failure<Infallible>> {
    run(pool, TEST, &eager(1), |tx| {
        Box::pin(async move {
            tx.execute("INSERT INTO \"left\" VALUES ($1)", &[&id]).await?;
            tx.execute("INSERT INTO \"right\" VALUES ($1)", &[&id]).await?;
            Ok(())
        })
    })
    .await
}

/// The one connection of the pool comes back and works.
async fn is_healthy(pool: &Pool) {
    let read = Statement::read(TEST, "SELECT 1");
    tokio::time::timeout(PATIENCE, read.query(pool, &eager(1), &[]))
        .await
        .expect("no connection comes back")
        .unwrap();
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn dropped_at_any_await_a_transaction_is_whole_or_absent() {
    let fixture = Fixture::start().await;
    let warm = Pool::new(fixture.config().size_max(1)).unwrap();
    let mut drops = 0;
    for (polls, id) in (0..).zip(0_i64..) {
        let done = dropped_after(polls, write_both(&warm, id)).await;
        is_healthy(&warm).await;
        fixture.no_session("state LIKE 'idle in transaction%'").await;
        fixture.whole_writes().await;
        if let Some(result) = done {
            result.unwrap();
            break;
        }
        drops += 1;
    }
    assert!(drops >= 6, "only {drops} places to drop at: begin, two prepares, two statements, commit");

    // The same while the connection is still being opened.
    for (polls, id) in (0..).zip(1_000_i64..) {
        let cold = Pool::new(fixture.config().size_max(1)).unwrap();
        let done = dropped_after(polls, write_both(&cold, id)).await;
        is_healthy(&cold).await;
        fixture.whole_writes().await;
        cold.close().await;
        if done.is_some() {
            break;
        }
    }
    warm.close().await;
    fixture.no_session("true").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn dropped_rollback_is_finished_in_the_background() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1)).unwrap();
    let policy = eager(1);
    for polls in 0.. {
        let work = run::<(), _, _>(&pool, TEST, &policy, |tx| {
            Box::pin(async move {
                tx.batch_execute("INSERT INTO \"left\" VALUES (1)").await?;
                Err(Abort::Condition("no"))
            })
        });
        let done = dropped_after(polls, work).await;
        is_healthy(&pool).await;
        fixture.no_session("state LIKE 'idle in transaction%'").await;
        assert_eq!(fixture.whole_writes().await, 0);
        if done.is_some() {
            break;
        }
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn dropped_statement_that_waits_for_a_lock_is_stopped() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1)).unwrap();
    fixture.outside.batch_execute("BEGIN; LOCK TABLE counter").await.unwrap();
    let policy = eager(1);
    let in_transaction = run::<(), Infallible, _>(&pool, TEST, &policy, |tx| {
        Box::pin(async move { Ok(tx.batch_execute("DELETE FROM counter").await?) })
    });
    let alone = Statement::write(TEST, "DELETE FROM counter");
    let alone = alone.execute(&pool, &policy, &[]);

    tokio::select! {
        _ = in_transaction => panic!("the table is locked"),
        () = a_session_waits(&fixture) => {}
    }
    // While the lock is still held: the server was asked to stop, it did not find out by itself.
    fixture.no_session("wait_event_type = 'Lock'").await;
    is_healthy(&pool).await;

    tokio::select! {
        _ = alone => panic!("the table is locked"),
        () = a_session_waits(&fixture) => {}
    }
    fixture.no_session("wait_event_type = 'Lock'").await;
    is_healthy(&pool).await;
    fixture.outside.batch_execute("COMMIT").await.unwrap();
    assert_eq!(fixture.number("SELECT count(*) FROM counter").await, 2);
}

async fn a_session_waits(fixture: &Fixture) {
    let sql = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'counter'::regclass";
    while fixture.number(sql).await == 0 {}
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn deadline_stops_a_statement_and_frees_its_connection() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1)).unwrap();
    is_healthy(&pool).await;
    let policy = Policy::none().until(Deadline::after(Duration::from_millis(100)));
    let error = run::<(), Infallible, _>(&pool, TEST, &policy, |tx| {
        Box::pin(async move { Ok(tx.batch_execute("SELECT pg_sleep(3600)").await?) })
    })
    .await
    .unwrap_err()
    .into_error();
    assert_eq!(error.code(), "txn.deadline_passed");
    is_healthy(&pool).await;
    fixture.no_session("state = 'active'").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn panic_in_a_body_rolls_back_and_frees_its_connection() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1)).unwrap();
    let panicking = pool.clone();
    let task = tokio::spawn(async move {
        run::<(), Infallible, _>(&panicking, TEST, &eager(1), |tx| {
            Box::pin(async move {
                tx.batch_execute("INSERT INTO \"left\" VALUES (1)").await?;
                panic!("on purpose");
            })
        })
        .await
    });
    assert!(task.await.unwrap_err().is_panic());
    is_healthy(&pool).await;
    assert_eq!((pool.size(), fixture.whole_writes().await), (1, 0));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn dropped_outside_any_runtime_the_connection_closes() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let fixture = runtime.block_on(Fixture::start());
    let pool = Pool::new(fixture.config().size_max(1)).unwrap();
    let policy = eager(1);
    let mut work = Box::pin(run::<(), Infallible, _>(&pool, TEST, &policy, |tx| {
        Box::pin(async move {
            tx.batch_execute("INSERT INTO \"left\" VALUES (1)").await?;
            std::future::pending().await
        })
    }));
    runtime.block_on(async {
        let opened = async {
            let sql = "SELECT count(*) FROM pg_locks WHERE relation = '\"left\"'::regclass";
            while fixture.number(sql).await == 0 {}
        };
        tokio::select! { _ = &mut work => unreachable!(), () = opened => {} }
    });
    drop(work);
    runtime.block_on(async {
        fixture.no_session("true").await;
        is_healthy(&pool).await;
        assert_eq!(fixture.whole_writes().await, 0);
    });
}

//! The connection breaks, at each point where the answer differs.

use std::convert::Infallible;
use std::time::Duration;

use futures_util::future::join_all;
use leasehold_core::{Class, Deadline};
use leasehold_testkit::postgres::Cluster;
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use leasehold_txn::{Abort, Error, Failure, Policy, Pool, run};

use crate::fixture::{Fixture, PATIENCE, TEST, eager};

/// The whole statement: `BEGIN … READ COMMITTED` has its letters too.
const COMMIT: &str = "COMMIT\0";

/// Marks a statement for the proxy.
const MIDDLE: &str = "SELECT 'in the middle of the body'";

async fn write_both(pool: &Pool, policy: &Policy) -> Result<(), Error> {
    run::<_, Infallible, _>(pool, TEST, policy, |tx| {
        Box::pin(async move {
            tx.execute("INSERT INTO \"left\" VALUES (1)", &[]).await?;
            tx.batch_execute(MIDDLE).await?;
            tx.execute("INSERT INTO \"right\" VALUES (1)", &[]).await?;
            Ok(())
        })
    })
    .await
    .map_err(Failure::into_error)
}

/// How a transaction ends, and how many writes there are, when this fault strikes here.
async fn struck(at: Trigger, action: Action) -> (Error, i64) {
    let fixture = Fixture::start().await;
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let pool = Pool::new(fixture.config_through(&proxy).size_max(1)).unwrap();
    let rule = proxy.add(Rule::on(at).then(action));
    let error = write_both(&pool, &eager(3)).await.unwrap_err();
    assert_eq!(rule.count(), 1, "struck once, tried once");
    fixture.no_session("state <> 'idle'").await;
    let writes = fixture.whole_writes().await;

    // The pool replaces the broken connection.
    fixture.outside.batch_execute("TRUNCATE \"left\", \"right\"").await.unwrap();
    write_both(&pool, &eager(1)).await.unwrap();
    assert_eq!(pool.size(), 1);
    (error, writes)
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn connection_lost_before_commit_was_sent_means_nothing_happened() {
    for (at, action) in [
        ("BEGIN", Action::Cut),
        ("BEGIN", Action::DropReply),
        (MIDDLE, Action::Cut),
        (MIDDLE, Action::DropReply),
    ] {
        let (error, writes) = struck(Trigger::Request(at.into()), action).await;
        assert_eq!(
            (error.code(), error.class()),
            ("txn.connection_lost", Class::Unavailable),
            "{at:?} {action:?}"
        );
        assert_eq!(writes, 0);
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn commit_that_never_arrived_is_unknown_and_did_not_happen() {
    let (error, writes) = struck(Trigger::Request(COMMIT.into()), Action::Cut).await;
    assert_eq!((error.code(), error.class()), ("txn.unknown_outcome", Class::Indeterminate));
    assert_eq!(writes, 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn commit_whose_answer_was_lost_is_unknown_and_did_happen() {
    let (error, writes) = struck(Trigger::Reply(COMMIT.into()), Action::Cut).await;
    assert_eq!((error.code(), error.class()), ("txn.unknown_outcome", Class::Indeterminate));
    assert_eq!(writes, 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn connection_known_to_be_dead_is_not_asked_to_commit() {
    let fixture = Fixture::start().await;
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let pool = Pool::new(fixture.config_through(&proxy)).unwrap();
    let proxy = &proxy;
    let error = run::<_, Infallible, _>(&pool, TEST, &eager(1), |tx| {
        Box::pin(async move {
            tx.execute("INSERT INTO \"left\" VALUES (1)", &[]).await?;
            proxy.cut_all();
            // The body does not care; the outcome is known nevertheless.
            while tx.batch_execute("SELECT 1").await.is_ok() {}
            Ok(())
        })
    })
    .await
    .unwrap_err()
    .into_error();
    assert_eq!(error.code(), "txn.connection_lost", "{error:?}");
    assert_eq!(fixture.whole_writes().await, 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn deadline_tells_silence_in_the_body_from_silence_after_commit() {
    let silences =
        [("BEGIN", "txn.deadline_passed"), (MIDDLE, "txn.deadline_passed"), (COMMIT, "txn.unknown_outcome")];
    // Each waits for its deadline, so all at once.
    join_all(silences.map(|(at, code)| async move {
        let mut time = Duration::from_millis(250);
        // On a busy machine the deadline may pass before the silence begins.
        while !silence(at, code, time).await {
            time *= 2;
            assert!(time < PATIENCE, "{at:?} is never sent");
        }
    }))
    .await;
}

/// A transaction that is given so much time, and hears nothing from this statement on. Whether it came to that.
async fn silence(at: &str, code: &str, time: Duration) -> bool {
    let fixture = Fixture::start().await;
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let pool = Pool::new(fixture.config_through(&proxy).size_max(1)).unwrap();
    // A first connection, so that the deadline is not spent on connecting.
    leasehold_txn::Statement::read(TEST, "SELECT 1").query(&pool, &eager(1), &[]).await.unwrap();
    let rule = proxy.add(Rule::on(Trigger::Request(at.as_bytes().to_vec())).then(Action::Blackhole));
    let policy = Policy::none().until(Deadline::after(time));
    let error = write_both(&pool, &policy).await.unwrap_err();
    let is_silent = rule.count() == 1 || error.code() == "txn.unknown_outcome";
    assert_eq!(error.code(), if is_silent { code } else { "txn.deadline_passed" }, "{at:?}");
    proxy.cut_all();
    fixture.no_session("state <> 'idle'").await;
    assert_eq!(fixture.whole_writes().await, 0);
    is_silent
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn deadline_in_the_past_starts_nothing() {
    let fixture = Fixture::start().await;
    let pool = fixture.pool();
    let error = write_both(&pool, &Policy::none().until(Deadline::after(Duration::ZERO))).await.unwrap_err();
    assert_eq!((error.code(), error.class()), ("txn.deadline_passed", Class::Unavailable));
    assert_eq!(pool.size(), 0, "not even a connection");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn statements_polled_together_do_not_wait_for_each_other() {
    let fixture = Fixture::start().await;
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let pool = Pool::new(fixture.config_through(&proxy).size_max(1)).unwrap();
    let sql = "SELECT $1::text";
    let echo = leasehold_txn::Statement::read(TEST, sql);
    echo.query(&pool, &eager(1), &[&"prepared from here on"]).await.unwrap();

    let never = Action::Delay(Duration::from_secs(3_600));
    let answer = proxy.add(Rule::on(Trigger::Reply(b"the first".to_vec())).then(never));
    let second =
        proxy.add(Rule::on(Trigger::Request(b"the second".to_vec())).then(Action::Delay(Duration::ZERO)));
    let second = &second;
    let failure = tokio::time::timeout(
        PATIENCE,
        run::<(), _, _>(&pool, TEST, &eager(1), |tx| {
            Box::pin(async move {
                let statements: [(&str, leasehold_txn::Parameters<'_>); 2] =
                    [(sql, &[&"the first"]), (sql, &[&"the second"])];
                tokio::select! {
                    answered = tx.execute_all(&statements) => panic!("answered through a silent line: {answered:?}"),
                    () = second.fired() => Err(Abort::Condition("sent")),
                }
            })
        }),
    )
    .await
    .expect("the second statement waits for the first")
    .unwrap_err();
    assert!(matches!(failure, Failure::Condition("sent")), "{failure:?}");
    answer.fired().await;
}

//! COMMIT is success only when the server committed.

use std::convert::Infallible;

use leasehold_txn::{Dialect, Isolation, Pool, run};

use crate::fixture::{Fixture, TEST, eager};

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn body_that_swallows_an_error_does_not_succeed() {
    let fixture = Fixture::start().await;
    let pool = fixture.pool();
    let error = run::<_, Infallible, _>(&pool, TEST, &eager(1), |tx| {
        Box::pin(async move {
            tx.execute("INSERT INTO \"left\" VALUES (1)", &[]).await?;
            let _ = tx.execute("INSERT INTO counter VALUES (1, 0, NULL)", &[]).await;
            Ok(())
        })
    })
    .await
    .unwrap_err()
    .into_error();
    assert_eq!((error.code(), error.sqlstate()), ("txn.database", Some("23505")), "{error:?}");
    assert_eq!(fixture.whole_writes().await, 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn body_that_never_looked_at_a_failed_statement_does_not_succeed() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1)).unwrap();
    let error = run::<_, Infallible, _>(&pool, TEST, &eager(1), |tx| {
        Box::pin(async move {
            tx.execute("INSERT INTO \"left\" VALUES (1)", &[]).await?;
            let mut failing = Box::pin(tx.batch_execute("SELECT 1/0"));
            assert!(futures_util::poll!(failing.as_mut()).is_pending());
            drop(failing);
            Ok(())
        })
    })
    .await
    .unwrap_err()
    .into_error();
    assert_eq!((error.code(), error.sqlstate()), ("txn.database", Some("25P02")), "{error:?}");
    assert_eq!(fixture.whole_writes().await, 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn statement_that_is_not_waited_for_is_part_of_the_transaction() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1)).unwrap();
    run::<_, Infallible, _>(&pool, TEST, &eager(1), |tx| {
        Box::pin(async move {
            tx.execute("INSERT INTO \"left\" VALUES (1)", &[]).await?;
            let mut sent = Box::pin(tx.batch_execute("INSERT INTO \"right\" VALUES (1)"));
            assert!(futures_util::poll!(sent.as_mut()).is_pending());
            drop(sent);
            Ok(())
        })
    })
    .await
    .unwrap();
    assert_eq!(fixture.whole_writes().await, 1);
    assert_eq!((pool.size(), pool.idle()), (1, 1));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn error_undone_by_a_savepoint_does_not_stand_in_the_way() {
    let fixture = Fixture::start().await;
    let pool = fixture.pool();
    run::<_, Infallible, _>(&pool, TEST, &eager(1), |tx| {
        Box::pin(async move {
            tx.batch_execute("INSERT INTO \"left\" VALUES (1); SAVEPOINT here").await?;
            let _ = tx.execute("INSERT INTO counter VALUES (1, 0, NULL)", &[]).await;
            tx.batch_execute("ROLLBACK TO here; INSERT INTO \"right\" VALUES (1)").await?;
            Ok(())
        })
    })
    .await
    .unwrap();
    assert_eq!(fixture.whole_writes().await, 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn isolation_is_pinned_whatever_the_session_default() {
    let fixture = Fixture::start().await;
    for (isolation, expected) in
        [(Isolation::ReadCommitted, "read committed"), (Isolation::RepeatableRead, "repeatable read")]
    {
        // The role of this connection string wants another level.
        let url =
            fixture.url().replace("options=", "options=-c%20default_transaction_isolation%3Dserializable%20");
        let config = leasehold_txn::Config::new(url.parse().unwrap())
            .dialect(Dialect::Postgres { isolation, retry_conflicts: false });
        let pool = Pool::new(config).unwrap();
        let level = run::<String, Infallible, _>(&pool, TEST, &eager(1), |tx| {
            Box::pin(async move { Ok(tx.query_one("SHOW transaction_isolation", &[]).await?.try_get(0)?) })
        })
        .await
        .unwrap();
        assert_eq!(level, expected);
        let alone = leasehold_txn::Statement::read(TEST, "SHOW transaction_isolation");
        let rows = alone.query(&pool, &eager(1), &[]).await.unwrap();
        assert_eq!(rows[0].get::<_, String>(0), expected, "of a lone statement");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn several_statements_run_in_order_in_one_go() {
    let fixture = Fixture::start().await;
    let pool = fixture.pool();
    let touched = run::<_, Infallible, _>(&pool, TEST, &eager(1), |tx| {
        Box::pin(async move {
            Ok(tx
                .execute_all(&[
                    ("UPDATE counter SET version = 5 WHERE id = $1", &[&1_i64]),
                    ("UPDATE counter SET version = version * 2", &[]),
                    ("DELETE FROM counter WHERE id = $1", &[&99_i64]),
                ])
                .await?)
        })
    })
    .await
    .unwrap();
    assert_eq!(touched, [1, 2, 0]);
    assert_eq!(fixture.number("SELECT version FROM counter WHERE id = 1").await, 10);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn statement_known_to_the_connection_does_not_overtake_a_new_one() {
    const KNOWN: &str = "UPDATE counter SET version = version * 2";
    let fixture = Fixture::start().await;
    let pool = Pool::new(leasehold_txn::Config::new(fixture.url().parse().unwrap()).size_max(1)).unwrap();
    for _ in 0..3 {
        let known = leasehold_txn::Statement::write(TEST, KNOWN);
        known.execute(&pool, &eager(1), &[]).await.unwrap();
    }
    run::<_, Infallible, _>(&pool, TEST, &eager(1), |tx| {
        Box::pin(async move {
            tx.execute(KNOWN, &[]).await?;
            let new = "UPDATE counter SET version = 5 WHERE id = $1";
            Ok(tx.execute_all(&[(new, &[&1_i64]), (KNOWN, &[])]).await?)
        })
    })
    .await
    .unwrap();
    assert_eq!(fixture.number("SELECT version FROM counter WHERE id = 1").await, 10);
}

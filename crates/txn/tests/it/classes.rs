//! Every class of failure, from a real server's answer.

use std::convert::Infallible;

use leasehold_core::Class;
use leasehold_txn::{Abort, Dialect, Error, Failure, Pool, run};

use crate::fixture::{Fixture, SNAPSHOT, TEST, eager};

/// The error of a transaction that sends these statements and commits.
async fn error_of(fixture: &Fixture, dialect: Dialect, sql: &str) -> Error {
    let pool = Pool::new(fixture.config().dialect(dialect)).unwrap();
    let result = run::<_, Infallible, _>(&pool, TEST, &eager(2), |tx| {
        Box::pin(async move { Ok(tx.batch_execute(sql).await?) })
    })
    .await;
    result.expect_err("must fail").into_error()
}

/// Statements after which COMMIT fails with this SQLSTATE.
async fn fail_at_commit(fixture: &Fixture, sqlstate: &str) -> String {
    fixture
        .outside
        .batch_execute(&format!(
            "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{sqlstate}'; END $$;
             DROP TRIGGER IF EXISTS fail ON \"left\";
             CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON \"left\"
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail();"
        ))
        .await
        .unwrap();
    "INSERT INTO \"left\" VALUES (1); INSERT INTO \"right\" VALUES (1)".to_owned()
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn each_server_error_has_its_code_and_class() {
    let fixture = Fixture::start().await;
    let columns = (0..1_601).map(|n| format!("c{n} int")).collect::<Vec<_>>().join(", ");
    for (sql, code, class, sqlstate) in [
        ("SELECT count(*) FROM counter FOR UPDATE", "txn.unsupported", Class::Internal, "0A000"),
        (
            "CREATE TABLE wide (body text PRIMARY KEY);
             INSERT INTO wide SELECT string_agg(md5(n::text), '') FROM generate_series(1, 1000) n",
            "txn.limit_exceeded",
            Class::Rejected,
            "54000",
        ),
        (
            "CREATE FUNCTION deeper(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN deeper($1); END $$;
             SELECT deeper(1)",
            "txn.limit_exceeded",
            Class::Rejected,
            "54001",
        ),
        (&format!("CREATE TABLE wide ({columns})"), "txn.limit_exceeded", Class::Rejected, "54011"),
        ("DO $$ BEGIN RAISE SQLSTATE '53200'; END $$", "txn.limit_exceeded", Class::Rejected, "53200"),
        ("INSERT INTO counter VALUES (1, 0, NULL)", "txn.database", Class::Rejected, "23505"),
        ("SELECT * FROM absent", "txn.database", Class::Internal, "42P01"),
        ("SELECT 'x'::int", "txn.database", Class::Rejected, "22P02"),
        ("SET TRANSACTION READ ONLY; DELETE FROM counter", "txn.database", Class::Unavailable, "25006"),
        ("SET LOCAL statement_timeout = 1; SELECT pg_sleep(60)", "txn.database", Class::Unavailable, "57014"),
        ("SELECT pg_terminate_backend(pg_backend_pid())", "txn.connection_lost", Class::Unavailable, "57P01"),
    ] {
        let error = error_of(&fixture, Dialect::POSTGRES, sql).await;
        assert_eq!(
            (error.code(), error.class(), error.sqlstate()),
            (code, class, Some(sqlstate)),
            "{error:?}"
        );
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn errors_at_commit_are_definite_unless_the_state_leaves_it_open() {
    let fixture = Fixture::start().await;
    for (sqlstate, dialect, code, class) in [
        ("40001", SNAPSHOT, "txn.conflict_exhausted", Class::Conflict),
        ("40001", Dialect::POSTGRES, "txn.database", Class::Conflict),
        ("0A000", SNAPSHOT, "txn.unsupported", Class::Internal),
        ("54000", SNAPSHOT, "txn.limit_exceeded", Class::Rejected),
        ("23505", SNAPSHOT, "txn.database", Class::Rejected),
        ("08006", SNAPSHOT, "txn.unknown_outcome", Class::Indeterminate),
        ("57P02", SNAPSHOT, "txn.unknown_outcome", Class::Indeterminate),
        ("40003", SNAPSHOT, "txn.unknown_outcome", Class::Indeterminate),
        ("XX000", SNAPSHOT, "txn.unknown_outcome", Class::Indeterminate),
    ] {
        let sql = fail_at_commit(&fixture, sqlstate).await;
        let error = error_of(&fixture, dialect, &sql).await;
        assert_eq!(
            (error.code(), error.class(), error.sqlstate()),
            (code, class, Some(sqlstate)),
            "{error:?}"
        );
        assert_eq!(fixture.whole_writes().await, 0);
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn server_that_ends_the_session_during_commit_leaves_the_outcome_unknown() {
    let fixture = Fixture::start().await;
    fixture
        .outside
        .batch_execute(
            "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER die AFTER INSERT ON \"left\"
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die();",
        )
        .await
        .unwrap();
    let error = error_of(&fixture, Dialect::POSTGRES, "INSERT INTO \"left\" VALUES (1)").await;
    assert_eq!((error.code(), error.sqlstate()), ("txn.unknown_outcome", Some("57P01")));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn first_error_is_reported_in_place_of_those_that_follow_from_it() {
    let fixture = Fixture::start().await;
    let pool = fixture.pool();
    let error = run::<(), Infallible, _>(&pool, TEST, &eager(1), |tx| {
        Box::pin(async move {
            let _ = tx.execute("INSERT INTO counter VALUES (1, 0, NULL)", &[]).await;
            tx.query("SELECT 1", &[]).await?;
            Ok(())
        })
    })
    .await
    .unwrap_err()
    .into_error();
    assert_eq!(error.sqlstate(), Some("23505"), "{error:?}");
    assert_eq!(error.database_error().unwrap().constraint(), Some("counter_pkey"));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn condition_is_returned_at_once_and_rolls_back() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().dialect(SNAPSHOT)).unwrap();
    let failure = run::<(), _, _>(&pool, TEST, &eager(5), |tx| {
        Box::pin(async move {
            tx.execute("INSERT INTO \"left\" VALUES (1)", &[]).await?;
            Err(Abort::Condition("taken"))
        })
    })
    .await
    .unwrap_err();
    assert!(matches!(failure, Failure::Condition("taken")), "{failure:?}");
    assert_eq!(fixture.whole_writes().await, 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn no_form_of_an_error_shows_row_values() {
    let fixture = Fixture::start().await;
    fixture
        .outside
        .batch_execute("CREATE TABLE secret (body text PRIMARY KEY); INSERT INTO secret VALUES ('hunter2')")
        .await
        .unwrap();
    for sql in [
        "INSERT INTO secret VALUES ('hunter2')",
        "SELECT 'hunter2'::int",
        "DO $$ BEGIN RAISE 'hunter2'; END $$",
    ] {
        let error = error_of(&fixture, Dialect::POSTGRES, sql).await;
        let mut shown = format!("{error} {error:?}");
        let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
        while let Some(error) = cause {
            shown += &format!(" {error} {error:?}");
            cause = error.source();
        }
        assert!(!shown.contains("hunter2"), "{shown}");
        let driver = format!("{:?}", error.database_error().unwrap().driver());
        assert!(
            driver.contains("hunter2"),
            "the server no longer says it, so this test proves nothing: {driver}"
        );
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn changed_table_makes_cached_statements_be_prepared_anew() {
    let fixture = Fixture::start().await;
    let read = async |pool: &Pool| {
        run::<_, Infallible, _>(pool, TEST, &eager(2), |tx| {
            Box::pin(async move { Ok(tx.query("SELECT * FROM counter", &[]).await?[0].len()) })
        })
        .await
    };
    let retrying = Pool::new(fixture.config().dialect(SNAPSHOT).size_max(1)).unwrap();
    assert_eq!(read(&retrying).await.unwrap(), 3);
    fixture.outside.batch_execute("ALTER TABLE counter ADD COLUMN extra int").await.unwrap();
    assert_eq!(read(&retrying).await.unwrap(), 4);

    let plain = Pool::new(fixture.config().size_max(1)).unwrap();
    assert_eq!(read(&plain).await.unwrap(), 4);
    fixture.outside.batch_execute("ALTER TABLE counter DROP COLUMN extra").await.unwrap();
    let error = read(&plain).await.unwrap_err().into_error();
    assert_eq!((error.code(), error.sqlstate()), ("txn.database", Some("0A000")));
    assert_eq!(read(&plain).await.unwrap(), 3);
}

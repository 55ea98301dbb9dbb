//! A lone statement: one round trip, the same answers.

use leasehold_core::Class;
use leasehold_testkit::postgres::Cluster;
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use leasehold_txn::{DsqlLevel, Pool, Statement, detect_level};

use crate::fixture::{Fixture, TEST, eager};

const BUMP: Statement<'_> =
    Statement::write(TEST, "UPDATE counter SET version = version + $1 WHERE id = 1 RETURNING version");

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn rows_and_counts_come_back() {
    let fixture = Fixture::start().await;
    let pool = fixture.pool();
    let rows = BUMP.query(&pool, &eager(1), &[&5_i64]).await.unwrap();
    assert_eq!(rows[0].get::<_, i64>(0), 5);
    assert_eq!(BUMP.execute(&pool, &eager(1), &[&5_i64]).await.unwrap(), 1);
    let all = Statement::write(TEST, "UPDATE counter SET owner = 1");
    assert_eq!(all.execute(&pool, &eager(1), &[]).await.unwrap(), 2);
    assert_eq!(fixture.number("SELECT version FROM counter WHERE id = 1").await, 10);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn no_begin_and_no_commit_is_sent() {
    let fixture = Fixture::start().await;
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let pool = Pool::new(fixture.config_through(&proxy)).unwrap();
    let begin = proxy.add(Rule::on(Trigger::Request(b"BEGIN".to_vec())).then(Action::Cut));
    let commit = proxy.add(Rule::on(Trigger::Request(b"COMMIT".to_vec())).then(Action::Cut));
    BUMP.query(&pool, &eager(1), &[&5_i64]).await.unwrap();
    assert_eq!((begin.count(), commit.count()), (0, 0));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_answer_is_unknown_for_a_write_and_not_for_a_read() {
    let fixture = Fixture::start().await;
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let pool = Pool::new(fixture.config_through(&proxy).size_max(1)).unwrap();
    let mark = "find me in the stream";
    let write = "UPDATE counter SET version = version + 1 WHERE id = 1 AND $1::text <> ''";
    let read = "SELECT version FROM counter WHERE $1::text <> ''";
    for (statement, code, class) in [
        (Statement::write(TEST, write), "txn.unknown_outcome", Class::Indeterminate),
        (Statement::read(TEST, read), "txn.connection_lost", Class::Unavailable),
    ] {
        let rule = proxy.add(Rule::on(Trigger::Request(mark.as_bytes().to_vec())).then(Action::DropReply));
        let error = statement.execute(&pool, &eager(3), &[&mark]).await.unwrap_err();
        assert_eq!((error.code(), error.class(), rule.count()), (code, class, 1));
    }
    assert_eq!(fixture.number("SELECT version FROM counter WHERE id = 1").await, 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn connection_lost_while_preparing_means_nothing_happened() {
    let fixture = Fixture::start().await;
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let pool = Pool::new(fixture.config_through(&proxy)).unwrap();
    proxy.add(Rule::on(Trigger::Request(b"RETURNING version".to_vec())).then(Action::DropReply));
    let error = BUMP.execute(&pool, &eager(3), &[&1_i64]).await.unwrap_err();
    assert_eq!(error.code(), "txn.connection_lost");
    assert_eq!(fixture.number("SELECT version FROM counter WHERE id = 1").await, 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn refused_write_is_definite() {
    let fixture = Fixture::start().await;
    let pool = fixture.pool();
    let insert = Statement::write(TEST, "INSERT INTO counter VALUES (1, 0, NULL)");
    let error = insert.execute(&pool, &eager(3), &[]).await.unwrap_err();
    assert_eq!((error.code(), error.sqlstate()), ("txn.database", Some("23505")));
    assert_eq!((pool.size(), pool.idle()), (1, 1));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn level_is_what_the_server_can_lock() {
    let fixture = Fixture::start().await;
    let pool = fixture.pool();
    let probe = "SELECT 1 FROM counter WHERE id = -1 FOR KEY SHARE";
    assert_eq!(detect_level(&pool, &eager(1), probe).await.unwrap(), DsqlLevel::KeyShare);
    // PostgreSQL refuses a lock on an aggregate with the code that old DSQL has for the lock itself.
    let refused = "SELECT count(*) FROM counter WHERE id = -1 FOR KEY SHARE";
    assert_eq!(detect_level(&pool, &eager(1), refused).await.unwrap(), DsqlLevel::UpdateOnly);
    let error = detect_level(&pool, &eager(1), "SELECT 1 FROM absent FOR KEY SHARE").await.unwrap_err();
    assert_eq!(error.sqlstate(), Some("42P01"));
}

//! Limits of a transaction that are told at COMMIT, or at its next use.

use std::time::Duration;

use crate::fixture::Fixture;

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn bytes_are_counted_and_told_at_commit() {
    let fixture = Fixture::start().await;
    let one = fixture.client().await;
    one.ok("CREATE TABLE blobs (id int PRIMARY KEY, body text)").await;
    let insert = |from: u32, count: u32| {
        format!(
            "INSERT INTO blobs SELECT n, repeat('x', 1000000) FROM generate_series({from}, {}) n",
            from + count - 1
        )
    };
    one.ok("BEGIN").await;
    one.ok(&insert(1, 10)).await;
    one.ok("COMMIT").await;
    one.ok("BEGIN").await;
    one.ok(&insert(11, 6)).await;
    assert_eq!(one.ok("UPDATE blobs SET body = body || 'y' WHERE id <= 6").await, "6");
    assert_eq!(one.fails("COMMIT", "54000").await, "54000 transaction size limit 10mb exceeded");
    assert_eq!(one.ok("SELECT count(*) FROM blobs").await, "10");
    one.fails(&insert(11, 11), "54000").await;
    assert_eq!(
        one.ok("SELECT count(*) FROM blobs").await,
        "10",
        "a statement by itself is a transaction too"
    );
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn old_transaction_fails_at_its_next_use() {
    let fixture = Fixture::with(|config| config.cluster.limits.age = Duration::ZERO).await;
    let one = fixture.client().await;
    one.ok("BEGIN").await;
    assert_eq!(one.fails("SELECT 1", "54000").await, "54000 transaction age limit of 300s exceeded");
    one.fails("SELECT 1", "25P02").await;
    one.ok("ROLLBACK").await;
    one.ok("BEGIN").await;
    one.fails("COMMIT", "54000").await;
    assert_eq!(one.ok("SELECT 1").await, "1");
}

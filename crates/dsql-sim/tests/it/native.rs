//! The mode in which PostgreSQL's own row locks decide.

use leasehold_dsql_sim::Mode;

use crate::fixture::Fixture;

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn first_to_write_wins_and_the_other_is_told_at_the_statement() {
    let fixture = Fixture::with(|config| config.cluster.mode = Mode::Native).await;
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE t (id int PRIMARY KEY, value int)").await;
    one.ok("INSERT INTO t VALUES (1, 0)").await;
    one.ok("BEGIN").await;
    one.ok("UPDATE t SET value = 1 WHERE id = 1").await;
    two.ok("BEGIN").await;
    let told = two.fails("SELECT value FROM t WHERE id = 1 FOR UPDATE", "40001").await;
    assert!(told.ends_with("(OC000)"), "{told}");
    two.fails("SELECT 1", "25P02").await;
    two.ok("ROLLBACK").await;
    two.fails("UPDATE t SET value = 2 WHERE id = 1", "40001").await;
    one.ok("COMMIT").await;
    two.ok("UPDATE t SET value = value + 2 WHERE id = 1").await;
    assert_eq!(one.ok("SELECT value FROM t").await, "3");
    two.fails("TRUNCATE t", "0A000").await;
}

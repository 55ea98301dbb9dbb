//! Locking reads that the simulator could not claim: it refuses them, rather than lose their conflicts or let others
//! wait for their row locks at PostgreSQL.

use crate::fixture::{Fixture, Session};

async fn lenient() -> (Fixture, Session) {
    let fixture = Fixture::with(|config| config.cluster.is_strict = false).await;
    let one = tables(&fixture).await;
    (fixture, one)
}

async fn tables(fixture: &Fixture) -> Session {
    let one = fixture.client().await;
    one.ok("CREATE TABLE t (id int PRIMARY KEY, value int)").await;
    one.ok("CREATE TABLE copies (id int PRIMARY KEY, value int)").await;
    one.ok("CREATE VIEW seen AS SELECT * FROM t").await;
    one.ok("INSERT INTO t VALUES (1, 0)").await;
    one
}

const BELOW_THE_OUTERMOST_QUERY: &[&str] = &[
    "WITH x AS (SELECT * FROM t WHERE id = 1 FOR UPDATE) SELECT * FROM x",
    "SELECT * FROM (SELECT * FROM t WHERE id = 1 FOR UPDATE) x",
    "(SELECT * FROM t WHERE id = 1 FOR KEY SHARE)",
    "INSERT INTO copies SELECT * FROM t WHERE id = 1 FOR UPDATE",
    "UPDATE t SET value = 1 WHERE id IN (SELECT id FROM t WHERE id = 1 FOR UPDATE)",
    "EXPLAIN (ANALYZE) SELECT * FROM t WHERE id = 1 FOR UPDATE",
    "CREATE VIEW locking AS SELECT * FROM t WHERE id = 1 FOR UPDATE",
];

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn locking_clause_below_the_outermost_query_is_refused_in_strict_and_in_lenient_mode() {
    let strict = Fixture::start().await;
    let one = tables(&strict).await;
    let (_lenient, two) = lenient().await;
    for sql in BELOW_THE_OUTERMOST_QUERY {
        for session in [&one, &two] {
            let told = session.fails(sql, "0A000").await;
            assert!(told.ends_with("only on the outermost query"), "{sql}: {told}");
        }
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn locking_read_of_a_view_is_refused() {
    let fixture = Fixture::start().await;
    let one = tables(&fixture).await;
    for clause in ["FOR UPDATE", "FOR KEY SHARE", "FOR UPDATE OF seen"] {
        let told = one.fails(&format!("SELECT * FROM seen WHERE id = 1 {clause}"), "0A000").await;
        assert!(told.ends_with("only on a stored table"), "{told}");
    }
    let error = one.client.query("SELECT * FROM seen WHERE id = $1 FOR UPDATE", &[&1_i32]).await.unwrap_err();
    assert!(crate::fixture::told(&error).starts_with("0A000"), "{error}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn leniency_does_not_reach_what_is_no_stored_table() {
    let (_fixture, one) = lenient().await;
    for sql in [
        "SELECT * FROM (SELECT * FROM t) x FOR UPDATE",
        "SELECT * FROM t JOIN seen USING (id) FOR UPDATE",
        "SELECT * FROM (t CROSS JOIN copies) FOR UPDATE",
        "SELECT * FROM t FOR UPDATE OF copies",
        // The name of a table, and not the table.
        "WITH copies AS (SELECT * FROM t) SELECT * FROM copies WHERE id = 1 FOR UPDATE",
    ] {
        let told = one.fails(sql, "0A000").await;
        assert!(told.ends_with("only on a stored table"), "{sql}: {told}");
    }
    one.ok("SELECT * FROM t JOIN seen USING (id) WHERE t.value > -1 FOR UPDATE OF t").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn table_that_is_not_there_is_told_as_such() {
    let fixture = Fixture::start().await;
    let one = tables(&fixture).await;
    one.fails("SELECT * FROM missing WHERE id = 1 FOR UPDATE", "42P01").await;
    assert_eq!(one.ok("SELECT value FROM t WHERE id = 1 FOR UPDATE").await, "0");
}

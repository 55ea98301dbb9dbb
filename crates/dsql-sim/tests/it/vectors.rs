//! What was seen on real clusters, one test for each.

use crate::fixture::{Fixture, Session};

async fn two_rows(fixture: &Fixture) -> (Session, Session) {
    let setup = fixture.client().await;
    setup.ok("CREATE TABLE doctors (id int PRIMARY KEY, on_call int NOT NULL, name text)").await;
    setup.ok("INSERT INTO doctors VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c')").await;
    (fixture.client().await, fixture.client().await)
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn second_to_commit_loses_a_row_both_updated() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    assert_eq!(one.ok("UPDATE doctors SET on_call = 2 WHERE id = 1").await, "1");
    assert_eq!(two.ok("UPDATE doctors SET on_call = 3 WHERE id = 1").await, "1");
    two.ok("COMMIT").await;
    one.commit_conflicts().await;
    assert_eq!(one.ok("SELECT on_call FROM doctors WHERE id = 1").await, "3");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn first_writer_may_commit_first_as_well() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    assert_eq!(one.ok("UPDATE doctors SET on_call = 2 WHERE id = 1").await, "1");
    assert_eq!(two.ok("UPDATE doctors SET on_call = 3 WHERE id = 1").await, "1");
    one.ok("COMMIT").await;
    two.commit_conflicts().await;
    assert_eq!(one.ok("SELECT on_call FROM doctors WHERE id = 1").await, "2");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn update_loses_to_a_committed_for_update() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    assert_eq!(one.ok("SELECT on_call FROM doctors WHERE id = 1 FOR UPDATE").await, "1");
    assert_eq!(two.ok("UPDATE doctors SET on_call = 3 WHERE id = 1").await, "1");
    one.ok("COMMIT").await;
    two.commit_conflicts().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn delete_loses_to_a_committed_key_share() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    assert_eq!(one.ok("SELECT name FROM doctors WHERE id = 1 FOR KEY SHARE").await, "a");
    assert_eq!(two.ok("DELETE FROM doctors WHERE id = 1").await, "1");
    one.ok("COMMIT").await;
    two.commit_conflicts().await;
}

async fn parent_and_child(fixture: &Fixture) -> (Session, Session) {
    let setup = fixture.client().await;
    setup.ok("CREATE TABLE parents (id int PRIMARY KEY, name text)").await;
    setup.ok("CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents (id))").await;
    setup.ok("INSERT INTO parents VALUES (1, 'a'), (2, 'b')").await;
    (fixture.client().await, fixture.client().await)
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn referencing_insert_and_delete_of_the_referenced_row_conflict() {
    for insert_first in [true, false] {
        let fixture = Fixture::start().await;
        let (child, parent) = parent_and_child(&fixture).await;
        child.ok("BEGIN").await;
        parent.ok("BEGIN").await;
        assert_eq!(child.ok("INSERT INTO children VALUES (1, 1)").await, "1");
        assert_eq!(parent.ok("DELETE FROM parents WHERE id = 1").await, "1");
        let (winner, loser) = if insert_first { (&child, &parent) } else { (&parent, &child) };
        winner.ok("COMMIT").await;
        loser.commit_conflicts().await;
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn referencing_insert_that_committed_before_the_delete_was_sent_makes_the_delete_lose_at_commit() {
    let fixture = Fixture::start().await;
    let (child, parent) = parent_and_child(&fixture).await;
    parent.ok("BEGIN").await;
    assert_eq!(parent.ok("SELECT count(*) FROM children").await, "0");
    child.ok("INSERT INTO children VALUES (1, 1)").await;
    assert_eq!(parent.ok("DELETE FROM parents WHERE id = 1").await, "1");
    parent.commit_conflicts().await;
    // Without a snapshot from before, it is no conflict but a broken reference.
    parent.fails("DELETE FROM parents WHERE id = 1", "23503").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn referencing_insert_and_update_of_other_columns_both_commit() {
    let fixture = Fixture::start().await;
    let (child, parent) = parent_and_child(&fixture).await;
    child.ok("BEGIN").await;
    parent.ok("BEGIN").await;
    child.ok("INSERT INTO children VALUES (1, 1)").await;
    assert_eq!(parent.ok("UPDATE parents SET name = 'z' WHERE id = 1").await, "1");
    parent.ok("COMMIT").await;
    child.ok("COMMIT").await;
    assert_eq!(
        child.ok("SELECT parent, name FROM children JOIN parents ON parents.id = parent").await,
        "1,z"
    );
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn disjoint_rows_both_commit() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    one.ok("UPDATE doctors SET on_call = 0 WHERE id = 1").await;
    two.ok("UPDATE doctors SET on_call = 0 WHERE id = 2").await;
    two.ok("COMMIT").await;
    one.ok("COMMIT").await;
    assert_eq!(one.ok("SELECT sum(on_call) FROM doctors").await, "1");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn write_skew_is_possible_with_plain_reads() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    for session in [&one, &two] {
        session.ok("BEGIN").await;
        assert_eq!(session.ok("SELECT sum(on_call) FROM doctors WHERE id < 3").await, "2");
    }
    one.ok("UPDATE doctors SET on_call = 0 WHERE id = 1").await;
    two.ok("UPDATE doctors SET on_call = 0 WHERE id = 2").await;
    one.ok("COMMIT").await;
    two.ok("COMMIT").await;
    assert_eq!(one.ok("SELECT sum(on_call) FROM doctors WHERE id < 3").await, "0");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn write_skew_is_impossible_with_for_update_on_what_was_read() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    one.ok("SELECT on_call FROM doctors WHERE id = 2 FOR UPDATE").await;
    two.ok("SELECT on_call FROM doctors WHERE id = 1 FOR UPDATE").await;
    one.ok("UPDATE doctors SET on_call = 0 WHERE id = 1").await;
    two.ok("UPDATE doctors SET on_call = 0 WHERE id = 2").await;
    one.ok("COMMIT").await;
    two.commit_conflicts().await;
    assert_eq!(one.ok("SELECT sum(on_call) FROM doctors WHERE id < 3").await, "1");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn write_skew_of_keys_is_impossible_with_key_share_on_what_was_read() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    one.ok("SELECT on_call FROM doctors WHERE id = 2 FOR KEY SHARE").await;
    two.ok("SELECT on_call FROM doctors WHERE id = 1 FOR KEY SHARE").await;
    one.ok("DELETE FROM doctors WHERE id = 1").await;
    two.ok("DELETE FROM doctors WHERE id = 2").await;
    one.ok("COMMIT").await;
    two.commit_conflicts().await;
    assert_eq!(one.ok("SELECT count(*) FROM doctors").await, "2");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn loser_reports_all_rows_of_its_snapshot() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    assert_eq!(two.ok("SELECT count(*) FROM doctors").await, "3");
    assert_eq!(one.ok("UPDATE doctors SET on_call = 0 WHERE on_call = 1").await, "3");
    one.ok("COMMIT").await;
    assert_eq!(two.ok("UPDATE doctors SET on_call = 5 WHERE on_call = 1").await, "3");
    two.commit_conflicts().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn statement_that_crosses_the_row_limit_fails_and_the_transaction_with_it() {
    let fixture = Fixture::start().await;
    let (one, _) = two_rows(&fixture).await;
    let insert =
        |count: u32| format!("INSERT INTO doctors SELECT n + 10, 0, NULL FROM generate_series(1, {count}) n");
    one.ok("BEGIN").await;
    assert_eq!(one.ok(&insert(3000)).await, "3000");
    one.ok("COMMIT").await;
    one.ok("DELETE FROM doctors WHERE id > 10").await;
    one.ok("BEGIN").await;
    assert_eq!(one.fails(&insert(3001), "54000").await, "54000 transaction row limit exceeded");
    one.fails("SELECT 1", "25P02").await;
    one.ok("COMMIT").await;
    assert_eq!(
        one.ok("SELECT count(*) FROM doctors").await,
        "3",
        "COMMIT of a failed transaction rolls back"
    );
    one.fails(&insert(3001), "54000").await;
    assert_eq!(one.ok("SELECT count(*) FROM doctors").await, "3");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn rows_are_counted_over_the_statements_of_a_transaction() {
    let fixture = Fixture::start().await;
    let (one, _) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    one.ok("INSERT INTO doctors SELECT n + 10, 0, NULL FROM generate_series(1, 2000) n").await;
    one.ok("UPDATE doctors SET on_call = 9 WHERE id <= 1010 AND id > 10").await;
    one.fails("DELETE FROM doctors WHERE id = 1", "54000").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn one_ddl_per_transaction_and_no_dml_with_it() {
    let fixture = Fixture::start().await;
    let one = fixture.client().await;
    one.ok("BEGIN").await;
    one.ok("CREATE TABLE a (id int PRIMARY KEY)").await;
    let told = one.fails("CREATE TABLE b (id int PRIMARY KEY)", "0A000").await;
    assert_eq!(told, "0A000 multiple ddl statements not supported in a transaction");
    one.ok("ROLLBACK").await;
    one.ok("BEGIN").await;
    one.ok("CREATE TABLE a (id int PRIMARY KEY)").await;
    let told = one.fails("INSERT INTO a VALUES (1)", "0A000").await;
    assert_eq!(told, "0A000 ddl and dml are not supported in the same transaction");
    one.ok("ROLLBACK").await;
    one.ok("BEGIN").await;
    one.ok("CREATE TABLE a (id int PRIMARY KEY)").await;
    one.ok("COMMIT").await;
    assert_eq!(one.ok("INSERT INTO a VALUES (1)").await, "1");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn refusal_aborts_the_transaction() {
    let fixture = Fixture::start().await;
    let (one, _) = two_rows(&fixture).await;
    one.ok("BEGIN").await;
    one.fails("TRUNCATE doctors", "0A000").await;
    one.fails("SELECT 1", "25P02").await;
    one.fails("TRUNCATE doctors", "25P02").await;
    one.ok("ROLLBACK").await;
    one.ok("BEGIN").await;
    one.fails("SET TRANSACTION READ ONLY", "0A000").await;
    one.fails("SELECT 1", "25P02").await;
    one.ok("ROLLBACK").await;
    one.fails("TRUNCATE doctors", "0A000").await;
    assert_eq!(one.ok("SELECT 1").await, "1", "outside a transaction nothing sticks");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn repeatable_read_is_the_level_and_may_be_asked_for() {
    let fixture = Fixture::start().await;
    let one = fixture.client().await;
    one.ok("BEGIN ISOLATION LEVEL REPEATABLE READ").await;
    assert_eq!(one.ok("SHOW transaction_isolation").await, "repeatable read");
    one.ok("COMMIT").await;
    assert_eq!(one.ok("SHOW transaction_isolation").await, "repeatable read");
    one.fails("BEGIN ISOLATION LEVEL SERIALIZABLE", "0A000").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn what_dsql_does_not_take_is_refused_with_its_code() {
    let fixture = Fixture::start().await;
    let (one, _) = two_rows(&fixture).await;
    one.fails("CREATE INDEX i ON doctors (name)", "0A000").await;
    one.ok("BEGIN").await;
    one.fails("SAVEPOINT x", "0A000").await;
    one.ok("ROLLBACK").await;
    one.fails("CREATE TABLE s (id serial PRIMARY KEY)", "42704").await;
    one.fails("CREATE TABLE s (id int PRIMARY KEY, tags text[])", "0A000").await;
    one.fails("CREATE TABLE s (id bytea PRIMARY KEY)", "0A000").await;
    one.fails("SELECT pg_advisory_lock(1)", "0A000").await;
    one.fails("SELECT 1 FROM doctors WHERE id = 1 FOR SHARE", "0A000").await;
    one.fails("SELECT 1 FROM doctors WHERE name = 'a' FOR UPDATE", "0A000").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn query_of_several_statements_gives_a_result_each() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    let messages =
        one.client.simple_query("BEGIN; INSERT INTO doctors VALUES (7, 0, 'g'); COMMIT").await.unwrap();
    let completed = messages
        .iter()
        .filter(|message| matches!(message, tokio_postgres::SimpleQueryMessage::CommandComplete(_)));
    assert_eq!(completed.count(), 3);
    assert_eq!(two.ok("SELECT name FROM doctors WHERE id = 7").await, "g");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn query_of_several_statements_is_one_transaction() {
    let fixture = Fixture::start().await;
    let (one, two) = two_rows(&fixture).await;
    one.fails("INSERT INTO doctors VALUES (7, 0, 'g'); INSERT INTO doctors VALUES (7, 0, 'h')", "23505")
        .await;
    assert_eq!(two.ok("SELECT count(*) FROM doctors").await, "3");
    assert_eq!(one.ok("SELECT 1").await, "1");
}

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

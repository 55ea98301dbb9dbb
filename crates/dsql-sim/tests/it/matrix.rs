//! The conflict matrix, cell by cell, in both orders of commit and with both statements before or around the first
//! commit.

use crate::fixture::{Fixture, Session};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Access {
    Insert,
    Delete,
    UpdateKey,
    MoveKey,
    ForUpdate,
    UpdateOther,
    KeyShare,
}

use Access::{Delete, ForUpdate, Insert, KeyShare, MoveKey, UpdateKey, UpdateOther};

impl Access {
    fn sql(self, row: usize) -> String {
        match self {
            Insert => format!("INSERT INTO cells VALUES ({row}, 0)"),
            Delete => format!("DELETE FROM cells WHERE id = {row}"),
            // By the SET list: the value stays.
            UpdateKey => format!("UPDATE cells SET id = id WHERE id = {row}"),
            MoveKey => format!("UPDATE cells SET id = id + 1000 WHERE id = {row}"),
            ForUpdate => format!("SELECT value FROM cells WHERE id = {row} FOR UPDATE"),
            UpdateOther => format!("UPDATE cells SET value = value + 1 WHERE id = {row}"),
            KeyShare => format!("SELECT value FROM cells WHERE id = {row} FOR KEY SHARE"),
        }
    }

    fn conflicts(self, other: Access) -> bool {
        !matches!((self, other), (KeyShare, KeyShare | UpdateOther) | (UpdateOther, KeyShare))
    }
}

/// When the second transaction sends its statement.
#[derive(Clone, Copy, Debug)]
enum Timing {
    Together,
    AfterTheFirstCommit,
}

async fn check(one: &Session, two: &Session, row: usize, first: Access, second: Access, timing: Timing) {
    let cell = format!("{first:?} then {second:?}, {timing:?}");
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    // Both have their snapshot now.
    one.ok("SELECT count(*) FROM cells").await;
    two.ok("SELECT count(*) FROM cells").await;
    one.ok(&first.sql(row)).await;
    if matches!(timing, Timing::Together) {
        two.ok(&second.sql(row)).await;
        one.ok("COMMIT").await;
    } else {
        one.ok("COMMIT").await;
        two.run(&second.sql(row)).await.unwrap_or_else(|error| panic!("{cell}: {error}"));
    }
    let committed = two.run("COMMIT").await;
    match committed {
        Err(told) if first.conflicts(second) => {
            assert_eq!(told, "40001 change conflicts with another transaction (OC000)", "{cell}");
        }
        other => assert_eq!(other.is_ok(), !first.conflicts(second), "{cell}: {other:?}"),
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn every_pair_of_accesses_to_one_row_is_judged_by_the_matrix() {
    let fixture = Fixture::start().await;
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE cells (id int PRIMARY KEY, value int NOT NULL)").await;
    one.ok("INSERT INTO cells SELECT n, 0 FROM generate_series(1, 500) n").await;
    let mut row = 0;
    for first in [Delete, UpdateKey, MoveKey, ForUpdate, UpdateOther, KeyShare] {
        for second in [Delete, UpdateKey, MoveKey, ForUpdate, UpdateOther, KeyShare] {
            for timing in [Timing::Together, Timing::AfterTheFirstCommit] {
                row += 1;
                check(&one, &two, row, first, second, timing).await;
            }
        }
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn two_inserts_of_one_key_conflict() {
    let fixture = Fixture::start().await;
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE cells (id int PRIMARY KEY, value int NOT NULL)").await;
    check(&one, &two, 1, Insert, Insert, Timing::Together).await;
    check(&one, &two, 2, Insert, Insert, Timing::AfterTheFirstCommit).await;
    // A key that was there before is no conflict.
    one.fails("INSERT INTO cells VALUES (1, 0)", "23505").await;
    one.ok("BEGIN").await;
    one.fails("INSERT INTO cells VALUES (1, 0)", "23505").await;
    one.ok("ROLLBACK").await;
    one.ok("BEGIN").await;
    one.fails("INSERT INTO cells VALUES (9, 0), (9, 0)", "23505").await;
    one.ok("ROLLBACK").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn key_share_meets_changes_of_any_unique_key() {
    let fixture = Fixture::start().await;
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE cells (id int PRIMARY KEY, fence int, note text, UNIQUE (id, fence))").await;
    one.ok("INSERT INTO cells VALUES (1, 1, ''), (2, 1, '')").await;
    for (row, update, conflicts) in [(1, "fence = fence + 1", true), (2, "note = 'x'", false)] {
        one.ok("BEGIN").await;
        two.ok("BEGIN").await;
        two.ok(&format!("SELECT fence FROM cells WHERE id = {row} FOR KEY SHARE")).await;
        one.ok(&format!("UPDATE cells SET {update} WHERE id = {row}")).await;
        one.ok("COMMIT").await;
        assert_eq!(two.run("COMMIT").await.is_err(), conflicts, "{update}");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn referencing_insert_meets_for_update_of_the_referenced_row() {
    let fixture = Fixture::start().await;
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE parents (id int PRIMARY KEY)").await;
    one.ok("CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents (id))").await;
    one.ok("INSERT INTO parents VALUES (1), (2)").await;
    for (child, lock_first) in [(1, true), (2, false)] {
        one.ok("BEGIN").await;
        two.ok("BEGIN").await;
        one.ok("SELECT 1 FROM parents WHERE id = 1 FOR UPDATE").await;
        two.ok(&format!("INSERT INTO children VALUES ({child}, 1)")).await;
        let (winner, loser) = if lock_first { (&one, &two) } else { (&two, &one) };
        winner.ok("COMMIT").await;
        loser.commit_conflicts().await;
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn upsert_reports_the_conflict_at_commit_or_at_the_statement() {
    let fixture = Fixture::start().await;
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE cells (id int PRIMARY KEY, value int NOT NULL)").await;
    let upsert = "INSERT INTO cells VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET value = cells.value + 1 RETURNING value";
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    assert_eq!(one.ok(upsert).await, "1");
    assert_eq!(two.ok(upsert).await, "1");
    one.ok("COMMIT").await;
    two.commit_conflicts().await;
    one.ok("BEGIN").await;
    two.ok("BEGIN").await;
    two.ok("SELECT count(*) FROM cells").await;
    assert_eq!(one.ok(upsert).await, "2");
    one.ok("COMMIT").await;
    two.fails(upsert, "40001").await;
    two.fails("SELECT 1", "25P02").await;
    two.ok("ROLLBACK").await;
    assert_eq!(two.ok(upsert).await, "3");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn abandoned_transaction_harms_nobody() {
    let fixture = Fixture::start().await;
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE cells (id int PRIMARY KEY, value int NOT NULL)").await;
    one.ok("INSERT INTO cells VALUES (1, 0)").await;
    one.ok("BEGIN").await;
    one.ok("UPDATE cells SET value = 7 WHERE id = 1").await;
    for _ in 0..3 {
        two.ok("UPDATE cells SET value = value + 1 WHERE id = 1").await;
    }
    drop(one);
    two.ok("BEGIN").await;
    two.ok("UPDATE cells SET value = value + 1 WHERE id = 1").await;
    two.ok("COMMIT").await;
    assert_eq!(two.ok("SELECT value FROM cells").await, "4");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn transaction_that_gave_way_still_reads_its_own_writes() {
    let fixture = Fixture::start().await;
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE cells (id int PRIMARY KEY, value int NOT NULL)").await;
    one.ok("INSERT INTO cells VALUES (1, 0), (2, 0)").await;
    one.ok("BEGIN").await;
    assert_eq!(one.ok("UPDATE cells SET value = 7 WHERE id = 1 RETURNING value").await, "7");
    two.ok("BEGIN").await;
    assert_eq!(two.ok("UPDATE cells SET value = 8 WHERE id = 1 RETURNING value").await, "8");
    assert_eq!(one.ok("SELECT value FROM cells WHERE id = 1").await, "7");
    assert_eq!(one.ok("UPDATE cells SET value = value + 1 WHERE id = 1 RETURNING value").await, "8");
    assert_eq!(two.ok("SELECT value FROM cells WHERE id = 1").await, "8");
    two.ok("ROLLBACK").await;
    one.ok("COMMIT").await;
    assert_eq!(two.ok("SELECT value FROM cells WHERE id = 1").await, "8");
}

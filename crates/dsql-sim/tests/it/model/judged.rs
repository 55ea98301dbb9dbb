//! The judge of concurrent histories: what must have an order has one, and what cannot has none. No database is needed.

use super::history::Step::{self, Add, Begin, Commit, Delete, ForUpdate, Insert, KeyShare, Read, Update};
use super::judge::{Seen, judge};

/// Rows 0 to 2 have the value 0; there is no row 3.
const UNTOUCHED: &str = "0,0|1,0|2,0";
const CONFLICT: &str = "40001 change conflicts with another transaction (OC000)";

fn seen(sent: u64, answered: u64, step: Step, found: &str) -> Seen {
    let is_error = found.len() > 5 && found.as_bytes()[5] == b' ';
    let found = if is_error { Err(found.to_owned()) } else { Ok(found.to_owned()) };
    Seen { step, is_alone: false, sent, answered, found }
}

fn alone(sent: u64, answered: u64, step: Step, found: &str) -> Seen {
    Seen { is_alone: true, ..seen(sent, answered, step, found) }
}

/// One statement after another, in a transaction, nobody beside it.
fn transaction(from: u64, steps: &[(Step, &str)]) -> Vec<Seen> {
    let mut all = vec![seen(from, from + 1, Begin, "0")];
    for (at, (step, found)) in (0..).zip(steps) {
        all.push(seen(from + 2 * at + 2, from + 2 * at + 3, *step, found));
    }
    all
}

#[test]
fn transactions_one_after_another_have_the_order_they_had() {
    let first = transaction(0, &[(Add(0), "1"), (Read(0), "1"), (Commit, "0")]);
    let second = transaction(10, &[(Read(0), "1"), (Add(0), "1"), (Commit, "0")]);
    assert_eq!(judge(&[first.clone(), second], "0,2|1,0|2,0"), Ok(()));
    let stale = transaction(10, &[(Read(0), "0"), (Commit, "0")]);
    assert!(judge(&[first, stale], "0,1|1,0|2,0").is_err(), "it began after the other's COMMIT was answered");
}

#[test]
fn what_is_in_flight_together_may_be_seen_or_not() {
    let writer = vec![alone(0, 10, Update(0, 7), "1")];
    for value in ["0", "7"] {
        assert_eq!(judge(&[writer.clone(), vec![alone(5, 6, Read(0), value)]], "0,7|1,0|2,0"), Ok(()));
    }
    let seen_and_gone = vec![alone(1, 2, Read(0), "7"), alone(3, 4, Read(0), "0")];
    assert!(judge(&[writer, seen_and_gone], "0,7|1,0|2,0").is_err());
}

#[test]
fn lost_update_has_no_order() {
    let one = vec![
        seen(0, 1, Begin, "0"),
        seen(4, 5, Read(0), "0"),
        seen(8, 9, Add(0), "1"),
        seen(12, 13, Commit, "0"),
    ];
    let other = |end: &str| {
        vec![
            seen(2, 3, Begin, "0"),
            seen(6, 7, Read(0), "0"),
            seen(10, 11, Add(0), "1"),
            seen(14, 15, Commit, end),
        ]
    };
    assert!(judge(&[one.clone(), other("0")], "0,1|1,0|2,0").is_err());
    assert_eq!(judge(&[one, other(CONFLICT)], "0,1|1,0|2,0"), Ok(()));
}

#[test]
fn uncommitted_value_has_no_order() {
    let writer = vec![seen(0, 1, Begin, "0"), seen(2, 3, Update(0, 7), "1"), seen(8, 9, Step::Rollback, "0")];
    assert!(judge(&[writer, vec![alone(4, 5, Read(0), "7")]], UNTOUCHED).is_err());
}

#[test]
fn snapshot_that_moves_has_no_order() {
    let reader = |second: &str| {
        vec![
            seen(0, 1, Begin, "0"),
            seen(2, 3, Read(0), "0"),
            seen(8, 9, Read(0), second),
            seen(10, 11, Commit, "0"),
        ]
    };
    let writer = vec![alone(4, 5, Add(0), "1")];
    assert_eq!(judge(&[reader("0"), writer.clone()], "0,1|1,0|2,0"), Ok(()));
    assert!(judge(&[reader("1"), writer], "0,1|1,0|2,0").is_err());
}

#[test]
fn conflict_without_a_rival_has_no_order() {
    let loser = transaction(0, &[(Add(0), "1"), (Commit, CONFLICT)]);
    let elsewhere = vec![alone(2, 5, Add(1), "1")];
    assert!(judge(&[loser.clone(), elsewhere], "0,0|1,1|2,0").is_err());
    let late = vec![alone(20, 21, Add(0), "1")];
    assert!(judge(&[loser, late], "0,1|1,0|2,0").is_err(), "who comes later is no reason");
    assert!(judge(&[vec![alone(0, 1, Add(0), CONFLICT)]], UNTOUCHED).is_err());
}

#[test]
fn key_share_and_delete_exclude_each_other_and_key_share_and_update_do_not() {
    let sharing = |end: &str| {
        vec![
            seen(0, 1, Begin, "0"),
            seen(2, 3, KeyShare(0), "0"),
            seen(4, 5, Add(1), "1"),
            seen(8, 9, Commit, end),
        ]
    };
    let updated = vec![alone(6, 7, Update(0, 7), "1")];
    assert_eq!(judge(&[sharing("0"), updated.clone()], "0,7|1,1|2,0"), Ok(()));
    assert!(judge(&[sharing(CONFLICT), updated], "0,7|1,0|2,0").is_err());
    let deleted = vec![alone(6, 7, Delete(0), "1")];
    assert!(judge(&[sharing("0"), deleted.clone()], "1,1|2,0").is_err());
    assert_eq!(judge(&[sharing(CONFLICT), deleted], "1,0|2,0"), Ok(()));
}

#[test]
fn write_skew_has_an_order_with_plain_reads_only() {
    let skewed = |read: fn(u8) -> Step, own: u8, from: u64| {
        vec![
            seen(from, from + 1, Begin, "0"),
            seen(from + 4, from + 5, read(1 - own), "0"),
            seen(from + 8, from + 9, Update(own, 7), "1"),
            seen(from + 12, from + 13, Commit, "0"),
        ]
    };
    let both = |read| [skewed(read, 0, 0), skewed(read, 1, 2)];
    assert_eq!(judge(&both(Read), "0,7|1,7|2,0"), Ok(()));
    assert!(judge(&both(ForUpdate), "0,7|1,7|2,0").is_err());
}

#[test]
fn key_that_was_there_is_a_duplicate_and_one_that_came_meanwhile_a_conflict() {
    let duplicate = "23505 duplicate key value violates unique constraint";
    assert_eq!(judge(&[vec![alone(0, 1, Insert(0, 5), duplicate)]], UNTOUCHED), Ok(()));
    assert!(judge(&[vec![alone(0, 1, Insert(0, 5), CONFLICT)]], UNTOUCHED).is_err());
    let slow = vec![
        seen(0, 1, Begin, "0"),
        seen(2, 3, Read(3), "0"),
        seen(6, 7, Insert(3, 5), "1"),
        seen(8, 9, Commit, CONFLICT),
    ];
    assert_eq!(judge(&[slow, vec![alone(4, 5, Insert(3, 6), "1")]], "0,0|1,0|2,0|3,6"), Ok(()));
}

#[test]
fn row_that_goes_between_snapshot_and_insert_is_a_conflict_at_commit() {
    let deleted = vec![alone(0, 10, Delete(2), "1")];
    let inserting = |end: &str| {
        vec![
            seen(1, 2, Begin, "0"),
            seen(3, 11, Insert(2, 5), "1"),
            seen(12, 13, Read(2), "0|5"),
            seen(14, 15, Commit, end),
        ]
    };
    assert_eq!(judge(&[deleted.clone(), inserting(CONFLICT)], "0,0|1,0"), Ok(()));
    assert!(judge(&[deleted, inserting("0")], "0,0|1,0|2,5").is_err(), "it saw the row that was deleted");
}

#[test]
fn what_is_stored_at_the_end_must_be_what_was_written() {
    let writer = vec![alone(0, 1, Update(0, 7), "1")];
    assert!(judge(&[writer], UNTOUCHED).is_err());
}

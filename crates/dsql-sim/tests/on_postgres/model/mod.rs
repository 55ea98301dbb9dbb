//! Random histories, run against the simulator and against a model small enough to be seen right.

mod history;
mod snapshots;

use std::time::{Duration, Instant};

use history::{History, Step};
use snapshots::{Answer, Database};

use crate::fixture::{Fixture, Session, soak_minutes, soak_seed};

const SESSIONS: usize = 4;
/// Histories of a normal run.
const HISTORIES: u64 = 60;
/// Of a soak, however short; it goes on for its minutes.
const HISTORIES_SOAKED: u64 = 2_000;

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn random_histories_commit_and_abort_as_the_model_does() {
    let fixture = Fixture::start().await;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(fixture.client().await);
    }
    sessions[0].ok("CREATE TABLE rows (id int PRIMARY KEY, value int NOT NULL)").await;
    let (mut commits, mut conflicts) = (0, 0);
    let first_seed = soak_seed().unwrap_or(1);
    let begun = Instant::now();
    let mut histories = 0;
    let goes_on = |histories| match soak_minutes() {
        None => histories < HISTORIES,
        Some(minutes) => histories < HISTORIES_SOAKED || begun.elapsed() < Duration::from_secs(60 * minutes),
    };
    while goes_on(histories) {
        let (committed, lost) = run(&sessions, first_seed + histories).await;
        histories += 1;
        commits += committed;
        conflicts += lost;
    }
    println!("{histories} histories from seed {first_seed}: {commits} commits, {conflicts} conflicts");
    assert!(commits > 0 && conflicts > 0, "histories without both show nothing");
}

/// Runs one history; the seed is in every message.
async fn run(sessions: &[Session], seed: u64) -> (u64, u64) {
    let mut model = Database::new(SESSIONS);
    sessions[0].ok("DELETE FROM rows").await;
    for (id, value) in model.rows() {
        sessions[0].ok(&format!("INSERT INTO rows VALUES ({id}, {value})")).await;
    }
    let (mut commits, mut conflicts) = (0, 0);
    let mut told = Vec::new();
    for (session, step) in History::new(seed, SESSIONS) {
        let is_lost = model.is_lost(session);
        let expected = model.apply(session, step);
        let sql = step.sql();
        let found = sessions[session].run(&sql).await;
        told.push(format!("{session}: {sql} -> {found:?}"));
        let fits = match &expected {
            // Once lost, only the end of a transaction is told apart.
            _ if is_lost && !matches!(step, Step::Commit | Step::Rollback) => {
                model.set_failed(session, found.is_err());
                true
            }
            Answer::Value(value) => found.as_ref() == Ok(value),
            Answer::Conflict => found.as_ref().is_err_and(|told| told.starts_with("40001")),
            Answer::Duplicate => found.as_ref().is_err_and(|told| told.starts_with("23505")),
            Answer::Aborted => found.as_ref().is_err_and(|told| told.starts_with("25P02")),
            Answer::Any => found.is_ok(),
        };
        assert!(fits, "seed {seed}: expected {expected:?}\n{}", told.join("\n"));
        match (step, &expected) {
            (Step::Commit, Answer::Conflict) => conflicts += 1,
            (Step::Commit, _) => commits += 1,
            _ => {}
        }
    }
    let stored = sessions[0].ok("SELECT id, value FROM rows ORDER BY id").await;
    let rows: Vec<String> = model.rows().map(|(id, value)| format!("{id},{value}")).collect();
    let expected = if rows.is_empty() { "0".to_owned() } else { rows.join("|") };
    assert_eq!(stored, expected, "seed {seed}\n{}", told.join("\n"));
    (commits, conflicts)
}

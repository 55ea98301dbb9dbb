//! Random histories, run against the simulator and against a model small enough to be seen right.

mod concurrent;
mod history;
mod judge;
mod script;
mod snapshots;

use std::time::{Duration, Instant};

use history::{History, Step};
use snapshots::Database;

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
    while goes_on(histories, HISTORIES, begun) {
        let (committed, lost) = run(&sessions, first_seed + histories).await;
        histories += 1;
        commits += committed;
        conflicts += lost;
    }
    println!("{histories} histories from seed {first_seed}: {commits} commits, {conflicts} conflicts");
    assert!(commits > 0 && conflicts > 0, "histories without both show nothing");
}

/// Whether one more history is to be run.
fn goes_on(histories: u64, normally: u64, begun: Instant) -> bool {
    match soak_minutes() {
        None => histories < normally,
        Some(minutes) => histories < HISTORIES_SOAKED || begun.elapsed() < Duration::from_secs(60 * minutes),
    }
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
        let sql = step.sql();
        let found = sessions[session].run(&sql).await;
        told.push(format!("{session}: {sql} -> {found:?}"));
        if let Err(expected) = model.take(session, step, &found) {
            panic!("seed {seed}: expected {expected:?}\n{}", told.join("\n"));
        }
        match (step, found) {
            (Step::Commit, Err(_)) => conflicts += 1,
            (Step::Commit, Ok(_)) => commits += 1,
            _ => {}
        }
    }
    let stored = sessions[0].ok("SELECT id, value FROM rows ORDER BY id").await;
    assert_eq!(stored, model.shown(), "seed {seed}\n{}", told.join("\n"));
    (commits, conflicts)
}

//! Random histories, run against the simulator and against a model small enough to be seen right.

pub(crate) mod concurrent;
mod history;
mod judge;
mod judged;
mod script;
mod snapshots;

use std::time::Instant;

use history::{History, Step};
use snapshots::Database;

use crate::fixture::{Fixture, Session};

const SESSIONS: usize = 4;

/// Which histories are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) first_seed: u64,
    pub(crate) histories: u64,
    /// More of them are run until then.
    pub(crate) until: Option<Instant>,
}

impl Budget {
    /// The same few each time.
    const fn of(histories: u64) -> Budget {
        Budget { first_seed: 1, histories, until: None }
    }

    /// The seeds of the histories, one after the other.
    fn seeds(self) -> impl Iterator<Item = u64> {
        (0..).map_while(move |history| {
            let goes_on = history < self.histories || self.until.is_some_and(|until| Instant::now() < until);
            goes_on.then_some(self.first_seed + history)
        })
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn random_histories_commit_and_abort_as_the_model_does() {
    run_all(Budget::of(60)).await;
}

pub(crate) async fn run_all(budget: Budget) {
    let fixture = Fixture::start().await;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(fixture.client().await);
    }
    sessions[0].ok("CREATE TABLE rows (id int PRIMARY KEY, value int NOT NULL)").await;
    let (mut histories, mut commits, mut conflicts) = (0, 0, 0);
    for seed in budget.seeds() {
        let (committed, lost) = run(&sessions, seed).await;
        histories += 1;
        commits += committed;
        conflicts += lost;
    }
    println!("{histories} histories of {budget:?}: {commits} commits, {conflicts} conflicts");
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

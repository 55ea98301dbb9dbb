//! Sessions that wait for nobody, their statements in flight together; what they saw is judged afterwards.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use leasehold_dsql_sim::rules::Level;
use tokio::{sync::Barrier, task::JoinSet};

use super::{
    Budget,
    history::Step,
    judge::{Seen, judge},
    script::{Turn, scripts},
    snapshots::Database,
};
use crate::fixture::{Fixture, Session};

const SESSIONS: usize = 4;
/// Histories of a normal run, at each level.
const BUDGET: Budget = Budget::of(500);
/// Seeds whose histories once went wrong, or were judged wrongly; run first, and several times, because a seed decides
/// what is sent and not when.
const KEPT: [u64; 4] = [23, 27, 271, 489];
const KEPT_TIMES: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn concurrent_histories_have_an_order_at_level_2026_09() {
    run_all(Level::L2026_09, BUDGET).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn concurrent_histories_have_an_order_at_level_2025_05() {
    run_all(Level::L2025_05, BUDGET).await;
}

pub(crate) async fn run_all(level: Level, budget: Budget) {
    let fixture = Fixture::with(|config| config.cluster.level = level).await;
    let setup = fixture.client().await;
    setup.ok("CREATE TABLE rows (id int PRIMARY KEY, value int NOT NULL)").await;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(Arc::new(fixture.client().await));
    }
    let mut counts = Counts::default();
    for seed in KEPT.into_iter().flat_map(|seed| [seed; KEPT_TIMES]) {
        counts.add(&run(&setup, &sessions, seed, level).await);
    }
    let begun = Instant::now();
    let mut histories = 0;
    for seed in budget.seeds() {
        counts.add(&run(&setup, &sessions, seed, level).await);
        histories += 1;
    }
    println!("{histories} histories of {budget:?} at level {level} in {:?}: {counts:?}", begun.elapsed());
    assert!(counts.commits > 0 && counts.conflicts > 0, "histories without both show nothing");
    assert!(counts.overlaps > histories, "statements were hardly ever in flight together: {counts:?}");
}

#[derive(Debug, Default)]
struct Counts {
    commits: u64,
    conflicts: u64,
    /// Pairs of statements that were in flight together.
    overlaps: u64,
}

impl Counts {
    fn add(&mut self, sessions: &[Vec<Seen>]) {
        let all: Vec<&Seen> = sessions.iter().flatten().collect();
        for (at, seen) in all.iter().enumerate() {
            let ends = seen.is_alone || seen.step == Step::Commit;
            match &seen.found {
                Ok(_) if ends => self.commits += 1,
                Err(told) if told.starts_with("40001") => self.conflicts += 1,
                _ => {}
            }
            let overlaps = |other: &&&Seen| other.sent < seen.answered && seen.sent < other.answered;
            self.overlaps += all[at + 1..].iter().filter(overlaps).count() as u64;
        }
    }
}

/// Runs one history and judges it; the seed is in every message.
async fn run(setup: &Session, sessions: &[Arc<Session>], seed: u64, level: Level) -> Vec<Vec<Seen>> {
    setup.ok("DELETE FROM rows").await;
    let rows: Vec<String> = Database::new(0).rows().map(|(id, value)| format!("({id}, {value})")).collect();
    setup.ok(&format!("INSERT INTO rows VALUES {}", rows.join(", "))).await;
    let clock = Arc::new(AtomicU64::new(0));
    let start = Arc::new(Barrier::new(sessions.len()));
    let mut tasks = JoinSet::new();
    let scripts = scripts(seed, sessions.len(), level >= Level::L2026_09);
    for (number, script) in scripts.into_iter().enumerate() {
        let (session, clock, start) = (sessions[number].clone(), clock.clone(), start.clone());
        tasks.spawn(async move {
            start.wait().await;
            (number, play(&session, script, &clock).await)
        });
    }
    let mut seen = tasks.join_all().await;
    seen.sort_by_key(|(number, _)| *number);
    let seen: Vec<Vec<Seen>> = seen.into_iter().map(|(_, seen)| seen).collect();
    let stored = setup.ok("SELECT id, value FROM rows ORDER BY id").await;
    if let Err(history) = judge(&seen, &stored) {
        panic!("seed {seed} at level {level}: there is no order in which this can have happened\n{history}");
    }
    seen
}

async fn play(session: &Session, script: Vec<Turn>, clock: &AtomicU64) -> Vec<Seen> {
    let mut all = Vec::new();
    for Turn { step, is_alone } in script {
        let sent = clock.fetch_add(1, Ordering::SeqCst);
        let found = session.run(&step.sql()).await;
        let answered = clock.fetch_add(1, Ordering::SeqCst);
        all.push(Seen { step, is_alone, sent, answered, found });
    }
    all
}

//! A server that is asked for far more than it takes: everybody is answered with a documented code, and its memory and
//! its connections stay in bounds. Each load runs again with the limits taken away, which shows that they are what holds.

mod overloading;
mod served;

use overloading::crowd::{self, Told};
use overloading::{Watched, long_answers, long_bodies, server};

const MIB: u64 = 1 << 20;

/// More than what four long bodies, the buffers of all connections and the figures of the last minute take; much less than
/// all bodies do.
const GROWTH_MAX: u64 = 64 * MIB;

/// What may be kept of a load that is over: those figures, and what the allocator does not give back.
const KEPT_MAX: u64 = 40 * MIB;

/// Of which the server lets so many in.
const CONNECTIONS: u64 = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_bodies_over_the_limit_are_told_to_come_again_and_take_no_memory() {
    let server = server("memory:", "connections: 100\n  body-bytes: 8388608");
    long_bodies::send_one(&server).await;
    let watched = Watched::start(&server);
    let refused = long_bodies::COUNT - 4;
    let answers = long_bodies::hold(&server, |answered| answered == refused).await;
    assert_eq!(answers, [(200, 4), (454, refused)].into());
    let growth = watched.growth();
    eprintln!("{growth} bytes more for {} long bodies at once", long_bodies::COUNT);
    assert!(growth < GROWTH_MAX, "it grew by {growth} bytes");
    server.json(&["queue", "clear", long_bodies::QUEUE, "--ready"]);
    watched.until_back(KEPT_MAX);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_limit_the_same_bodies_take_memory() {
    let server = server("memory:", "connections: 100");
    long_bodies::send_one(&server).await;
    let watched = Watched::start(&server);
    let answers = long_bodies::hold(&server, |_| watched.growth() > GROWTH_MAX).await;
    assert_eq!(answers, [(200, long_bodies::COUNT)].into());
}

/// Nobody takes its answer, and the server is to wait for them all.
const PATIENT_WRITES: &str = "timeouts:\n  write: 10m";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_answers_over_the_limit_are_refused_until_those_before_are_taken() {
    let server = server("memory:", &format!("body-bytes: 8388608\n{PATIENT_WRITES}"));
    long_answers::fill(&server).await;
    let mut first = long_answers::ask(&server).await;
    long_answers::begins(&mut first).await;
    let watched = Watched::start(&server);
    assert_eq!(long_answers::others(&server).await, [(454, long_answers::COUNT)].into());
    let growth = watched.growth();
    eprintln!("{growth} bytes more for {} long answers at once", long_answers::COUNT);
    assert!(growth < GROWTH_MAX, "it grew by {growth} bytes");
    assert!(long_answers::is_whole(&long_answers::take(first).await));
    let after = long_answers::take(long_answers::ask(&server).await).await;
    assert!(long_answers::is_whole(&after), "there is room again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_limit_the_same_answers_take_memory() {
    let server = server("memory:", &format!("connections: 100\n{PATIENT_WRITES}"));
    long_answers::fill(&server).await;
    let watched = Watched::start(&server);
    let mut clients = Vec::new();
    for _ in 0..long_answers::COUNT {
        clients.push(long_answers::ask(&server).await);
    }
    watched.until_grown(GROWTH_MAX);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crowd_over_every_limit_is_answered_to_the_last_and_changes_what_it_was_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("data");
    let limits = format!("connections: {CONNECTIONS}\n  requests-per-queue: 1\n  produce-body-bytes: 20000");
    let server = server(store.to_str().expect("text"), &limits);
    // A first one brings in what any load needs: code, tables, caches, figures. The second is not to need more.
    let first = Watched::start(&server);
    crowd::rush(&server).await;
    drop(first);
    let watched = Watched::start(&server);
    let before = crowd::stored(&server);
    let Told { answers, overloaded, produced, completed } = crowd::rush(&server).await;
    assert_eq!(answers.values().sum::<usize>(), crowd::REQUESTS, "{answers:?}");
    assert!(answers.keys().copied().eq([200, 400, 454, 455, 501]), "{answers:?}");
    assert!(overloaded > 0, "two requests of one queue never met: {answers:?}");
    let files = watched.files_growth();
    assert!(files < CONNECTIONS + crowd::FILES_BESIDE, "{files} more open files");
    let growth = watched.growth();
    eprintln!("{answers:?}, {overloaded} overloaded, {files} files and {growth} bytes more");
    assert!(growth < GROWTH_MAX, "it grew by {growth} bytes");
    let stored = crowd::stored(&server);
    assert_eq!(stored + completed, before + produced, "{produced} produced, {completed} completed");
    watched.until_back(GROWTH_MAX);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_limits_the_same_crowd_is_let_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("data");
    let server = server(store.to_str().expect("text"), "produce-body-bytes: 20000");
    let watched = Watched::start(&server);
    let Told { answers, overloaded, .. } = crowd::rush(&server).await;
    assert_eq!((answers.values().sum::<usize>(), overloaded), (crowd::REQUESTS, 0), "{answers:?}");
    let files = watched.files_growth();
    assert!(files >= CONNECTIONS + crowd::FILES_BESIDE, "only {files} more open files");
}

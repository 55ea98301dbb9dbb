//! A server that is asked for far more than it takes: everybody is answered with a documented code, and its memory and
//! its connections stay in bounds. Each load runs again with the limits taken away, which shows that they are what holds.

use crate::overloading::crowd::{self, Told};
use crate::overloading::{GROWTH_MAX, KEPT_MAX, Watched, long_answers, long_bodies, long_leases, server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_bodies_over_the_limit_are_told_to_come_again_and_take_no_memory() {
    let server = server("memory:", "connections: 100\n  body-bytes: 8388608");
    long_bodies::send_one(&server).await;
    let watched = Watched::start(&server);
    let refused = long_bodies::COUNT - 4;
    let answers =
        long_bodies::hold(long_bodies::over_http1(&server).await, long_bodies::LONG_BYTES, |answered| {
            answered == refused
        })
        .await;
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
    let answers = long_bodies::hold(long_bodies::over_http1(&server).await, long_bodies::LONG_BYTES, |_| {
        watched.growth() > GROWTH_MAX
    })
    .await;
    assert_eq!(answers, [(200, long_bodies::COUNT)].into());
}

/// Nobody takes its answer, and the server is to wait for them all.
const PATIENT_WRITES: &str = "timeouts:\n  write: 10m";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_answers_over_the_limit_are_refused_until_those_before_are_taken() {
    let server = server("memory:", &format!("body-bytes: 8388608\n{PATIENT_WRITES}"));
    long_answers::fill(&server).await;
    let mut first = long_answers::ask(&server).await;
    assert!(first.is_good().await);
    let watched = Watched::start(&server);
    assert_eq!(long_answers::others(&server).await, [(454, long_answers::COUNT)].into());
    let growth = watched.growth();
    eprintln!("{growth} bytes more for {} long answers at once", long_answers::COUNT);
    assert!(growth < GROWTH_MAX, "it grew by {growth} bytes");
    assert!(long_answers::is_whole(&first.take().await.body));
    let after = long_answers::begun(&server).await.take().await;
    assert!(long_answers::is_whole(&after.body), "there is room again");
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
async fn leases_over_the_limit_are_refused_until_those_before_are_taken() {
    let limit = long_leases::ANSWER_BYTES;
    let limits = format!("lease-answer-bytes: {limit}\n  answer-bytes: {limit}\n{PATIENT_WRITES}");
    let server = server("memory:", &limits);
    long_leases::fill(&server).await;
    let first = long_leases::begun(&server, 0).await;
    let watched = Watched::start(&server);
    for number in 1..=long_leases::COUNT {
        let refused = long_leases::ask(&server, number).await.take().await;
        assert_eq!(refused.status, 454);
        let told = String::from_utf8_lossy(&refused.body);
        assert!(told.contains("queue is overloaded"), "{told}");
    }
    let growth = watched.growth();
    eprintln!("{growth} bytes more for {} leases at once", long_leases::COUNT);
    assert!(growth < GROWTH_MAX, "it grew by {growth} bytes");
    let (held, whole) = (long_leases::held(&server), long_leases::ANSWER_ITEMS);
    assert_eq!(held, whole as u64, "nothing is leased for those who were refused");
    assert_eq!(long_leases::items(&first.take().await), whole, "not as many as it asked for");
    // So does one who goes away without taking any of it.
    drop(long_leases::begun(&server, 0).await);
    assert_eq!(long_leases::items(&long_leases::begun(&server, 0).await.take().await), whole);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_limit_the_same_leases_take_memory() {
    let limit = long_leases::ANSWER_BYTES;
    let server = server("memory:", &format!("lease-answer-bytes: {limit}\n{PATIENT_WRITES}"));
    long_leases::fill(&server).await;
    let watched = Watched::start(&server);
    let mut clients = Vec::new();
    for number in 0..=long_leases::COUNT {
        clients.push(long_leases::ask(&server, number).await);
    }
    watched.until_grown(GROWTH_MAX);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crowd_over_every_limit_is_answered_to_the_last_and_changes_what_it_was_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("data");
    crowd::is_answered_to_the_last(&server(store.to_str().expect("text"), &crowd::limits())).await;
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
    assert!(files >= crowd::CONNECTIONS + crowd::FILES_BESIDE, "only {files} more open files");
}

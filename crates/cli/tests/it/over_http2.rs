//! The same kinds of load over HTTP/2, where one connection carries many requests, and what only HTTP/2 makes possible.
//! Somebody who wants little is served meanwhile. Where memory is watched, a first load brings in what any load needs, such
//! as the code that runs; the second is not to need much more.

use std::time::{Duration, Instant};

use h2::RecvStream;
use http::Response;
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::overloading::bystander::Bystander;
use crate::overloading::connection::Connection;
use crate::overloading::http2::{Http2, take};
use crate::overloading::{
    Answers, CLOSED, GROWTH_MAX, KEPT_MAX, PATIENT, Watched, floods, long_answers, long_bodies,
    once_there_is_room, server,
};
use crate::served::Server;

/// Of a load. Those of two loads are fewer than the server lets in, so that none of them is told to leave.
const CONNECTIONS: usize = 3;
/// Also more than a connection may have at once: the last ones wait in the client.
const STREAMS: usize = 110;
/// Shorter than bodies wait for room, which are five seconds: who is kept back by them waits as long.
const SOON: Duration = Duration::from_secs(3);
/// A body that has a share of the room for usual ones.
const USUAL_BYTES: usize = 250_000;

/// So many bodies and answers of usual length there is room for, if the server lets so many connections in.
const ROOM: usize = 8;
const FEW_CONNECTIONS: &str = "connections: 8";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_bodies_on_one_connection_are_told_to_come_again_and_take_no_memory() {
    let server = server("memory:", "connections: 100\n  body-bytes: 8388608");
    long_bodies::send_one(&server).await;
    let bystander = Bystander::start(&server).await;
    let refused = long_bodies::COUNT - 4;
    let load = async || {
        let wires = Http2::open_many(&server.endpoint, 1, long_bodies::COUNT).await;
        let answers = long_bodies::hold(wires, long_bodies::LONG_BYTES, |answered| answered == refused).await;
        assert_eq!(answers, [(200, 4), (454, refused)].into());
        server.json(&["queue", "clear", long_bodies::QUEUE, "--ready"]);
    };
    load().await;
    let watched = Watched::start(&server);
    load().await;
    watched.is_within_bounds();
    bystander.was_served().await;
    watched.until_back(KEPT_MAX);
}

/// What has come of a body that waits for room counts against all that its connection may send.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn little_requests_get_through_beside_long_bodies_that_wait_on_the_same_connection() {
    let server = server("memory:", "connections: 100\n  body-bytes: 8388608");
    long_bodies::send_one(&server).await;
    let wires = Http2::open_many(&server.endpoint, 1, long_bodies::COUNT).await;
    let (stop, connection) = (CancellationToken::new(), wires[0].clone());
    let asking = tokio::spawn(ask_for_little(connection, stop.clone()));
    let refused = long_bodies::COUNT - 4;
    long_bodies::hold(wires, long_bodies::LONG_BYTES, |answered| answered == refused).await;
    stop.cancel();
    let slowest = asking.await.expect("each request is done");
    eprintln!("the slowest request took {slowest:?}");
    assert!(slowest < SOON, "a request took {slowest:?}");
}

/// One produce after the other; how long the slowest took.
async fn ask_for_little(connection: Http2, stop: CancellationToken) -> Duration {
    let produce =
        json!({"queue_name": long_bodies::QUEUE, "request_timeout": "1m", "items": [{"utf8": "x"}]});
    let mut slowest = Duration::ZERO;
    while !stop.is_cancelled() {
        let started = Instant::now();
        let answer = connection.ask("/v1/queue.produce", produce.to_string()).await.expect("an answer");
        assert_eq!(answer.status(), 200);
        slowest = slowest.max(started.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    slowest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_limit_the_same_bodies_on_one_connection_take_memory() {
    let server = server("memory:", "connections: 100");
    long_bodies::send_one(&server).await;
    let watched = Watched::start(&server);
    let wires = Http2::open_many(&server.endpoint, 1, long_bodies::COUNT).await;
    let answers = long_bodies::hold(wires, long_bodies::LONG_BYTES, |_| watched.growth() > GROWTH_MAX).await;
    assert_eq!(answers, [(200, long_bodies::COUNT)].into());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn usual_bodies_of_many_streams_have_the_room_of_their_connections() {
    let server = server("memory:", FEW_CONNECTIONS);
    long_bodies::send_one(&server).await;
    let bystander = Bystander::start(&server).await;
    let refused = CONNECTIONS * STREAMS - ROOM;
    let load = async || {
        let wires = Http2::open_many(&server.endpoint, CONNECTIONS, STREAMS).await;
        let answers = long_bodies::hold(wires, USUAL_BYTES, |answered| answered == refused).await;
        assert_eq!(answers, [(200, ROOM), (454, refused)].into());
    };
    let alone = Watched::start(&server);
    load().await;
    // Else the server may be full, and those it has answered make room.
    alone.until_closed();
    let watched = Watched::start(&server);
    load().await;
    watched.is_within_bounds();
    bystander.was_served().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_room_for_them_the_same_usual_bodies_take_memory() {
    let server = server("memory:", "connections: 1000\n  streams: 110");
    long_bodies::send_one(&server).await;
    let watched = Watched::start(&server);
    let wires = Http2::open_many(&server.endpoint, CONNECTIONS, STREAMS).await;
    let answers = long_bodies::hold(wires, USUAL_BYTES, |_| watched.growth() > GROWTH_MAX).await;
    assert_eq!(answers, [(200, CONNECTIONS * STREAMS)].into());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_never_end_give_back_their_room() {
    let server = server("memory:", "body-bytes: 8388608\ntimeouts:\n  body: 2s");
    long_bodies::send_one(&server).await;
    let bystander = Bystander::start(&server).await;
    let wires = Http2::open_many(&server.endpoint, 1, long_bodies::COUNT).await;
    let all = |answered| answered == long_bodies::COUNT;
    let answers = long_bodies::hold(wires, long_bodies::LONG_BYTES, all).await;
    eprintln!("{answers:?}");
    assert!(answers.keys().copied().eq([454, 512]), "{answers:?}");
    bystander.was_served().await;
    long_bodies::send_one(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_requests_that_are_taken_back_at_once_end_their_connections_alone() {
    // A connection that is ended for nothing but idleness must not pass for one that was ended for its flood.
    let server = server("memory:", "connections: 100\ntimeouts:\n  idle: 10m");
    server.json(&["queue", "create", floods::QUEUE]);
    let bystander = Bystander::start(&server).await;
    floods::take_back_at_once(&server).await;
    let watched = Watched::start(&server);
    floods::take_back_at_once(&server).await;
    watched.is_within_bounds();
    bystander.was_served().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_that_are_taken_back_are_forgotten() {
    let server = server("memory:", "connections: 100");
    server.json(&["queue", "create", floods::QUEUE]);
    let bystander = Bystander::start(&server).await;
    floods::take_back_later(&server).await;
    let watched = Watched::start(&server);
    floods::take_back_later(&server).await;
    let started = Instant::now();
    loop {
        let waiting =
            server.json(&["queue", "stats", floods::QUEUE])["logicalQueues"][0]["lease_waiting"].clone();
        if matches!(waiting.as_u64(), None | Some(0)) {
            break;
        }
        assert!(started.elapsed() < PATIENT, "{waiting} are waited for by nobody");
    }
    watched.is_within_bounds();
    bystander.was_served().await;
}

/// Nobody takes its answer, and the server is to wait for them all.
const PATIENT_WRITES: &str = "timeouts:\n  write: 10m";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_answers_that_one_connection_does_not_take_are_one_and_others_are_refused() {
    let server = server("memory:", &format!("body-bytes: 8388608\n{PATIENT_WRITES}"));
    long_answers::fill(&server).await;
    let bystander = Bystander::start(&server).await;
    let list = || long_answers::list(long_answers::QUEUE, long_answers::ITEMS);
    let connection = Http2::open(&server.endpoint).await;
    let first = connection.ask("/v1/storage/items.list", list()).await.expect("an answer");
    assert_eq!(first.status(), 200);
    let watched = Watched::start(&server);
    let wires = vec![connection.clone(); long_answers::COUNT];
    let (answers, untaken) = untaken(wires, &list()).await;
    assert_eq!(answers, [(454, long_answers::COUNT)].into());
    watched.is_within_bounds();
    bystander.was_served().await;
    drop(untaken);
    assert!(long_answers::is_whole(&take(first).await));
    let after = answered_again(&connection, &list()).await;
    assert!(long_answers::is_whole(&take(after).await), "there is room again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn usual_answers_that_nobody_takes_have_the_room_of_their_connections() {
    let server = server("memory:", &format!("{FEW_CONNECTIONS}\n{PATIENT_WRITES}"));
    let list = usual_list(&server).await;
    let bystander = Bystander::start(&server).await;
    let watched = Watched::start(&server);
    let wires = Http2::open_many(&server.endpoint, CONNECTIONS, 100).await;
    let (answers, untaken) = untaken(wires, &list).await;
    assert_eq!(answers, [(200, ROOM), (454, CONNECTIONS * 100 - ROOM)].into());
    watched.is_within_bounds();
    bystander.was_served().await;
    drop(untaken);
    let connection = Http2::open(&server.endpoint).await;
    answered_again(&connection, &list).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_room_for_them_the_same_usual_answers_take_memory() {
    let server = server("memory:", &format!("connections: 1000\n{PATIENT_WRITES}"));
    let list = usual_list(&server).await;
    let watched = Watched::start(&server);
    // Some may be refused, as they waited too long for their turn to be looked up.
    let wires = Http2::open_many(&server.endpoint, CONNECTIONS * 2, 100).await;
    let (_, _untaken) = untaken(wires, &list).await;
    watched.until_grown(GROWTH_MAX);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_take_nothing_are_cut_and_their_memory_is_free() {
    let server = server("memory:", "connections: 1000\ntimeouts:\n  write: 3s");
    let list = usual_list(&server).await;
    let watched = Watched::start(&server);
    let wires = Http2::open_many(&server.endpoint, CONNECTIONS, 100).await;
    let (_, untaken) = untaken(wires.clone(), &list).await;
    for wire in wires {
        let started = Instant::now();
        while wire.ask("/v1/queues.list", "{}".to_owned()).await.is_some() {
            assert!(started.elapsed() < PATIENT, "it is not cut");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    watched.until_back(KEPT_MAX);
    drop(untaken);
}

/// An answer of which nothing but the head was taken, and the connection it came over.
struct Untaken {
    _connection: Http2,
    _answer: Option<Response<RecvStream>>,
}

/// What all are told who ask at once, and take nothing.
async fn untaken(connections: Vec<Http2>, list: &str) -> (Answers, Vec<Untaken>) {
    let mut clients = JoinSet::new();
    for connection in connections {
        let list = list.to_owned();
        clients.spawn(async move {
            let answer = connection.ask("/v1/storage/items.list", list).await;
            let status = answer.as_ref().map_or(CLOSED, |answer| answer.status().as_u16());
            (status, Untaken { _connection: connection, _answer: answer })
        });
    }
    let (mut answers, mut all) = (Answers::new(), Vec::new());
    while let Some(told) = clients.join_next().await {
        let (status, untaken) = told.expect("no client panics");
        *answers.entry(status).or_default() += 1;
        all.push(untaken);
    }
    (answers, all)
}

/// The answer, once there is room for it.
async fn answered_again(connection: &Http2, list: &str) -> Response<RecvStream> {
    once_there_is_room(async || {
        let answer = connection.ask("/v1/storage/items.list", list.to_owned()).await.expect("an answer");
        assert!(matches!(answer.status().as_u16(), 200 | 454), "{}", answer.status());
        (answer.status() == 200).then_some(answer)
    })
    .await
}

/// What asks for an answer that is nearly as long as a usual one may be.
async fn usual_list(server: &Server) -> String {
    const QUEUE: &str = "short";
    server.json(&["queue", "create", QUEUE]);
    // In base64 it is longer by a third.
    let items = json!([{"utf8": "x".repeat(USUAL_BYTES / 4 * 3)}]);
    let produce = json!({"queue_name": QUEUE, "request_timeout": "1m", "items": items}).to_string();
    let mut connection = Connection::open(&server.endpoint).await;
    assert_eq!(connection.ask("/v1/queue.produce", produce.as_bytes()).await.status, 200);
    long_answers::list(QUEUE, 1)
}

//! Many long bodies at once, each of them short of its last byte.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::{Answers, Wire};

use crate::served::Server;

pub(crate) const QUEUE: &str = "long";
pub(crate) const COUNT: usize = 48;
/// One of those that have the room of long ones.
pub(crate) const LONG_BYTES: usize = 2_000_000;

/// A first one brings in what any load needs, such as the code that runs.
pub(crate) async fn send_one(server: &Server) {
    server.run(&["queue", "create", QUEUE]);
    let connection = Connection::open(&server.endpoint).await;
    assert_eq!(hold(vec![connection], LONG_BYTES, |_| true).await, [(200, 1)].into());
}

/// Each on a connection of its own.
pub(crate) async fn over_http1(server: &Server) -> Vec<Connection> {
    let mut wires = Vec::new();
    for _ in 0..COUNT {
        wires.push(Connection::open(&server.endpoint).await);
    }
    wires
}

/// Sends one over each wire but for its end, until `is_enough`, told how many were answered; then their ends.
pub(crate) async fn hold<W: Wire>(
    wires: Vec<W>,
    body_bytes: usize,
    is_enough: impl Fn(usize) -> bool,
) -> Answers {
    let finish = CancellationToken::new();
    let mut clients = JoinSet::new();
    for wire in wires {
        clients.spawn(wire.ask_late("/v1/queue.produce", body(body_bytes), finish.clone()));
    }
    let mut answers = Answers::new();
    let started = tokio::time::Instant::now();
    while !is_enough(answers.values().sum()) {
        assert!(started.elapsed() < super::PATIENT, "only {answers:?}");
        tokio::select! {
            Some(status) = clients.join_next() => {
                *answers.entry(status.expect("no client panics")).or_default() += 1;
            }
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
    }
    finish.cancel();
    while let Some(status) = clients.join_next().await {
        *answers.entry(status.expect("no client panics")).or_default() += 1;
    }
    answers
}

fn body(bytes: usize) -> Bytes {
    let around = json!({"queue_name": QUEUE, "request_timeout": "1m", "items": [{"utf8": ""}]}).to_string();
    let payload = "x".repeat(bytes - around.len());
    around.replace("\"utf8\":\"", &format!("\"utf8\":\"{payload}")).into()
}

//! Many long bodies at once, each of them short of its last byte.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Answers;
use super::connection::{self, Connection};
use crate::served::Server;

pub(crate) const QUEUE: &str = "long";
pub(crate) const COUNT: usize = 48;
const BODY_BYTES: usize = 2_000_000;

/// A first one brings in what any load needs, such as the code that runs.
pub(crate) async fn send_one(server: &Server) {
    server.json(&["queue", "create", QUEUE]);
    let finish = CancellationToken::new();
    finish.cancel();
    assert_eq!(client(Connection::open(&server.endpoint).await, finish).await, 200);
}

/// Sends them all but for their ends, until `is_enough`, told how many were refused; then their ends.
pub(crate) async fn hold(server: &Server, is_enough: impl Fn(usize) -> bool) -> Answers {
    let finish = CancellationToken::new();
    let mut clients = JoinSet::new();
    for _ in 0..COUNT {
        clients.spawn(client(Connection::open(&server.endpoint).await, finish.clone()));
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

async fn client(connection: Connection, finish: CancellationToken) -> u16 {
    let Connection { mut reader, mut writer } = connection;
    let around = json!({"queue_name": QUEUE, "request_timeout": "1m", "items": [{"utf8": ""}]}).to_string();
    let payload = "x".repeat(BODY_BYTES - around.len());
    let body = around.replace("\"utf8\":\"", &format!("\"utf8\":\"{payload}"));
    let (most, end) = body.as_bytes().split_at(body.len() - 1);
    let send = async {
        let head = connection::head("/v1/queue.produce", body.len());
        writer.write_all(head.as_bytes()).await?;
        writer.write_all(most).await?;
        finish.cancelled().await;
        writer.write_all(end).await
    };
    let send = async {
        // One who is refused cannot send the rest; what it was told is what counts.
        let _ = send.await;
        std::future::pending().await
    };
    tokio::select! {
        answer = connection::answer(&mut reader) => answer.status,
        never = send => never,
    }
}

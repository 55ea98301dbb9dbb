//! Short questions with long answers, which nobody takes.

use serde_json::json;
use tokio::task::JoinSet;

use super::connection::Connection;
use super::{Answers, once_there_is_room};

use crate::served::Server;

pub(crate) const QUEUE: &str = "listed";
pub(crate) const ITEMS: usize = 40;
const ITEM_BYTES: usize = 400_000;
pub(crate) const COUNT: usize = 12;

/// Stores what the answers are made of.
pub(crate) async fn fill(server: &Server) {
    server.json(&["queue", "create", QUEUE]);
    let items = vec![json!({"utf8": "x".repeat(ITEM_BYTES)}); ITEMS / 4];
    let produce = json!({"queue_name": QUEUE, "request_timeout": "1m", "items": items}).to_string();
    for _ in 0..4 {
        let answer =
            Connection::open(&server.endpoint).await.ask("/v1/queue.produce", produce.as_bytes()).await;
        assert_eq!(answer.status, 200);
    }
}

/// What asks for so many items of a queue.
pub(crate) fn list(queue: &str, limit: usize) -> String {
    json!({"queue_name": queue, "limit": limit}).to_string()
}

/// A client who asks for all of it, and has hardly any room of its own.
pub(crate) async fn ask(server: &Server) -> Connection {
    let mut client = Connection::narrow(&server.endpoint).await;
    client.send("/v1/storage/items.list", &list(QUEUE, ITEMS)).await;
    client
}

/// As [`ask`], once there is room for the answer.
pub(crate) async fn begun(server: &Server) -> Connection {
    once_there_is_room(async || {
        let mut client = ask(server).await;
        client.is_good().await.then_some(client)
    })
    .await
}

/// Whether nothing is missing.
pub(crate) fn is_whole(body: &[u8]) -> bool {
    let listed: serde_json::Value = serde_json::from_slice(body).expect("is JSON");
    listed["items"].as_array().is_some_and(|items| items.len() == ITEMS)
}

/// What all others are told.
pub(crate) async fn others(server: &Server) -> Answers {
    let mut clients = JoinSet::new();
    for _ in 0..COUNT {
        clients.spawn(ask(server).await.take());
    }
    let mut answers = Answers::new();
    while let Some(answer) = clients.join_next().await {
        *answers.entry(answer.expect("no client panics").status).or_default() += 1;
    }
    answers
}

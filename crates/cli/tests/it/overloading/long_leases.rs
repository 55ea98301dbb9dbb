//! Leases of large items, which nobody takes.

use serde_json::{Value, json};

use super::connection::{Answer, Connection};
use super::once_there_is_room;

use crate::served::Server;

const QUEUE: &str = "leased";
const ITEM_BYTES: usize = 400_000;
/// Of the items that one lease is to get.
pub(crate) const ANSWER_ITEMS: usize = 20;
/// As a limit: they fit with what is counted beside their payloads, and one more does not.
pub(crate) const ANSWER_BYTES: usize = ANSWER_ITEMS * ITEM_BYTES + ITEM_BYTES / 2;
pub(crate) const COUNT: usize = 12;
const ITEMS: usize = (COUNT + 1) * ANSWER_ITEMS;

/// Stores what the answers are made of.
pub(crate) async fn fill(server: &Server) {
    server.json(&["queue", "create", QUEUE]);
    let items = vec![json!({"utf8": "x".repeat(ITEM_BYTES)}); ANSWER_ITEMS / 2];
    let produce = json!({"queue_name": QUEUE, "request_timeout": "1m", "items": items}).to_string();
    let mut client = Connection::open(&server.endpoint).await;
    for _ in 0..ITEMS / items.len() {
        assert_eq!(client.ask("/v1/queue.produce", produce.as_bytes()).await.status, 200);
    }
}

/// A client who wants more than an answer holds, and has hardly any room of its own.
pub(crate) async fn ask(server: &Server, number: usize) -> Connection {
    let mut client = Connection::narrow(&server.endpoint).await;
    let lease = json!({
        "queue_name": QUEUE, "client_id": format!("c{number}"), "batch_size": ANSWER_ITEMS + 5,
        "request_timeout": "1m",
    });
    client.send("/v1/queue.lease", &lease.to_string()).await;
    client
}

/// As [`ask`], once there is room for the answer.
pub(crate) async fn begun(server: &Server, number: usize) -> Connection {
    once_there_is_room(async || {
        let mut client = ask(server, number).await;
        client.is_good().await.then_some(client)
    })
    .await
}

/// How many items there are in an answer.
pub(crate) fn items(answer: &Answer) -> usize {
    assert_eq!(answer.status, 200);
    let leased: Value = serde_json::from_slice(&answer.body).expect("is JSON");
    leased["items"].as_array().expect("has items").len()
}

/// How many items somebody holds.
pub(crate) fn held(server: &Server) -> u64 {
    let stats = server.json(&["queue", "stats", QUEUE]);
    stats["logicalQueues"][0]["partitions"][0]["total_leased"].as_u64().unwrap_or_default()
}

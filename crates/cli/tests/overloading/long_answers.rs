//! Short questions with long answers, which nobody takes.

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connection::{self, Answer, Connection};
use super::{Answers, PATIENT};
use crate::served::Server;

const QUEUE: &str = "listed";
const ITEMS: usize = 40;
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

/// A client who asks for all of it, and has hardly any room of its own.
pub(crate) async fn ask(server: &Server) -> Connection {
    let address = server.endpoint.strip_prefix("http://").expect("is an endpoint");
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(8_192).expect("is set");
    let stream = socket.connect(address.parse().expect("an address")).await.expect("connects");
    let (reader, mut writer) = stream.into_split();
    let list = json!({"queue_name": QUEUE, "limit": ITEMS}).to_string();
    let request = format!("{}{list}", connection::head("/v1/storage/items.list", list.len()));
    writer.write_all(request.as_bytes()).await.expect("sends");
    Connection { reader: BufReader::new(reader), writer }
}

/// Until the beginning of the answer is there; the rest stays with the server.
pub(crate) async fn begins(client: &mut Connection) {
    let beginning = timeout(PATIENT, client.reader.fill_buf()).await.expect("in time").expect("an answer");
    assert!(beginning.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(beginning));
}

/// Takes it all.
pub(crate) async fn take(mut client: Connection) -> Answer {
    connection::answer(&mut client.reader).await
}

/// Whether nothing is missing.
pub(crate) fn is_whole(answer: &Answer) -> bool {
    let listed: serde_json::Value = serde_json::from_slice(&answer.body).expect("is JSON");
    answer.status == 200 && listed["items"].as_array().is_some_and(|items| items.len() == ITEMS)
}

/// What all others are told.
pub(crate) async fn others(server: &Server) -> Answers {
    let mut clients = JoinSet::new();
    for _ in 0..COUNT {
        clients.spawn(take(ask(server).await));
    }
    let mut answers = Answers::new();
    while let Some(answer) = clients.join_next().await {
        *answers.entry(answer.expect("no client panics").status).or_default() += 1;
    }
    answers
}

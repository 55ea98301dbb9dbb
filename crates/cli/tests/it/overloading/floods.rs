//! Requests of HTTP/2 that nobody wants answered.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::PATIENT;
use super::http2::Http2;

use crate::served::Server;

pub(crate) const QUEUE: &str = "flooded";
/// Connections at once, and requests of each.
const CONNECTIONS: usize = 8;
const REQUESTS: u32 = 20_000;

/// Asked at a time, before they are taken back.
const WAITING: usize = 50;
const ROUNDS: usize = 100;

/// What a client of HTTP/2 sends first, and an empty frame of settings.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Whole requests, each taken back in the same breath. Once all connections are ended by the server.
pub(crate) async fn take_back_at_once(server: &Server) {
    let address = server.endpoint.strip_prefix("http://").expect("is an endpoint");
    let mut flood = PREFACE.to_vec();
    for stream_id in (1..REQUESTS * 2).step_by(2) {
        // Whole without a body: the window for bodies would end a flood of them.
        flood.extend(frame(1, 0x5, stream_id, HEAD));
        flood.extend(frame(3, 0, stream_id, &8_u32.to_be_bytes()));
    }
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(address).await.expect("connects");
        let flood = flood.clone();
        clients.spawn(async move {
            // The server may hang up while we still send.
            let _ = stream.write_all(&flood).await;
            let mut rest = Vec::new();
            let _ = timeout(PATIENT / 2, stream.read_to_end(&mut rest)).await.expect("is ended in time");
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended.expect("no client panics");
    }
}

/// `POST /v1/queue.produce` without compression.
const HEAD: &[u8] = b"\x83\x86\x01\x01x\x04\x11/v1/queue.produce";

fn frame(kind: u8, flags: u8, stream_id: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("is short").to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags];
    [&head[..], &stream_id.to_be_bytes(), payload].concat()
}

/// Leases that wait, and are taken back once the server has them.
pub(crate) async fn take_back_later(server: &Server) {
    let connection = Http2::open(&server.endpoint).await;
    for round in 0..ROUNDS {
        let mut waiting = Vec::new();
        for number in 0..WAITING {
            let lease = json!({
                "queue_name": QUEUE, "request_timeout": "10m", "batch_size": 1, "client_id": format!("{round}-{number}"),
            });
            let asked = connection.start("/v1/queue.lease", lease.to_string()).await;
            waiting.push(asked.expect("the connection goes on"));
        }
        // Asked after them on the same connection, so they were heard.
        let stats = json!({"queue_name": QUEUE}).to_string();
        let answer = connection.ask("/v1/queue.stats", stats).await.expect("the connection goes on");
        assert_eq!(answer.status(), 200);
    }
}

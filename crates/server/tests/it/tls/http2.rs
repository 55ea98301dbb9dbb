//! HTTP/2 in clear text, by prior knowledge: what holds for connections of HTTP/1 holds there, too.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::PATIENT;
use super::session::Session;
use crate::wire::{Running, config};

/// What a client of HTTP/2 sends first, and an empty frame of settings.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

fn lease(client_id: &str, request_timeout: &str) -> String {
    json!({"queue_name": "q", "client_id": client_id, "batch_size": 1, "request_timeout": request_timeout})
        .to_string()
}

#[tokio::test]
async fn many_requests_are_served_at_once_on_one_connection() {
    let server = Running::start(config("memory:")).await;
    server.queue("q").await;
    let mut session = Session::open_http2(server.address).await;
    let polls: Vec<_> = (0..50)
        .map(|n| tokio::spawn(session.start("/v1/queue.lease", &lease(&format!("c{n}"), "1m"))))
        .collect();
    let waiting = async {
        while !session
            .post("/v1/queue.stats", r#"{"queue_name":"q"}"#)
            .await
            .1
            .contains("\"lease_waiting\":50")
        {}
    };
    timeout(PATIENT, waiting).await.expect("all of them wait");
    server.produce("q", &["x"; 50]).await;
    for poll in polls {
        assert_eq!(poll.await.expect("no panic").expect("an answer").0, 200);
    }
}

#[tokio::test]
async fn long_poll_is_not_cut_and_an_unused_connection_is() {
    let mut config = config("memory:");
    // Long for a busy machine to open a session.
    let idle = Duration::from_secs(2);
    (config.timeouts.idle, config.timeouts.write) = (idle, idle);
    let server = Running::start(config).await;
    server.queue("q").await;
    let mut session = Session::open_http2(server.address).await;
    let (status, _) = session.post("/v1/queue.lease", &lease("c", "5s")).await;
    assert_eq!(status, 454, "more than twice as long as anybody may be idle");
    session.ended().await;

    let mut unused = Vec::new();
    for sent in [&b""[..], &PREFACE[..10], PREFACE] {
        let mut stream = TcpStream::connect(server.address).await.expect("connects");
        stream.write_all(sent).await.expect("sends");
        unused.push(stream);
    }
    for mut stream in unused {
        let mut rest = Vec::new();
        let _ = timeout(PATIENT, stream.read_to_end(&mut rest)).await.expect("is closed in time");
    }
}

#[tokio::test]
async fn client_that_takes_nothing_of_an_answer_is_cut() {
    let mut config = config("memory:");
    config.timeouts.write = Duration::from_millis(300);
    let server = Running::start(config).await;
    server.queue("q").await;
    let payload = "x".repeat(500_000);
    server.produce("q", &[&payload]).await;
    let mut stream = TcpStream::connect(server.address).await.expect("connects");
    stream.write_all(PREFACE).await.expect("sends");
    stream.write_all(&post("/v1/storage/items.list", r#"{"queue_name":"q"}"#)).await.expect("sends");
    let began = std::time::Instant::now();
    // Reads all that comes, yet never lets more come: the window stays at 65,535 bytes.
    let mut taken = Vec::new();
    let _ = timeout(PATIENT, stream.read_to_end(&mut taken)).await.expect("is closed in time");
    assert!((60_000..400_000).contains(&taken.len()), "{}", taken.len());
    assert!(began.elapsed() < Duration::from_secs(20), "not by the ping that it does not answer either");
}

#[tokio::test]
async fn requests_over_the_limit_of_a_connection_wait_in_the_client() {
    let mut config = config("memory:");
    config.limits.streams = 2;
    let server = Running::start(config).await;
    server.queue("q").await;
    let mut session = Session::open_http2(server.address).await;
    // By its answer the client knows the limit.
    assert_eq!(session.post("/v1/namespaces.list", "{}").await.0, 200);
    let polls: Vec<_> = (0..3)
        .map(|n| tokio::spawn(session.start("/v1/queue.lease", &lease(&format!("c{n}"), "1m"))))
        .collect();
    let waiting = async {
        loop {
            let stats = server.done("/v1/queue.stats", json!({"queue_name": "q"})).await;
            if stats["logicalQueues"][0]["lease_waiting"] == 2 {
                return;
            }
        }
    };
    timeout(PATIENT, waiting).await.expect("two of them wait");
    server.produce("q", &["x"; 3]).await;
    for poll in polls {
        assert_eq!(poll.await.expect("no panic").expect("an answer").0, 200);
    }
}

#[tokio::test]
async fn flood_of_requests_that_are_taken_back_ends_the_connection() {
    let server = Running::start(config("memory:")).await;
    server.queue("q").await;
    let mut stream = TcpStream::connect(server.address).await.expect("connects");
    let mut flood = PREFACE.to_vec();
    for stream_id in (1..20_001).step_by(2) {
        flood.extend(headers_of("/v1/queue.lease", stream_id));
        flood.extend(frame(3, 0, stream_id, &8_u32.to_be_bytes()));
    }
    // The server may hang up while we still send.
    let _ = stream.write_all(&flood).await;
    let mut rest = Vec::new();
    let _ = timeout(PATIENT, stream.read_to_end(&mut rest)).await.expect("is closed in time");
    server.produce("q", &["x"]).await;
}

#[tokio::test]
async fn headers_that_are_too_long_are_refused() {
    let server = Running::start(config("memory:")).await;
    let mut stream = TcpStream::connect(server.address).await.expect("connects");
    stream.write_all(PREFACE).await.expect("sends");
    let mut block = head("/v1/queues.list");
    for number in 0..10 {
        // Literal, never indexed: a name of two letters, a value of 3,000.
        block.extend([0x10, 2, b'x', b'a' + number]);
        // 3,000 in a prefix of seven bits.
        block.extend([0x7f, 0xb9, 0x16]);
        block.extend(vec![b'v'; 3_000]);
    }
    let (first, rest) = block.split_at(16_000);
    let mut frames = frame(1, 0x1, 1, first);
    frames.extend(frame(9, 0x4, 1, rest));
    stream.write_all(&frames).await.expect("sends");
    let (mut piece, mut read) = ([0; 4096], Vec::new());
    let refused = async {
        loop {
            let count = stream.read(&mut piece).await.expect("an answer");
            assert_ne!(count, 0, "closed without a word");
            read.extend_from_slice(&piece[..count]);
            if let Some(answer) = payload_of(&read, 1) {
                return answer.first().copied();
            }
        }
    };
    let first = timeout(PATIENT, refused).await.expect("is refused");
    // A status that the protocol has no number for; 200, 400 and 500 have one.
    assert_eq!(first, Some(0x48), "431 is told");
}

#[tokio::test]
async fn answered_client_makes_room_when_others_wait() {
    let mut config = config("memory:");
    config.limits.connections = 1;
    let server = Running::start(config).await;
    let mut kept = Session::open_http2(server.address).await;
    assert_eq!(kept.post("/v1/namespaces.list", "{}").await.0, 200);
    kept.ended().await;
    let mut next = Session::open_http2(server.address).await;
    assert_eq!(next.post("/v1/namespaces.list", "{}").await.0, 200);
}

fn frame(kind: u8, flags: u8, stream_id: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("is short").to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream_id.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Without compression: `:method POST`, `:scheme http`, `:authority localhost`, and the path.
fn head(path: &str) -> Vec<u8> {
    let mut block = b"\x83\x86\x01\x09localhost\x04".to_vec();
    block.push(u8::try_from(path.len()).expect("is short"));
    block.extend(path.as_bytes());
    block
}

fn headers_of(path: &str, stream_id: u32) -> Vec<u8> {
    frame(1, 0x4, stream_id, &head(path))
}

fn post(path: &str, body: &str) -> Vec<u8> {
    let mut frames = headers_of(path, 1);
    frames.extend(frame(0, 0x1, 1, body.as_bytes()));
    frames
}

/// What the first frame of this kind says.
fn payload_of(mut read: &[u8], kind: u8) -> Option<&[u8]> {
    while let [a, b, c, found, _, _, _, _, _, rest @ ..] = read {
        let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        let payload = rest.get(..length)?;
        if *found == kind {
            return Some(payload);
        }
        read = &rest[length..];
    }
    None
}

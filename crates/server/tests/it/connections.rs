//! How many connections are served at once, and what becomes of slow clients.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::wire::{Running, config};

const PATIENT: Duration = Duration::from_secs(60);
/// Long enough for a server that would answer.
const WHILE: Duration = Duration::from_millis(200);

async fn connect(server: &Running) -> TcpStream {
    TcpStream::connect(server.address).await.expect("connects")
}

async fn send(stream: &mut TcpStream, path: &str, body: &str) {
    let length = body.len();
    let request =
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.expect("sends");
}

/// The status of the next answer.
async fn status(stream: &mut TcpStream) -> String {
    let mut line = [0; 12];
    timeout(PATIENT, stream.read_exact(&mut line)).await.expect("in time").expect("an answer");
    String::from_utf8(line.to_vec()).expect("text")
}

/// What came before the server closed the connection.
async fn until_closed(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    // A connection that is reset is closed too.
    let _ = timeout(PATIENT, stream.read_to_end(&mut read)).await.expect("is closed in time");
    String::from_utf8(read).expect("text")
}

fn lease(client_id: &str, request_timeout: &str) -> String {
    json!({"queue_name": "q", "client_id": client_id, "batch_size": 1, "request_timeout": request_timeout})
        .to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousand_long_polls_are_answered_by_a_produce() {
    const POLLS: usize = 1_000;
    let mut config = config("memory:");
    config.limits.connections = POLLS + 10;
    let server = Running::start(config).await;
    server.queue("q").await;
    let mut polls = JoinSet::new();
    for number in 0..POLLS {
        let mut stream = connect(&server).await;
        polls.spawn(async move {
            send(&mut stream, "/v1/queue.lease", &lease(&format!("c{number}"), "1m")).await;
            status(&mut stream).await
        });
    }
    let waiting = async {
        loop {
            let stats = server.done("/v1/queue.stats", json!({"queue_name": "q"})).await;
            if stats["logicalQueues"][0]["lease_waiting"] == POLLS {
                return;
            }
        }
    };
    timeout(PATIENT, waiting).await.expect("all of them wait");
    server.produce("q", &["x"; POLLS]).await;
    for answer in timeout(PATIENT, polls.join_all()).await.expect("all are answered") {
        assert_eq!(answer, "HTTP/1.1 200");
    }
}

#[tokio::test]
async fn connection_over_the_limit_waits_until_another_leaves() {
    let mut config = config("memory:");
    // One of them is the client's that makes the queue, and keeps it.
    config.limits.connections = 3;
    let server = Running::start(config).await;
    server.queue("q").await;
    let mut first = connect(&server).await;
    send(&mut first, "/v1/queue.lease", &lease("first", "1m")).await;
    let mut second = connect(&server).await;
    send(&mut second, "/v1/queue.lease", &lease("second", "1m")).await;
    let mut third = connect(&server).await;
    send(&mut third, "/v1/namespaces.list", "{}").await;
    timeout(WHILE, third.readable()).await.expect_err("there is no room");
    drop(first);
    assert_eq!(status(&mut third).await, "HTTP/1.1 200");
}

#[tokio::test]
async fn answered_client_makes_room_when_others_wait() {
    let mut config = config("memory:");
    config.limits.connections = 2;
    let server = Running::start(config).await;
    let mut kept = connect(&server).await;
    send(&mut kept, "/v1/namespaces.list", "{}").await;
    assert_eq!(status(&mut kept).await, "HTTP/1.1 200", "there is room for one more");
    let mut busy = connect(&server).await;
    busy.write_all(b"POST /v1/namespaces.list HTTP/1.1\r\nHost: localhost\r\n").await.expect("sends");
    let mut third = connect(&server).await;
    send(&mut third, "/v1/namespaces.list", "{}").await;
    timeout(WHILE, third.readable()).await.expect_err("there is no room");
    send(&mut kept, "/v1/namespaces.list", "{}").await;
    let read = until_closed(&mut kept).await.to_ascii_lowercase();
    let (_, second_answer) = read.split_once("http/1.1 200").expect("the second answer, too");
    assert!(second_answer.contains("connection: close"), "{read}");
    assert_eq!(status(&mut third).await, "HTTP/1.1 200");
}

#[tokio::test]
async fn half_a_header_is_cut_and_a_long_poll_is_not() {
    let mut config = config("memory:");
    // Long for a busy machine to connect and send one request.
    config.timeouts.idle = Duration::from_secs(2);
    let server = Running::start(config).await;
    server.queue("q").await;
    let mut polling = connect(&server).await;
    send(&mut polling, "/v1/queue.lease", &lease("c", "5s")).await;
    let mut half = connect(&server).await;
    half.write_all(b"POST /v1/queue.lease HTTP/1.1\r\nHost: local").await.expect("sends");
    let mut idle = connect(&server).await;
    for stream in [&mut half, &mut idle] {
        let read = until_closed(stream).await;
        assert!(!read.contains("200"), "{read}");
    }
    assert_eq!(status(&mut polling).await, "HTTP/1.1 454", "more than twice as long as anybody may be idle");
}

#[tokio::test]
async fn half_a_body_is_answered_and_cut() {
    let mut config = config("memory:");
    config.timeouts.body = WHILE;
    let server = Running::start(config).await;
    let mut half = connect(&server).await;
    let request = b"POST /v1/queue.stats HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{\"queue";
    half.write_all(request).await.expect("sends");
    let read = until_closed(&mut half).await;
    assert!(read.starts_with("HTTP/1.1 512") && read.contains("only 7 byte(s) came in 200ms"), "{read}");
}

#[tokio::test]
async fn bodies_that_are_announced_and_not_sent_keep_nobody_out() {
    let mut config = config("memory:");
    config.limits.body_bytes = 1_000_000;
    let server = Running::start(config).await;
    server.queue("q").await;
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut stream = connect(&server).await;
        let head =
            "POST /v1/storage/items.import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 64000000\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.expect("sends");
        slow.push(stream);
    }
    // Each on its own connection, so that those before have been read by then.
    for number in 0..5 {
        let mut stream = connect(&server).await;
        send(&mut stream, "/v1/namespaces.list", "{}").await;
        assert_eq!(status(&mut stream).await, "HTTP/1.1 200");
        let items = json!([{"utf8": "x".repeat(300_000)}]);
        let produce = json!({"queue_name": "q", "request_timeout": "5s", "items": items});
        let mut stream = connect(&server).await;
        send(&mut stream, "/v1/queue.produce", &produce.to_string()).await;
        assert_eq!(status(&mut stream).await, "HTTP/1.1 200", "produce {number}");
    }
    for stream in &slow {
        timeout(WHILE, stream.readable()).await.expect_err("nobody has told them anything yet");
    }
}

#[tokio::test]
async fn chunked_body_that_keeps_coming_is_read_to_its_end() {
    let mut config = config("memory:");
    config.timeouts.body = Duration::from_secs(5);
    let server = Running::start(config).await;
    server.queue("q").await;
    let mut slow = connect(&server).await;
    let head = b"POST /v1/queue.stats HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    slow.write_all(head).await.expect("sends");
    for piece in ["{\"queue", "_name\":", "\"q\"}", ""] {
        let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
        slow.write_all(chunk.as_bytes()).await.expect("sends");
        slow.flush().await.expect("sends");
        tokio::task::yield_now().await;
    }
    assert_eq!(status(&mut slow).await, "HTTP/1.1 200");
}

#[tokio::test]
async fn produce_limits_are_the_configured_ones() {
    let mut config = config("memory:");
    config.limits.produce_body_bytes = 2_000;
    config.limits.produce_items = 2;
    config.limits.lease_items = 3;
    let server = Running::start(config).await;
    server.queue("q").await;
    let produce = |items: &[&str]| {
        let items: Vec<_> = items.iter().map(|item| json!({"utf8": item})).collect();
        json!({"queue_name": "q", "request_timeout": "1s", "items": items})
    };
    let (code, message) = server.refused("/v1/queue.produce", produce(&[&"x".repeat(2_000)])).await;
    assert_eq!((code, message.as_str()), (400, "request body exceeds 2.0KB limit"));
    let (code, message) = server.refused("/v1/queue.produce", produce(&["a", "b", "c"])).await;
    assert!(code == 400 && message.contains('2'), "{message}");
    let lease = json!({"queue_name": "q", "client_id": "c", "batch_size": 4, "request_timeout": "1s"});
    let (code, message) = server.refused("/v1/queue.lease", lease).await;
    assert!(code == 400 && message.contains('3'), "{message}");
}

async fn nine_items(server: &Running) -> serde_json::Value {
    server.queue("q").await;
    let items = vec![json!({"utf8": "x".repeat(4_000)}); 9];
    let produce = json!({"queue_name": "q", "request_timeout": "30s", "items": items});
    assert_eq!(server.post("/v1/queue.produce", produce).await.status, 200);
    json!({"queue_name": "q", "client_id": "c", "batch_size": 9, "request_timeout": "30s"})
}

#[tokio::test]
async fn answers_to_leases_end_at_the_configured_bytes() {
    let mut config = config("memory:");
    config.limits.lease_answer_bytes = 10_000;
    let server = Running::start(config).await;
    let lease = nine_items(&server).await;
    for expected in [2, 2, 2, 2, 1] {
        let leased = server.post("/v1/queue.lease", lease.clone()).await.json();
        assert_eq!(leased["items"].as_array().map(Vec::len), Some(expected));
    }
}

#[tokio::test]
async fn answers_to_leases_leave_their_room_once_they_are_taken() {
    let mut config = config("memory:");
    config.limits.answer_bytes = 10_000;
    let server = Running::start(config).await;
    let lease = nine_items(&server).await;
    let started = Instant::now();
    let mut leased = 0;
    while leased < 9 {
        let answer = server.post("/v1/queue.lease", lease.clone()).await;
        // The server may see a moment later than we do that the one before was taken.
        if answer.status == 454 {
            assert!(started.elapsed() < PATIENT, "there is no room after {leased} items");
            tokio::task::yield_now().await;
            continue;
        }
        let items = answer.json()["items"].as_array().map_or(0, Vec::len);
        assert!((1..=2).contains(&items), "{items} items in one answer");
        leased += items;
    }
}

//! What a request costs that is refused.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::served::Server;

const BYTES_MAX: u64 = 64_000_000;

fn post(server: &Server, key: &str, path: &str, media_type: &str, body: &[u8]) -> (u16, Value) {
    let address = server.endpoint.strip_prefix("http://").expect("is an endpoint");
    let mut stream = TcpStream::connect(address).expect("connects");
    let authorization =
        if key.is_empty() { String::new() } else { format!("Authorization: Bearer {key}\r\n") };
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{authorization}Content-Type: {media_type}\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    // It may be refused before all of it is sent.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).expect("is text");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("has a status");
    let body = answer.split_once("\r\n\r\n").expect("has a body").1;
    (status, serde_json::from_str(body).expect("is JSON"))
}

#[test]
fn request_that_may_not_be_made_takes_little_memory() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let config = folder.path().join("c.yaml");
    fs::write(&config, "auth-backend: {driver: internal}\n").expect("writes");
    let server = Server::start_with(&["--config", config.to_str().expect("is text")]);
    let done = |path: &str, body: Value| {
        let (status, answer) = post(&server, "", path, "application/json", body.to_string().as_bytes());
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    };
    let user = done("/v1/users.create", json!({"username": "u"}))["id"].clone();
    let role = json!({"namespace": "_system", "name": "r", "permissions": ["lock.read"]});
    done("/v1/roles.create", role);
    done("/v1/rolebindings.create", json!({"namespace": "_system", "role_name": "r", "user_id": user}));
    let key = done("/v1/apikeys.create", json!({"user_id": user}))["key"].clone();
    let key = key.as_str().expect("a key");

    let protobuf = |elements: usize| ("application/protobuf", b"\x1a\x00".repeat(elements));
    let json = |elements: usize| {
        let items = vec!["{}"; elements].join(",");
        ("application/json", format!("{{\"queue_name\":\"q\",\"items\":[{items}]}}").into_bytes())
    };
    for (path, (media_type, body), status) in [
        ("/v1/queue.produce", protobuf(2_000_000), 400),
        ("/v1/storage/items.import", protobuf(2_000_000), 400),
        ("/v1/queue.produce", json(1_600_000), 400),
        ("/v1/storage/items.import", json(1_600_000), 400),
        ("/v1/queue.produce", json(50_000), 403),
        ("/v1/storage/items.import", json(50_000), 403),
    ] {
        let before = server.peak_bytes();
        let (told, answer) = post(&server, key, path, media_type, &body);
        // The kernel counts in batches: it may show a little less than before.
        let grown = server.peak_bytes().saturating_sub(before);
        assert!(grown < BYTES_MAX, "{path} of {media_type}: {grown} bytes");
        assert_eq!(told, status, "{path}: {answer}");
        let is_counted = answer["message"] == "request has too many elements; at most 50000 are read";
        assert_eq!(is_counted, status == 400, "{answer}");
    }
}

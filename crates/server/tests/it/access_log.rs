//! What the log says of requests, and what it must never say.

use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex};

use leasehold_access::Driver;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::wire::{Running, config};

/// A log that is kept in memory.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("nobody panicked").clone()).expect("text")
    }
}

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Kept {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Set where the test has the process to itself.
const ALONE: &str = "LEASEHOLD_TEST_ALONE";

/// Runs in a process of its own: tracing decides once for all threads whether an event is wanted, and the other tests,
/// which have no log, would decide that it is not.
#[tokio::test]
async fn requests_are_logged_without_payloads_and_secrets() {
    if std::env::var_os(ALONE).is_none() {
        let name = "access_log::requests_are_logged_without_payloads_and_secrets";
        let mut alone = Command::new(std::env::current_exe().expect("a path"));
        let ran = alone.args([name, "--exact"]).env(ALONE, "1").output().expect("runs");
        let printed = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && printed.contains("1 passed"), "{printed}");
        return;
    }
    let log = Kept::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    // The runtime of this test has one thread, this one: only its server writes here.
    let _logging = tracing::subscriber::set_default(subscriber);
    let mut config = config("memory:");
    config.auth = Driver::Internal;
    let server = Running::start(config).await;
    server.queue("q").await;
    let user = server.done("/v1/users.create", json!({"username": "u"})).await["id"].clone();
    let created = server.done("/v1/apikeys.create", json!({"user_id": user})).await;
    let key = created["key"].as_str().expect("a key").to_owned();
    let bearer = format!("Bearer {key}");
    let unbound = http::Request::post("/").header("authorization", bearer.as_str());
    server.request(unbound, "/v1/queue.reload", "not read").await;
    server.done("/v1/roles.create", json!({"namespace": "_system", "name": "r", "permissions": []})).await;
    server
        .done("/v1/rolebindings.create", json!({"namespace": "_system", "role_name": "r", "user_id": user}))
        .await;

    server.produce("q", &["payload-hunter2"]).await;
    server.lease("q", "c", 1).await;
    server.post("/v1/lock.acquire", json!({"key": "key-hunter2", "ttlMs": 1000})).await;
    server.post("/v1/path-hunter2", json!({"body": "body-hunter2"})).await;
    for authorization in [bearer.as_str(), "Basic hunter2", "Bearer hunter2"] {
        let request = http::Request::post("/")
            .header("authorization", authorization)
            .header("x-request-id", "named-by-the-client");
        server.request(request, "/v1/queue.stats", r#"{"queue_name": "q"}"#).await;
    }

    let delete = http::Request::post("/").header("authorization", bearer.as_str());
    server.request(delete, "/v1/queues.delete", r#"{"queue_name": "q"}"#).await;
    server.done("/v1/queue.clear", json!({"queue_name": "q", "queue": true})).await;
    let update = json!({"queue_name": "q", "requested_partitions": 1});
    server.done("/v1/queues.update", update).await;
    server.done("/v1/queues.delete", json!({"queue_name": "q", "force": true})).await;

    let log = log.text();
    for audited in [
        "action=\"queue.create\" object=\"q\" outcome=\"done\"",
        "action=\"queue.clear\" object=\"q\" outcome=\"done\"",
        "action=\"queue.update\" object=\"q\" outcome=\"done\"",
        "action=\"queue.delete\" object=\"q\" outcome=\"done\"",
        "action=\"queue.delete\" object=\"q\" outcome=\"denied\"",
        "action=\"/v1/queue.reload\" object=\"not read\" outcome=\"denied\"",
        "action=\"user.create\"",
        "action=\"apikey.create\"",
    ] {
        let mut lines = log.lines().filter(|line| line.contains("leasehold::audit"));
        assert!(lines.any(|line| line.contains(audited) && line.contains("actor=")), "{audited}: {log}");
    }
    let user = user.as_str().expect("text");
    for expected in [
        "leasehold::access",
        "route=\"/v1/queue.produce\" status=200",
        "route=\"/v1/queue.stats\" status=403",
        "route=\"/v1/queue.stats\" status=401",
        "route=\"other\" status=501",
        "request_id=\"named-by-the-client\"",
        "user_id=\"anonymous\"",
        &format!("user_id=\"{user}\""),
    ] {
        assert!(log.contains(expected), "{expected} is missing: {log}");
    }
    for secret in ["hunter2", key.as_str(), "aHVudGVyMg", "cGF5bG9hZC"] {
        assert!(!log.contains(secret), "{secret} is logged: {log}");
    }
}

//! A server with some of everything to do, and a Prometheus that scrapes it as `ops/prometheus` says.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::document::text;
use crate::served::Server;

/// Longer than anything here takes, also on a machine that does much else.
const PATIENT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(20);

/// What happens on a server again and again until this is dropped.
pub(crate) struct Work {
    is_over: Arc<AtomicBool>,
    working: Option<JoinHandle<()>>,
}

impl Work {
    pub(crate) fn on(server: &Server) -> Self {
        server.json(&["queue", "create", "orders-dead"]);
        server.json(&["queue", "create", "orders", "--dead-queue", "orders-dead", "--lease-timeout", "1m"]);
        let is_over = Arc::new(AtomicBool::new(false));
        let (endpoint, told) = (server.endpoint.clone(), is_over.clone());
        let working = std::thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                queue_cycle(&endpoint);
                lock_cycle(&endpoint);
                sleep(PAUSE);
            }
        });
        Work { is_over, working: Some(working) }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(working) = self.working.take() {
            let ended = working.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the work went wrong");
        }
    }
}

/// One of four items is completed, one retried, one is dead, one stays leased.
fn queue_cycle(endpoint: &str) {
    let items = vec![json!({"utf8": "x"}); 4];
    done(
        endpoint,
        "queue.produce",
        &json!({"queue_name": "orders", "request_timeout": "30s", "items": items}),
    );
    let lease = json!({"queue_name": "orders", "request_timeout": "30s", "client_id": "c", "batch_size": 4});
    let leased = done(endpoint, "queue.lease", &lease);
    let id = |number: usize| leased["items"][number]["id"].clone();
    let complete = json!({"queue_name": "orders", "request_timeout": "30s", "partition": 0, "ids": [id(0)]});
    done(endpoint, "queue.complete", &complete);
    let retried = json!([{"id": id(1)}, {"id": id(2), "dead": true}]);
    done(endpoint, "queue.retry", &json!({"queue_name": "orders", "partition": 0, "items": retried}));
}

/// One lock is released, one is waited for until its time has passed.
fn lock_cycle(endpoint: &str) {
    let held = done(endpoint, "lock.acquire", &json!({"key": "billing", "ttlMs": 60_000}));
    done(endpoint, "lock.extend", &json!({"lockId": held["lockId"], "ttlMs": 60_000}));
    done(endpoint, "lock.release", &json!({"lockId": held["lockId"]}));
    let late = done(endpoint, "lock.acquire", &json!({"key": "late", "ttlMs": 20}));
    let next = json!({"key": "late", "ttlMs": 60_000, "requestTimeout": "30s"});
    let next = done(endpoint, "lock.acquire", &next);
    done(endpoint, "lock.release", &json!({"lockId": late["lockId"]}));
    done(endpoint, "lock.release", &json!({"lockId": next["lockId"]}));
}

fn done(endpoint: &str, operation: &str, body: &Value) -> Value {
    let address = endpoint.strip_prefix("http://").expect("is an endpoint");
    let (status, answer) = ask(address, &format!("POST /v1/{operation}"), &body.to_string());
    assert_eq!(status, 200, "{operation}: {answer}");
    serde_json::from_str(&answer).expect("is JSON")
}

/// HTTP/1.0, whose answers come in one piece.
fn ask(address: &str, what: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("connects");
    write!(stream, "{what} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .expect("sends");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("answers");
    let (head, body) = reply.split_once("\r\n\r\n").expect("has a body");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("has a status");
    (status, body.to_owned())
}

/// A Prometheus of this test's own.
pub(crate) struct Prometheus {
    process: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    /// Scrapes as `ops/prometheus/scrape.yaml` says, only sooner.
    pub(crate) fn over(server: &Server) -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let target = server.endpoint.strip_prefix("http://").expect("is an endpoint");
        let scrape = text("ops/prometheus/scrape.yaml");
        let here =
            scrape.replace("127.0.0.1:2319", target).replace("scrape_interval: 15s", "scrape_interval: 1s");
        assert!(here.contains(target) && here.contains("interval: 1s"), "{here}");
        let config = format!("global:\n  evaluation_interval: 1s\n{here}");
        std::fs::write(folder.path().join("prometheus.yml"), config).expect("writes");
        let alerts = text("ops/prometheus/alerts.yaml");
        std::fs::write(folder.path().join("alerts.yaml"), alerts).expect("writes");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a free port").to_string();
        let process = Command::new("prometheus")
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--log.level=error"])
            .arg(format!("--web.listen-address={address}"))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("prometheus starts");
        let prometheus = Prometheus { process, address, _folder: folder };
        until("Prometheus listens", || TcpStream::connect(&prometheus.address).is_ok());
        // Rates need two scrapes.
        until("the server is scraped", || {
            let scrapes = prometheus.query("count_over_time(up{job=\"leasehold\"}[1m]) >= 3");
            scrapes.is_ok_and(|series| !series.is_empty())
        });
        prometheus
    }

    /// What an expression has now, or why it is none. Values that are no numbers are left out: nobody sees them either.
    pub(crate) fn query(&self, expression: &str) -> Result<Vec<Value>, String> {
        let asked: String = expression.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let (status, answer) = ask(&self.address, &format!("GET /api/v1/query?query={asked}"), "");
        if status != 200 {
            return Err(answer);
        }
        let answer: Value = serde_json::from_str(&answer).expect("is JSON");
        let series = answer["data"]["result"].as_array().expect("has a result");
        let is_number = |series: &&Value| series["value"][1] != "NaN";
        Ok(series.iter().filter(is_number).cloned().collect())
    }

    /// The alert rules, once each was judged.
    pub(crate) fn rules(&self) -> Vec<Value> {
        let mut rules = Vec::new();
        until("the rules are judged", || {
            let (_, answer) = ask(&self.address, "GET /api/v1/rules", "");
            let answer: Value = serde_json::from_str(&answer).expect("is JSON");
            rules = answer["data"]["groups"][0]["rules"].as_array().cloned().unwrap_or_default();
            !rules.is_empty() && rules.iter().all(|rule| rule["health"] != "unknown")
        });
        rules
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn until(what: &str, mut is: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(started.elapsed() < PATIENT, "not in {PATIENT:?}: {what}");
        sleep(PAUSE);
    }
}

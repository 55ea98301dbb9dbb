//! Clients of one queue who ask as fast as they are answered, and an account of what they were told, to be compared with what
//! is stored in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::PATIENT;
use super::connection::{Answer, Connection};

use crate::served::Server;

pub(crate) const QUEUE: &str = "pressed";
/// A client leases as often as it produces so many times.
const PRODUCES_PER_LEASE: u64 = 4;
/// How long whoever was refused rests: refusing is cheap, and asking again at once is all that would be done.
const PAUSE: Duration = Duration::from_millis(20);
const PAGE_LEN: usize = 100;

/// What clients were told of each item.
#[derive(Default)]
pub(crate) struct Account {
    pub(crate) acknowledged: BTreeSet<u64>,
    /// Surely not stored.
    pub(crate) refused: BTreeSet<u64>,
    pub(crate) unknown: BTreeSet<u64>,
    leased: BTreeSet<u64>,
    /// How often each code was answered, with the name of the error.
    pub(crate) answers: BTreeMap<(u16, String), usize>,
    pub(crate) slowest: Duration,
    wrong: Vec<String>,
}

impl Account {
    fn add(&mut self, status: u16, error: String, elapsed: Duration) {
        *self.answers.entry((status, error)).or_default() += 1;
        self.slowest = self.slowest.max(elapsed);
    }
}

/// Clients, one after the other load.
pub(crate) struct Clients {
    endpoint: String,
    next: Arc<AtomicU64>,
    account: Arc<Mutex<Account>>,
}

/// One load.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) clients: u64,
    /// Of each item.
    pub(crate) item_bytes: usize,
}

impl Clients {
    pub(crate) fn of(server: &Server) -> Self {
        server.json(&["queue", "create", QUEUE, "--lease-timeout", "1h", "--expire-timeout", "2h"]);
        Clients { endpoint: server.endpoint.clone(), next: Arc::default(), account: Arc::default() }
    }

    /// Lets them ask until it is enough.
    pub(crate) async fn press(&self, load: Load, is_enough: impl Fn(&Account) -> bool) {
        let stop = CancellationToken::new();
        let mut clients = JoinSet::new();
        for number in 0..load.clients {
            let client = Client {
                number,
                endpoint: self.endpoint.clone(),
                connection: Connection::open(&self.endpoint).await,
                item_bytes: load.item_bytes,
                next: self.next.clone(),
                account: self.account.clone(),
            };
            clients.spawn(client.run(stop.clone()));
        }
        let started = Instant::now();
        while !is_enough(&self.account.lock()) {
            let waited = started.elapsed();
            assert!(waited < PATIENT, "only {:?} after {waited:?}", self.account.lock().answers);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stop.cancel();
        while let Some(ended) = clients.join_next().await {
            ended.expect("every request is answered");
        }
    }

    /// How they were answered since this was asked last, and how long it took at most.
    pub(crate) fn told(&self) -> (BTreeMap<(u16, String), usize>, Duration) {
        let mut account = self.account.lock();
        (std::mem::take(&mut account.answers), std::mem::take(&mut account.slowest))
    }

    /// How many items ever were.
    pub(crate) fn acknowledged(&self) -> usize {
        self.account.lock().acknowledged.len()
    }

    /// What was acknowledged is stored, what was refused is not, and nothing was handed out twice.
    pub(crate) async fn judge(self) {
        let stored = stored(&self.endpoint).await;
        let account = self.account.lock();
        let lost: Vec<_> = account.acknowledged.difference(&stored).collect();
        let undead: Vec<_> = account.refused.intersection(&stored).collect();
        eprintln!(
            "{} acknowledged, {} refused, {} unknown, {} leased, {} stored",
            account.acknowledged.len(),
            account.refused.len(),
            account.unknown.len(),
            account.leased.len(),
            stored.len()
        );
        assert!(lost.is_empty(), "acknowledged, and lost: {lost:?}");
        assert!(undead.is_empty(), "refused, and stored: {undead:?}");
        assert!(account.wrong.is_empty(), "{:?}", account.wrong);
    }
}

struct Client {
    number: u64,
    endpoint: String,
    connection: Connection,
    item_bytes: usize,
    next: Arc<AtomicU64>,
    account: Arc<Mutex<Account>>,
}

impl Client {
    async fn run(mut self, stop: CancellationToken) {
        let mut round = self.number;
        while !stop.is_cancelled() {
            round += 1;
            let answer = match round % PRODUCES_PER_LEASE {
                0 => self.lease().await,
                _ => self.produce().await,
            };
            if answer.status != 200 {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    async fn produce(&mut self) -> Answer {
        let item = self.next.fetch_add(1, Ordering::Relaxed);
        let payload = format!("{item} {}", "x".repeat(self.item_bytes));
        let produce = json!({"queue_name": QUEUE, "request_timeout": "1s", "items": [{"utf8": payload}]});
        let answer = self.ask("/v1/queue.produce", produce).await;
        let mut account = self.account.lock();
        match answer.status {
            200 => account.acknowledged.insert(item),
            454 => account.refused.insert(item),
            _ => account.unknown.insert(item),
        };
        drop(account);
        answer
    }

    async fn lease(&mut self) -> Answer {
        let client_id = format!("c{}", self.number);
        let lease =
            json!({"queue_name": QUEUE, "request_timeout": "1s", "client_id": client_id, "batch_size": 5});
        let answer = self.ask("/v1/queue.lease", lease).await;
        if answer.status == 200 {
            let leased: Value = serde_json::from_slice(&answer.body).expect("is JSON");
            for item in leased["items"].as_array().expect("has items") {
                let item = number_of(&item["bytes"]);
                let mut account = self.account.lock();
                if !account.leased.insert(item) {
                    account.wrong.push(format!("item {item} was handed out twice"));
                }
            }
        }
        answer
    }

    async fn ask(&mut self, path: &str, body: Value) -> Answer {
        let started = Instant::now();
        let answer = self.connection.ask(path, body.to_string().as_bytes()).await;
        let elapsed = started.elapsed();
        let error = match answer.status {
            200 => String::new(),
            _ => {
                let reply: Value = serde_json::from_slice(&answer.body).expect("is JSON");
                reply["details"]["error"].as_str().unwrap_or_default().to_owned()
            }
        };
        self.account.lock().add(answer.status, error, elapsed);
        if answer.is_last {
            self.connection = Connection::open(&self.endpoint).await;
        }
        answer
    }
}

/// Which item it is, by its payload.
fn number_of(payload: &Value) -> u64 {
    let payload = STANDARD.decode(payload.as_str().expect("is text")).expect("is base64");
    let text = String::from_utf8(payload).expect("is text");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("is one of ours")
}

/// All that is in the queue.
async fn stored(endpoint: &str) -> BTreeSet<u64> {
    let mut stored = BTreeSet::new();
    let mut pivot = String::new();
    loop {
        let list =
            json!({"queue_name": QUEUE, "partition": 0, "limit": PAGE_LEN, "pivot": pivot}).to_string();
        let mut connection = Connection::open(endpoint).await;
        let answer = connection.ask("/v1/storage/items.list", list.as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        let listed: Value = serde_json::from_slice(&answer.body).expect("is JSON");
        let items = listed["items"].as_array().expect("has items");
        stored.extend(items.iter().map(|item| number_of(&item["payload"])));
        match items.last() {
            Some(last) if items.len() == PAGE_LEN => {
                last["id"].as_str().expect("is text").clone_into(&mut pivot);
            }
            _ => return stored,
        }
    }
}

//! Many small clients, who all want the same few queues at once, and some who want what cannot be had.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::connection::{Answer, Connection};
use super::{Answers, GROWTH_MAX, Watched};

use crate::served::Server;

/// Of which the server lets so many in.
pub(crate) const CONNECTIONS: u64 = 16;
const CLIENTS: usize = 64;
const CYCLES: usize = 10;
const QUEUES: usize = 3;
const PARTITIONS: usize = 4;
const PATHS: usize = 7;
/// All that are made, each of which must be answered.
pub(crate) const REQUESTS: usize = CLIENTS * CYCLES * PATHS;
/// What a server may open beside connections: tables, and those who look at it.
pub(crate) const FILES_BESIDE: u64 = 16;

/// What clients were told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) answers: Answers,
    /// That their queue had too many requests.
    pub(crate) overloaded: usize,
    pub(crate) produced: usize,
    pub(crate) completed: usize,
}

pub(crate) fn queue(number: usize) -> String {
    format!("crowded-{}", number % QUEUES)
}

/// What they are too many for.
pub(crate) fn limits() -> String {
    format!("connections: {CONNECTIONS}\n  requests-per-queue: 1\n  produce-body-bytes: 20000")
}

/// A server with these limits takes what it can, tells all others so, and grows within bounds.
pub(crate) async fn is_answered_to_the_last(server: &Server) {
    // A first one brings in what any load needs: code, tables, caches, figures. The second is not to need more.
    let first = Watched::start(server);
    rush(server).await;
    drop(first);
    let watched = Watched::start(server);
    let before = stored(server);
    let Told { answers, overloaded, produced, completed } = rush(server).await;
    assert_eq!(answers.values().sum::<usize>(), REQUESTS, "{answers:?}");
    assert!(answers.keys().copied().eq([200, 400, 454, 455, 501]), "{answers:?}");
    assert!(overloaded > 0, "two requests of one queue never met: {answers:?}");
    let files = watched.files_growth();
    assert!(files < CONNECTIONS + FILES_BESIDE, "{files} more open files");
    let growth = watched.growth();
    eprintln!("{answers:?}, {overloaded} overloaded, {files} files and {growth} bytes more");
    assert!(growth < GROWTH_MAX, "it grew by {growth} bytes");
    let stored = stored(server);
    assert_eq!(stored + completed, before + produced, "{produced} produced, {completed} completed");
    watched.until_back(GROWTH_MAX);
}

/// Lets them all in at once.
pub(crate) async fn rush(server: &Server) -> Told {
    for number in 0..QUEUES {
        // It is there the second time.
        server.run(&["queue", "create", &queue(number), "--partitions", &PARTITIONS.to_string()]);
    }
    let barrier = Arc::new(tokio::sync::Barrier::new(CLIENTS));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let (connection, barrier) = (Connection::open(&server.endpoint).await, barrier.clone());
        let client = Client { number, endpoint: server.endpoint.clone(), connection, told: Told::default() };
        clients.spawn(async move {
            barrier.wait().await;
            client.run().await
        });
    }
    let mut all = Told::default();
    while let Some(told) = clients.join_next().await {
        let told = told.expect("no client panics");
        for (code, count) in told.answers {
            *all.answers.entry(code).or_default() += count;
        }
        all.overloaded += told.overloaded;
        all.produced += told.produced;
        all.completed += told.completed;
    }
    all
}

struct Client {
    number: usize,
    endpoint: String,
    connection: Connection,
    told: Told,
}

impl Client {
    async fn run(mut self) -> Told {
        for cycle in 0..CYCLES {
            let queue = queue(self.number + cycle);
            let produce = json!({
                "queue_name": queue, "request_timeout": "30s", "items": [{"utf8": "a"}, {"utf8": "b"}],
            });
            if self.ask("/v1/queue.produce", produce.to_string()).await.status == 200 {
                self.told.produced += 2;
            }
            let lease = json!({
                "queue_name": queue, "client_id": format!("c{}", self.number), "batch_size": 2,
                "request_timeout": "50ms",
            });
            let leased = self.ask("/v1/queue.lease", lease.to_string()).await;
            let (partition, ids) = leased_ids(&leased);
            let complete = json!({
                "queue_name": queue, "partition": partition, "request_timeout": "30s", "ids": ids,
            });
            if self.ask("/v1/queue.complete", complete.to_string()).await.status == 200 {
                self.told.completed += ids.len();
            }
            let too_long = json!({
                "queue_name": queue, "request_timeout": "30s", "items": [{"utf8": "x".repeat(30_000)}],
            });
            self.ask("/v1/queue.produce", too_long.to_string()).await;
            self.ask("/v1/queue.stats", "{".to_owned()).await;
            self.ask("/v1/queue.nothing", "{}".to_owned()).await;
            let nowhere = json!({"queue_name": format!("nowhere-{cycle}")});
            self.ask("/v1/queue.stats", nowhere.to_string()).await;
        }
        self.told
    }

    async fn ask(&mut self, path: &str, body: String) -> Answer {
        let answer = self.connection.ask(path, body.as_bytes()).await;
        *self.told.answers.entry(answer.status).or_default() += 1;
        if String::from_utf8_lossy(&answer.body).contains("queue is overloaded") {
            assert_eq!(answer.status, 454);
            self.told.overloaded += 1;
        }
        if answer.is_last {
            self.connection = Connection::open(&self.endpoint).await;
        }
        answer
    }
}

/// Where nothing was leased, an id that nobody has.
fn leased_ids(answer: &Answer) -> (u64, Vec<String>) {
    if answer.status != 200 {
        return (0, vec!["0ujtsYcgvSTl8PAuAdqWYSMnLOv".to_owned()]);
    }
    let leased: Value = serde_json::from_slice(&answer.body).expect("is JSON");
    let items = leased["items"].as_array().expect("has items");
    let id = |item: &Value| item["id"].as_str().expect("is text").to_owned();
    (leased["partition"].as_u64().unwrap_or_default(), items.iter().map(id).collect())
}

/// How many items there are in all queues.
pub(crate) fn stored(server: &Server) -> usize {
    let total = |number: usize| -> u64 {
        let stats = server.json(&["queue", "stats", &queue(number)]);
        let partitions = stats["logicalQueues"][0]["partitions"].as_array().expect("has partitions");
        partitions.iter().map(|partition| partition["total"].as_u64().unwrap_or_default()).sum()
    };
    usize::try_from((0..QUEUES).map(total).sum::<u64>()).expect("few")
}

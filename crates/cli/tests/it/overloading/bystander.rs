use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::connection::{Answer, Connection};

use crate::served::Server;

const QUEUE: &str = "beside";
/// Longer than the least request takes on a machine that does much else; shorter than anybody waits for room and is told
/// so.
const SLOW: Duration = Duration::from_secs(5);

/// How long it rests after each item: it is to want little.
const PAUSE: Duration = Duration::from_millis(20);

/// Somebody who wants little, one thing after the other, while others want too much.
pub(crate) struct Bystander {
    stop: CancellationToken,
    cycles: watch::Receiver<usize>,
    asking: JoinHandle<Duration>,
}

impl Bystander {
    /// Once it has been served for the first time.
    pub(crate) async fn start(server: &Server) -> Self {
        server.json(&["queue", "create", QUEUE]);
        let stop = CancellationToken::new();
        let client = Client { endpoint: server.endpoint.clone(), connection: None, slowest: Duration::ZERO };
        let (count, mut cycles) = watch::channel(0);
        let asking = tokio::spawn(client.run(count, stop.clone()));
        cycles.wait_for(|cycles| *cycles > 0).await.expect("each request is done");
        Bystander { stop, cycles, asking }
    }

    /// All it asked for was done, and soon.
    pub(crate) async fn was_served(self) {
        self.stop.cancel();
        let slowest = self.asking.await.expect("each request is done");
        eprintln!("{} items went by, the slowest request took {slowest:?}", *self.cycles.borrow());
        assert!(slowest < SLOW, "a request took {slowest:?}");
    }
}

struct Client {
    endpoint: String,
    connection: Option<Connection>,
    slowest: Duration,
}

impl Client {
    async fn run(mut self, count: watch::Sender<usize>, stop: CancellationToken) -> Duration {
        while !stop.is_cancelled() {
            let produce = json!({"queue_name": QUEUE, "request_timeout": "30s", "items": [{"utf8": "x"}]});
            self.done("/v1/queue.produce", produce).await;
            let lease = json!({
                "queue_name": QUEUE, "request_timeout": "30s", "client_id": "bystander", "batch_size": 1,
            });
            let leased = self.done("/v1/queue.lease", lease).await;
            let leased: Value = serde_json::from_slice(&leased.body).expect("is JSON");
            let complete = json!({
                "queue_name": QUEUE, "request_timeout": "30s", "partition": 0, "ids": [leased["items"][0]["id"]],
            });
            self.done("/v1/queue.complete", complete).await;
            count.send_modify(|cycles| *cycles += 1);
            tokio::time::sleep(PAUSE).await;
        }
        self.slowest
    }

    async fn done(&mut self, path: &str, body: Value) -> Answer {
        let started = Instant::now();
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.endpoint).await,
        };
        let answer = connection.ask(path, body.to_string().as_bytes()).await;
        self.slowest = self.slowest.max(started.elapsed());
        assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
        self.connection = (!answer.is_last).then_some(connection);
        answer
    }
}

//! Clients that work against a server which is struck again and again, and an auditor who knows what they were told.
//!
//! Leases last longer than the run. So an item that was acknowledged must be there or have been completed, one that was
//! completed must not come back, and none may be handed out twice.

use std::collections::{HashMap, HashSet};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use leasehold_api::queue::{
    QueueCompleteRequest, QueueInfo, QueueLeaseRequest, QueueProduceItem, QueueProduceRequest,
    StorageItemsListRequest,
};
use leasehold_client::{Client, Endpoint, Error, Items, Options};
use parking_lot::Mutex;

const CLIENTS: u64 = 8;
const QUEUE: &str = "audited";
const PARTITIONS: i32 = 2;
/// Items listed at once.
const PAGE_LEN: u16 = 10_000;
/// Fewer would prove little; clients work on until there are more, however busy the machine is.
const COMPLETED_MIN: usize = 20;

/// What strikes the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blow {
    /// SIGKILL.
    Kill,
    /// SIGTERM: it must end by itself, well, and in time.
    Terminate,
    /// Nothing: what is behind the server is struck by the test.
    None,
}

/// The server as a process that can be struck.
pub(crate) struct Server {
    process: Option<Child>,
    store: String,
    address: String,
}

impl Server {
    pub(crate) fn started(store: &str, address: &str) -> Self {
        let mut server = Server { process: None, store: store.to_owned(), address: address.to_owned() };
        server.start();
        server
    }

    fn start(&mut self) {
        let child = Command::new(env!("CARGO_BIN_EXE_leasehold"))
            .args(["serve", "--store", &self.store, "--address", &self.address, "--log-level", "error"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        self.process = Some(child.expect("the server starts"));
    }

    pub(crate) fn strike(&mut self, blow: Blow) {
        let mut process = self.process.take().expect("the server runs");
        match blow {
            Blow::Kill => process.kill().expect("can be killed"),
            Blow::Terminate => {
                let pid = rustix::process::Pid::from_child(&process);
                rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("can be told");
            }
            Blow::None => {}
        }
        let asked = Instant::now();
        let ended = process.wait().expect("ends");
        if blow == Blow::Terminate {
            assert!(ended.success(), "told to stop, it ended with {ended}");
            assert!(asked.elapsed() < Duration::from_secs(12), "it took {:?} to stop", asked.elapsed());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            drop(process.kill());
            drop(process.wait());
        }
    }
}

/// What clients were told.
#[derive(Default)]
struct Book {
    produced: HashSet<u64>,
    /// Handed out, and to be completed by whoever got it.
    leased: HashMap<u64, u64>,
    completed: HashSet<u64>,
    /// Its completion was asked for, and the answer was lost.
    maybe_completed: HashSet<u64>,
    wrong: Vec<String>,
}

/// Runs clients against a server on `store`, strikes it, and audits.
pub(crate) async fn audit(store: &str, blow: Blow, blows: u32, strike: impl Fn(u32)) {
    let address = free_address();
    let mut server = Server::started(store, &address);
    let client = client(&address);
    let load = Load::start(std::slice::from_ref(&client)).await;
    for number in 0..blows {
        let pause = 100 + u64::from(std::process::id().wrapping_mul(number + 7) % 300);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        strike(number);
        if blow != Blow::None {
            server.strike(blow);
            server.start();
        }
        serves(&client).await;
        load.goes_on("work goes on after the blow").await;
    }
    load.judged(&client).await;
}

/// A client of the server that is or will be there.
pub(crate) fn client(address: &str) -> Client {
    let endpoint: Endpoint = format!("http://{address}").parse().expect("an endpoint");
    let options = Options { timeout: Duration::from_secs(8), ..Options::default() };
    Client::new(endpoint, &options).expect("a client")
}

/// Once the server reaches its store.
pub(crate) async fn serves(client: &Client) {
    let list = leasehold_api::queue::QueuesListRequest::default();
    until_ok(|| client.list_queues(&list)).await;
}

/// Clients at work.
pub(crate) struct Load {
    book: Arc<Mutex<Book>>,
    stop: tokio_util::sync::CancellationToken,
    clients: tokio::task::JoinSet<()>,
}

impl Load {
    /// They go from one server to the next, the first of which must be there.
    pub(crate) async fn start(servers: &[Client]) -> Self {
        let create = QueueInfo {
            queue_name: QUEUE.to_owned(),
            lease_timeout: "10m".to_owned(),
            expire_timeout: "1h".to_owned(),
            requested_partitions: PARTITIONS,
            ..QueueInfo::default()
        };
        until_ok(|| servers[0].create_queue(&create)).await;
        let book = Arc::new(Mutex::new(Book::default()));
        let stop = tokio_util::sync::CancellationToken::new();
        let mut clients = tokio::task::JoinSet::new();
        for number in 0..CLIENTS {
            let servers = Servers { all: servers.to_vec(), at: 0 };
            clients.spawn(work(number, servers, book.clone(), stop.clone()));
        }
        Load { book, stop, clients }
    }

    /// More is completed than was.
    pub(crate) async fn goes_on(&self, what: &str) {
        let made = self.book.lock().completed.len();
        until(|| self.book.lock().completed.len() > made, what).await;
    }

    /// Stops, and compares what clients were told with what the server has.
    pub(crate) async fn judged(mut self, server: &Client) {
        until(|| self.book.lock().completed.len() > COMPLETED_MIN, "enough went through").await;
        self.stop.cancel();
        while let Some(ended) = self.clients.join_next().await {
            ended.expect("no client panics");
        }
        let stored = stored(server).await;
        judge(&self.book.lock(), &stored);
    }
}

/// Where a client asks.
struct Servers {
    all: Vec<Client>,
    at: usize,
}

impl Servers {
    fn current(&self) -> &Client {
        &self.all[self.at]
    }

    fn follow(&mut self) {
        self.at = (self.at + 1) % self.all.len();
    }
}

/// Produces, leases and completes until told to stop.
async fn work(
    number: u64,
    mut servers: Servers,
    book: Arc<Mutex<Book>>,
    stop: tokio_util::sync::CancellationToken,
) {
    let mut next = number;
    while !stop.is_cancelled() {
        next += CLIENTS;
        // Now and then everybody looks elsewhere: two servers that are there are both asked.
        if next / CLIENTS % 5 == number % 5 {
            servers.follow();
        }
        let item = QueueProduceItem { utf8: next.to_string(), ..QueueProduceItem::default() };
        let produce = QueueProduceRequest {
            queue_name: QUEUE.to_owned(),
            request_timeout: "2s".to_owned(),
            items: vec![item],
        };
        match servers.current().produce(&produce).await {
            Ok(()) => drop(book.lock().produced.insert(next)),
            Err(_) => {
                servers.follow();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        let lease = QueueLeaseRequest {
            queue_name: QUEUE.to_owned(),
            batch_size: 3,
            client_id: format!("client {number}"),
            request_timeout: "1s".to_owned(),
            ..QueueLeaseRequest::default()
        };
        let Ok(leased) = servers.current().lease(&lease).await else {
            servers.follow();
            continue;
        };
        let mut payloads = Vec::new();
        for item in &leased.items {
            let payload: u64 = String::from_utf8_lossy(&item.bytes).parse().expect("a payload of ours");
            payloads.push(payload);
            let mut book = book.lock();
            if let Some(other) = book.leased.insert(payload, number) {
                book.wrong.push(format!("item {payload} went to client {other} and to client {number}"));
            }
        }
        let complete = QueueCompleteRequest {
            queue_name: QUEUE.to_owned(),
            partition: leased.partition,
            request_timeout: "2s".to_owned(),
            ids: leased.items.iter().map(|item| item.id.clone()).collect(),
        };
        let completed = complete_anywhere(&mut servers, &complete).await;
        let mut book = book.lock();
        match completed {
            Completed::Yes => book.completed.extend(payloads),
            Completed::Maybe => book.maybe_completed.extend(payloads),
            Completed::Wrong(told) => book.wrong.push(format!("items {payloads:?}: {told}")),
        }
    }
}

enum Completed {
    Yes,
    /// The answer was lost, or there was none in time.
    Maybe,
    /// What no server may say to whoever holds a live lease.
    Wrong(String),
}

/// Asks again, here and elsewhere, as long as the answer is that nothing was done: a false one would be found out.
async fn complete_anywhere(servers: &mut Servers, complete: &QueueCompleteRequest) -> Completed {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(30) {
        match servers.current().complete(complete).await {
            Ok(()) => return Completed::Yes,
            Err(Error::Answered { status: 454, .. } | Error::Connect { .. }) => {}
            Err(Error::Answered { status: 453, details, .. })
                if details.get("error").is_some_and(|code| code != "queue.indeterminate") => {}
            Err(Error::Answered { status: 453, .. } | Error::Lost { .. } | Error::Unreadable { .. }) => {
                return Completed::Maybe;
            }
            Err(wrong) => return Completed::Wrong(wrong.to_string()),
        }
        servers.follow();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Completed::Maybe
}

/// Everything that is in the queue.
async fn stored(client: &Client) -> Vec<u64> {
    let mut stored = Vec::new();
    for partition in 0..PARTITIONS {
        let list = StorageItemsListRequest {
            queue_name: QUEUE.to_owned(),
            partition,
            ..StorageItemsListRequest::default()
        };
        let listed =
            until_ok(|| async { client.pages(Items(list.clone()), PAGE_LEN).take(usize::MAX).await }).await;
        let payload =
            |bytes: &[u8]| String::from_utf8_lossy(bytes).parse::<u64>().expect("a payload of ours");
        stored.extend(listed.iter().map(|item| payload(&item.payload)));
    }
    stored
}

fn judge(book: &Book, stored: &[u64]) {
    let here: HashSet<u64> = stored.iter().copied().collect();
    let mut wrong = book.wrong.clone();
    if here.len() != stored.len() {
        wrong.push(format!("{} items are stored twice", stored.len() - here.len()));
    }
    for lost in &book.produced {
        let gone = book.completed.contains(lost) || book.maybe_completed.contains(lost);
        if !here.contains(lost) && !gone {
            wrong.push(format!("item {lost} was acknowledged, and is lost"));
        }
    }
    for back in book.completed.intersection(&here) {
        wrong.push(format!("item {back} was completed, and is back"));
    }
    assert!(book.completed.len() > COMPLETED_MIN, "only {} items went through", book.completed.len());
    assert!(
        wrong.is_empty(),
        "{} of {}: {:#?}",
        wrong.len(),
        book.produced.len(),
        &wrong[..wrong.len().min(10)]
    );
    eprintln!(
        "{} acknowledged, {} completed, {} of unknown end, {} left: nothing lost, back or doubled",
        book.produced.len(),
        book.completed.len(),
        book.maybe_completed.len(),
        here.len()
    );
}

pub(crate) fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").to_string()
}

async fn until_ok<T, F>(call: impl Fn() -> F) -> T
where
    F: Future<Output = leasehold_client::Result<T>>,
{
    let started = Instant::now();
    loop {
        match call().await {
            Ok(answer) => return answer,
            Err(error) if started.elapsed() > Duration::from_secs(60) => panic!("not in a minute: {error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn until(condition: impl Fn() -> bool, what: &str) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(60), "not in a minute: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// How often to strike; `LEASEHOLD_BLOWS` asks for more.
pub(crate) fn blows(default: u32) -> u32 {
    std::env::var("LEASEHOLD_BLOWS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

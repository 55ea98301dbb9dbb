//! The contract through a server, and what a broken connection to it means.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_api::queue::QueuesListRequest;
use leasehold_client::{Client, Endpoint, HttpBackend, Options};
use leasehold_core::{Class, Fence, Key, LockCode, LockId, LockRecord, ManualClock, Timestamp, Ttl};
use leasehold_locks::backend::Capabilities;
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::conformance::Harness;
use leasehold_locks::conformance::guards::{SILENCE, survives_a_silent_connection};
use leasehold_locks::{
    AcquireOptions, AcquireOutcome, AcquireRequest, Error, ExtendOutcome, ExtendRequest, ListRequest,
    LockBackend, Locks, LookupBy, ReleaseOutcome, Result as LockResult, Retry, Watch, lock_conformance,
};
use leasehold_server::{Config, Server, StoreLocation};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

struct Http {
    address: std::net::SocketAddr,
    locks: Arc<MemoryBackend>,
    clock: ManualClock,
    server: JoinHandle<()>,
}

#[async_trait]
impl Harness for Http {
    async fn start() -> Self {
        let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000));
        let mut config = Config::new("127.0.0.1:0", StoreLocation::Memory);
        config.stop_timeout = Duration::ZERO;
        // The contenders of a case come over eight clients, each of which keeps its connections for later.
        config.limits.connections = 10_000;
        let locks = Arc::new(MemoryBackend::with_clock(Arc::new(clock.clone())));
        let server = Server::bind_with_locks(&config, locks.clone()).await.expect("binds");
        let address = server.address();
        let server = tokio::spawn(async move { server.run(std::future::pending()).await.expect("serves") });
        Http { address, locks, clock, server }
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        Arc::new(backend(self.address))
    }

    async fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
    }

    async fn count_to(&self, key: &Key, fence: Fence) {
        self.locks.count_to(key, fence);
    }

    fn clock_slack(&self) -> Duration {
        Duration::ZERO
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.server.abort();
    }
}

lock_conformance!(Http);

fn backend(address: std::net::SocketAddr) -> HttpBackend {
    HttpBackend::new(format!("http://{address}").parse::<Endpoint>().expect("is an endpoint"))
}

fn request(key: &str) -> AcquireRequest {
    let lock_id = LockId::generate().expect("random bytes");
    AcquireRequest { key: Key::parse(key).expect("is a key"), lock_id, ttl: Ttl::DEFAULT }
}

#[tokio::test]
async fn lost_answer_is_unknown_and_repeating_the_request_tells() {
    let http = Http::start().await;
    let proxy = FaultProxy::start(http.address).await.expect("starts");
    let behind = backend(proxy.address());
    let lost = proxy.add(Rule::on(Trigger::Request(b"lock.acquire".to_vec())).then(Action::DropReply));
    let asked = request("billing");
    let unknown = behind.acquire(&asked).await.expect_err("the answer was dropped");
    lost.fired().await;
    assert!(matches!(unknown, Error::Indeterminate { .. }), "{unknown:?}");
    let granted = behind.acquire(&asked).await.expect("answers").acquired().expect("it was granted");
    assert_eq!(granted.lock_id, asked.lock_id);
}

#[tokio::test]
async fn kept_lock_survives_a_silent_connection() {
    let http = Http::start().await;
    let proxy = FaultProxy::start(http.address).await.expect("starts");
    survives_a_silent_connection(Arc::new(backend(proxy.address())), async |_| {
        let asked = Trigger::Request(b"lock.extend".to_vec());
        proxy.add(Rule::on(asked).then(Action::Blackhole)).fired().await;
        tokio::time::pause();
        tokio::time::advance(SILENCE).await;
        tokio::time::resume();
    })
    .await;
    assert_eq!(proxy.accepted(), 2, "one connection more, and all went over that");
}

#[tokio::test]
async fn server_that_is_not_there_is_unavailable() {
    let http = Http::start().await;
    let proxy = FaultProxy::start(http.address).await.expect("starts");
    let address = proxy.address();
    drop(proxy);
    let refused = backend(address).acquire(&request("billing")).await.expect_err("nobody listens");
    assert_eq!(refused.class(), Class::Unavailable, "{refused:?}");
    assert_eq!(refused.lock_code(), LockCode::ServiceUnavailable);
}

#[tokio::test]
async fn what_is_no_leasehold_server_is_told_apart() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accepts");
        let mut question = [0; 4096];
        let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut question).await.expect("is asked");
        let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello";
        tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await.expect("sends");
        // Stays open: the answer is whole, and what is wrong with it is its text.
        let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut question).await;
    });
    let refused =
        backend(address).is_locked(&Key::parse("a").expect("is a key")).await.expect_err("no reply of ours");
    let cause = std::error::Error::source(&refused).expect("has a cause").to_string();
    assert!(cause.contains("cannot be read"), "{cause}");
}

/// A store that tells a test when somebody has found a key held, and when the server has stopped watching one.
#[derive(Debug)]
struct Observed {
    inner: MemoryBackend,
    found_held: mpsc::UnboundedSender<()>,
    watch_ended: mpsc::UnboundedSender<()>,
}

struct Observer {
    backend: Arc<Observed>,
    address: std::net::SocketAddr,
    server: JoinHandle<()>,
    found_held: mpsc::UnboundedReceiver<()>,
    watch_ended: mpsc::UnboundedReceiver<()>,
}

impl Observer {
    async fn start() -> Self {
        let (holding, found_held) = mpsc::unbounded_channel();
        let (ending, watch_ended) = mpsc::unbounded_channel();
        let inner = MemoryBackend::default();
        let backend = Arc::new(Observed { inner, found_held: holding, watch_ended: ending });
        let mut config = Config::new("127.0.0.1:0", StoreLocation::Memory);
        config.stop_timeout = Duration::ZERO;
        let server = Server::bind_with_locks(&config, backend.clone()).await.expect("binds");
        let address = server.address();
        let server = tokio::spawn(async move { server.run(std::future::pending()).await.expect("serves") });
        Observer { backend, address, server, found_held, watch_ended }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Tells of its end.
struct Ending(mpsc::UnboundedSender<()>);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[async_trait::async_trait]
impl LockBackend for Observed {
    async fn acquire(&self, request: &AcquireRequest) -> LockResult<AcquireOutcome> {
        self.inner.acquire(request).await
    }
    async fn extend(&self, request: &ExtendRequest) -> LockResult<ExtendOutcome> {
        self.inner.extend(request).await
    }
    async fn release(&self, lock_id: &LockId) -> LockResult<ReleaseOutcome> {
        self.inner.release(lock_id).await
    }
    async fn is_locked(&self, key: &Key) -> LockResult<bool> {
        let locked = self.inner.is_locked(key).await?;
        if locked {
            let _ = self.found_held.send(());
        }
        Ok(locked)
    }
    async fn lookup(&self, by: LookupBy<'_>) -> LockResult<Option<LockRecord>> {
        self.inner.lookup(by).await
    }
    async fn list(&self, request: &ListRequest) -> LockResult<Vec<LockRecord>> {
        self.inner.list(request).await
    }
    async fn watch(&self, key: &Key) -> Watch {
        self.inner.watch(key).await.fed_by(Arc::new(Ending(self.watch_ended.clone())))
    }
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }
}

/// Waits for news alone: the next question by its own timer is an hour away.
fn by_news() -> AcquireOptions {
    let retry = Retry { delay: Duration::from_secs(3_600), retries_max: u32::MAX, ..Retry::default() };
    AcquireOptions::default().timeout(Duration::from_secs(3_600)).retry(retry)
}

const PATIENCE: Duration = Duration::from_secs(30);

/// Two that watch and one that waits: what one of them is told is no less news for the others.
#[tokio::test]
async fn release_is_told_to_every_client_that_watches() {
    let mut observer = Observer::start().await;
    let asked = request("billing");
    observer.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    let clients = [backend(observer.address), backend(observer.address)];
    let watches = [clients[0].watch(&asked.key).await, clients[1].watch(&asked.key).await];
    let waiter = Locks::new(backend(observer.address));
    let (key, options) = (asked.key.clone(), by_news());
    let waiting = tokio::spawn(async move { waiter.acquire(&key, &options).await });
    for _ in 0..3 {
        let held = tokio::time::timeout(PATIENCE, observer.found_held.recv()).await;
        held.expect("the server watches").expect("goes on");
    }
    assert!(observer.backend.release(&asked.lock_id).await.expect("answers").is_released());
    for watch in &watches {
        tokio::time::timeout(PATIENCE, watch.freed()).await.expect("is told");
    }
    let guard = tokio::time::timeout(PATIENCE, waiting).await.expect("is told").expect("no panic");
    assert_eq!(guard.expect("is free").fence().as_u64(), 2);
}

#[tokio::test]
async fn server_stops_watching_when_nobody_waits_any_more() {
    let mut observer = Observer::start().await;
    let asked = request("billing");
    observer.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    let client = backend(observer.address);
    let watches = [client.watch(&asked.key).await, client.watch(&asked.key).await];
    tokio::time::timeout(PATIENCE, observer.found_held.recv()).await.expect("watches").expect("goes on");
    assert!(observer.watch_ended.try_recv().is_err(), "it is still wanted");
    drop(watches);
    tokio::time::timeout(PATIENCE, observer.watch_ended.recv()).await.expect("ends").expect("goes on");
    // Asked anew, it is told anew.
    let again = client.watch(&asked.key).await;
    tokio::time::timeout(PATIENCE, observer.found_held.recv()).await.expect("watches").expect("goes on");
    assert!(observer.backend.release(&asked.lock_id).await.expect("answers").is_released());
    tokio::time::timeout(PATIENCE, again.freed()).await.expect("is told");
}

#[tokio::test]
async fn news_come_again_after_a_failure() {
    let mut observer = Observer::start().await;
    let proxy = FaultProxy::start(observer.address).await.expect("starts");
    let lost = proxy.add(Rule::on(Trigger::Request(b"lock.watch".to_vec())).then(Action::Cut));
    let asked = request("billing");
    observer.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    let watch = backend(proxy.address()).watch(&asked.key).await;
    lost.fired().await;
    tokio::time::timeout(PATIENCE, observer.found_held.recv()).await.expect("asks again").expect("goes on");
    assert!(observer.backend.release(&asked.lock_id).await.expect("answers").is_released());
    tokio::time::timeout(PATIENCE, watch.freed()).await.expect("is told");
}

#[tokio::test]
async fn trace_of_the_caller_is_told_with_every_request() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let endpoint: Endpoint =
        format!("http://{}", listener.local_addr().expect("bound")).parse().expect("one");
    let heads = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accepts");
        let mut heads = Vec::new();
        for _ in 0..2 {
            let mut read = Vec::new();
            while !read.ends_with(b"\r\n\r\n") {
                read.push(stream.read_u8().await.expect("a head"));
            }
            heads.push(String::from_utf8(read).expect("text").to_ascii_lowercase());
            let answer =
                b"HTTP/1.1 200 OK\r\nContent-Type: application/protobuf\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(answer).await.expect("answers");
        }
        heads
    });
    let client = Client::new(endpoint, &Options::default()).expect("a client");
    let nothing = QueuesListRequest::default();
    client.list_queues(&nothing).await.expect("is answered");
    client.traced(PARENT.parse().expect("a trace")).list_queues(&nothing).await.expect("is answered");
    let heads = heads.await.expect("no panic");
    assert!(!heads[0].contains("traceparent"), "{heads:?}");
    assert!(heads[1].contains(&format!("traceparent: {PARENT}\r\n")), "{heads:?}");
}

#[tokio::test]
async fn connection_that_the_server_closed_is_replaced_and_nothing_is_sent_twice() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let endpoint: Endpoint =
        format!("http://{}", listener.local_addr().expect("bound")).parse().expect("one");
    let (closed, mut was_closed) = tokio::sync::mpsc::unbounded_channel();
    let asked = tokio::spawn(async move {
        let mut heads = 0;
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().await.expect("accepts");
            let mut read = Vec::new();
            while !read.ends_with(b"\r\n\r\n") {
                read.push(stream.read_u8().await.expect("a head"));
            }
            heads += 1;
            let answer =
                b"HTTP/1.1 200 OK\r\nContent-Type: application/protobuf\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(answer).await.expect("answers");
            // Without a word: the client learns of it when it looks.
            drop(stream);
            closed.send(()).expect("the test listens");
        }
        heads
    });
    let client = Client::new(endpoint, &Options::default()).expect("a client");
    for _ in 0..3 {
        client.list_queues(&QueuesListRequest::default()).await.expect("is answered");
        was_closed.recv().await.expect("is told");
        // The runtime looks at its sockets in between.
        tokio::task::yield_now().await;
    }
    assert_eq!(asked.await.expect("no panic"), 3);
}

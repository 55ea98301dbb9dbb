//! The contract through a server, and what a broken connection to it means.

use std::sync::Arc;
use std::time::Duration;

use leasehold_api::queue::QueuesListRequest;
use leasehold_client::{Client, Endpoint, HttpBackend, Options};
use leasehold_core::{Class, Fence, Key, LockCode, LockId, ManualClock, Timestamp, Ttl};
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::conformance::Harness;
use leasehold_locks::{AcquireRequest, Error, LockBackend, lock_conformance};
use leasehold_server::{Config, Server, StoreLocation};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use tokio::task::JoinHandle;

struct Http {
    address: std::net::SocketAddr,
    locks: Arc<MemoryBackend>,
    clock: ManualClock,
    server: JoinHandle<()>,
}

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

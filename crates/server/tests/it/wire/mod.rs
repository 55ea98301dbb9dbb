//! A server in this process, and a plain HTTP client that shows what is on the wire.

pub(crate) mod cases;
pub(crate) mod restart;

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use leasehold_server::{Config, Server};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// A server on a free port over this store.
pub(crate) fn config(store: &str) -> Config {
    let store = store.parse().expect("a store");
    Config { stop_timeout: Duration::from_secs(5), ..Config::new("127.0.0.1:0", store) }
}

/// A running server.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) admin_address: Option<SocketAddr>,
    #[cfg(feature = "test-hooks")]
    pub(crate) test_hooks_address: Option<SocketAddr>,
    client: Client<HttpConnector, Full<Bytes>>,
    stop: CancellationToken,
    /// Ends with the test.
    served: AbortOnDropHandle<leasehold_server::Result<()>>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }
}

/// A request of whoever has this key.
pub(crate) async fn with_key(server: &Running, key: &str, path: &str, body: Value) -> Answer {
    let request = http::Request::post("/").header("authorization", format!("Bearer {key}"));
    server.request(request, path, body.to_string()).await
}

impl Running {
    pub(crate) async fn start(config: Config) -> Self {
        Running::of(Server::bind(&config).await.expect("the server starts"))
    }

    pub(crate) fn of(server: Server) -> Self {
        let (address, admin_address) = (server.address(), server.admin_address());
        #[cfg(feature = "test-hooks")]
        let test_hooks_address = server.test_hooks_address();
        let stop = CancellationToken::new();
        let served = tokio::spawn(server.run(stop.clone().cancelled_owned()));
        let served = AbortOnDropHandle::new(served);
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        Running {
            address,
            admin_address,
            #[cfg(feature = "test-hooks")]
            test_hooks_address,
            client,
            stop,
            served,
        }
    }

    /// Stops the server as a signal would.
    pub(crate) fn signal_stop(&self) {
        self.stop.cancel();
    }

    /// Stops it, and waits until it has.
    pub(crate) async fn stopped(self) {
        self.signal_stop();
        self.served.await.expect("ends").expect("stops cleanly");
    }

    pub(crate) async fn request(
        &self,
        request: http::request::Builder,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Answer {
        self.send(request.uri(format!("http://{}{path}", self.address)), body).await
    }

    /// As it is, also to another address.
    pub(crate) async fn send(&self, request: http::request::Builder, body: impl Into<Bytes>) -> Answer {
        let request = request.body(Full::new(body.into())).expect("a request");
        let response = self.client.request(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        let content_type =
            parts.headers.get("content-type").map(|value| value.to_str().expect("text").to_owned());
        Answer {
            status: parts.status.as_u16(),
            content_type: content_type.unwrap_or_default(),
            headers: parts.headers,
            body: body.collect().await.expect("a body").to_bytes(),
        }
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.request(http::Request::post("/"), path, body.to_string()).await
    }

    /// The answer to a request that must succeed.
    pub(crate) async fn done(&self, path: &str, body: Value) -> Value {
        let answer = self.post(path, body).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    /// The code and the text of a request that must fail.
    pub(crate) async fn refused(&self, path: &str, body: Value) -> (u16, String) {
        let answer = self.post(path, body).await;
        assert_ne!(answer.status, 200, "{path}: {answer:?}");
        assert_eq!(answer.json()["code"], answer.status, "the code is the status");
        (answer.status, answer.message())
    }

    /// Makes a queue with one partition and long timeouts.
    pub(crate) async fn queue(&self, name: &str) {
        let created = self.done(
            "/v1/queues.create",
            json!({
                "queue_name": name, "lease_timeout": "1m", "expire_timeout": "1h", "requested_partitions": 1,
            }),
        );
        assert_eq!(created.await, json!({"code": 200}));
    }

    pub(crate) async fn produce(&self, queue: &str, payloads: &[&str]) {
        let items: Vec<_> = payloads.iter().map(|payload| json!({"utf8": payload})).collect();
        let request = json!({"queue_name": queue, "request_timeout": "5s", "items": items});
        assert_eq!(self.done("/v1/queue.produce", request).await, json!({"code": 200}));
    }

    pub(crate) async fn lease(&self, queue: &str, client_id: &str, batch_size: u32) -> Vec<Value> {
        let request = json!({
            "queue_name": queue, "client_id": client_id, "batch_size": batch_size, "request_timeout": "5s",
        });
        let leased = self.done("/v1/queue.lease", request).await;
        leased["items"].as_array().expect("items").clone()
    }
}

//! What a collector is sent.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use leasehold_server::TracingConfig;
use prost::Message;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use crate::wire::{Running, config};

const PATIENT: Duration = Duration::from_secs(60);
const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID: &str = "00f067aa0ba902b7";

/// As much of OTLP as is looked at here.
#[derive(Clone, PartialEq, Message)]
struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(string, tag = "1")]
    text: String,
    #[prost(int64, tag = "3")]
    number: i64,
}

impl Span {
    fn attribute(&self, key: &str) -> Option<AnyValue> {
        self.attributes.iter().find(|attribute| attribute.key == key).and_then(|found| found.value.clone())
    }

    fn text(&self, key: &str) -> String {
        self.attribute(key).map(|value| value.text).unwrap_or_default()
    }
}

/// Takes what is sent, whole.
struct Collector {
    url: String,
    bodies: mpsc::UnboundedReceiver<Bytes>,
    seen: Vec<Span>,
    raw: Vec<u8>,
    _served: AbortOnDropHandle<()>,
}

impl Collector {
    async fn start() -> Self {
        let (sender, bodies) = mpsc::unbounded_channel();
        let take =
            async |State(sender): State<mpsc::UnboundedSender<Bytes>>, headers: HeaderMap, body: Bytes| {
                assert_eq!(headers["content-type"], "application/x-protobuf");
                sender.send(body).expect("the test listens");
                StatusCode::OK
            };
        let router = axum::Router::new().route("/v1/traces", post(take)).with_state(sender);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("binds");
        let url = format!("http://{}/v1/traces", listener.local_addr().expect("bound"));
        let served = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Collector { url, bodies, seen: Vec::new(), raw: Vec::new(), _served: AbortOnDropHandle::new(served) }
    }

    fn config(&self, sample_ratio: f64) -> leasehold_server::Config {
        let (endpoint, service_name) = (self.url.clone(), "orders-queue".to_owned());
        let tracing = Some(TracingConfig { endpoint, service_name, sample_ratio });
        leasehold_server::Config { tracing, ..config("memory:") }
    }

    /// The next span of this route that is sent.
    async fn span(&mut self, name: &str) -> Span {
        loop {
            if let Some(at) = self.seen.iter().position(|span| span.name == name) {
                return self.seen.remove(at);
            }
            let body =
                tokio::time::timeout(PATIENT, self.bodies.recv()).await.expect("in time").expect("more");
            self.raw.extend_from_slice(&body);
            for resource in ExportRequest::decode(body).expect("OTLP").resource_spans {
                let service = &resource.resource.expect("a service").attributes;
                let named = service.iter().find(|attribute| attribute.key == "service.name").expect("a name");
                assert_eq!(named.value.as_ref().expect("a value").text, "orders-queue");
                self.seen.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn request_is_a_span_in_the_trace_of_its_client() {
    let mut collector = Collector::start().await;
    let server = Running::start(collector.config(1.0)).await;
    server.queue("orders").await;
    let created = collector.span("POST /v1/queues.create").await;
    assert_eq!(
        (created.kind, created.parent_span_id.len()),
        (2, 0),
        "a server's, and the first of its trace"
    );
    assert_eq!(created.text("leasehold.queue"), "orders");

    let traced = http::Request::post("/").header("traceparent", format!("00-{TRACE_ID}-{PARENT_ID}-01"));
    let body =
        json!({"queue_name": "orders", "request_timeout": "60s", "items": [{"utf8": "payload-hunter2"}]});
    server.request(traced, "/v1/queue.produce", body.to_string()).await;
    let produced = collector.span("POST /v1/queue.produce").await;
    assert_eq!(
        (hex(&produced.trace_id).as_str(), hex(&produced.parent_span_id).as_str()),
        (TRACE_ID, PARENT_ID)
    );
    assert_eq!(produced.text("http.request.method"), "POST");
    assert_eq!(produced.text("http.route"), "/v1/queue.produce");
    assert_eq!(produced.attribute("http.response.status_code").expect("a status").number, 200);
}

#[tokio::test]
async fn spans_hold_bounded_names_and_no_payloads_keys_or_paths() {
    let mut collector = Collector::start().await;
    let server = Running::start(collector.config(1.0)).await;
    let long = "n".repeat(5_000);
    server.post("/v1/queues.info", json!({"queue_name": long})).await;
    assert_eq!(collector.span("POST /v1/queues.info").await.text("leasehold.queue").len(), 128);
    server.post("/v1/lock.acquire", json!({"key": "key-hunter2", "ttlMs": 1000})).await;
    collector.span("POST /v1/lock.acquire").await;
    let secret = http::Request::post("/").header("authorization", "Bearer hunter2");
    server.request(secret, "/v1/path-hunter2?query-hunter2", "body-hunter2").await;
    let other = collector.span("POST other").await;
    assert_eq!(other.attribute("http.response.status_code").expect("a status").number, 501);
    assert!(!String::from_utf8_lossy(&collector.raw).contains("hunter2"));
}

#[tokio::test]
async fn client_decides_whether_its_trace_is_kept_and_the_ratio_for_the_rest() {
    let mut collector = Collector::start().await;
    let server = Running::start(collector.config(0.0)).await;
    server.post("/v1/queues.list", json!({})).await;
    for (flags, path) in [("00", "/v1/users.list"), ("01", "/v1/namespaces.list")] {
        let traced =
            http::Request::post("/").header("traceparent", format!("00-{TRACE_ID}-{PARENT_ID}-{flags}"));
        server.request(traced, path, "{}").await;
    }
    let malformed = http::Request::post("/").header("traceparent", "00-nonsense-01");
    server.request(malformed, "/v1/roles.list", "{}").await;
    collector.span("POST /v1/namespaces.list").await;
    server.signal_stop();
    assert!(collector.seen.is_empty(), "{:?}", collector.seen);
}

#[tokio::test]
async fn last_spans_are_sent_when_the_server_stops() {
    let mut collector = Collector::start().await;
    let server = Running::start(collector.config(1.0)).await;
    server.post("/v1/queues.list", json!({})).await;
    server.signal_stop();
    collector.span("POST /v1/queues.list").await;
}

#[tokio::test]
async fn collector_that_is_not_there_keeps_nobody_waiting() {
    let collector = Collector::start().await;
    let config = collector.config(1.0);
    drop(collector);
    let server = Running::start(config).await;
    for _ in 0..100 {
        assert_eq!(server.post("/v1/namespaces.list", json!({})).await.status, 200);
    }
}

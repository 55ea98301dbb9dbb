use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{Request, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;

/// How long a collector may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of its answer that are read.
const ANSWER_BYTES: usize = 64 * 1024;

/// Sends batches of spans. The exporter has a thread without a runtime: the server's carries the requests.
#[derive(Debug)]
pub(super) struct Transport {
    client: Client<HttpConnector, Full<Bytes>>,
    runtime: Handle,
    /// Told once, not with every batch.
    is_failing: AtomicBool,
}

impl Transport {
    pub(super) fn new() -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Transport { client, runtime: Handle::current(), is_failing: AtomicBool::new(false) }
    }

    fn tell(&self, failure: Option<String>) {
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(error) if !was_failing => {
                tracing::warn!(error, "traces cannot be sent; they are dropped until they can be");
            }
            None if was_failing => tracing::info!("traces are sent again"),
            _ => {}
        }
    }
}

#[async_trait::async_trait]
impl HttpClient for Transport {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let exchange = async move {
            let (head, body) = client.request(request.map(Full::new)).await?.into_parts();
            let body = Limited::new(body, ANSWER_BYTES).collect().await?.to_bytes();
            Ok::<_, HttpError>(Response::from_parts(head, body))
        };
        let exchanged =
            self.runtime.spawn(async move { tokio::time::timeout(TIMEOUT, exchange).await? }).await;
        let answered = exchanged.unwrap_or_else(|ended| Err(ended.into()));
        self.tell(match &answered {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("the collector answered {}", answer.status())),
            Err(error) => Some(error.to_string()),
        });
        answered
    }
}

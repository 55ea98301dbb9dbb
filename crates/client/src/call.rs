//! One call: a message there, a message back.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use leasehold_api::reply::Reply;
use prost::Message;

use crate::{Endpoint, Error, Result};

/// The most an answer may have: a full page of locks fits several times.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A pool of connections to one server.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    endpoint: Endpoint,
    client: Client<HttpConnector, Full<Bytes>>,
    timeout: Duration,
}

impl Caller {
    pub(crate) fn new(endpoint: Endpoint, timeout: Duration) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        connector.set_nodelay(true);
        // A call is never repeated behind our back: whether it may be is the caller's to know.
        let client = Client::builder(TokioExecutor::new()).retry_canceled_requests(false).build(connector);
        Caller { endpoint, client, timeout }
    }

    /// Dropping the call midway closes its connection; the server may have acted.
    pub(crate) async fn call<Q: Message, A: Message + Default>(&self, path: &str, question: &Q) -> Result<A> {
        self.call_within(self.timeout, path, question).await
    }

    pub(crate) async fn call_within<Q: Message, A: Message + Default>(
        &self,
        timeout: Duration,
        path: &str,
        question: &Q,
    ) -> Result<A> {
        match tokio::time::timeout(timeout, self.exchange(path, question.encode_to_vec())).await {
            Ok(answered) => answered,
            Err(elapsed) => Err(self.lost(elapsed)),
        }
    }

    async fn exchange<A: Message + Default>(&self, path: &str, question: Vec<u8>) -> Result<A> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.endpoint.uri(path))
            .header(CONTENT_TYPE, "application/protobuf")
            .header(ACCEPT, "application/protobuf")
            .body(Full::new(question.into()))
            .expect("the parts of the request are valid");
        let response = self.client.request(request).await.map_err(|error| match error.is_connect() {
            true => Error::Connect { endpoint: self.endpoint.to_string(), source: error },
            false => self.lost(error),
        })?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| self.lost(error))?.to_bytes();
        match status {
            StatusCode::OK => A::decode(body).map_err(|error| self.unreadable(error)),
            status => Err(self.refused(status, &body)),
        }
    }

    /// Errors are always JSON.
    fn refused(&self, status: StatusCode, body: &[u8]) -> Error {
        match leasehold_api::from_json::<Reply>(body) {
            Ok(Reply { message, details, .. }) => {
                Error::Answered { status: status.as_u16(), message, details }
            }
            Err(error) => self.unreadable(error),
        }
    }

    fn lost(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Lost { endpoint: self.endpoint.to_string(), source: source.into() }
    }

    fn unreadable(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Unreadable { endpoint: self.endpoint.to_string(), source: source.into() }
    }
}

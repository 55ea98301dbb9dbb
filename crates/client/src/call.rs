//! One call: a message there, a message back.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, request, response};
use http_body_util::Full;
use leasehold_api::reply::Reply;
use prost::Message;
use secrecy::{ExposeSecret, SecretString};

use crate::connect::{Connector, roots_of, system_roots};
use crate::connections::{Connections, Unanswered};
use crate::{Endpoint, Error, Options, Result, TraceParent};

/// How much longer than its own wait a question may take.
const WAIT_SLACK: Duration = Duration::from_secs(10);

const PROTOBUF: HeaderValue = HeaderValue::from_static("application/protobuf");

/// A pool of connections to one server.
#[derive(Clone)]
pub(crate) struct Caller {
    endpoint: Endpoint,
    connections: Connections,
    /// Its name, as the server is told it.
    host: HeaderValue,
    /// Marked as sensitive, so that nothing prints it.
    authorization: Option<HeaderValue>,
    timeout: Duration,
    pub(crate) trace_parent: Option<TraceParent>,
}

impl Caller {
    pub(crate) fn new(endpoint: Endpoint, timeout: Duration) -> Self {
        let connector = match endpoint.is_encrypted() {
            true => Connector::encrypted(system_roots()),
            false => Connector::clear_text(),
        };
        Caller::over(connector, endpoint, timeout)
    }

    pub(crate) fn with_options(endpoint: Endpoint, options: &Options) -> Result<Self> {
        let connector = match endpoint.is_encrypted() {
            true => {
                let roots = options.ca_file.as_deref().map_or_else(|| Ok(system_roots()), roots_of)?;
                match &options.certificate {
                    Some(certificate) => Connector::certified(roots, certificate)?,
                    None => Connector::encrypted(roots),
                }
            }
            false => Connector::clear_text(),
        };
        let mut caller = Caller::over(connector, endpoint, options.timeout);
        caller.trace_parent = options.trace_parent.clone();
        caller.authorization = options.api_key.as_ref().map(bearer).transpose()?;
        Ok(caller)
    }

    fn over(connector: Connector, endpoint: Endpoint, timeout: Duration) -> Self {
        let connections = Connections::new(connector, endpoint.uri("/"));
        let host = HeaderValue::from_str(endpoint.authority()).expect("an authority that was parsed");
        Caller { endpoint, connections, host, authorization: None, timeout, trace_parent: None }
    }

    /// Dropping the call midway closes its connection; the server may have acted.
    pub(crate) async fn call<Q: Message, A: Message + Default>(&self, path: &str, question: &Q) -> Result<A> {
        self.call_within(self.timeout, path, question).await
    }

    /// For a question that itself waits at the server: it is answered soon after that, or not at all.
    pub(crate) async fn call_waiting<Q: Message, A: Message + Default>(
        &self,
        wait: Duration,
        path: &str,
        question: &Q,
    ) -> Result<A> {
        self.call_within(wait.saturating_add(self.timeout.min(WAIT_SLACK)), path, question).await
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
            .uri(path)
            .header(CONTENT_TYPE, PROTOBUF)
            .header(ACCEPT, PROTOBUF);
        let (head, body) = self.send(request, question.into()).await?;
        match head.status {
            StatusCode::OK => A::decode(body).map_err(|error| self.unreadable(error)),
            status => Err(self.refused(path, status, &head.headers, body)),
        }
    }

    /// Asks for a page; what it answers with one of these statuses is its answer.
    pub(crate) async fn get(&self, path: &str, answers: &[StatusCode]) -> Result<(StatusCode, Bytes)> {
        let request = Request::builder().method(Method::GET).uri(path);
        let (head, body) = match tokio::time::timeout(self.timeout, self.send(request, Bytes::new())).await {
            Ok(answered) => answered?,
            Err(elapsed) => return Err(self.lost(elapsed)),
        };
        match answers.contains(&head.status) {
            true => Ok((head.status, body)),
            false => Err(self.refused(path, head.status, &head.headers, body)),
        }
    }

    async fn send(&self, mut request: request::Builder, body: Bytes) -> Result<(response::Parts, Bytes)> {
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(parent) = &self.trace_parent {
            request = request.header("traceparent", parent.header());
        }
        let request = request.header(HOST, &self.host).body(Full::new(body));
        let asked = self.connections.ask(request.expect("the parts of the request are valid")).await;
        asked.map_err(|unanswered| match unanswered {
            Unanswered::Connect(source) => Error::Connect { endpoint: self.endpoint.to_string(), source },
            Unanswered::Lost(source) => self.lost(source),
        })
    }

    /// Errors come as protobuf like any answer; what was refused before its headers were read is told in JSON.
    fn refused(&self, path: &str, status: StatusCode, headers: &HeaderMap, body: Bytes) -> Error {
        let reply = match headers.get(CONTENT_TYPE) == Some(&PROTOBUF) {
            true => Reply::decode(body).map_err(|error| self.unreadable(error)),
            false => leasehold_api::from_json::<Reply>(&body).map_err(|error| self.unreadable(error)),
        };
        match reply {
            Ok(Reply { code_text, message, details, .. }) => Error::Answered {
                url: self.endpoint.uri(path).to_string(),
                status: status.as_u16(),
                code_text,
                message,
                details,
            },
            Err(unreadable) => unreadable,
        }
    }

    fn lost(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Lost { endpoint: self.endpoint.to_string(), source: source.into() }
    }

    pub(crate) fn unreadable(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Unreadable { endpoint: self.endpoint.to_string(), source: source.into() }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Caller").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

fn bearer(api_key: &SecretString) -> Result<HeaderValue> {
    let mut value =
        HeaderValue::try_from(format!("Bearer {}", api_key.expose_secret())).map_err(|_| Error::ApiKey)?;
    value.set_sensitive(true);
    Ok(value)
}

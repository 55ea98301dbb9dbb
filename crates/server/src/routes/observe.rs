//! What is written down of every request: how long it took, and who asked for what. Never a body, a key of a lock, or
//! what a client proved itself with.

use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use leasehold_access::Principal;
use metrics::Histogram;
use tracing::Level;

use super::request_id;
use crate::services::Services;
use crate::spans::{RequestSpan, Spans};

/// The target of the access log.
const TARGET: &str = "leasehold::access";

/// A request that is being answered.
pub(super) struct Observation {
    started: Instant,
    id: HeaderValue,
    pub(super) span: Option<RequestSpan>,
}

impl Observation {
    pub(super) fn begin(spans: &Spans, method: &Method, route: &str, headers: &HeaderMap) -> Self {
        Observation {
            started: Instant::now(),
            id: request_id::of(headers),
            span: spans.begin(method, route, headers),
        }
    }

    /// Times it, logs it, and names it; nobody is to guess at the type of an answer.
    pub(super) fn end(
        self,
        method: &Method,
        route: &str,
        durations: &Histogram,
        caller: Option<&Principal>,
        response: &mut Response,
    ) {
        let took = self.started.elapsed();
        if let Some(span) = &self.span {
            span.end(response.status());
        }
        self.log(method, route, caller, response.status(), took);
        durations.record(took);
        let headers = response.headers_mut();
        headers.insert(request_id::HEADER, self.id);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }

    /// Failures of ours are for everybody who runs a server; the rest is for those who turn it on, as a busy server
    /// answers more requests than anybody reads.
    fn log(
        &self,
        method: &Method,
        route: &str,
        caller: Option<&Principal>,
        status: StatusCode,
        took: Duration,
    ) {
        macro_rules! answered {
            ($level:expr) => {
                tracing::event!(
                    target: TARGET,
                    $level,
                    %method,
                    route,
                    status = status.as_u16(),
                    duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                    request_id = self.id.to_str().unwrap_or_default(),
                    trace_id = self.span.as_ref().map(RequestSpan::trace_id),
                    user_id = caller.map(Principal::user_id),
                    "answered"
                )
            };
        }
        match is_ours(status) {
            true => answered!(Level::INFO),
            false => answered!(Level::DEBUG),
        }
    }
}

/// How long the requests of a route took.
pub(super) fn durations(route: &str) -> Histogram {
    ::metrics::histogram!("http_handler_duration", "path" => route.to_owned())
}

/// Observes what is no operation. A path that is no route counts as `other`, so that strangers cannot grow the set of
/// labels.
pub(super) async fn observed(State(services): State<Services>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or("other", MatchedPath::as_str);
    let method = request.method().clone();
    let observation = Observation::begin(&services.spans, &method, route, request.headers());
    let mut response = next.run(request).await;
    observation.end(&method, route, &durations(route), None, &mut response);
    response
}

/// Whether anybody reads in the access log who asked.
pub(super) fn is_caller_logged() -> bool {
    tracing::enabled!(target: TARGET, Level::INFO)
}

/// 501 and 512 are the client's.
fn is_ours(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 503)
}

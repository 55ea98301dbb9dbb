//! What is written down of every request: how long it took, and who asked for what. Never a body, a key of a lock, or
//! what a client proved itself with.

use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use leasehold_access::Principal;
use tracing::Level;

use super::request_id;
use crate::spans::{RequestSpan, Spans};

/// The target of the access log.
const TARGET: &str = "leasehold::access";

/// Times every request under its route, logs it, and names it; nobody is to guess at the type of an answer. A path that
/// is no route counts as `other`, so that strangers cannot grow the set of labels.
pub(super) async fn observe(State(spans): State<Spans>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = match request.extensions().get::<MatchedPath>() {
        Some(matched) => matched.as_str().to_owned(),
        None => "other".to_owned(),
    };
    let id = request_id::of(request.headers());
    let method = request.method().clone();
    let span = spans.begin(&method, &route, request.headers());
    if let Some(span) = span.clone() {
        request.extensions_mut().insert(span);
    }
    let mut response = next.run(request).await;
    let took = started.elapsed();
    if let Some(span) = &span {
        span.end(response.status());
    }
    log(&method, &route, &response, took, &id, span.as_ref());
    ::metrics::histogram!("http_handler_duration", "path" => route).record(took);
    let headers = response.headers_mut();
    headers.insert(request_id::HEADER, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether anybody reads in the access log who asked.
pub(super) fn is_caller_logged() -> bool {
    tracing::enabled!(target: TARGET, Level::INFO)
}

/// Failures of ours are for everybody who runs a server; the rest is for those who turn it on, as a busy server
/// answers more requests than anybody reads.
fn log(
    method: &Method,
    route: &str,
    response: &Response,
    took: Duration,
    id: &HeaderValue,
    span: Option<&RequestSpan>,
) {
    macro_rules! answered {
        ($level:expr) => {
            tracing::event!(
                target: TARGET,
                $level,
                %method,
                route,
                status = response.status().as_u16(),
                duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                request_id = id.to_str().unwrap_or_default(),
                trace_id = span.map(RequestSpan::trace_id),
                user_id = response.extensions().get().map(Principal::user_id),
                "answered"
            )
        };
    }
    match is_ours(response.status()) {
        true => answered!(Level::INFO),
        false => answered!(Level::DEBUG),
    }
}

/// 501 and 512 are the client's.
fn is_ours(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 503)
}

//! The items of a queue: a file per verb. Each parses once, makes one call down, and answers.

mod clear;
mod complete;
mod extend;
mod lease;
mod produce;
mod reload;
mod retry;
mod stats;

use axum::Router;

use super::body::BodyLimit;
use super::operation::operation;
use crate::services::Services;

/// `produce_body_bytes` is how long the body of a produce may be.
pub(super) fn routes(produce_body_bytes: usize) -> Router<Services> {
    let small = BodyLimit::of(512);
    let usual = BodyLimit::USUAL;
    Router::new()
        .route("/v1/queue.produce", operation(BodyLimit::of(produce_body_bytes), produce::produce))
        .route("/v1/queue.lease", operation(small, lease::lease))
        .route("/v1/queue.complete", operation(usual, complete::complete))
        .route("/v1/queue.retry", operation(usual, retry::retry))
        .route("/v1/queue.extend", operation(usual, extend::extend))
        .route("/v1/queue.stats", operation(small, stats::stats))
        .route("/v1/queue.clear", operation(small, clear::clear))
        .route("/v1/queue.reload", operation(small, reload::reload))
}

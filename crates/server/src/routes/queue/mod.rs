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
use super::operation::Operations;
use crate::services::Services;

/// `produce_body_bytes` is how long the body of a produce may be.
pub(super) fn routes(produce_body_bytes: usize) -> Router<Services> {
    let small = BodyLimit::of(512);
    let usual = BodyLimit::USUAL;
    Router::new()
        .operation("/v1/queue.produce", BodyLimit::of(produce_body_bytes), produce::produce)
        .operation("/v1/queue.lease", small, lease::lease)
        .operation("/v1/queue.complete", usual, complete::complete)
        .operation("/v1/queue.retry", usual, retry::retry)
        .operation("/v1/queue.extend", usual, extend::extend)
        .operation("/v1/queue.stats", small, stats::stats)
        .operation("/v1/queue.clear", small, clear::clear)
        .operation("/v1/queue.reload", small, reload::reload)
}

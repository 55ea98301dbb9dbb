//! The items of a queue: a file per verb. Each parses once, makes one call down, and answers.

mod clear;
mod complete;
mod extend;
mod lease;
mod produce;
mod reload;
mod retry;
mod stats;

use super::body::BodyLimit;
use super::operation::Operations;

pub(super) fn operations(operations: Operations) -> Operations {
    let produce = BodyLimit::of(operations.services().limits.produce_body_bytes);
    let small = BodyLimit::of(512);
    let usual = BodyLimit::USUAL;
    operations
        .operation("/v1/queue.produce", produce, produce::produce)
        .operation("/v1/queue.lease", small, lease::lease)
        .operation("/v1/queue.complete", usual, complete::complete)
        .operation("/v1/queue.retry", usual, retry::retry)
        .operation("/v1/queue.extend", usual, extend::extend)
        .operation("/v1/queue.stats", small, stats::stats)
        .operation("/v1/queue.clear", small, clear::clear)
        .operation("/v1/queue.reload", small, reload::reload)
}

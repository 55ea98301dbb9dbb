//! Queues themselves: a file per verb.

mod create;
mod delete;
mod info;
mod list;
mod update;

use leasehold_api::queue;
use leasehold_core::duration;
use leasehold_queue::{QueueChange, QueueInfo, QueueName};

use super::body::BodyLimit;
use super::operation::Operations;
use super::wire::{queue_timeout, saturating_i32, timestamp};
use crate::reply::Reply;

/// Bytes of a timeout's text.
const TIMEOUT_TEXT_BYTES_MAX: usize = 15;

pub(super) fn operations(operations: Operations) -> Operations {
    let usual = BodyLimit::USUAL;
    operations
        .operation("/v1/queues.create", usual, create::create)
        .operation("/v1/queues.list", usual, list::list)
        .operation("/v1/queues.update", BodyLimit::of(512_000), update::update)
        .operation("/v1/queues.delete", usual, delete::delete)
        .operation("/v1/queues.info", usual, info::info)
}

fn message(info: &QueueInfo) -> queue::QueueInfo {
    let options = &info.options;
    queue::QueueInfo {
        queue_name: info.name.to_string(),
        created_at: Some(timestamp(info.created_at)),
        updated_at: Some(timestamp(info.updated_at)),
        dead_queue: options.dead_queue.as_ref().map(ToString::to_string).unwrap_or_default(),
        reference: options.reference.clone(),
        lease_timeout: duration::format(options.lease_timeout),
        expire_timeout: duration::format(options.expire_timeout),
        max_attempts: saturating_i32(options.max_attempts),
        requested_partitions: saturating_i32(options.requested_partitions),
        partitions: Vec::new(),
        namespace: info.namespace.to_string(),
    }
}

/// What a request says about a queue. The dead queue's name is judged later, as clients expect.
fn change(request: &queue::QueueInfo) -> Result<QueueChange, Reply> {
    for (field, text) in [("lease", &request.lease_timeout), ("expire", &request.expire_timeout)] {
        if text.len() > TIMEOUT_TEXT_BYTES_MAX {
            return Err(Reply::bad_request(format!(
                "{field} timeout is invalid; cannot be greater than '{TIMEOUT_TEXT_BYTES_MAX}' characters"
            )));
        }
    }
    let expire_timeout = queue_timeout("expire", &request.expire_timeout, "60m, 2h or 24h")?;
    let lease_timeout = queue_timeout("lease", &request.lease_timeout, "8m, 15m or 1h")?;
    Ok(QueueChange {
        lease_timeout,
        expire_timeout,
        max_attempts: request.max_attempts.into(),
        dead_queue: None,
        reference: request.reference.clone(),
        requested_partitions: request.requested_partitions.into(),
    })
}

fn dead_queue(request: &queue::QueueInfo) -> Result<Option<QueueName>, Reply> {
    QueueName::parse_dead(&request.dead_queue).map_err(|refusal| leasehold_queue::Error::from(refusal).into())
}

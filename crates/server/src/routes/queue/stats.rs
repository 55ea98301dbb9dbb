use leasehold_access::{Permission, Principal};
use leasehold_api::queue::{QueueLogicalStats, QueuePartitionStats, QueueStatsRequest, QueueStatsResponse};
use leasehold_core::duration;
use leasehold_queue::PartitionStats;

use super::super::wire::{queue_name, saturating_i32};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queue.stats`: answered also while the queue is paused.
pub(super) async fn stats(
    services: Services,
    caller: Principal,
    request: QueueStatsRequest,
) -> Result<QueueStatsResponse, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueStats).await?;
    let stats = services.engine.stats(&queue).await?;
    let logical = QueueLogicalStats {
        produce_waiting: saturating_i32(stats.produce_waiting),
        lease_waiting: saturating_i32(stats.lease_waiting),
        complete_waiting: saturating_i32(stats.complete_waiting),
        in_flight: saturating_i32(stats.in_flight),
        partitions: stats.partitions.iter().map(partition).collect(),
    };
    Ok(QueueStatsResponse { queue_name: request.queue_name, logical_queues: vec![logical] })
}

fn partition(stats: &PartitionStats) -> QueuePartitionStats {
    QueuePartitionStats {
        partition: saturating_i32(stats.partition),
        total: saturating_i32(stats.counts.ready.saturating_add(stats.counts.leased)),
        total_leased: saturating_i32(stats.counts.leased),
        failures: saturating_i32(stats.failures),
        average_age: duration::format(stats.average_age),
        average_leased_age: duration::format(stats.average_lease_left),
        scheduled: saturating_i32(stats.counts.scheduled),
    }
}

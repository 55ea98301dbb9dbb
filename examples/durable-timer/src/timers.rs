//! Timers as scheduled history tasks of one shard, and a record of each that fired as an immediate one.
//!
//! Only the owner of the shard sets and fires timers, and every write carries the range of its ownership. Firing is one such
//! write: the record. Whoever owns the shard after sees it, or it was refused.

use std::time::Duration;

use leasehold_core::{Clock, SystemClock, Timestamp};
use leasehold_persistence::{
    Blob, Category, Database, Error, Executions, HistoryTask, HistoryTasks, Result, Shard, ShardId, Shards,
};

const SHARD: ShardId = 1;
/// The number of the category of records; Temporal uses low ones.
const FIRED: i32 = 1_000;
/// Ids of tasks are the range of their owner, and a count: no two owners ever choose the same.
const COUNT_BITS: u32 = 20;
/// How long an owner who has nothing to do takes to find out that it was overtaken, or that a timer is due.
const POLL: Duration = Duration::from_millis(50);

pub(crate) struct Timers {
    shards: Shards,
    executions: Executions,
    tasks: HistoryTasks,
    shard: Shard,
    /// How many ids were given out under this range.
    count: i64,
}

//! Timers as scheduled history tasks of one shard, and a record of each that fired as an immediate one.
//!
//! Only the owner of the shard sets and fires timers, and every such write carries the range of its ownership. Firing is one
//! write: the record. An owner who takes the shard over sees every record of those before it, because a record that was not
//! there yet is refused from then on. So it fires what has no record, and nothing else.

use std::time::Duration;

use leasehold_core::{Clock, SystemClock, Timestamp};
use leasehold_persistence::{
    Blob, Category, Database, Error, Executions, HistoryTask, HistoryTaskRange, HistoryTasks, PageSize,
    Result, ShardId, ShardLease, Shards,
};

const SHARD: ShardId = 1;
/// The number of the category of records; Temporal's own are low.
const FIRED: i32 = 1_000;
/// Ids of tasks are the range of their owner and a count: no two owners ever choose the same.
const COUNT_BITS: u32 = 20;
/// How long an owner who has nothing to do takes to find that a timer is due, or that it was overtaken.
const POLL: Duration = Duration::from_millis(50);

/// The timers of a shard, in the hands of who believes to own it.
pub(crate) struct Timers {
    shards: Shards,
    lease: ShardLease,
    executions: Executions,
    tasks: HistoryTasks,
    /// How many ids were given out under this range.
    count: i64,
}

impl Timers {
    /// Takes the shard over from whoever has it.
    pub(crate) async fn take_over(database: Database) -> Result<Self> {
        let shards = Shards::new(database.clone());
        loop {
            let found = shards.get_or_create(SHARD, || (0, Blob::proto3(Vec::new()))).await?;
            match shards.take_over(&found, found.blob.clone()).await {
                Ok(lease) => {
                    let (executions, tasks) =
                        (Executions::new(database.clone()), HistoryTasks::new(database));
                    return Ok(Self { shards, lease, executions, tasks, count: 0 });
                }
                // Another was faster, or the outcome is unknown. Either way the next range is tried: a range that is
                // found is never adopted, even if this process asked for it.
                Err(Error::ShardOwnershipLost { .. }) => {}
                Err(error) if error.may_have_been_committed() => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn range_id(&self) -> i64 {
        self.lease.range_id()
    }

    /// Sets a timer. Once this answers, the timer fires, whatever becomes of this owner.
    pub(crate) async fn set(&mut self, name: &str, at: Timestamp) -> Result<()> {
        self.count += 1;
        let task_id = self.range_id() << COUNT_BITS | self.count;
        self.add(HistoryTask::scheduled(Category::TIMER, at, task_id, Blob::new(name.to_owned(), "Text")?)?)
            .await
    }

    /// Fires what is due until the shard is lost or the database fails for good; the answer is why it ended.
    pub(crate) async fn run(&mut self, fired: impl Fn(&str), idle: impl Fn()) -> Error {
        loop {
            let turn = self.turn(&fired, &idle).await;
            let ended = match turn {
                Err(error) if error.may_have_been_committed() => self.settle().await.err(),
                turn => turn.err(),
            };
            match ended {
                Some(error) => return error,
                None => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// A write of ours may still be on its way. Under the next range it either has happened or never will.
    async fn settle(&mut self) -> Result<()> {
        self.lease.renew(Blob::proto3(Vec::new())).await?;
        self.count = 0;
        Ok(())
    }

    async fn turn(&self, fired: &impl Fn(&str), idle: &impl Fn()) -> Result<()> {
        let ever =
            HistoryTaskRange::times(Category::TIMER, Timestamp::EPOCH..Timestamp::from_micros(i64::MAX))?;
        let first = self.tasks.get(SHARD, &ever, PageSize::new(1)?, None).await?;
        if first.items.is_empty() {
            // Nobody needs to know at once, but nothing else would tell.
            self.shards.assert_ownership(SHARD, self.range_id()).await?;
            idle();
            return Ok(());
        }
        let due = HistoryTaskRange::times(Category::TIMER, Timestamp::EPOCH..SystemClock.now())?;
        for timer in self.tasks.get(SHARD, &due, PageSize::MAX, None).await?.items {
            self.fire(&timer, fired).await?;
        }
        Ok(())
    }

    async fn fire(&self, timer: &HistoryTask, fired: &impl Fn(&str)) -> Result<()> {
        let name = String::from_utf8_lossy(timer.blob().data()).into_owned();
        if !self.is_recorded(timer.task_id()).await? {
            let record = Blob::new(format!("{} {name}", self.range_id()), "Text")?;
            self.add(HistoryTask::immediate(category()?, timer.task_id(), record)?).await?;
            fired(&name);
        }
        self.tasks.complete(SHARD, &timer.key()).await
    }

    async fn is_recorded(&self, task_id: i64) -> Result<bool> {
        let range = HistoryTaskRange::ids(category()?, task_id..task_id + 1)?;
        Ok(!self.tasks.get(SHARD, &range, PageSize::new(1)?, None).await?.items.is_empty())
    }

    /// The one way to write: only while the shard is at our range.
    async fn add(&self, task: HistoryTask) -> Result<()> {
        self.executions.add_history_tasks(SHARD, self.range_id(), &[task]).await
    }
}

/// Every timer that fired, by name, and the range of the owner who fired it.
pub(crate) async fn fired(database: &Database) -> Result<Vec<(String, i64)>> {
    let range = HistoryTaskRange::ids(category()?, 0..i64::MAX)?;
    let page = HistoryTasks::new(database.clone()).get(SHARD, &range, PageSize::MAX, None).await?;
    let records = page.items.iter().map(|task| {
        let record = String::from_utf8_lossy(task.blob().data()).into_owned();
        let (range_id, name) = record.split_once(' ').unwrap_or_default();
        (name.to_owned(), range_id.parse().unwrap_or_default())
    });
    Ok(records.collect())
}

fn category() -> Result<Category> {
    Category::immediate(FIRED)
}

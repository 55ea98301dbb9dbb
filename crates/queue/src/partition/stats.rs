//! The figures of a partition.
//!
//! Counts are kept here. Averages only the store knows, and it may have to read every item for them: it is asked beside
//! the loop, which goes on meanwhile, and those who ask while it is at it share the answer.

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::Partition;
use crate::queue::message::{PartitionMessage, Report, tell};
use crate::reply::PartitionStats;
use crate::store::{Result, StoreStats};

/// Those who wait for figures.
#[derive(Debug, Default)]
pub(super) struct Asked {
    waiting: Vec<oneshot::Sender<PartitionStats>>,
    is_under_way: bool,
    /// The one that asks the store; it ends with the partition.
    task: JoinSet<()>,
}

impl Partition {
    /// Answers now, or when the store has told the averages. Of a partition that is failing the last known ones.
    pub(super) fn stats(&mut self, reply: oneshot::Sender<PartitionStats>) {
        if !self.health.is_well() {
            return tell(reply, self.known_stats());
        }
        self.asked.waiting.retain(|waiting| !waiting.is_closed());
        self.asked.waiting.push(reply);
        if !std::mem::replace(&mut self.asked.is_under_way, true) {
            while self.asked.task.try_join_next().is_some() {}
            let (stats, myself) = (self.store.stats(self.now()), self.links.myself.clone());
            self.asked.task.spawn(async move {
                let counted = stats.await;
                if let Some(myself) = myself.upgrade() {
                    drop(myself.send(PartitionMessage::Counted(counted)));
                }
            });
        }
    }

    /// The store has told the averages, or has failed to: that says nothing about what it can write.
    pub(super) fn counted(&mut self, counted: Result<StoreStats>) {
        self.asked.is_under_way = false;
        match counted {
            Ok(stats) => self.links.figures.tell_averages(&stats),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(queue = %self.id.queue, partition = self.id.number, error, "a partition was not counted");
            }
        }
        let stats = self.known_stats();
        for reply in std::mem::take(&mut self.asked.waiting) {
            tell(reply, stats);
        }
    }

    fn known_stats(&mut self) -> PartitionStats {
        self.report(Report::default());
        self.links.figures.stats()
    }
}

//! The figures of a partition as it last told them, for when it is too busy to be asked.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::reply::{LastError, PartitionOverview, PartitionStats, Totals};
use crate::store::Counts;

/// What a partition last told about itself.
#[derive(Debug)]
pub(crate) struct Figures(Mutex<PartitionOverview>);

impl Figures {
    pub(crate) fn of(partition: u32) -> Arc<Self> {
        Arc::new(Figures(Mutex::new(PartitionOverview { partition, ..PartitionOverview::default() })))
    }

    pub(crate) fn tell(&self, counts: Counts, totals: Totals, failures: u32, frozen: usize) {
        let mut told = self.0.lock();
        told.counts = counts;
        told.totals = totals;
        told.failures = failures;
        told.frozen = frozen;
    }

    pub(crate) fn remember(&self, error: LastError) {
        self.0.lock().last_error = Some(error);
    }

    pub(crate) fn overview(&self) -> PartitionOverview {
        self.0.lock().clone()
    }

    pub(crate) fn stats(&self) -> PartitionStats {
        let told = self.0.lock();
        PartitionStats {
            partition: told.partition,
            counts: told.counts,
            failures: told.failures,
            ..PartitionStats::default()
        }
    }
}

//! The figures of a partition as it last told them, for when it is too busy to be asked.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::reply::{LastError, PartitionOverview, PartitionStats, Totals};
use crate::store::{Counts, StoreStats};

/// What a partition last told about itself.
#[derive(Debug)]
pub(crate) struct Figures {
    last: Mutex<Last>,
}

#[derive(Debug)]
struct Last {
    /// Not before it was opened for the first time.
    is_well: bool,
    told: PartitionOverview,
    average_age: Duration,
    average_lease_left: Duration,
}

impl Figures {
    pub(crate) fn of(partition: u32) -> Arc<Self> {
        let told = PartitionOverview { partition, ..PartitionOverview::default() };
        let (average_age, average_lease_left) = (Duration::ZERO, Duration::ZERO);
        let last = Mutex::new(Last { is_well: false, told, average_age, average_lease_left });
        Arc::new(Figures { last })
    }

    pub(crate) fn tell(&self, is_well: bool, counts: Counts, totals: Totals, failures: u32, frozen: usize) {
        let mut last = self.last.lock();
        last.is_well = is_well;
        let told = &mut last.told;
        told.counts = counts;
        told.totals = totals;
        told.failures = failures;
        told.frozen = frozen;
    }

    pub(crate) fn is_well(&self) -> bool {
        self.last.lock().is_well
    }

    pub(crate) fn remember(&self, error: LastError) {
        self.last.lock().told.last_error = Some(error);
    }

    pub(crate) fn tell_averages(&self, stats: &StoreStats) {
        let mut last = self.last.lock();
        last.average_age = stats.average_age;
        last.average_lease_left = stats.average_lease_left;
    }

    pub(crate) fn overview(&self) -> PartitionOverview {
        self.last.lock().told.clone()
    }

    pub(crate) fn stats(&self) -> PartitionStats {
        let last = self.last.lock();
        PartitionStats {
            partition: last.told.partition,
            counts: last.told.counts,
            failures: last.told.failures,
            average_age: last.average_age,
            average_lease_left: last.average_lease_left,
        }
    }
}

//! What is counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;

/// Items done so far, by all clients: for whoever watches.
#[derive(Debug, Default)]
pub(super) struct Live(AtomicU64);

impl Live {
    pub(super) fn add(&self, items: usize) {
        self.0.fetch_add(items as u64, Ordering::Relaxed);
    }

    pub(super) fn items(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Produce,
    Lease,
    Complete,
}

impl Operation {
    pub(super) const ALL: [Operation; 3] = [Operation::Produce, Operation::Lease, Operation::Complete];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Operation::Produce => "produce",
            Operation::Lease => "lease",
            Operation::Complete => "complete",
        }
    }
}

/// Microseconds an answer took, by operation, and items that went the whole way.
#[derive(Debug)]
pub(super) struct Figures {
    times: [Histogram<u64>; 3],
    pub(super) items: u64,
    /// Answers that asked to try again.
    pub(super) refused: u64,
}

/// Longer answers are counted as so long.
const MICROS_MAX: u64 = 15 * 60 * 1_000_000;

impl Default for Figures {
    fn default() -> Self {
        let times = || Histogram::new_with_max(MICROS_MAX, 3).expect("the bounds are in order");
        Figures { times: [times(), times(), times()], items: 0, refused: 0 }
    }
}

impl Figures {
    pub(super) fn time(&mut self, operation: Operation, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(MICROS_MAX);
        self.times[operation as usize].saturating_record(micros);
    }

    pub(super) fn of(&self, operation: Operation) -> &Histogram<u64> {
        &self.times[operation as usize]
    }

    pub(super) fn add(&mut self, other: &Figures) {
        for (times, others) in self.times.iter_mut().zip(&other.times) {
            times.add(others).expect("all have the same bounds");
        }
        self.items += other.items;
        self.refused += other.refused;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_clients_add_up() {
        let (mut first, mut second) = (Figures::default(), Figures::default());
        first.time(Operation::Lease, Duration::from_millis(1));
        second.time(Operation::Lease, Duration::from_secs(10_000));
        second.items = 2;
        first.add(&second);
        assert_eq!(
            (first.of(Operation::Lease).len(), first.of(Operation::Produce).len(), first.items),
            (2, 0, 2)
        );
    }
}

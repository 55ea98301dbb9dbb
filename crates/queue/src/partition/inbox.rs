//! What waits for a partition, and how much of it one turn takes.

use std::collections::VecDeque;

use super::clear::Clearing;
use super::list::Listing;
use super::write_limit::WriteLimits;
use crate::queue::message::{Change, Cold, Lease, Moved, Produce, Work};
use crate::store::WriteMax;

/// Items that one turn writes at most, of each kind; at least one request whatever its size. Larger writes gain
/// nothing and make everyone behind them wait.
const TURN_ITEMS_MAX: usize = 10_000;

/// What waits for a partition.
#[derive(Default)]
pub(super) struct Inbox {
    produces: VecDeque<Produce>,
    leases: VecDeque<Lease>,
    changes: VecDeque<Change>,
    pub(super) cold: VecDeque<Cold>,
    pub(super) lists: VecDeque<Listing>,
    /// Of these one is under way, the first.
    pub(super) clears: VecDeque<Clearing>,
    pub(super) moved: VecDeque<Moved>,
}

impl Inbox {
    pub(super) fn add(&mut self, work: Work) {
        self.produces.extend(work.produces);
        self.leases.extend(work.leases);
        self.changes.extend(work.changes);
    }

    /// Whether no item is to be written.
    pub(super) fn is_quiet(&self) -> bool {
        self.produces.is_empty() && self.leases.is_empty() && self.changes.is_empty()
    }

    /// The work of one turn.
    pub(super) fn take_turn(&mut self, limits: &WriteLimits, max: &WriteMax, bytes_max: usize) -> Work {
        let items_max = max.items.min(TURN_ITEMS_MAX);
        let WriteLimits { produce, lease, change } = limits;
        let bytes_max = bytes_max.min(max.bytes).min(produce.bytes);
        Work {
            produces: take(&mut self.produces, items_max.min(produce.items), bytes_max, |produce| {
                (produce.items.len(), produce.room.amount())
            }),
            // How large they are is not known before the items are.
            leases: take(&mut self.leases, items_max.min(lease.items), usize::MAX, |lease| {
                (lease.batch_size, 0)
            }),
            changes: take(&mut self.changes, items_max.min(change.items), usize::MAX, |change| {
                (change.ids.good.len(), 0)
            }),
        }
    }

    /// Leases that are served before all others by the next turn.
    pub(super) fn put_back(&mut self, leases: Vec<Lease>) {
        for lease in leases.into_iter().rev() {
            self.leases.push_front(lease);
        }
    }

    pub(super) fn take_all(&mut self) -> Work {
        Work {
            produces: self.produces.drain(..).collect(),
            leases: self.leases.drain(..).collect(),
            changes: self.changes.drain(..).collect(),
        }
    }
}

fn take<T>(
    waiting: &mut VecDeque<T>,
    items_max: usize,
    bytes_max: usize,
    size: impl Fn(&T) -> (usize, usize),
) -> Vec<T> {
    let (mut total, mut total_bytes) = (0, 0_usize);
    let fits = |request: &T| {
        let first = total == 0;
        let (items, bytes) = size(request);
        total += items.max(1);
        total_bytes = total_bytes.saturating_add(bytes);
        first || (total <= items_max && total_bytes <= bytes_max)
    };
    let count = waiting.iter().map(fits).take_while(|fits| *fits).count();
    waiting.drain(..count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(waiting: &[usize]) -> Vec<usize> {
        take(&mut waiting.iter().copied().collect(), TURN_ITEMS_MAX, usize::MAX, |size| (*size, 0))
    }

    #[test]
    fn turn_takes_whole_requests_up_to_its_limit() {
        assert_eq!(sizes(&[4_000, 4_000, 2_000, 1]), [4_000, 4_000, 2_000]);
        assert_eq!(sizes(&[1; 20_000]).len(), TURN_ITEMS_MAX);
        assert_eq!(sizes(&[0; 20_000]).len(), TURN_ITEMS_MAX);
    }

    #[test]
    fn turn_takes_whole_requests_up_to_the_bytes_of_a_write() {
        let bytes =
            |waiting: &[usize]| take(&mut waiting.iter().copied().collect(), 10, 100, |size| (1, *size));
        assert_eq!(bytes(&[40, 60, 1]), [40, 60]);
        assert_eq!(bytes(&[101, 1]), [101]);
    }

    #[test]
    fn turn_takes_one_request_whatever_its_size() {
        assert_eq!(sizes(&[50_000, 1]), [50_000]);
        assert_eq!(sizes(&[]), Vec::<usize>::new());
    }
}

//! What waits for a partition, and how much of it one turn takes.

use std::collections::VecDeque;

use crate::queue::message::{Change, Cold, Lease, Moved, Produce, Work};

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
    pub(super) fn take_turn(&mut self) -> Work {
        Work {
            produces: take(&mut self.produces, |produce| produce.items.len()),
            leases: take(&mut self.leases, |lease| lease.batch_size),
            changes: take(&mut self.changes, |change| change.ids.good.len()),
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

fn take<T>(waiting: &mut VecDeque<T>, size: impl Fn(&T) -> usize) -> Vec<T> {
    let mut total = 0;
    let fits = |request: &T| {
        let first = total == 0;
        total += size(request).max(1);
        first || total <= TURN_ITEMS_MAX
    };
    let count = waiting.iter().map(fits).take_while(|fits| *fits).count();
    waiting.drain(..count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(waiting: &[usize]) -> Vec<usize> {
        take(&mut waiting.iter().copied().collect(), |size| *size)
    }

    #[test]
    fn turn_takes_whole_requests_up_to_its_limit() {
        assert_eq!(sizes(&[4_000, 4_000, 2_000, 1]), [4_000, 4_000, 2_000]);
        assert_eq!(sizes(&[1; 20_000]).len(), TURN_ITEMS_MAX);
        assert_eq!(sizes(&[0; 20_000]).len(), TURN_ITEMS_MAX);
    }

    #[test]
    fn turn_takes_one_request_whatever_its_size() {
        assert_eq!(sizes(&[50_000, 1]), [50_000]);
        assert_eq!(sizes(&[]), Vec::<usize>::new());
    }
}

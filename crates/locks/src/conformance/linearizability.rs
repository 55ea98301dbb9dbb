//! Whether a history of concurrent operations on one key could have come from operations done one by one.

use std::collections::HashSet;

/// One operation, from before it was sent until after its answer came.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) started: u64,
    pub(super) ended: u64,
    pub(super) operation: Operation,
}

/// What was asked and what was answered. Ids are numbers within the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Acquire {
        id: usize,
        fence: Option<u64>,
    },
    Release {
        id: usize,
        done: bool,
    },
    Extend {
        id: usize,
        done: bool,
    },
    IsLocked {
        locked: bool,
    },
    /// The clock moved past the end of every hold.
    Expire,
}

/// The key as one client after another would see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct State {
    holder: Option<usize>,
    fence: u64,
}

impl State {
    /// The state after the operation, if it could have been answered so.
    fn after(self, operation: Operation) -> Option<State> {
        let ended = State { holder: None, ..self };
        match operation {
            Operation::Acquire { id, fence } => match (self.holder, fence) {
                (None, Some(fence)) if fence == self.fence + 1 => Some(State { holder: Some(id), fence }),
                (Some(holder), Some(fence)) if holder == id && fence == self.fence => Some(self),
                (Some(holder), None) if holder != id => Some(self),
                _ => None,
            },
            Operation::Release { id, done } if (self.holder == Some(id)) == done => {
                Some(if done { ended } else { self })
            }
            Operation::Extend { id, done } if (self.holder == Some(id)) == done => Some(self),
            Operation::IsLocked { locked } if self.holder.is_some() == locked => Some(self),
            Operation::Expire => Some(ended),
            _ => None,
        }
    }
}

/// Looks for an order that respects time (what ended before another started comes first) and in which every answer
/// is right. At most 64 calls.
pub(super) fn is_linearizable(history: &[Call]) -> bool {
    assert!(history.len() <= 64, "a history of {} calls is too long to check", history.len());
    let all = if history.len() == 64 { u64::MAX } else { (1 << history.len()) - 1 };
    let mut seen = HashSet::new();
    let mut open = vec![(0u64, State::default())];
    while let Some((done, state)) = open.pop() {
        if done == all {
            return true;
        }
        if !seen.insert((done, state)) {
            continue;
        }
        let pending = || history.iter().enumerate().filter(move |(index, _)| done & (1 << index) == 0);
        let first_end = pending().map(|(_, call)| call.ended).min().expect("something is pending");
        for (index, call) in pending().filter(|(_, call)| call.started <= first_end) {
            open.extend(state.after(call.operation).map(|next| (done | 1 << index, next)));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(started: u64, ended: u64, operation: Operation) -> Call {
        Call { started, ended, operation }
    }

    fn acquired(id: usize, fence: u64) -> Operation {
        Operation::Acquire { id, fence: Some(fence) }
    }

    #[test]
    fn one_after_the_other_is_linearizable() {
        let history = [
            call(0, 1, acquired(0, 1)),
            call(2, 3, Operation::Acquire { id: 1, fence: None }),
            call(4, 5, Operation::Release { id: 0, done: true }),
            call(6, 7, acquired(1, 2)),
            call(8, 9, Operation::Expire),
            call(10, 11, Operation::Extend { id: 1, done: false }),
        ];
        assert!(is_linearizable(&history));
    }

    #[test]
    fn overlapping_calls_may_be_ordered_either_way() {
        let history = [
            call(0, 1, acquired(0, 1)),
            call(2, 9, acquired(1, 2)),
            call(3, 8, Operation::Release { id: 0, done: true }),
        ];
        assert!(is_linearizable(&history));
    }

    #[test]
    fn two_holders_are_caught() {
        assert!(!is_linearizable(&[call(0, 1, acquired(0, 1)), call(2, 3, acquired(1, 2))]));
    }

    #[test]
    fn repeated_fence_is_caught() {
        let history = [
            call(0, 1, acquired(0, 1)),
            call(2, 3, Operation::Release { id: 0, done: true }),
            call(4, 5, acquired(1, 1)),
        ];
        assert!(!is_linearizable(&history));
    }

    #[test]
    fn resurrection_is_caught() {
        let history = [
            call(0, 1, acquired(0, 1)),
            call(2, 3, Operation::Expire),
            call(4, 5, Operation::Extend { id: 0, done: true }),
        ];
        assert!(!is_linearizable(&history));
    }

    #[test]
    fn refusal_without_a_holder_is_caught() {
        assert!(!is_linearizable(&[call(0, 1, Operation::Acquire { id: 0, fence: None })]));
    }
}

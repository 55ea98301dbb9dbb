//! How many ask at the moment.

use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, Default)]
pub(super) struct Callers(AtomicUsize);

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct Caller<'a> {
    callers: &'a AtomicUsize,
    /// Whether nobody else asked when it came.
    pub(super) is_alone: bool,
}

impl Callers {
    pub(super) fn enter(&self) -> Caller<'_> {
        let others = self.0.fetch_add(1, Ordering::Relaxed);
        Caller { callers: &self.0, is_alone: others == 0 }
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        self.callers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_comes_while_nobody_asks_is_alone() {
        let callers = Callers::default();
        let first = callers.enter();
        let second = callers.enter();
        assert!(first.is_alone && !second.is_alone);
        drop(first);
        assert!(!callers.enter().is_alone, "the second still asks");
        drop(second);
        assert!(callers.enter().is_alone);
    }
}

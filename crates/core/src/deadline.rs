//! When to stop waiting.

use std::time::{Duration, Instant};

use crate::Clock;

/// How far ahead a deadline is put that no `Instant` can hold: later than any process lives.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// The instant at which an operation gives up. A timeout becomes one at the edge and travels down as one, so
/// that steps share the time left instead of each starting anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// At this instant.
    pub const fn at(instant: Instant) -> Self {
        Self(instant)
    }

    /// So long from now, by the system's clock.
    pub fn after(timeout: Duration) -> Self {
        Self::starting(Instant::now(), timeout)
    }

    /// So long from now, by the given clock.
    pub fn after_on(clock: &dyn Clock, timeout: Duration) -> Self {
        Self::starting(clock.instant(), timeout)
    }

    /// So long from this instant: for callers whose time is not the system's.
    pub fn starting(now: Instant, timeout: Duration) -> Self {
        Self(now.checked_add(timeout).or_else(|| now.checked_add(FAR)).unwrap_or(now))
    }

    /// The instant itself.
    pub const fn instant(self) -> Instant {
        self.0
    }

    /// The time left at `now`; zero once it is past.
    pub fn remaining(self, now: Instant) -> Duration {
        self.0.saturating_duration_since(now)
    }

    /// Whether no time is left at `now`.
    pub fn is_past(self, now: Instant) -> bool {
        now >= self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;

    #[test]
    fn remaining_runs_out_exactly_at_the_deadline() {
        let clock = ManualClock::default();
        let deadline = Deadline::after_on(&clock, Duration::from_secs(5));
        assert_eq!(deadline.remaining(clock.instant()), Duration::from_secs(5));
        clock.advance(Duration::from_millis(4999));
        assert!(!deadline.is_past(clock.instant()));
        clock.advance(Duration::from_millis(1));
        assert!(deadline.is_past(clock.instant()));
        assert_eq!(deadline.remaining(clock.instant()), Duration::ZERO);
    }

    #[test]
    fn endless_timeout_is_far_ahead_and_not_now() {
        let now = Instant::now();
        assert!(Deadline::after(Duration::MAX).remaining(now) >= FAR);
    }
}

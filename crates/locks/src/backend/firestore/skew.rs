//! How far our clock is from Firestore's. Every client judges expiry by its own clock, so one that runs fast by more than
//! the tolerance would take a key from under its live holder.

use std::time::{Duration, Instant};

use leasehold_core::{LockCode, Timestamp};
use parking_lot::Mutex;

use crate::{Error, Result};

/// From this difference on, somebody should look at the clock.
const ALERT: Duration = Duration::from_millis(200);
/// From this difference on, nothing is acquired or extended: two such clients could be a whole tolerance apart.
const REFUSE: Duration = Duration::from_millis(500);
/// One warning says it all for so long.
const QUIET: Duration = Duration::from_secs(60);

/// What to do when our clock and Firestore's disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SkewCheck {
    /// Warn from 200 ms on; from 500 ms on, refuse to connect, to acquire and to extend, and clear nothing away.
    #[default]
    Refuse,
    /// Do nothing. For tests that move the clock.
    Ignore,
}

/// The clock is too far off to judge expiry.
#[derive(Debug, thiserror::Error)]
#[error(
    "the local clock is {by:?} or more {direction} Firestore's; less than {REFUSE:?} is needed to judge expiry"
)]
pub(super) struct Skewed {
    pub(super) by: Duration,
    pub(super) direction: &'static str,
}

impl Skewed {
    pub(super) fn into_error(self, operation: &'static str) -> Error {
        Error::Store { operation, lock_code: LockCode::InvalidArgument, source: Box::new(self) }
    }
}

/// Compares the clocks on every read and write, at no cost: Firestore says when it was.
#[derive(Debug)]
pub(super) struct SkewGauge {
    check: SkewCheck,
    warned_at: Mutex<Option<Instant>>,
    /// Both our clocks, as they were when the last comparison found nothing wrong.
    agreed_at: Mutex<Option<(Timestamp, Instant)>>,
}

impl SkewGauge {
    pub(super) fn new(check: SkewCheck) -> Self {
        SkewGauge { check, warned_at: Mutex::new(None), agreed_at: Mutex::new(None) }
    }

    /// Judges one call: ours when it was sent, Firestore's when it was done, ours when the answer came.
    pub(super) fn measure(&self, [sent, done, received]: [Timestamp; 3], at: Instant) -> Result<(), Skewed> {
        let measured = self.judge(skew(sent, done, received), at);
        *self.agreed_at.lock() = measured.is_ok().then_some((received, at));
        measured
    }

    /// Whether our clock went on as time did since the clocks agreed: one that was set meanwhile must be compared anew before
    /// anything is judged by it.
    pub(super) fn is_steady(&self, now: Timestamp, at: Instant) -> bool {
        let went_on = |(agreed, then): (Timestamp, Instant)| {
            let due = agreed.saturating_add(at.saturating_duration_since(then));
            now.saturating_since(due).max(due.saturating_since(now)) < REFUSE
        };
        self.check == SkewCheck::Ignore || self.agreed_at.lock().is_some_and(went_on)
    }

    fn judge(&self, skewed: Option<Skewed>, at: Instant) -> Result<(), Skewed> {
        let Some(skewed) = skewed.filter(|_| self.check == SkewCheck::Refuse) else { return Ok(()) };
        if skewed.by >= ALERT && self.may_warn(at) {
            let (millis, direction) = (skewed.by.as_millis(), skewed.direction);
            tracing::warn!(millis, direction, "the local clock is far from Firestore's");
        }
        if skewed.by >= REFUSE { Err(skewed) } else { Ok(()) }
    }

    fn may_warn(&self, at: Instant) -> bool {
        let mut warned_at = self.warned_at.lock();
        let may = warned_at.is_none_or(|before| at.saturating_duration_since(before) >= QUIET);
        if may {
            *warned_at = Some(at);
        }
        may
    }
}

/// The least the clocks can differ by: what the time on the way cannot explain.
fn skew(sent: Timestamp, read: Timestamp, received: Timestamp) -> Option<Skewed> {
    let (behind, ahead) = (read.saturating_since(received), sent.saturating_since(read));
    match (behind.is_zero(), ahead.is_zero()) {
        (true, true) => None,
        (false, _) => Some(Skewed { by: behind, direction: "behind" }),
        (true, false) => Some(Skewed { by: ahead, direction: "ahead of" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(check: SkewCheck, times: [i64; 3]) -> Result<()> {
        let measured = SkewGauge::new(check).measure(times.map(Timestamp::from_millis), Instant::now());
        measured.map_err(|skewed| skewed.into_error("acquire"))
    }

    #[test]
    fn clock_that_is_far_off_is_refused_in_both_directions() {
        for (times, direction) in
            [([1_000, 1_510, 1_010], "behind Firestore's"), ([1_500, 1_000, 1_510], "ahead of Firestore's")]
        {
            let error = judged(SkewCheck::Refuse, times).unwrap_err();
            assert_eq!((error.code(), error.lock_code()), ("lock.rejected", LockCode::InvalidArgument));
            let source = std::error::Error::source(&error).unwrap().to_string();
            assert!(source.contains(direction) && source.contains("500ms"), "{source}");
            judged(SkewCheck::Ignore, times).unwrap();
        }
    }

    #[test]
    fn time_on_the_way_is_not_skew() {
        judged(SkewCheck::Refuse, [1_000, 4_000, 9_000]).unwrap();
        judged(SkewCheck::Refuse, [1_000, 1_509, 1_010]).unwrap();
    }

    #[test]
    fn clock_is_steady_while_it_goes_on_as_time_does() {
        let (gauge, at) = (SkewGauge::new(SkewCheck::Refuse), Instant::now());
        let (now, second) =
            (|millis: i64| Timestamp::from_millis(1_000_000 + millis), Duration::from_secs(1));
        assert!(!gauge.is_steady(now(0), at), "nothing was compared");
        gauge.measure([now(-10), now(-5), now(0)], at).unwrap();
        for (millis, is_steady) in [(1_000, true), (1_499, true), (1_500, false), (501, true), (500, false)] {
            assert_eq!(gauge.is_steady(now(millis), at + second), is_steady, "{millis}");
        }
        gauge.measure([now(500), now(0), now(510)], at).unwrap_err();
        assert!(!gauge.is_steady(now(0), at), "the clocks disagreed");
        assert!(SkewGauge::new(SkewCheck::Ignore).is_steady(now(0), at));
    }

    #[test]
    fn warning_is_given_once_a_minute() {
        let (gauge, at) = (SkewGauge::new(SkewCheck::Refuse), Instant::now());
        assert!(gauge.may_warn(at));
        assert!(!gauge.may_warn(at + Duration::from_secs(59)));
        assert!(gauge.may_warn(at + QUIET));
    }
}

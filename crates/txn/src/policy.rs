//! How often, how fast and how long a lost race is tried again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leasehold_core::Deadline;

use crate::{Error, Result};

/// More attempts than this only hide a design that conflicts with itself.
pub const ATTEMPTS_MAX: u32 = 100;

/// A longer pause belongs to the caller, who can tell somebody about it.
pub const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Where the random part of a pause comes from.
pub trait Jitter: Send + Sync {
    /// A number from 0 to 1, evenly spread.
    fn sample(&self) -> f64;
}

/// The budget of one operation.
///
/// Pauses double from `pause_first` up to `pause_max`, each spread by ± `spread` of itself. Nothing is tried that
/// could not start before the deadline.
#[derive(Clone)]
pub struct Policy {
    attempts_max: u32,
    pause_first: Duration,
    pause_max: Duration,
    spread: f64,
    jitter: Arc<dyn Jitter>,
    deadline: Option<Deadline>,
}

impl Policy {
    /// A policy of at most `attempts_max` runs of a body, the first included.
    ///
    /// # Errors
    /// [`Error::BadConfig`] when `attempts_max` is not 1 to [`ATTEMPTS_MAX`], or the pauses are not
    /// `pause_first` ≤ `pause_max` ≤ [`PAUSE_MAX`].
    pub fn new(attempts_max: u32, pause_first: Duration, pause_max: Duration) -> Result<Self> {
        if attempts_max == 0 || attempts_max > ATTEMPTS_MAX {
            return Err(bad("attempts_max", format!("must be 1 to {ATTEMPTS_MAX}, is {attempts_max}")));
        }
        if pause_max > PAUSE_MAX {
            return Err(bad("pause_max", format!("must be at most {PAUSE_MAX:?}, is {pause_max:?}")));
        }
        if pause_first > pause_max {
            return Err(bad(
                "pause_first",
                format!("must be at most pause_max, {pause_max:?}, is {pause_first:?}"),
            ));
        }
        Ok(Self::checked(attempts_max, pause_first, pause_max))
    }

    /// For DSQL: 8 attempts, pauses from 10 ms to 1 s.
    #[must_use]
    pub fn dsql() -> Self {
        Self::checked(8, Duration::from_millis(10), Duration::from_secs(1))
    }

    /// The budget Temporal's DSQL users know: 5 retries, pauses from 100 ms to 5 s.
    #[must_use]
    pub fn seed() -> Self {
        Self::checked(6, Duration::from_millis(100), Duration::from_secs(5))
    }

    /// One attempt.
    #[must_use]
    pub fn none() -> Self {
        Self::checked(1, Duration::ZERO, Duration::ZERO)
    }

    fn checked(attempts_max: u32, pause_first: Duration, pause_max: Duration) -> Self {
        Self {
            attempts_max,
            pause_first,
            pause_max,
            spread: 0.25,
            jitter: Arc::new(SystemJitter),
            deadline: None,
        }
    }

    /// Spreads each pause by ± this part of itself; 0.25 unless told.
    ///
    /// # Errors
    /// [`Error::BadConfig`] when it is not 0 to 1.
    pub fn with_spread(mut self, spread: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&spread) {
            return Err(bad("spread", format!("must be 0 to 1, is {spread}")));
        }
        self.spread = spread;
        Ok(self)
    }

    /// Takes the random part of pauses from elsewhere.
    #[must_use]
    pub fn with_jitter(mut self, jitter: impl Jitter + 'static) -> Self {
        self.jitter = Arc::new(jitter);
        self
    }

    /// Bounds the whole operation: waiting for a connection, every attempt, every pause.
    #[must_use]
    pub fn until(mut self, deadline: Deadline) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// How often a body may run.
    #[must_use]
    pub const fn attempts_max(&self) -> u32 {
        self.attempts_max
    }

    /// When the operation ends at the latest.
    #[must_use]
    pub const fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    /// The pause after the `attempt`-th failed attempt, counted from 1.
    pub(crate) fn pause(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        let pause = self.pause_first.saturating_mul(1 << doublings).min(self.pause_max);
        let factor = 1.0 + self.spread * (2.0 * self.jitter.sample().clamp(0.0, 1.0) - 1.0);
        pause.mul_f64(factor)
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("attempts_max", &self.attempts_max)
            .field("pause_first", &self.pause_first)
            .field("pause_max", &self.pause_max)
            .field("spread", &self.spread)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

fn bad(field: &'static str, reason: String) -> Error {
    Error::BadConfig { field, reason }
}

struct SystemJitter;

impl Jitter for SystemJitter {
    fn sample(&self) -> f64 {
        // Without a random source pauses merely stop being spread.
        getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Jitter, PAUSE_MAX, Policy};
    use crate::Error;

    struct Fixed(f64);

    impl Jitter for Fixed {
        fn sample(&self) -> f64 {
            self.0
        }
    }

    fn pauses(policy: &Policy) -> Vec<u128> {
        (1..policy.attempts_max()).map(|attempt| policy.pause(attempt).as_millis()).collect()
    }

    #[test]
    fn pauses_double_up_to_the_limit() {
        assert_eq!(pauses(&Policy::seed().with_jitter(Fixed(0.5))), [100, 200, 400, 800, 1600]);
        assert_eq!(pauses(&Policy::dsql().with_jitter(Fixed(0.5))), [10, 20, 40, 80, 160, 320, 640]);
        let long = Policy::new(40, Duration::from_millis(1), Duration::from_secs(5)).unwrap();
        assert_eq!(long.with_jitter(Fixed(0.5)).pause(39), Duration::from_secs(5));
    }

    #[test]
    fn jitter_spreads_a_quarter_to_either_side() {
        assert_eq!(Policy::seed().with_jitter(Fixed(0.0)).pause(1), Duration::from_millis(75));
        assert_eq!(Policy::seed().with_jitter(Fixed(1.0)).pause(1), Duration::from_millis(125));
    }

    #[test]
    fn system_jitter_stays_in_bounds_and_varies() {
        let policy = Policy::seed();
        let samples: Vec<_> = (0..100).map(|_| policy.pause(1)).collect();
        assert!(samples.iter().all(|pause| (75..=125).contains(&pause.as_millis())), "{samples:?}");
        assert!(samples.iter().any(|pause| *pause != samples[0]));
    }

    #[test]
    fn no_spread_means_no_randomness() {
        let policy = Policy::seed().with_spread(0.0).unwrap().with_jitter(Fixed(1.0));
        assert_eq!(policy.pause(2), Duration::from_millis(200));
    }

    #[test]
    fn limits_are_named_in_the_refusal() {
        let second = Duration::from_secs(1);
        let cases = [
            (Policy::new(0, second, second), "attempts_max: must be 1 to 100, is 0"),
            (Policy::new(101, second, second), "attempts_max: must be 1 to 100, is 101"),
            (Policy::new(1, second, PAUSE_MAX + second), "pause_max: must be at most 60s, is 61s"),
            (Policy::new(1, second * 2, second), "pause_first: must be at most pause_max, 1s, is 2s"),
            (Policy::dsql().with_spread(1.5), "spread: must be 0 to 1, is 1.5"),
            (Policy::dsql().with_spread(f64::NAN), "spread: must be 0 to 1, is NaN"),
        ];
        for (result, message) in cases {
            let error: Error = result.unwrap_err();
            assert_eq!(error.to_string(), message);
            assert_eq!(error.code(), "txn.bad_config");
        }
    }
}

use std::time::Duration;

/// How often, and how patiently, a held key is asked for again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// Attempts after the first one. Attempts made because of news from the store do not count.
    pub retries_max: u32,
    /// The wait after the first attempt. Zero asks again at once.
    pub delay: Duration,
    /// The wait grows no further than this; a longer `delay` stays as it is. Two seconds: whoever waits without news finds
    /// a free key soon after it became free, however long it has waited.
    pub delay_max: Duration,
    /// How the wait grows.
    pub backoff: Backoff,
    /// How the wait is spread, so that waiters do not come back together.
    pub jitter: Jitter,
}

/// How the wait grows from attempt to attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    /// Doubles each time.
    Exponential,
    /// Stays the same.
    Fixed,
}

/// How a wait is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    /// Half of it fixed, half of it random.
    Equal,
    /// All of it random.
    Full,
    /// Exactly as it is.
    None,
}

impl Default for Retry {
    fn default() -> Self {
        Retry {
            retries_max: 10,
            delay: Duration::from_millis(100),
            delay_max: Duration::from_secs(2),
            backoff: Backoff::Exponential,
            jitter: Jitter::Equal,
        }
    }
}

impl Retry {
    /// The wait after the n-th failed attempt (1, 2, …); `random` is in 0..1.
    pub fn delay_after(&self, attempt: u32, random: f64) -> Duration {
        let whole = match self.backoff {
            Backoff::Fixed => self.delay,
            Backoff::Exponential => {
                let factor = 1u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
                self.delay.saturating_mul(factor).min(self.delay_max.max(self.delay))
            }
        };
        match self.jitter {
            Jitter::None => whole,
            Jitter::Full => fraction(whole, random),
            Jitter::Equal => whole / 2 + fraction(whole / 2, random),
        }
    }
}

/// Saturates where `Duration::mul_f64` would panic.
pub(crate) fn fraction(whole: Duration, part: f64) -> Duration {
    Duration::try_from_secs_f64(whole.as_secs_f64() * part).unwrap_or(whole)
}

/// A number in 0..1. Spreads waits; nothing secret hangs on it.
pub(crate) fn random() -> f64 {
    let bits = getrandom::u64().unwrap_or(u64::MAX / 2);
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(backoff: Backoff, jitter: Jitter) -> Retry {
        Retry { backoff, jitter, ..Retry::default() }
    }

    fn millis(retry: Retry, attempt: u32, random: f64) -> u128 {
        retry.delay_after(attempt, random).as_millis()
    }

    #[test]
    fn exponential_doubles_and_fixed_stays() {
        let doubling = retry(Backoff::Exponential, Jitter::None);
        assert_eq!([1, 2, 3, 4].map(|attempt| millis(doubling, attempt, 0.9)), [100, 200, 400, 800]);
        let fixed = retry(Backoff::Fixed, Jitter::None);
        assert_eq!([1, 2, 3].map(|attempt| millis(fixed, attempt, 0.9)), [100, 100, 100]);
    }

    #[test]
    fn doubling_stops_at_its_limit_and_leaves_a_longer_wait_alone() {
        let doubling = retry(Backoff::Exponential, Jitter::None);
        assert_eq!([5, 6, 40].map(|attempt| millis(doubling, attempt, 0.9)), [1_600, 2_000, 2_000]);
        let patient = Retry { delay: Duration::from_secs(9), ..doubling };
        assert_eq!([1, 2, 3].map(|attempt| millis(patient, attempt, 0.9)), [9_000; 3]);
    }

    #[test]
    fn equal_jitter_keeps_half_and_never_exceeds_the_whole() {
        let equal = retry(Backoff::Exponential, Jitter::Equal);
        assert_eq!([0.0, 0.5].map(|random| millis(equal, 1, random)), [50, 75]);
        assert_eq!(millis(equal, 2, 0.5), 150);
        assert!(equal.delay_after(1, 0.999_999) < Duration::from_millis(100));
    }

    #[test]
    fn full_jitter_spreads_over_the_whole() {
        let full = retry(Backoff::Fixed, Jitter::Full);
        assert_eq!([0.0, 0.25, 0.5].map(|random| millis(full, 7, random)), [0, 25, 50]);
    }

    #[test]
    fn late_attempts_saturate_instead_of_panicking() {
        let doubling =
            Retry { delay: Duration::from_secs(u64::MAX / 4), ..retry(Backoff::Exponential, Jitter::Equal) };
        assert!(doubling.delay_after(u32::MAX, 0.999) > Duration::from_secs(1 << 40));
    }

    #[test]
    fn random_stays_in_its_range() {
        assert!((0..1000).map(|_| random()).all(|number| (0.0..1.0).contains(&number)));
    }
}

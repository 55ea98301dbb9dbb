//! A point in wall-clock time.

use std::time::Duration;

/// Microseconds since the Unix epoch: as fine as PostgreSQL keeps time, and wide enough for every millisecond
/// count a SyncGuard peer can store exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(0);
    /// The earliest time.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest time.
    pub const MAX: Self = Self(i64::MAX);

    /// From microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// From milliseconds since the epoch. Beyond about 292,000 years it stops at the earliest or latest time.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since the epoch, cut towards the past.
    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Later by `duration`, if that can be told. Below a microsecond is cut.
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        self.0.checked_add_unsigned(micros(duration)?).map(Self)
    }

    /// Earlier by `duration`, if that can be told. Below a microsecond is cut.
    pub fn checked_sub(self, duration: Duration) -> Option<Self> {
        self.0.checked_sub_unsigned(micros(duration)?).map(Self)
    }

    /// Later by `duration`, at most the latest time.
    pub fn saturating_add(self, duration: Duration) -> Self {
        self.checked_add(duration).unwrap_or(Self::MAX)
    }

    /// Earlier by `duration`, at least the earliest time.
    pub fn saturating_sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).unwrap_or(Self::MIN)
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        if self <= earlier { Duration::ZERO } else { Duration::from_micros(self.0.abs_diff(earlier.0)) }
    }
}

fn micros(duration: Duration) -> Option<u64> {
    u64::try_from(duration.as_micros()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_before_the_epoch_are_cut_towards_the_past() {
        assert_eq!(Timestamp::from_micros(-1).as_millis(), -1);
        assert_eq!(Timestamp::from_micros(1999).as_millis(), 1);
    }

    #[test]
    fn largest_exact_javascript_millisecond_fits() {
        let millis = (1 << 53) - 1;
        assert_eq!(Timestamp::from_millis(millis).as_millis(), millis);
    }

    #[test]
    fn since_spans_the_whole_range() {
        assert_eq!(Timestamp::MAX.saturating_since(Timestamp::MIN), Duration::from_micros(u64::MAX));
        assert_eq!(Timestamp::MIN.saturating_since(Timestamp::MAX), Duration::ZERO);
    }
}

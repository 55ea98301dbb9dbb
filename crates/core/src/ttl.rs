//! How long a right lasts.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::{Error, Result, duration};

/// A time to live: whole milliseconds, at least one. Short enough that adding it to any `now` before the year
/// 5138 stays within 2^53 − 1 ms, so no peer that counts in doubles rounds the expiry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ttl(u64);

impl Ttl {
    /// The shortest ttl.
    pub const MIN: Self = Self(1);
    /// The longest ttl: 2^53 − 1 ms less the 10^14 ms left for `now`.
    pub const MAX: Self = Self((1 << 53) - 1 - 100_000_000_000_000);
    /// What a lock gets when its caller names no ttl.
    pub const DEFAULT: Self = Self(30_000);

    /// From whole milliseconds.
    pub const fn from_millis(millis: u64) -> Result<Self> {
        if millis < Self::MIN.0 || millis > Self::MAX.0 {
            return Err(Error::TtlOutOfRange { min: Self::MIN.0, max: Self::MAX.0 });
        }
        Ok(Self(millis))
    }

    /// Whole milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// As a duration.
    pub const fn as_duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

/// Refuses a duration finer than a millisecond instead of cutting it: the caller would hold a shorter right
/// than it asked for.
impl TryFrom<Duration> for Ttl {
    type Error = Error;

    fn try_from(duration: Duration) -> Result<Self> {
        if !duration.subsec_nanos().is_multiple_of(1_000_000) {
            return Err(Error::TtlNotWholeMillis);
        }
        Self::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Reads text like `30s`, `500ms` or `1h30m`; see [`duration::parse`].
impl FromStr for Ttl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        duration::parse(text)?.try_into()
    }
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration::format(self.as_duration()))
    }
}

impl fmt::Debug for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ttl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_beyond_the_cap_are_refused() {
        let out_of_range = Error::TtlOutOfRange { min: 1, max: 8_907_199_254_740_991 };
        assert_eq!(Ttl::from_millis(0), Err(out_of_range.clone()));
        assert_eq!(Ttl::from_millis(Ttl::MAX.as_millis() + 1), Err(out_of_range.clone()));
        assert_eq!(
            Ttl::try_from(Duration::MAX.saturating_sub(Duration::from_nanos(999_999_999))),
            Err(out_of_range)
        );
        assert_eq!(Ttl::from_millis(Ttl::MAX.as_millis()), Ok(Ttl::MAX));
    }

    #[test]
    fn fraction_of_a_millisecond_is_refused() {
        assert_eq!(Ttl::try_from(Duration::from_micros(1500)), Err(Error::TtlNotWholeMillis));
        assert_eq!("1.5ms".parse::<Ttl>(), Err(Error::TtlNotWholeMillis));
    }

    #[test]
    fn text_is_read_as_written() {
        for (text, millis) in [("30s", 30_000), ("1m", 60_000), ("500ms", 500), ("1h30m", 5_400_000)] {
            assert_eq!(text.parse::<Ttl>().map(Ttl::as_millis), Ok(millis), "{text}");
        }
    }
}

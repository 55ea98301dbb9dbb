//! The place of a hold in its key's history.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// A fence: which hold of its key this is, counted from 1. Written as 15 digits, so that comparing the text
/// is comparing the number.
///
/// Strictly grows per key for ever, across release, expiry and restart: a resource may compare fences long
/// after a holder is gone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(u64);

impl Fence {
    /// The fence of the first hold a key ever has.
    pub const FIRST: Self = Self(1);
    /// The last fence that may be handed out. The digits above it are room for noticing.
    pub const MAX: Self = Self(900_000_000_000_000);
    /// Above this one, handing out a fence is worth a warning: a tenth of the room is used up.
    pub const WARN: Self = Self(90_000_000_000_000);
    /// Digits of the text form.
    pub const DIGITS: usize = 15;

    const WRITABLE_MAX: u64 = 999_999_999_999_999;

    /// Reads the text form: exactly 15 ASCII digits.
    pub fn parse(text: &str) -> Result<Self> {
        let malformed = Error::FenceMalformed { limit: Self::DIGITS };
        if text.len() != Self::DIGITS || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(malformed);
        }
        text.parse().map(Self).map_err(|_| malformed)
    }

    /// The fence to hand out once a store's counter stands at `counter`. Compared as numbers: a counter of 16
    /// digits sorts below the maximum as text and would slip through.
    pub const fn from_counter(counter: u64) -> Result<Self> {
        if counter > Self::MAX.0 {
            return Err(Error::FenceOverflow { limit: Self::MAX.0 });
        }
        if counter < Self::FIRST.0 {
            let (min, max) = (Self::FIRST.0, Self::MAX.0);
            return Err(Error::FenceOutOfRange { value: counter as i128, min, max });
        }
        Ok(Self(counter))
    }

    /// The fence of the hold after this one.
    pub const fn next(self) -> Result<Self> {
        Self::from_counter(self.0 + 1)
    }

    /// Whether handing out this fence is worth a warning.
    pub const fn is_near_limit(self) -> bool {
        self.0 > Self::WARN.0
    }

    /// The number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// A number that can be written in 15 digits. For fences that exist already; [`Fence::from_counter`] is for
/// handing one out.
impl TryFrom<u64> for Fence {
    type Error = Error;

    fn try_from(value: u64) -> Result<Self> {
        if value > Self::WRITABLE_MAX {
            return Err(Error::FenceOutOfRange { value: value.into(), min: 0, max: Self::WRITABLE_MAX });
        }
        Ok(Self(value))
    }
}

/// As from `u64`; databases give signed numbers.
impl TryFrom<i64> for Fence {
    type Error = Error;

    fn try_from(value: i64) -> Result<Self> {
        let max = Self::WRITABLE_MAX;
        u64::try_from(value)
            .map_err(|_| Error::FenceOutOfRange { value: value.into(), min: 0, max })
            .and_then(Self::try_from)
    }
}

impl FromStr for Fence {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$}", self.0, width = Self::DIGITS)
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fence({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Class, LockCode};

    #[test]
    fn maximum_itself_is_handed_out_and_the_next_overflows() {
        assert_eq!(Fence::from_counter(900_000_000_000_000), Ok(Fence::MAX));
        let error = Fence::MAX.next().unwrap_err();
        assert_eq!(error, Error::FenceOverflow { limit: 900_000_000_000_000 });
        assert_eq!((error.class(), error.lock_code()), (Class::Internal, LockCode::Internal));
    }

    #[test]
    fn counter_of_sixteen_digits_overflows() {
        assert_eq!(Fence::from_counter(1_000_000_000_000_000).unwrap_err().code(), "fence.overflow");
    }

    #[test]
    fn counter_at_zero_is_refused() {
        assert_eq!(Fence::from_counter(0).unwrap_err().code(), "fence.out_of_range");
    }

    #[test]
    fn warning_starts_above_the_threshold() {
        assert!(!Fence::WARN.is_near_limit());
        assert!(Fence::WARN.next().unwrap().is_near_limit());
    }

    #[test]
    fn text_of_other_shapes_is_refused() {
        for text in
            ["", "1", "00000000000001", "0000000000000001", "+00000000000001", "00000000000001a", "٠٠٠٠٠٠٠"]
        {
            assert_eq!(Fence::parse(text), Err(Error::FenceMalformed { limit: 15 }), "{text:?}");
        }
    }
}

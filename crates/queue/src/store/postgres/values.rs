//! Ids and instants as PostgreSQL keeps them.

use std::error::Error;

use bytes::BytesMut;
use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use crate::ItemId;

/// An id as text.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct IdText(pub(in crate::store) ItemId);

impl ToSql for IdText {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(self.0.text().as_str().as_bytes());
        Ok(IsNull::No)
    }

    accepts!(TEXT);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for IdText {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(IdText(std::str::from_utf8(raw)?.parse()?))
    }

    accepts!(TEXT);
}

/// An instant as `timestamptz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Instant(pub(in crate::store) Timestamp);

/// Microseconds between the Unix epoch and PostgreSQL's, the year 2000.
const EPOCH_MICROS: i64 = 946_684_800_000_000;
/// The first and the last instant that PostgreSQL can tell, in its own count. Beyond them are its infinities, which
/// other readers of these tables do not expect.
const FIRST_MICROS: i64 = -211_813_488_000_000_000;
const LAST_MICROS: i64 = 9_223_371_331_199_999_999;

impl ToSql for Instant {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let micros = self.0.as_micros().saturating_sub(EPOCH_MICROS).clamp(FIRST_MICROS, LAST_MICROS);
        out.extend_from_slice(&micros.to_be_bytes());
        Ok(IsNull::No)
    }

    accepts!(TIMESTAMPTZ);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Instant {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let micros = i64::from_be_bytes(raw.try_into()?);
        Ok(Instant(match micros {
            i64::MIN => Timestamp::MIN,
            micros => Timestamp::from_micros(micros.saturating_add(EPOCH_MICROS)),
        }))
    }

    accepts!(TIMESTAMPTZ);
}

/// A length or a limit as PostgreSQL counts.
pub(in crate::store) fn count(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(at: Timestamp) -> Timestamp {
        let mut out = BytesMut::new();
        Instant(at).to_sql(&Type::TIMESTAMPTZ, &mut out).expect("an instant is written");
        Instant::from_sql(&Type::TIMESTAMPTZ, &out).expect("an instant is read").0
    }

    #[test]
    fn microseconds_are_kept() {
        for micros in [0, 1, -1, 1_700_000_000_123_456, -62_135_596_800_000_000] {
            let at = Timestamp::from_micros(micros);
            assert_eq!(there_and_back(at), at);
        }
    }

    #[test]
    fn instants_beyond_the_calendar_are_cut_to_it_and_are_no_infinity() {
        assert_eq!(there_and_back(Timestamp::MAX), Timestamp::from_micros(i64::MAX));
        let first = there_and_back(Timestamp::MIN);
        assert!(first > Timestamp::MIN, "{first:?}");
        assert_eq!(there_and_back(first), first);
        let mut out = BytesMut::new();
        Instant(Timestamp::MAX).to_sql(&Type::TIMESTAMPTZ, &mut out).expect("written");
        assert_ne!(out[..], i64::MAX.to_be_bytes());
    }

    #[test]
    fn infinities_of_others_are_the_ends_of_time() {
        let read =
            |micros: i64| Instant::from_sql(&Type::TIMESTAMPTZ, &micros.to_be_bytes()).expect("read").0;
        assert_eq!((read(i64::MIN), read(i64::MAX)), (Timestamp::MIN, Timestamp::MAX));
    }
}

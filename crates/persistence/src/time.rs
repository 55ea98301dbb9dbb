//! Times as the tables keep them: UTC without a zone, to the microsecond.

use std::error::Error as StdError;

use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::types::private::BytesMut;
use leasehold_txn::tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// 2000-01-01, from which PostgreSQL counts, in microseconds since 1970-01-01.
const POSTGRES_EPOCH: i64 = 946_684_800_000_000;
/// 0001-01-01 and the last microsecond of 9999: within what PostgreSQL keeps and what Temporal writes.
const EARLIEST: i64 = -62_135_596_800_000_000;
const LATEST: i64 = 253_402_300_799_999_999;

/// A time on its way to or from a `timestamp` column. Before year 1 and after 9999 it is cut to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored(pub(crate) Timestamp);

impl ToSql for Stored {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        let micros = self.0.as_micros().clamp(EARLIEST, LATEST) - POSTGRES_EPOCH;
        out.extend_from_slice(&micros.to_be_bytes());
        Ok(IsNull::No)
    }

    accepts!(TIMESTAMP);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Stored {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        let micros = i64::from_be_bytes(raw.try_into()?);
        Ok(Self(Timestamp::from_micros(micros.saturating_add(POSTGRES_EPOCH))))
    }

    accepts!(TIMESTAMP);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(micros: i64) -> i64 {
        let mut out = BytesMut::new();
        let _ = Stored(Timestamp::from_micros(micros)).to_sql(&Type::TIMESTAMP, &mut out).expect("a time");
        Stored::from_sql(&Type::TIMESTAMP, &out).expect("a time").0.as_micros()
    }

    #[test]
    fn times_read_back_and_the_impossible_is_cut() {
        for micros in [0, -1, 1, 1_700_000_000_123_456, EARLIEST, LATEST] {
            assert_eq!(stored(micros), micros);
        }
        assert_eq!(stored(i64::MAX), LATEST);
        assert_eq!(stored(i64::MIN), EARLIEST);
    }
}

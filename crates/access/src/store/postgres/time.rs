//! Times as PostgreSQL keeps them.

use std::time::{Duration, SystemTime};

use leasehold_core::Timestamp;

/// 0001-01-01 and the last microsecond of 9999: what an API can carry, and far within what PostgreSQL can keep.
const EARLIEST_MICROS: i64 = -62_135_596_800_000_000;
const LATEST_MICROS: i64 = 253_402_300_799_999_999;

/// Times before year 1 or after 9999 are cut to that.
pub(super) fn to_postgres(time: Timestamp) -> SystemTime {
    let micros = time.as_micros().clamp(EARLIEST_MICROS, LATEST_MICROS);
    let distance = Duration::from_micros(micros.unsigned_abs());
    if micros < 0 { SystemTime::UNIX_EPOCH - distance } else { SystemTime::UNIX_EPOCH + distance }
}

pub(super) fn from_postgres(time: SystemTime) -> Timestamp {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => Timestamp::EPOCH.saturating_add(since),
        Err(before) => Timestamp::EPOCH.saturating_sub(before.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_back_and_the_impossible_is_cut() {
        for micros in [0, -1, 1, 1_700_000_000_123_456, EARLIEST_MICROS, LATEST_MICROS] {
            let time = Timestamp::from_micros(micros);
            assert_eq!(from_postgres(to_postgres(time)), time);
        }
        assert_eq!(from_postgres(to_postgres(Timestamp::MAX)).as_micros(), LATEST_MICROS);
        assert_eq!(from_postgres(to_postgres(Timestamp::MIN)).as_micros(), EARLIEST_MICROS);
    }
}

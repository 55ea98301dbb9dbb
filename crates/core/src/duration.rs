//! Durations as text, in Go's syntax: `30s`, `500ms`, `1h30m`, `1.5h`.
//!
//! Queue clients already send and expect this form, so the command line and configuration use it too.

use std::fmt::Write as _;
use std::time::Duration;

use crate::{Error, Result};

const NANOS_MAX: u64 = i64::MAX as u64;
const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
/// More digits than an hour has nanoseconds; those after them cannot change the result by one.
const FRACTION_DIGITS_MAX: usize = 18;

/// Reads a duration: `0`, or groups of a decimal number and a unit (`ns`, `us`, `µs`, `ms`, `s`, `m`, `h`).
/// A fraction below a nanosecond is cut. At most 2^63 − 1 nanoseconds, about 292 years, as in Go.
pub fn parse(text: &str) -> Result<Duration> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let nanos = match unsigned {
        "" => return Err(malformed(text)),
        "0" => 0,
        groups => total(text, groups)?,
    };
    if negative && nanos > 0 {
        return Err(Error::DurationNegative { text: text.into() });
    }
    Ok(Duration::from_nanos(nanos))
}

fn total(text: &str, groups: &str) -> Result<u64> {
    let too_long = || Error::DurationTooLong { text: text.into(), limit: NANOS_MAX };
    let mut rest = groups;
    let mut nanos: u64 = 0;
    while !rest.is_empty() {
        let (whole, after) = split_digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(malformed(text));
        }
        let unit_len = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (name, after) = after.split_at(unit_len);
        let unit = unit_nanos(text, name)?;
        nanos = whole_nanos(whole, unit)
            .and_then(|whole| whole.checked_add(fraction_nanos(fraction, unit)))
            .and_then(|group| nanos.checked_add(group))
            .filter(|nanos| *nanos <= NANOS_MAX)
            .ok_or_else(too_long)?;
        rest = after;
    }
    Ok(nanos)
}

fn malformed(text: &str) -> Error {
    Error::DurationMalformed { text: text.into() }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn unit_nanos(text: &str, unit: &str) -> Result<u64> {
    match unit {
        "ns" => Ok(1),
        // The micro sign and the Greek letter look alike; keyboards differ in which they give.
        "us" | "\u{b5}s" | "\u{3bc}s" => Ok(MICRO),
        "ms" => Ok(MILLI),
        "s" => Ok(SECOND),
        "m" => Ok(MINUTE),
        "h" => Ok(HOUR),
        "" => Err(Error::DurationUnitMissing { text: text.into() }),
        _ => Err(Error::DurationUnitUnknown { text: text.into(), unit: unit.into() }),
    }
}

fn whole_nanos(digits: &str, unit: u64) -> Option<u64> {
    if digits.is_empty() { Some(0) } else { digits.parse::<u64>().ok()?.checked_mul(unit) }
}

/// Exact, then cut once: cutting each digit would lose nanoseconds of the units that ten does not divide.
fn fraction_nanos(digits: &str, unit: u64) -> u64 {
    let (value, scale) = digits
        .bytes()
        .take(FRACTION_DIGITS_MAX)
        .fold((0, 1), |(value, scale), byte| (value * 10 + u128::from(byte - b'0'), scale * 10));
    u64::try_from(value * u128::from(unit) / scale).expect("a fraction is less than its unit")
}

/// Writes a duration as Go does: `0s`, `39.199555ms`, `2m0.5s`, `24h0m0s`. [`parse`] reads it back.
pub fn format(duration: Duration) -> String {
    let nanos = duration.subsec_nanos();
    if duration.as_secs() == 0 {
        return match u64::from(nanos) {
            0 => "0s".into(),
            nanos if nanos < MICRO => format!("{nanos}ns"),
            nanos if nanos < MILLI => decimal(nanos, MICRO) + "µs",
            nanos => decimal(nanos, MILLI) + "ms",
        };
    }
    let (hours, minutes, seconds) =
        (duration.as_secs() / 3600, duration.as_secs() / 60 % 60, duration.as_secs() % 60);
    let mut text = String::new();
    if hours > 0 {
        let _ = write!(text, "{hours}h");
    }
    if hours > 0 || minutes > 0 {
        let _ = write!(text, "{minutes}m");
    }
    text + &decimal(seconds * SECOND + u64::from(nanos), SECOND) + "s"
}

fn decimal(nanos: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let text = format!("{}.{:0digits$}", nanos / unit, nanos % unit);
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_go_reads_it() {
        for (text, nanos) in [
            ("0", 0),
            ("-0", 0),
            ("-0s", 0),
            ("0s", 0),
            ("5s", 5 * SECOND),
            ("+5s", 5 * SECOND),
            ("1.5h", HOUR + HOUR / 2),
            (".5s", SECOND / 2),
            ("1.s", SECOND),
            ("1h30m", HOUR + 30 * MINUTE),
            ("1m1m", 2 * MINUTE),
            ("1us1\u{b5}s1\u{3bc}s", 3 * MICRO),
            ("39.199555ms", 39_199_555),
            ("0.3333333333333333333h", 20 * MINUTE - 1),
            ("0.9ns", 0),
            ("9223372036854775807ns", NANOS_MAX),
            ("9223372036.854775807s", NANOS_MAX),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn bad_text_is_refused_by_its_fault() {
        for (text, code) in [
            ("", "duration.malformed"),
            ("-", "duration.malformed"),
            ("+", "duration.malformed"),
            ("s", "duration.malformed"),
            (".", "duration.malformed"),
            (".s", "duration.malformed"),
            (" 1s", "duration.malformed"),
            ("--1s", "duration.malformed"),
            ("1s-", "duration.unit_unknown"),
            ("30", "duration.unit_missing"),
            ("1h30", "duration.unit_missing"),
            ("00", "duration.unit_missing"),
            ("1d", "duration.unit_unknown"),
            ("1 s", "duration.unit_unknown"),
            ("1S", "duration.unit_unknown"),
            ("-1s", "duration.negative"),
            ("9223372036854775808ns", "duration.too_long"),
            ("18446744073709551616ns", "duration.too_long"),
            ("2562048h", "duration.too_long"),
            ("2562047h2562047h", "duration.too_long"),
            ("٣s", "duration.malformed"),
        ] {
            assert_eq!(parse(text).map_err(|error| error.code()), Err(code), "{text:?}");
        }
    }

    #[test]
    fn text_is_written_as_go_writes_it() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1100, "1.1µs"),
            (39_199_555, "39.199555ms"),
            (500 * MILLI, "500ms"),
            (59_979_517_243, "59.979517243s"),
            (MINUTE, "1m0s"),
            (2 * MINUTE + SECOND / 2, "2m0.5s"),
            (HOUR, "1h0m0s"),
            (24 * HOUR, "24h0m0s"),
            (10 * SECOND, "10s"),
            (NANOS_MAX, "2562047h47m16.854775807s"),
        ] {
            assert_eq!(format(Duration::from_nanos(nanos)), text);
        }
    }
}

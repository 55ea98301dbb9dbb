//! Instants as RFC 3339: in UTC with as many digits as are needed out; with any offset in. Years 1 to 9999.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{DateTime, date};
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use prost_types::Timestamp;
use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer, ser};

/// The first instant of year 1, in seconds.
const SECONDS_MIN: i64 = -62_135_596_800;
/// The last second of year 9999.
const SECONDS_MAX: i64 = 253_402_300_799;

/// Civil time reaches further than instants do in the library, which keep room for offsets.
const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

static PARSER: DateTimeParser = DateTimeParser::new();

pub(crate) fn serialize<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        None => serializer.serialize_none(),
        Some(at) => {
            serializer.serialize_str(&text(*at).ok_or_else(|| ser::Error::custom("no such instant"))?)
        }
    }
}

/// Three digits at a time, the fewest that lose nothing.
fn text(at: Timestamp) -> Option<String> {
    if !(SECONDS_MIN..=SECONDS_MAX).contains(&at.seconds) || !(0..1_000_000_000).contains(&at.nanos) {
        return None;
    }
    let instant = EPOCH.checked_add(SignedDuration::new(at.seconds, at.nanos)).ok()?;
    let digits = match at.nanos {
        0 => 0,
        nanos if nanos % 1_000_000 == 0 => 3,
        nanos if nanos % 1_000 == 0 => 6,
        _ => 9,
    };
    let mut text = String::with_capacity(32);
    DateTimePrinter::new().precision(Some(digits)).print_datetime(&instant, &mut text).ok()?;
    text.push('Z');
    Some(text)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    deserializer.deserialize_any(Text)
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Option<Timestamp>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an instant such as 2026-11-15T07:05:51.5Z")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        parse(text).map(Some).ok_or_else(|| E::custom("not an instant such as 2026-11-15T07:05:51.5Z"))
    }
}

/// The parser takes more than RFC 3339 has; the shape is looked at first.
fn parse(text: &str) -> Option<Timestamp> {
    let shape: &[u8] = b"0000-00-00T00:00:00";
    let bytes = text.as_bytes();
    let has_shape = bytes.len() > shape.len()
        && shape.iter().zip(bytes).all(|(shape, byte)| match shape {
            b'0' => byte.is_ascii_digit(),
            exact => byte == exact,
        });
    let rest = text.get(shape.len()..)?;
    let (fraction, offset) = rest.split_at(rest.find(['Z', '+', '-'])?);
    let fraction_fits = fraction.is_empty()
        || fraction.strip_prefix('.').is_some_and(|digits| {
            (1..=9).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
        });
    if !(has_shape && fraction_fits) {
        return None;
    }
    let local = PARSER.parse_datetime(&text[..shape.len() + fraction.len()]).ok()?;
    let since_epoch = local.duration_since(EPOCH).checked_sub(offset_duration(offset)?)?;
    // Nanoseconds count backwards before 1970 here; on the wire always forwards.
    let (mut seconds, mut nanos) = (since_epoch.as_secs(), since_epoch.subsec_nanos());
    if nanos < 0 {
        (seconds, nanos) = (seconds - 1, nanos + 1_000_000_000);
    }
    (SECONDS_MIN..=SECONDS_MAX).contains(&seconds).then_some(Timestamp { seconds, nanos })
}

/// `Z`, or a sign, two digits of hours, a colon and two of minutes.
fn offset_duration(offset: &str) -> Option<SignedDuration> {
    if offset == "Z" {
        return Some(SignedDuration::ZERO);
    }
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let digits = |text: &str, limit| {
        let is_two = text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_digit());
        is_two.then(|| text.parse::<i64>().ok()).flatten().filter(|number| *number < limit)
    };
    let ahead = SignedDuration::from_mins(digits(hours, 24)? * 60 + digits(minutes, 60)?);
    Some(if offset.starts_with('-') { -ahead } else { ahead })
}

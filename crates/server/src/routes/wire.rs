//! From messages to words and back: instants, durations, names.

use std::ops::Range;
use std::time::Duration;

use leasehold_core::{Timestamp, duration};
use leasehold_queue::{Error, QueueName, Refusal};

use crate::reply::Reply;

/// The first instant of year 1: what a client of today expects where there is no instant.
const NO_INSTANT: prost_types::Timestamp = prost_types::Timestamp { seconds: SECONDS.start, nanos: 0 };

/// Years 1 to 9999: others have no text.
const SECONDS: Range<i64> = -62_135_596_800..253_402_300_800;

/// An instant as stores keep it: cut to microseconds. One that could not be shown is refused.
pub(super) fn instant(field: &str, at: prost_types::Timestamp) -> Result<Timestamp, Reply> {
    if !SECONDS.contains(&at.seconds) || !(0..1_000_000_000).contains(&at.nanos) {
        return Err(Reply::bad_request(format!("{field} is invalid; it must be from year 1 to year 9999")));
    }
    Ok(Timestamp::from_micros(at.seconds * 1_000_000 + i64::from(at.nanos) / 1_000))
}

/// The nearest instant that can be shown: a store may have others from before they were refused.
pub(super) fn timestamp(at: Timestamp) -> prost_types::Timestamp {
    let micros = at.as_micros().clamp(SECONDS.start * 1_000_000, SECONDS.end * 1_000_000 - 1);
    let nanos = i32::try_from(micros.rem_euclid(1_000_000) * 1_000).expect("less than a second");
    prost_types::Timestamp { seconds: micros.div_euclid(1_000_000), nanos }
}

pub(super) fn timestamp_or_zero(at: Option<Timestamp>) -> prost_types::Timestamp {
    at.map_or(NO_INSTANT, timestamp)
}

/// A request timeout; zero if nothing is said. What is below zero is too short, as any client would be told.
pub(super) fn request_timeout(text: &str) -> Result<Duration, Reply> {
    match signed(text) {
        Ok(Signed::Positive(timeout)) => Ok(timeout),
        Ok(Signed::Negative(timeout)) => Err(Reply::bad_request(format!(
            "request timeout is invalid; minimum timeout is '10ms' but '-{}' was requested",
            duration::format(timeout)
        ))),
        Err(reason) => Err(Reply::bad_request(format!(
            "request timeout is invalid; {reason} - expected format: 900ms, 5m or 15m"
        ))),
    }
}

/// A queue's own timeout; zero if nothing is said, or less than nothing.
pub(super) fn queue_timeout(field: &str, text: &str, examples: &str) -> Result<Duration, Reply> {
    match signed(text) {
        Ok(Signed::Positive(timeout)) => Ok(timeout),
        Ok(Signed::Negative(_)) => {
            Err(Reply::bad_request(format!("{field} timeout is invalid; cannot be empty")))
        }
        Err(reason) => Err(Reply::bad_request(format!(
            "{field} timeout is invalid; {reason} - expected format: {examples}"
        ))),
    }
}

/// A timeout that replaces the queue's for one request.
pub(super) fn lease_timeout(text: &str) -> Result<Option<Duration>, Reply> {
    match text {
        "" => Ok(None),
        text => queue_timeout("lease", text, "8m, 15m or 1h").map(Some),
    }
}

enum Signed {
    Positive(Duration),
    Negative(Duration),
}

/// The reason in the words of Go, which clients pass on to people.
fn signed(text: &str) -> Result<Signed, String> {
    use leasehold_core::Error;
    if text.is_empty() {
        return Ok(Signed::Positive(Duration::ZERO));
    }
    match duration::parse(text) {
        Ok(timeout) => Ok(Signed::Positive(timeout)),
        Err(Error::DurationNegative { .. }) => {
            let positive = text.strip_prefix('-').and_then(|text| duration::parse(text).ok());
            Ok(Signed::Negative(positive.unwrap_or_default()))
        }
        Err(Error::DurationUnitMissing { .. }) => {
            Err(format!("time: missing unit in duration {}", quoted(text)))
        }
        Err(Error::DurationUnitUnknown { unit, .. }) => {
            Err(format!("time: unknown unit {} in duration {}", quoted(&unit), quoted(text)))
        }
        Err(_) => Err(format!("time: invalid duration {}", quoted(text))),
    }
}

/// In quotes, with everything that is not plain escaped byte by byte.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'~' => quoted.push(char::from(byte)),
            other => quoted.push_str(&format!("\\x{other:02x}")),
        }
    }
    quoted.push('"');
    quoted
}

/// The name of a queue that must exist. One that no queue can have is unknown, save for the two mistakes that are
/// told apart.
pub(super) fn queue_name(text: &str) -> Result<QueueName, Reply> {
    text.parse().map_err(|refusal| match refusal {
        Refusal::QueueNameEmpty | Refusal::QueueNameTilde { .. } => Error::from(refusal).into(),
        _ => Reply::queue_not_found(text),
    })
}

pub(super) fn saturating_i32(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> String {
        request_timeout(text).expect_err(text).message().to_owned()
    }

    #[test]
    fn bad_timeouts_are_told_in_the_words_clients_know() {
        for (text, words) in [
            ("foo", r#"time: invalid duration "foo""#),
            ("5", r#"time: missing unit in duration "5""#),
            ("5d", r#"time: unknown unit "d" in duration "5d""#),
            ("5\"", r#"time: unknown unit "\"" in duration "5\"""#),
            ("é", r#"time: invalid duration "\xc3\xa9""#),
        ] {
            assert_eq!(
                reason(text),
                format!("request timeout is invalid; {words} - expected format: 900ms, 5m or 15m")
            );
        }
        assert_eq!(
            reason("-90s"),
            "request timeout is invalid; minimum timeout is '10ms' but '-1m30s' was requested"
        );
        assert_eq!(request_timeout("").expect("nothing"), Duration::ZERO);
    }

    #[test]
    fn instants_are_cut_to_microseconds_and_come_back() {
        for (seconds, nanos, micros) in [
            (0, 1_999, 1),
            (-1, 999_999_999, -1),
            (-62_135_596_800, 0, -62_135_596_800_000_000),
            (253_402_300_799, 999_999_999, 253_402_300_799_999_999),
        ] {
            let at = instant("at", prost_types::Timestamp { seconds, nanos }).expect("can be shown");
            assert_eq!(at.as_micros(), micros);
            assert_eq!(instant("at", timestamp(at)).expect("can be shown"), at);
        }
        assert_eq!(timestamp_or_zero(None).seconds, -62_135_596_800);
    }

    #[test]
    fn instants_without_a_text_are_refused_and_shown_as_the_nearest_one() {
        for (seconds, nanos) in [
            (253_402_300_800, 0),
            (-62_135_596_801, 0),
            (i64::MAX, 0),
            (i64::MIN, 0),
            (0, -1),
            (0, 1_000_000_000),
        ] {
            let refused =
                instant("retry_at", prost_types::Timestamp { seconds, nanos }).expect_err("no text");
            assert_eq!(refused.message(), "retry_at is invalid; it must be from year 1 to year 9999");
        }
        let shown = |at| {
            serde_json::to_value(leasehold_api::queue::ApiKeyMetadata {
                expires_at: Some(timestamp(at)),
                ..Default::default()
            })
        };
        let [last, first] = [Timestamp::MAX, Timestamp::MIN].map(|at| shown(at).expect("has a text"));
        assert_eq!(last["expires_at"], "9999-12-31T23:59:59.999999Z");
        assert_eq!(first["expires_at"], "0001-01-01T00:00:00Z");
    }
}

//! Instants on the command line: RFC 3339, or how long from now.

use jiff::{SignedDuration, Timestamp as Instant};
use leasehold_core::duration;
use prost_types::Timestamp;

/// `2026-11-15T07:05:51Z`, or `30s` for so long from now.
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    if let Ok(ahead) = duration::parse(text) {
        let ahead = SignedDuration::try_from(ahead).map_err(|error| error.to_string())?;
        return Instant::now().checked_add(ahead).map(on_the_wire).map_err(|error| error.to_string());
    }
    parse_rfc3339(text)
        .map_err(|_| "write it like 2026-11-15T07:05:51Z, or 30s for so long from now".to_owned())
}

pub(crate) fn parse_rfc3339(text: &str) -> Result<Timestamp, jiff::Error> {
    text.parse().map(on_the_wire)
}

/// Nanoseconds count backwards before 1970 here; on the wire always forwards.
fn on_the_wire(instant: Instant) -> Timestamp {
    let (seconds, nanos) = (instant.as_second(), instant.subsec_nanosecond());
    match nanos < 0 {
        true => Timestamp { seconds: seconds - 1, nanos: nanos + 1_000_000_000 },
        false => Timestamp { seconds, nanos },
    }
}

/// To the second; nothing for the zero times that stand for none.
pub(crate) fn show(at: Option<Timestamp>) -> String {
    let at = at.filter(|at| at.seconds > 0).and_then(|at| Instant::from_second(at.seconds).ok());
    at.map(|at| at.to_string()).unwrap_or_default()
}

/// With all its digits.
pub(crate) fn show_exactly(at: leasehold_core::Timestamp) -> Option<String> {
    Instant::from_microsecond(at.as_micros()).ok().map(|at| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_and_waits_are_both_read() {
        let given = parse("2026-11-15T08:05:51.5+01:00").expect("is one");
        assert_eq!(given, Timestamp { seconds: 1_794_726_351, nanos: 500_000_000 });
        let ahead = parse("1h").expect("is one").seconds - Instant::now().as_second();
        assert!((3598..=3601).contains(&ahead), "{ahead}");
        for text in ["", "soon", "2026-11-15", "-5s", "1e3"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn years_that_stand_for_nothing_are_not_shown() {
        assert_eq!(show(Some(Timestamp { seconds: -62_135_596_800, nanos: 0 })), "");
        assert_eq!(show(Some(Timestamp { seconds: 1_794_726_351, nanos: 5 })), "2026-11-15T07:05:51Z");
    }
}

use std::fmt;
use std::str::FromStr;

use http::HeaderValue;

use crate::{Error, Result};

/// A place in a trace, as the `traceparent` header of W3C says it: `00-TRACE-PARENT-FLAGS`, all hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct TraceParent(HeaderValue);

impl TraceParent {
    pub(crate) fn header(&self) -> &HeaderValue {
        &self.0
    }
}

impl FromStr for TraceParent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split('-');
        let version = digits(parts.next(), 2).filter(|version| *version == "00");
        let read =
            (version, id(parts.next(), 32), id(parts.next(), 16), digits(parts.next(), 2), parts.next());
        match (read, HeaderValue::from_str(text)) {
            ((Some(_), Some(_), Some(_), Some(_), None), Ok(value)) => Ok(TraceParent(value)),
            _ => Err(Error::TraceParent),
        }
    }
}

fn digits(part: Option<&str>, count: usize) -> Option<&str> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    part.filter(|part| part.len() == count && part.bytes().all(is_digit))
}

/// One of zeros is none.
fn id(part: Option<&str>, count: usize) -> Option<&str> {
    digits(part, count).filter(|id| id.bytes().any(|digit| digit != b'0'))
}

impl fmt::Debug for TraceParent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_is_no_place_in_a_trace_is_refused() {
        assert_eq!(GOOD.parse::<TraceParent>().expect("is one").header(), GOOD);
        for text in [
            "",
            "00",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        ] {
            assert_eq!(text.parse::<TraceParent>().expect_err(text).code(), "client.trace_parent");
        }
    }
}

//! The name of a request, by which a client and the log mean the same one.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;

/// In and out.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longer ones are not taken over: they end up in the log.
const BYTES_MAX: usize = 128;

/// Tells processes apart: the requests of each are only counted.
static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));

static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// The client's, if it gave one that can be logged as it is; else a new one.
pub(super) fn of(headers: &HeaderMap) -> HeaderValue {
    match headers.get(HEADER) {
        Some(given) if is_plain(given.as_bytes()) => given.clone(),
        _ => made(),
    }
}

fn made() -> HeaderValue {
    let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
    let mut text = Vec::with_capacity(33);
    push_hex(&mut text, *PROCESS, 16);
    text.push(b'-');
    push_hex(&mut text, number, 1);
    HeaderValue::from_maybe_shared(Bytes::from(text)).expect("hexadecimal digits and a dash")
}

/// At least so many digits. Every request has one of these, and the formatter takes its time.
fn push_hex(text: &mut Vec<u8>, number: u64, digits_min: u32) {
    let digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(digits_min);
    let digit = |place: u32| b"0123456789abcdef"[(number >> (4 * place) & 0xf) as usize];
    text.extend((0..digits).rev().map(digit));
}

fn is_plain(id: &[u8]) -> bool {
    (1..=BYTES_MAX).contains(&id.len()) && id.iter().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(id: &str) -> HeaderMap {
        HeaderMap::from_iter([(HEADER, HeaderValue::from_str(id).expect("a value"))])
    }

    #[test]
    fn plain_ids_are_kept_and_others_replaced_by_new_ones() {
        let longest = "x".repeat(BYTES_MAX);
        for plain in ["a", "6d1b:7/8=", longest.as_str()] {
            assert_eq!(of(&headers(plain)), plain);
        }
        let too_long = "x".repeat(BYTES_MAX + 1);
        for other in ["", "two words", "tab\there", "\u{e9}", too_long.as_str()] {
            assert_ne!(of(&headers(other)), other);
        }
        assert_ne!(of(&HeaderMap::new()), of(&HeaderMap::new()));
    }

    #[test]
    fn digits_are_those_of_the_number() {
        for (number, digits_min) in [(0, 1), (0, 16), (15, 1), (16, 1), (0xabc_def0, 16), (u64::MAX, 1)] {
            let mut text = Vec::new();
            push_hex(&mut text, number, digits_min);
            let width = digits_min as usize;
            assert_eq!(String::from_utf8(text).expect("digits"), format!("{number:0width$x}"));
        }
    }
}

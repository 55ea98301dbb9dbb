//! The name of a request, by which a client and the log mean the same one.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

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
    let text = format!("{:016x}-{:x}", *PROCESS, REQUESTS.fetch_add(1, Ordering::Relaxed));
    HeaderValue::from_str(&text).expect("hexadecimal digits and a dash")
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
}

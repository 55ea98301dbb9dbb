//! What is kept of a key.

use std::fmt;
use std::hash::{Hash, Hasher};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// SHA-256 of a key. A key holds 256 random bits, so nothing slower is needed to keep it from being guessed.
///
/// Compared in constant time, and not printed.
#[derive(Clone, Copy)]
pub struct ApiKeyHash([u8; 32]);

impl ApiKeyHash {
    pub(crate) fn of(key: &str) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// The form that is stored: base64 with the URL-safe alphabet, without padding.
    #[must_use]
    pub fn to_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Reads the form that is stored.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

impl PartialEq for ApiKeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for ApiKeyHash {}

impl Hash for ApiKeyHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for ApiKeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKeyHash(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_back_and_other_text_is_refused() {
        let hash = ApiKeyHash::of("key");
        assert_eq!(ApiKeyHash::from_text(&hash.to_text()), Some(hash));
        assert_ne!(hash, ApiKeyHash::of("another"));
        for bad in ["", "short", "lvDkN06rgCythvtCFhaazYAJmCx0yIjzgpUzLZhxp6A=", "not base64 at all"] {
            assert_eq!(ApiKeyHash::from_text(bad), None, "{bad}");
        }
    }
}

//! One hold of a key.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::{Error, KeyHash, Result};

/// A lock id: the right to extend or end one hold of a key. 22 base64url characters, 128 random bits.
///
/// Whoever knows it can end the hold, so it has no `Display` and `Debug` shows only its hash.
/// Never reused, not even for the same key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LockId([u8; Self::LEN]);

impl LockId {
    /// Characters, and bytes, of a lock id.
    pub const LEN: usize = 22;

    /// A fresh id from the operating system's random source. Fails only if that source fails: there is no
    /// weaker fallback, because two equal ids would let one holder end another's hold.
    pub fn generate() -> Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| Error::RandomUnavailable { reason: error.to_string() })?;
        let mut text = [0; Self::LEN];
        URL_SAFE_NO_PAD.encode_slice(random, &mut text).expect("16 bytes are 22 base64url characters");
        Ok(Self(text))
    }

    /// Checks length and alphabet. The last character may be one that 16 bytes never give: peers accept it.
    pub fn parse(text: &str) -> Result<Self> {
        let malformed = Error::LockIdMalformed { len: text.len(), limit: Self::LEN };
        let bytes: [u8; Self::LEN] = text.as_bytes().try_into().map_err(|_| malformed.clone())?;
        if !bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
            return Err(malformed);
        }
        Ok(Self(bytes))
    }

    /// The id itself. For the store and for its holder, not for logs.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a lock id is ASCII")
    }

    /// What may be shown in place of the id.
    pub fn lock_id_hash(&self) -> KeyHash {
        KeyHash::of_nfc(self.as_str())
    }
}

impl FromStr for LockId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Debug for LockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LockId({})", self.lock_id_hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_hash_and_not_the_id() {
        let id = LockId::parse("AAAAAAAAAAAAAAAAAAAAAA").unwrap();
        assert_eq!(format!("{id:?}"), "LockId(761621603f31b080201c6800)");
    }

    #[test]
    fn refusal_does_not_repeat_the_id() {
        let error = LockId::parse("secret-but-too-short").unwrap_err();
        assert_eq!(error, Error::LockIdMalformed { len: 20, limit: 22 });
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

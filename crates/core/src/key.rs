//! What is locked, in the caller's words.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::nfc::nfc;
use crate::{Error, KeyHash, Result};

/// A key: Unicode text in NFC, 1 to 512 bytes. Cheap to clone.
///
/// It has no `Display`, and `Debug` shows only its hash: a key may carry a customer's name, and no log line
/// should. [`Key::as_str`] is the one deliberate way to the text.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Arc<str>);

impl Key {
    /// Bytes a key may have after normalisation, before any prefix.
    pub const LEN_MAX: usize = 512;

    /// Normalises and checks a caller's text. The length is judged after normalisation: composing shortens
    /// some texts and lengthens others, and only the normalised one is stored.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::KeyEmpty);
        }
        let text = nfc(text);
        if text.len() > Self::LEN_MAX {
            return Err(Error::KeyTooLong { len: text.len(), limit: Self::LEN_MAX });
        }
        Ok(Self(text.into()))
    }

    /// The normalised text itself. For the store, not for logs.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What may be shown in place of the key.
    pub fn key_hash(&self) -> KeyHash {
        KeyHash::of_nfc(&self.0)
    }
}

impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.key_hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_hash_and_not_the_key() {
        let key = Key::parse("resource:123").unwrap();
        assert_eq!(format!("{key:?}"), "Key(e90a28c676a29a3291e2874a)");
    }

    #[test]
    fn refusal_names_field_limit_and_code() {
        let error = Key::parse(&"x".repeat(513)).unwrap_err();
        assert_eq!(error, Error::KeyTooLong { len: 513, limit: 512 });
        assert_eq!((error.field(), error.limit(), error.code()), ("key", Some(512), "key.too_long"));
        assert!(!error.to_string().contains("xxx"), "{error}");
    }
}

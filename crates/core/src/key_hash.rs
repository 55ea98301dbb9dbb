//! The 96-bit stand-in for keys and lock ids.

use std::fmt;

use crate::nfc::nfc;

/// A 96-bit hash that stands for a key or a lock id in logs, metrics and lookups; shown as 24 hex digits.
///
/// It is what SyncGuard computes, so that both products log the same value for the same key. It is linear and
/// not cryptographic: it hides a key from a reader's eye, not from someone who can guess keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyHash([u32; 3]);

impl KeyHash {
    /// The hash of a text's NFC form. Any text has one, the empty one too.
    pub fn of(text: &str) -> Self {
        Self::of_nfc(&nfc(text))
    }

    /// The hash of a text that is NFC already.
    pub(crate) fn of_nfc(text: &str) -> Self {
        let mut hash = Self([0; 3]);
        text.encode_utf16().for_each(|unit| hash.push(unit));
        hash
    }

    /// The hash of UTF-16 text that may hold lone surrogates, as a JavaScript string can and a `&str` cannot.
    /// A lone surrogate never composes, so the texts between them are normalised one by one.
    pub fn of_utf16(units: impl IntoIterator<Item = u16>) -> Self {
        let mut hash = Self([0; 3]);
        let mut run = String::new();
        for decoded in char::decode_utf16(units) {
            match decoded {
                Ok(character) => run.push(character),
                Err(lone) => {
                    nfc(&run).encode_utf16().for_each(|unit| hash.push(unit));
                    run.clear();
                    hash.push(lone.unpaired_surrogate());
                }
            }
        }
        nfc(&run).encode_utf16().for_each(|unit| hash.push(unit));
        hash
    }

    /// Reads the text form: exactly 24 lower-case hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 24 || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        let part = |at: usize| u32::from_str_radix(&text[at..at + 8], 16).ok();
        Some(Self([part(0)?, part(8)?, part(16)?]))
    }

    fn push(&mut self, unit: u16) {
        let unit = u32::from(unit);
        let [a, b, c] = &mut self.0;
        *a = a.wrapping_mul(31).wrapping_add(unit);
        *b = b.wrapping_mul(127).wrapping_add(3 * unit);
        *c = c.wrapping_mul(2047).wrapping_add(7 * unit);
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.0;
        write!(f, "{a:08x}{b:08x}{c:08x}")
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHash({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_read_back_and_nothing_else_is() {
        let hash = KeyHash::of("resource:123");
        assert_eq!(KeyHash::parse(&hash.to_string()), Some(hash));
        for text in [
            "",
            "e90a28c6",
            "E90A28C676A29A3291E2874A",
            "+90a28c676a29a3291e2874a",
            "ü0a28c676a29a3291e2874a",
        ] {
            assert_eq!(KeyHash::parse(text), None, "{text:?}");
        }
    }
}

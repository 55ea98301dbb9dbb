//! The key that a client sends: `qtr-<tag>-<entropy>`.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use crate::{ApiKeyHash, Tag};

const PREFIX: &str = "qtr-";
const TAG_BYTES_MAX: usize = 16;
/// As many base62 digits as 32 bytes can need.
const ENTROPY_LEN: usize = 43;
/// Digits of the entropy that may be shown, to tell keys apart.
const SHOWN_LEN: usize = 8;
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A key as text. Whoever holds it is its user, so it is shown once, when it is made, and never printed.
#[derive(Clone)]
pub struct ApiKeyText(SecretString);

impl ApiKeyText {
    /// A new key with 256 random bits.
    #[must_use]
    pub fn generate(tag: &Tag) -> Self {
        let mut entropy = [0; 32];
        getrandom::fill(&mut entropy).expect("the system gives random bytes");
        Self::from_entropy(tag, &entropy)
    }

    /// The key with these random bytes.
    #[must_use]
    pub fn from_entropy(tag: &Tag, entropy: &[u8; 32]) -> Self {
        Self(format!("{PREFIX}{tag}-{}", base62(entropy)).into())
    }

    /// Reads what a client sent; `None` if no key can look like that.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (tag, entropy) = text.strip_prefix(PREFIX)?.split_once('-')?;
        let fits = (1..=TAG_BYTES_MAX).contains(&tag.len())
            && tag.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'))
            && entropy.len() >= ENTROPY_LEN
            && entropy.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Self(text.into()))
    }

    /// What is stored in its place.
    #[must_use]
    pub fn hash(&self) -> ApiKeyHash {
        ApiKeyHash::of(self.expose())
    }

    /// The part that may be shown: up to the eighth digit of the entropy.
    #[must_use]
    pub fn prefix(&self) -> String {
        let text = self.expose();
        let entropy_at = PREFIX.len() + text[PREFIX.len()..].find('-').map_or(0, |dash| dash + 1);
        text[..entropy_at + SHOWN_LEN].to_owned()
    }

    /// The key itself, for the one reply that carries it.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for ApiKeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKeyText(..)")
    }
}

/// A 256-bit number in 43 digits, most significant first.
fn base62(bytes: &[u8; 32]) -> String {
    let mut number = *bytes;
    let mut digits = [b'0'; ENTROPY_LEN];
    for digit in digits.iter_mut().rev() {
        let mut remainder = 0_u16;
        for byte in &mut number {
            let value = remainder << 8 | u16::from(*byte);
            *byte = u8::try_from(value / 62).expect("a quotient is not longer than its dividend");
            remainder = value % 62;
        }
        *digit = DIGITS[usize::from(remainder)];
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Option<ApiKeyText> {
        ApiKeyText::parse(text.as_bytes())
    }

    #[test]
    fn published_key_has_the_published_hash() {
        let key = ApiKeyText::from_entropy(&Tag::default(), &[0; 32]);
        assert_eq!(key.expose(), format!("qtr-live-{}", "0".repeat(43)));
        assert_eq!(key.hash().to_text(), "lvDkN06rgCythvtCFhaazYAJmCx0yIjzgpUzLZhxp6A");
        assert_eq!(key.prefix(), "qtr-live-00000000");
    }

    #[test]
    fn largest_entropy_fits_into_43_digits() {
        let key = ApiKeyText::from_entropy(&Tag::default(), &[0xff; 32]);
        // 2^256 - 1, by an independent calculation.
        assert_eq!(key.expose(), "qtr-live-yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1");
    }

    #[test]
    fn text_of_another_form_is_no_key() {
        let entropy = "a".repeat(43);
        for bad in [
            String::new(),
            "qtr-".to_owned(),
            format!("qtr--{entropy}"),
            format!("qtr-live{entropy}"),
            format!("qtr-live-{}", "a".repeat(42)),
            format!("qtr-{}-{entropy}", "a".repeat(17)),
            format!("qtr-Live-{entropy}"),
            format!("QTR-live-{entropy}"),
            format!("qtr-live-{entropy}-"),
            format!("qtr-live-{entropy}\0"),
            format!(" qtr-live-{entropy}"),
            format!("qtr-live-{}é", "a".repeat(42)),
            format!("qtr-li_ve-{entropy}"),
        ] {
            assert!(parse(&bad).is_none(), "{bad:?}");
        }
        assert!(ApiKeyText::parse(&[b"qtr-live-".as_slice(), &[0xff; 43]].concat()).is_none());
    }

    #[test]
    fn longer_entropy_is_read() {
        assert!(parse(&format!("qtr-{}-{}", "a".repeat(16), "a".repeat(43))).is_some());
        assert!(parse(&format!("qtr-a-{}", "Z9".repeat(400))).is_some());
    }

    #[test]
    fn nothing_of_a_key_is_printed() {
        let key = ApiKeyText::generate(&Tag::default());
        let shown = format!("{key:?} {:?}", key.hash());
        assert!(!shown.contains(&key.expose()[9..20]), "{shown}");
        assert!(!shown.contains(&key.hash().to_text()), "{shown}");
    }

    #[test]
    fn keys_differ() {
        let tag = Tag::default();
        assert_ne!(ApiKeyText::generate(&tag).expose(), ApiKeyText::generate(&tag).expose());
    }

    proptest! {
        #[test]
        fn made_keys_read_back(entropy: [u8; 32], tag in "[a-z0-9]{1,16}") {
            let tag = Tag::parse("key_tag", &tag).unwrap().unwrap();
            let made = ApiKeyText::from_entropy(&tag, &entropy);
            let text = made.expose();
            prop_assert_eq!(text.len(), 4 + tag.as_str().len() + 1 + 43);
            let read = parse(text).expect("a made key is a key");
            prop_assert_eq!(read.hash(), made.hash());
            prop_assert_eq!(read.prefix(), format!("qtr-{tag}-{}", &text[text.len() - 43..text.len() - 35]));
            prop_assert_eq!(number(&text[text.len() - 43..]), entropy);
        }

        #[test]
        fn no_bytes_make_parsing_panic(bytes: Vec<u8>) {
            let _ = ApiKeyText::parse(&bytes);
        }
    }

    /// The other way, to check [`base62`] against.
    fn number(digits: &str) -> [u8; 32] {
        let mut number = [0_u8; 32];
        for digit in digits.bytes() {
            let value = DIGITS.iter().position(|known| *known == digit).expect("a digit");
            let mut carry = u16::try_from(value).expect("below 62");
            for byte in number.iter_mut().rev() {
                let value = u16::from(*byte) * 62 + carry;
                *byte = u8::try_from(value & 0xff).expect("one byte");
                carry = value >> 8;
            }
            assert_eq!(carry, 0, "it fits");
        }
        number
    }
}

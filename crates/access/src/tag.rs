//! The readable part of a key.

use std::fmt;

use crate::Refusal;

const TAG_BYTES_MAX: usize = 16;

/// One to sixteen of `a-z0-9`: tells people what a key is for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Tag(Box<str>);

impl Tag {
    /// Reads a tag; none if it is empty. `field` is what the refusal calls it.
    ///
    /// # Errors
    /// The rule that is broken.
    pub fn parse(field: &'static str, text: &str) -> Result<Option<Self>, Refusal> {
        if text.len() > TAG_BYTES_MAX {
            Err(Refusal::TagTooLong { field })
        } else if !text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9')) {
            Err(Refusal::TagCharacters { field })
        } else {
            Ok((!text.is_empty()).then(|| Self(text.into())))
        }
    }

    /// The tag.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `live`.
impl Default for Tag {
    fn default() -> Self {
        Self("live".into())
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_at_the_limits() {
        assert_eq!(Tag::parse("key_tag", ""), Ok(None));
        for good in ["a", "0", "live2024", &"z".repeat(16)] {
            assert_eq!(Tag::parse("key_tag", good).expect(good).expect("not empty").as_str(), good);
        }
        assert_eq!(
            Tag::parse("key_tag", &"z".repeat(17)).expect_err("17 bytes").to_string(),
            "key_tag is invalid; cannot be greater than 16 characters"
        );
        for bad in ["Live", "a-b", "a b", "é", "a\0"] {
            assert_eq!(
                Tag::parse("api_key_tag", bad).expect_err(bad).to_string(),
                "api_key_tag is invalid; must be lowercase alphanumeric only"
            );
        }
    }
}

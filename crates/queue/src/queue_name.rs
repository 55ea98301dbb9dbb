//! The names of queues and namespaces.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::Refusal;

const QUEUE_NAME_BYTES_MAX: usize = 512;
const DEAD_QUEUE_BYTES_MAX: usize = 500;
const NAMESPACE_BYTES_MAX: usize = 256;

/// The namespace of requests that name none. What is allowed there is allowed everywhere.
pub const DEFAULT_NAMESPACE: &str = "_system";

/// The name of a queue: not blank, at most 512 bytes, no white space, no `~`, no NUL, which not every store can
/// keep. Names are global.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueName(Arc<str>);

impl QueueName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads the name of a dead queue; none if it is empty.
    ///
    /// # Errors
    /// The rule that is broken, in the words for dead queues.
    pub fn parse_dead(text: &str) -> Result<Option<Self>, Refusal> {
        let name = || text.to_owned();
        if text.len() > DEAD_QUEUE_BYTES_MAX {
            Err(Refusal::DeadQueueLength)
        } else if text.is_empty() {
            Ok(None)
        } else if text.contains(char::is_whitespace) {
            Err(Refusal::DeadQueueWhitespace { name: name() })
        } else if text.contains('~') {
            Err(Refusal::DeadQueueTilde { name: name() })
        } else if text.contains('\0') {
            Err(Refusal::DeadQueueNul)
        } else {
            Ok(Some(Self(text.into())))
        }
    }
}

impl FromStr for QueueName {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let name = || text.to_owned();
        if text.len() > QUEUE_NAME_BYTES_MAX {
            Err(Refusal::QueueNameLength)
        } else if text.trim().is_empty() {
            Err(Refusal::QueueNameEmpty)
        } else if text.contains(char::is_whitespace) {
            Err(Refusal::QueueNameWhitespace { name: name() })
        } else if text.contains('~') {
            Err(Refusal::QueueNameTilde { name: name() })
        } else if text.contains('\0') {
            Err(Refusal::QueueNameNul)
        } else {
            Ok(Self(text.into()))
        }
    }
}

/// The name of a namespace: not blank, at most 256 bytes, no white space, no `~`, no `:`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(Arc<str>);

impl Namespace {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Namespace {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let name = || text.to_owned();
        if text.len() > NAMESPACE_BYTES_MAX {
            Err(Refusal::NamespaceLength)
        } else if text.trim().is_empty() {
            Err(Refusal::NamespaceEmpty)
        } else if text.contains(char::is_whitespace) {
            Err(Refusal::NamespaceWhitespace { name: name() })
        } else if text.contains('~') {
            Err(Refusal::NamespaceTilde { name: name() })
        } else if text.contains(':') {
            Err(Refusal::NamespaceColon { name: name() })
        } else if text.contains('\0') {
            Err(Refusal::NamespaceNul)
        } else {
            Ok(Self(text.into()))
        }
    }
}

/// `_system`.
impl Default for Namespace {
    fn default() -> Self {
        Self(DEFAULT_NAMESPACE.into())
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_names_at_the_limits() {
        for good in ["a", "order/é:1", &"x".repeat(512)] {
            assert_eq!(good.parse::<QueueName>().expect(good).as_str(), good);
        }
        for (bad, words) in [
            ("x".repeat(513), "cannot be greater than '512' characters"),
            (String::new(), "queue name cannot be empty"),
            (" \u{2003}".to_owned(), "queue name cannot be empty"),
            ("a b".to_owned(), "'a b' cannot contain whitespace"),
            ("a\u{a0}b".to_owned(), "cannot contain whitespace"),
            ("a~b".to_owned(), "'a~b' cannot contain '~' character"),
            ("a\0b".to_owned(), "cannot contain NUL character"),
        ] {
            let refused = bad.parse::<QueueName>().expect_err(&bad).to_string();
            assert!(refused.starts_with("queue name is invalid; ") && refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn dead_queue_may_be_left_out_and_is_shorter() {
        assert_eq!(QueueName::parse_dead(""), Ok(None));
        assert!(QueueName::parse_dead(&"x".repeat(500)).is_ok());
        assert_eq!(QueueName::parse_dead(&"x".repeat(501)), Err(Refusal::DeadQueueLength));
    }

    #[test]
    fn namespaces_have_no_colon() {
        let refused = "a:b".parse::<Namespace>().expect_err("a colon").to_string();
        assert_eq!(refused, "namespace name is invalid; 'a:b' cannot contain ':' character");
        assert_eq!(Namespace::default().as_str(), "_system");
    }
}

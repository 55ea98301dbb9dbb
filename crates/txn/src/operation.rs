//! The name an operation goes by in metrics and errors.

use std::fmt;

/// A name for one kind of work, such as `lock.acquire`.
///
/// It labels metrics, so the set of names must be closed: only a literal in the program can be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation(&'static str);

impl Operation {
    /// Names an operation. Meant for constants, where a bad name does not compile.
    ///
    /// # Panics
    /// When the name is empty, longer than 64 bytes, or has anything but `a-z`, `0-9`, `_` and `.` in it.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        assert!(!bytes.is_empty() && bytes.len() <= 64, "an operation's name has 1 to 64 bytes");
        let mut at = 0;
        while at < bytes.len() {
            assert!(
                matches!(bytes[at], b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.'),
                "an operation's name is made of a-z, 0-9, _ and ."
            );
            at += 1;
        }
        Self(name)
    }

    /// The name itself.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Operation;

    #[test]
    fn name_is_kept() {
        assert_eq!(Operation::new("lock.acquire").name(), "lock.acquire");
    }

    #[test]
    #[should_panic(expected = "a-z, 0-9")]
    fn name_with_a_space_is_refused() {
        let _ = Operation::new("lock acquire");
    }

    #[test]
    #[should_panic(expected = "1 to 64 bytes")]
    fn empty_name_is_refused() {
        let _ = Operation::new("");
    }
}

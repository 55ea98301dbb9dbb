//! What PostgreSQL answered, sorted by statement.

use bytes::{Buf, Bytes};

use crate::failure::Failure;

/// The answer to one executed statement, as raw message bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The body of RowDescription, where the statement returns rows.
    pub description: Option<Bytes>,
    /// The bodies of the DataRow messages.
    pub rows: Vec<Bytes>,
    /// The command tag; none for an empty query.
    pub tag: Option<String>,
}

/// The tag of the statement that ends all prepared ones.
pub(crate) const DEALLOCATE_ALL: &str = "DEALLOCATE ALL";

/// Everything up to one ReadyForQuery.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) outcomes: Vec<Outcome>,
    /// The body of ParameterDescription, when a statement was described.
    pub(crate) parameters: Option<Bytes>,
    /// The statement described returns rows of this description.
    pub(crate) described: Option<Bytes>,
    pub(crate) failure: Option<Failure>,
    /// Notices and parameter changes, to be passed on: type and body.
    pub(crate) asides: Vec<(u8, Bytes)>,
}

/// Rows of text, with NULL as none.
pub(crate) type TextRows = Vec<Vec<Option<String>>>;

impl Outcome {
    /// An answer without rows.
    #[must_use]
    pub fn tagged(tag: impl Into<String>) -> Outcome {
        Outcome { tag: Some(tag.into()), ..Outcome::default() }
    }

    /// Whether the client's prepared statements are gone with it.
    #[must_use]
    pub fn is_deallocation(&self) -> bool {
        self.tag.as_deref() == Some(DEALLOCATE_ALL)
    }

    /// How many rows the tag says were read or written.
    #[must_use]
    pub fn affected(&self) -> u64 {
        let last = self.tag.as_deref().and_then(|tag| tag.rsplit(' ').next());
        last.and_then(|word| word.parse().ok()).unwrap_or(0)
    }

    /// The rows, where they were asked for in text.
    #[must_use]
    pub fn text_rows(&self) -> TextRows {
        let text = |value: Option<Bytes>| value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.rows.iter().map(|row| columns(row).into_iter().map(text).collect()).collect()
    }
}

impl Reply {
    /// The failure, or all outcomes.
    pub(crate) fn all(self) -> Result<Vec<Outcome>, Failure> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.outcomes),
        }
    }

    /// Of a reply to one statement.
    pub(crate) fn one(self) -> Result<Outcome, Failure> {
        self.all().map(|mut outcomes| outcomes.pop().unwrap_or_default())
    }
}

/// The values of a DataRow.
pub(crate) fn columns(row: &Bytes) -> Vec<Option<Bytes>> {
    let mut rest = row.clone();
    let count = if rest.len() < 2 { 0 } else { rest.get_u16() };
    let mut values = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        values.push(match rest.try_get_i32().map(usize::try_from) {
            Ok(Ok(length)) if length <= rest.len() => Some(rest.split_to(length)),
            _ => None,
        });
    }
    values
}

#[cfg(test)]
mod tests {
    use super::{Outcome, columns};
    use bytes::Bytes;

    #[test]
    fn row_is_split_into_values_and_nulls() {
        let row = Bytes::from_static(b"\0\x02\0\0\0\x02ab\xff\xff\xff\xff");
        assert_eq!(columns(&row), vec![Some(Bytes::from_static(b"ab")), None]);
    }

    #[test]
    fn broken_row_has_no_values() {
        assert_eq!(columns(&Bytes::from_static(b"\0")), vec![]);
        assert_eq!(columns(&Bytes::from_static(b"\0\x01\0\0\0\x09a")), vec![None]);
    }

    #[test]
    fn affected_rows_come_from_the_tag() {
        assert_eq!(Outcome::tagged("INSERT 0 7").affected(), 7);
        assert_eq!(Outcome::tagged("CREATE TABLE").affected(), 0);
    }
}

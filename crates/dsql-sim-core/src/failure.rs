//! What a client is told when a statement is not done.

use bytes::{BufMut, Bytes, BytesMut};

use crate::rules::Refusal;

/// An error reply of the wire protocol: its fields, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    fields: Vec<(u8, String)>,
}

/// Why a call to a session gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The client gets an error reply and may go on.
    Failed(Failure),
    /// The connection ends without a word, as a lost one does.
    Cut,
    /// The client gets this error reply and the connection ends.
    Closed(Failure),
}

/// The result of a call to a session.
pub type Answered<T> = Result<T, Stop>;

/// A conflict on rows, in DSQL's words.
pub(crate) const DATA_CONFLICT: &str = "change conflicts with another transaction (OC000)";
/// A conflict on the catalogue, in DSQL's words.
pub(crate) const SCHEMA_CONFLICT: &str = "schema has been updated by another transaction (OC001)";

impl Failure {
    /// An error of this SQLSTATE.
    #[must_use]
    pub fn new(sqlstate: &str, message: impl Into<String>) -> Failure {
        Failure::of_severity("ERROR", sqlstate, message)
    }

    /// An error after which the connection is closed.
    #[must_use]
    pub fn fatal(sqlstate: &str, message: impl Into<String>) -> Failure {
        Failure::of_severity("FATAL", sqlstate, message)
    }

    fn of_severity(severity: &str, sqlstate: &str, message: impl Into<String>) -> Failure {
        let fields = [(b'S', severity.to_owned()), (b'V', severity.to_owned()), (b'C', sqlstate.to_owned())];
        Failure { fields: fields.into_iter().chain([(b'M', message.into())]).collect() }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.fields.push((b'H', hint.into()));
        self
    }

    pub(crate) fn data_conflict() -> Failure {
        Failure::new("40001", DATA_CONFLICT)
    }

    pub(crate) fn schema_conflict() -> Failure {
        Failure::new("40001", SCHEMA_CONFLICT)
    }

    pub(crate) fn aborted() -> Failure {
        Failure::new(
            "25P02",
            "current transaction is aborted, commands ignored until end of transaction block",
        )
    }

    /// Reads the body of an error reply.
    pub(crate) fn read(body: &[u8]) -> Failure {
        let mut fields = Vec::new();
        for part in body.split(|byte| *byte == 0) {
            if let Some((kind, text)) = part.split_first() {
                fields.push((*kind, String::from_utf8_lossy(text).into_owned()));
            }
        }
        Failure { fields }
    }

    /// The body of an error reply.
    #[must_use]
    pub fn body(&self) -> Bytes {
        let mut body = BytesMut::new();
        for (kind, text) in &self.fields {
            body.put_u8(*kind);
            body.put_slice(text.as_bytes());
            body.put_u8(0);
        }
        body.put_u8(0);
        body.freeze()
    }

    /// The five characters of its SQLSTATE.
    #[must_use]
    pub fn sqlstate(&self) -> &str {
        self.field(b'C').unwrap_or("XX000")
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        self.field(b'M').unwrap_or_default()
    }

    pub(crate) fn field(&self, kind: u8) -> Option<&str> {
        self.fields.iter().find(|(found, _)| *found == kind).map(|(_, text)| text.as_str())
    }

    /// PostgreSQL's word for: somebody else was there since your snapshot.
    pub(crate) fn is_conflict(&self) -> bool {
        self.sqlstate() == "40001"
    }

    /// A statement was prepared for columns that are no longer so.
    pub(crate) fn is_stale_plan(&self) -> bool {
        self.sqlstate() == "0A000" && self.message().contains("cached plan must not change")
    }

    /// Two sessions made the same thing at once: PostgreSQL's own tables refuse the second.
    pub(crate) fn is_catalogue_race(&self) -> bool {
        let in_catalogue = self.field(b't').is_some_and(|table| table.starts_with("pg_"));
        match self.sqlstate() {
            "23505" => in_catalogue,
            "XX000" => self.message() == "tuple concurrently updated",
            _ => false,
        }
    }

    /// Rows that are there do not fit what was to be made or checked of them.
    pub(crate) fn is_broken_constraint(&self) -> bool {
        matches!(self.sqlstate(), "23503" | "23505" | "23514")
    }

    /// Two transactions of the simulator stood in each other's way; nothing is decided.
    pub(crate) fn is_collision(&self) -> bool {
        matches!(self.sqlstate(), "55P03" | "40P01")
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::new(&refusal.sqlstate, refusal.message)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(failure)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.sqlstate(), self.message())
    }
}

#[cfg(test)]
mod tests {
    use super::Failure;

    #[test]
    fn error_reply_is_read_back_as_written() {
        let failure = Failure::new("40001", "lost").hint("again");
        assert_eq!(Failure::read(&failure.body()), failure);
        assert_eq!((failure.sqlstate(), failure.message()), ("40001", "lost"));
    }

    #[test]
    fn empty_error_reply_is_internal() {
        assert_eq!(Failure::read(&[0]).sqlstate(), "XX000");
    }
}

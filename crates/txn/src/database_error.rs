//! A driver error that can be shown: no row values, no statement parameters.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::sync::Arc;

use tokio_postgres::error::{DbError, Severity};

/// What the driver or the server said.
///
/// A server puts row values into details and into some messages. `Display` and `Debug` show the SQLSTATE, the
/// constraint, and the message of those classes whose messages name only schema objects and limits; the driver's
/// own error is behind [`driver`](Self::driver) for code that maps it.
#[derive(Clone)]
pub struct DatabaseError(Arc<tokio_postgres::Error>);

impl DatabaseError {
    /// The five characters of the SQLSTATE, when the server answered at all.
    #[must_use]
    pub fn sqlstate(&self) -> Option<&str> {
        self.0.code().map(tokio_postgres::error::SqlState::code)
    }

    /// The constraint that refused a row, if one did.
    #[must_use]
    pub fn constraint(&self) -> Option<&str> {
        self.server().and_then(DbError::constraint)
    }

    /// The driver's error, unredacted: not for logs.
    #[must_use]
    pub fn driver(&self) -> &tokio_postgres::Error {
        &self.0
    }

    pub(crate) fn server(&self) -> Option<&DbError> {
        self.0.as_db_error()
    }

    /// The session is over: the connection closed, or the server said goodbye.
    pub(crate) fn is_disconnect(&self) -> bool {
        match self.server() {
            Some(server) => matches!(server.parsed_severity(), Some(Severity::Fatal | Severity::Panic)),
            None => self.0.is_closed() || self.io().is_some(),
        }
    }

    /// A cached statement no longer fits its table. The message is translated by the server; the name of its
    /// routine is not.
    pub(crate) fn is_stale_plan(&self) -> bool {
        self.server().and_then(DbError::routine) == Some("RevalidateCachedQuery")
    }

    /// Whether it was the schema that changed, and not a row: nobody wrote what this transaction wanted to write. DSQL
    /// says so in the message (`OC001`) or, in some versions, by the SQLSTATE.
    #[must_use]
    pub fn is_schema_conflict(&self) -> bool {
        let Some(server) = self.server() else { return false };
        self.is_stale_plan() || tells_of_schema(server.code().code(), server.message())
    }

    pub(crate) fn io(&self) -> Option<&io::Error> {
        self.0.source()?.downcast_ref()
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self(Arc::new(error))
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(server) = self.server() else {
            // Only an i/o error's text is known to be free of values; a conversion's is the caller's own.
            return match self.io() {
                Some(io) => write!(f, "{}: {io}", self.0),
                None => write!(f, "{}", self.0),
            };
        };
        let sqlstate = server.code().code();
        write!(f, "sqlstate {sqlstate}")?;
        if names_no_values(sqlstate) {
            write!(f, ": {}", server.message())?;
        }
        if let Some(constraint) = server.constraint() {
            write!(f, " (constraint {constraint})")?;
        }
        match is_of_another_session(sqlstate) {
            true => f.write_str(
                "; behind a pooler in transaction mode the connection string needs pooler=transaction",
            ),
            false => Ok(()),
        }
    }
}

impl fmt::Debug for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseError({self})")
    }
}

impl std::error::Error for DatabaseError {}

/// Classes whose primary message is made of names and limits. Data exceptions (22) quote the datum, and raised
/// exceptions (P0) say whatever their author liked.
fn names_no_values(sqlstate: &str) -> bool {
    matches!(
        sqlstate.get(..2),
        Some("08" | "0A" | "23" | "25" | "28" | "3D" | "40" | "42" | "53" | "54" | "55" | "57" | "58" | "XX")
    )
}

fn tells_of_schema(sqlstate: &str, message: &str) -> bool {
    sqlstate == "OC001" || sqlstate == "40001" && message.contains("OC001")
}

/// A statement that we have prepared is not there, or is there already: nobody but a pooler does that to a session.
fn is_of_another_session(sqlstate: &str) -> bool {
    matches!(sqlstate, "26000" | "42P05")
}

#[cfg(test)]
mod tests {
    use super::{names_no_values, tells_of_schema};

    #[test]
    fn schema_conflict_is_told_by_the_message_or_by_the_code() {
        assert!(tells_of_schema("40001", "schema has been updated by another transaction (OC001)"));
        assert!(tells_of_schema("OC001", "schema has been updated by another transaction"));
        for (sqlstate, message) in [
            ("40001", "change conflicts with another transaction (OC000)"),
            ("OC000", "change conflicts with another transaction"),
            ("40001", "could not serialize access due to concurrent update"),
            ("23505", "duplicate key value violates unique constraint \"OC001\""),
        ] {
            assert!(!tells_of_schema(sqlstate, message), "{sqlstate} {message}");
        }
    }

    #[test]
    fn data_exceptions_and_raised_exceptions_stay_silent() {
        for sqlstate in ["22P02", "22001", "P0001", ""] {
            assert!(!names_no_values(sqlstate), "{sqlstate}");
        }
        for sqlstate in ["40001", "53300", "42P01"] {
            assert!(names_no_values(sqlstate), "{sqlstate}");
        }
    }
}

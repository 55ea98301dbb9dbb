//! PostgreSQL's five characters to our code.

use super::LockCode;

impl LockCode {
    /// The code of a PostgreSQL error by its SQLSTATE. Anything unknown is `Internal`.
    pub fn from_sqlstate(sqlstate: &str) -> Self {
        match sqlstate {
            "40001" | "40003" | "40P01" => Self::ServiceUnavailable,
            // Shutdown, crash of another session, starting up: the server goes or is not there yet.
            "57P01" | "57P02" | "57P03" => Self::ServiceUnavailable,
            "28000" | "28P01" | "42501" => Self::AuthFailed,
            "22000" | "22001" | "22003" | "22021" | "22P02" => Self::InvalidArgument,
            "23000" | "23502" | "23503" | "23514" => Self::InvalidArgument,
            "42P01" | "42703" | "42883" => Self::InvalidArgument,
            "53000" | "53100" | "53200" | "53300" | "53400" => Self::RateLimited,
            "57014" | "55P03" => Self::NetworkTimeout,
            connection if connection.len() == 5 && connection.starts_with("08") => Self::ServiceUnavailable,
            _ => Self::Internal,
        }
    }
}

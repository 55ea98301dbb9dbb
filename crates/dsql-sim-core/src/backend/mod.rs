//! A session on the stock PostgreSQL behind the simulator, spoken to in raw messages so that parameters and rows pass
//! through in whatever format the client chose.

mod authenticate;
mod connection;
mod reply;
mod target;

pub(crate) use connection::{CancelKey, Connection};
pub use reply::Outcome;
pub(crate) use reply::{DEALLOCATE_ALL, Reply, columns};
pub use target::{BackingUrl, BackingUrlError};

/// One execution of a statement: what Parse and Bind carry.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The text.
    pub sql: std::sync::Arc<str>,
    /// Types of parameters as the client declared them; 0 or absent is left to the server.
    pub types: std::sync::Arc<[u32]>,
    /// The part of a Bind message between the two names and the result formats: formats and values of parameters.
    pub parameters: bytes::Bytes,
    /// The result formats of a Bind message: none is all text, one is for all columns.
    pub formats: Vec<i16>,
    /// Whether the text will come again, so that PostgreSQL is to keep it prepared.
    pub is_kept: bool,
}

/// The parameter part of a Bind message with no parameters.
pub(crate) const NO_PARAMETERS: &[u8] = &[0, 0, 0, 0];

impl Call {
    /// A statement without parameters, its results in text.
    #[must_use]
    pub fn text(sql: &str) -> Call {
        Call { sql: sql.into(), parameters: bytes::Bytes::from_static(NO_PARAMETERS), ..Call::default() }
    }
}

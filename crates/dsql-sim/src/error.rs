//! Why a simulator does not start.

use leasehold_core::Class;
use leasehold_dsql_sim_core::Failure;

/// Why a simulator does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is taken, or not one of this machine.
    #[error("cannot listen on {address}")]
    Listen {
        /// As it was asked for.
        address: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The stock PostgreSQL cannot be used.
    #[error("the database behind the simulator cannot be used: {failure}")]
    Backing {
        /// What it answered.
        failure: Failure,
    },
    /// A certificate or its key.
    #[error("certificate or key cannot be used: {reason}")]
    Certificate {
        /// What is wrong with it.
        reason: String,
    },
}

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Stable, for scripts.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::Listen { .. } => "dsql_sim.listen",
            Error::Backing { .. } => "dsql_sim.backing",
            Error::Certificate { .. } => "dsql_sim.certificate",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Error::Listen { .. } | Error::Certificate { .. } => Class::Rejected,
            Error::Backing { .. } => Class::Unavailable,
        }
    }
}

//! Why a hold was not extended or released.

use std::fmt;

/// Why extend or release did nothing. An answer, not an error; for telemetry, and found without extra I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// No such hold: never there, ended, or the key is held under another lock id.
    NotFound,
    /// The hold is there and is the caller's, but no longer live.
    Expired,
}

/// What a store saw when it looked at a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// There is a hold.
    pub exists: bool,
    /// It has the caller's lock id.
    pub owned: bool,
    /// It has not expired.
    pub live: bool,
}

impl Refusal {
    /// The stable name, as SyncGuard's telemetry has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::Expired => "expired",
        }
    }

    /// The reason to refuse under these conditions; `None` if there is none. Someone else's hold is not
    /// found, live or not: its state is not the caller's business.
    pub const fn under(conditions: Conditions) -> Option<Self> {
        match conditions {
            Conditions { exists: false, .. } | Conditions { owned: false, .. } => Some(Self::NotFound),
            Conditions { live: false, .. } => Some(Self::Expired),
            Conditions { exists: true, owned: true, live: true } => None,
        }
    }

    /// The reason a Redis script gave by its reply: 1 is done, −2 is expired, all else is not found.
    pub const fn from_redis_reply(reply: i64) -> Option<Self> {
        match reply {
            1 => None,
            -2 => Some(Self::Expired),
            _ => Some(Self::NotFound),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

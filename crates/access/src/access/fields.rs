//! Rules of the fields of requests.

use crate::Refusal;

pub(super) fn not_empty(field: &'static str, value: &str) -> Result<(), Refusal> {
    if value.trim().is_empty() { Err(Refusal::Empty { field }) } else { Ok(()) }
}

pub(super) fn not_longer(field: &'static str, value: &str, limit: usize) -> Result<(), Refusal> {
    if value.len() > limit { Err(Refusal::TooLong { field, limit }) } else { Ok(()) }
}

/// Ids and names with a colon would make two bindings look like one in messages and keys.
pub(super) fn no_colon(field: &'static str, value: &str) -> Result<(), Refusal> {
    if value.contains(':') { Err(Refusal::Colon { field, value: value.to_owned() }) } else { Ok(()) }
}

/// PostgreSQL cannot keep it, and what one store takes all take.
pub(super) fn no_nul(field: &'static str, value: &str) -> Result<(), Refusal> {
    if value.contains('\0') { Err(Refusal::Nul { field }) } else { Ok(()) }
}

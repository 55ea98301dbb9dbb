//! Who changed what: events for a log that is kept apart.

use std::fmt;

use crate::{Permission, Principal};

/// Bytes of an object's name that are logged: names in refused requests can be as long as a request.
const SHOWN_BYTES_MAX: usize = 256;

/// Somebody did what the permission allows.
pub(super) fn done(actor: &Principal, action: Permission, object: impl AsRef<str>) {
    let (object, actor) = (Shown(object.as_ref()), Shown(actor.user_id()));
    tracing::info!(target: "leasehold::audit", %actor, action = action.as_str(), %object, outcome = "done");
}

/// Somebody tried to and may not.
pub(super) fn denied(actor: &Principal, action: Permission, object: impl AsRef<str>) {
    let (object, actor) = (Shown(object.as_ref()), Shown(actor.user_id()));
    tracing::warn!(target: "leasehold::audit", %actor, action = action.as_str(), %object, outcome = "denied");
}

/// Somebody who may do nothing sent a request, which was not read.
pub(super) fn unread(actor: &Principal, path: &str) {
    let actor = Shown(actor.user_id());
    tracing::warn!(target: "leasehold::audit", %actor, action = path, object = "not read", outcome = "denied");
}

/// Quoted and escaped, so that a name cannot forge a line of the log.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0[..self.0.floor_char_boundary(SHOWN_BYTES_MAX)], f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_cut() {
        assert_eq!(Shown("a\nb\"").to_string(), r#""a\nb\"""#);
        assert_eq!(Shown(&"é".repeat(1_000)).to_string().chars().count(), 130);
        assert_eq!(Shown(&format!("a{}", "é".repeat(1_000))).to_string().len(), 257);
    }
}

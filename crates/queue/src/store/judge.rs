//! Whether a request may change the items it names: one rule for all stores.

use std::collections::HashSet;

use super::{Change, Missing, Verdict};
use crate::{ItemId, ItemState};

/// The first id that cannot be changed decides. An id that ends its lease earlier in the request is gone.
pub(crate) fn judge(request: &[Change], state_of: impl Fn(ItemId) -> Option<ItemState>) -> Verdict {
    let mut ended = HashSet::new();
    for change in request {
        let id = change.id();
        let missing = if ended.contains(&id) { Some(Missing::Item) } else { missing(state_of(id)) };
        if let Some(missing) = missing {
            return Verdict::Refused { id, missing };
        }
        if !matches!(change, Change::Extend { .. } | Change::Expire { .. }) {
            ended.insert(id);
        }
    }
    Verdict::Done
}

fn missing(state: Option<ItemState>) -> Option<Missing> {
    match state {
        None | Some(ItemState::Scheduled) => Some(Missing::Item),
        Some(ItemState::Ready) => Some(Missing::Lease),
        Some(ItemState::Leased) => None,
    }
}

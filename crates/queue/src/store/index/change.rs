//! Changes to leased items, a request at a time, all or none of it.

use std::collections::HashSet;

use super::{Header, Index};
use crate::store::{Change, Missing, Verdict};
use crate::{ItemId, ItemState};

impl<C> Index<C> {
    /// Carries out the requests that can be, in order.
    pub(crate) fn change(&mut self, requests: &[&[Change]]) -> Vec<Verdict> {
        requests.iter().map(|request| self.change_one(request)).collect()
    }

    fn change_one(&mut self, request: &[Change]) -> Verdict {
        let verdict = self.judge(request);
        if verdict == Verdict::Done {
            for change in request {
                self.apply(change);
            }
        }
        verdict
    }

    /// The first id that cannot be changed decides. An id that ends its lease earlier in the request is gone.
    fn judge(&self, request: &[Change]) -> Verdict {
        let mut ended = HashSet::new();
        for change in request {
            let id = change.id();
            let missing = if ended.contains(&id) { Some(Missing::Item) } else { self.missing(id) };
            if let Some(missing) = missing {
                return Verdict::Refused { id, missing };
            }
            if !matches!(change, Change::Extend { .. } | Change::Expire { .. }) {
                ended.insert(id);
            }
        }
        Verdict::Done
    }

    fn missing(&self, id: ItemId) -> Option<Missing> {
        match self.header(id).map(|header| header.state) {
            None | Some(ItemState::Scheduled) => Some(Missing::Item),
            Some(ItemState::Ready) => Some(Missing::Lease),
            Some(ItemState::Leased) => None,
        }
    }

    fn apply(&mut self, change: &Change) {
        match *change {
            Change::Complete { id } => drop(self.remove(&[id])),
            Change::Return { id, new_id } => drop(self.requeue(&[(id, new_id)])),
            Change::Schedule { id, at } => drop(self.update(id, |header: &mut Header| {
                header.state = ItemState::Scheduled;
                header.when = at;
            })),
            Change::Expire { id, at } => drop(self.update(id, |header| header.expire_deadline = at)),
            Change::Extend { id, deadline } => drop(self.update(id, |header| header.when = deadline)),
        }
    }
}

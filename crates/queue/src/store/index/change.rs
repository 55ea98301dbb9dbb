//! Changes to leased items, a request at a time, all or none of it.

use super::{Header, Index};
use crate::ItemState;
use crate::store::judge::judge;
use crate::store::{Change, Verdict};

impl<C> Index<C> {
    /// Carries out the requests that can be, in order.
    pub(crate) fn change(&mut self, requests: &[&[Change]]) -> Vec<Verdict> {
        requests.iter().map(|request| self.change_one(request)).collect()
    }

    fn change_one(&mut self, request: &[Change]) -> Verdict {
        let verdict = judge(request, |id| self.header(id).map(|header| header.state));
        if verdict == Verdict::Done {
            for change in request {
                self.apply(change);
            }
        }
        verdict
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

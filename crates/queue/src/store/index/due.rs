//! What is due, from the heads of the ordered sets.

use std::num::NonZeroUsize;

use leasehold_core::Timestamp;

use super::Index;
use super::sorted::SortedSet;
use crate::store::{Due, DueAction};
use crate::{ItemId, is_past};

impl<C> Index<C> {
    /// The longest due first.
    pub(crate) fn due(&self, now: Timestamp, max_attempts: u32, limit: NonZeroUsize) -> Vec<Due> {
        let limit = limit.get();
        let head = |times: &SortedSet<(Timestamp, ItemId)>,
                    is_due: fn(Timestamp, Timestamp) -> bool,
                    is_wanted: &dyn Fn(ItemId) -> bool| {
            let due = times.iter().take_while(|(at, _)| is_due(*at, now)).filter(|(_, id)| is_wanted(*id));
            due.take(limit).copied().collect::<Vec<_>>()
        };
        // Past its expire deadline it dies, and is in the other list.
        let is_alive = |id: ItemId| !is_past(self.entries[&id].header.expire_deadline, now);
        let enqueue = head(&self.scheduled, |at, now| at <= now, &|_| true)
            .into_iter()
            .map(|at| (at, DueAction::Enqueue));
        let die =
            head(&self.expiring, |at, now| at < now, &|_| true).into_iter().map(|at| (at, DueAction::Die));
        let reclaim =
            head(&self.leased, |at, now| at < now, &is_alive).into_iter().map(|(at, id)| {
                match self.is_last_attempt(id, max_attempts) {
                    true => ((at, id), DueAction::Die),
                    false => ((at, id), DueAction::Reclaim),
                }
            });
        let mut due: Vec<_> = enqueue.chain(die).chain(reclaim).collect();
        due.sort_unstable_by_key(|((at, id), _)| (*at, *id));
        due.truncate(limit);
        due.into_iter().map(|((_, id), action)| Due { id, action }).collect()
    }

    fn is_last_attempt(&self, id: ItemId, max_attempts: u32) -> bool {
        max_attempts > 0 && i64::from(self.entries[&id].header.attempts) >= i64::from(max_attempts)
    }
}

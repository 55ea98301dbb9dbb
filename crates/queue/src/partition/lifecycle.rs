//! What time does to items: schedules come, leases run out, items die.
//!
//! A pass runs when the earliest known deadline is over, acts on what the store says is due, and asks for the next
//! deadline. Deadlines of items that are gone meanwhile only make a pass find nothing.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use leasehold_core::Timestamp;
use metrics::counter;
use tokio::time::Instant;

use super::{Partition, count};
use crate::queue::message::Report;
use crate::store::{Due, DueAction, Result};
use crate::{Item, ItemId, ItemState};

/// Items a pass acts on at most; the next pass follows at once.
const PASS_LEN: usize = 1_000;
/// A pass that found nothing where a deadline was over is not repeated sooner.
const REST: Duration = Duration::from_millis(100);
/// While dying items wait for their dead queue their deadlines hide those of others, so passes run this often.
const FROZEN_REST: Duration = Duration::from_millis(250);
/// Dying items known at once; others wait their turn.
const FROZEN_MAX: usize = 100_000;
/// Deadlines are over strictly after them.
const STRICTLY: Duration = Duration::from_micros(1);

impl Partition {
    /// When the next pass is to run, unless it rests.
    pub(super) fn next_pass(&self) -> Option<Timestamp> {
        let reclaim = |at: Timestamp| at.saturating_add(self.config.reclaim_delay + STRICTLY);
        let deadlines = &self.deadlines;
        let earliest = [deadlines.enqueue, deadlines.lease.map(reclaim), deadlines.expire.map(reclaim)];
        earliest.into_iter().flatten().min()
    }

    /// Passes rest now. A rest spares the store, so it is of real time: the engine's clock may stand still or leap.
    pub(super) fn is_resting(&self) -> bool {
        self.rest_until.is_some_and(|at| at > Instant::now())
    }

    pub(super) fn expect_schedule(&mut self, at: Timestamp) {
        sooner(&mut self.deadlines.enqueue, Some(at));
    }

    pub(super) fn expect_lease(&mut self, deadline: Option<Timestamp>) {
        sooner(&mut self.deadlines.lease, deadline);
    }

    /// An item is stored: what becomes of it has its times.
    pub(super) fn expect_item(&mut self, item: &Item) {
        let expire_deadline = Some(item.expire_deadline).filter(|at| *at != Timestamp::EPOCH);
        match item.state() {
            ItemState::Scheduled => sooner(&mut self.deadlines.enqueue, item.enqueue_at),
            ItemState::Leased => {
                sooner(&mut self.deadlines.lease, item.lease_deadline);
                sooner(&mut self.deadlines.expire, expire_deadline);
            }
            ItemState::Ready => sooner(&mut self.deadlines.expire, expire_deadline),
        }
    }

    /// Acts on what is due.
    pub(super) async fn pass(&mut self) {
        let acted = match self.act_on_due().await {
            Ok(acted) => acted,
            Err(error) => {
                // What was due is still due, or has been done: the next pass sees, after the partition has rested.
                self.mark_failed(&error);
                return self.report(Report::default());
            }
        };
        if !self.health.is_well() {
            return;
        }
        match self.store.deadlines().await {
            Ok(deadlines) => self.deadlines = deadlines,
            Err(error) => {
                self.mark_failed(&error);
                return self.report(Report::default());
            }
        }
        self.rest_until = if !self.dying.is_empty() {
            Some(Instant::now() + FROZEN_REST)
        } else if !acted && self.next_pass().is_some_and(|at| at <= self.now()) {
            Some(Instant::now() + REST)
        } else {
            None
        };
    }

    /// True if there was anything to act on.
    async fn act_on_due(&mut self) -> Result<bool> {
        let due = self.due().await?;
        let mut moves: Vec<(ItemId, ItemId)> = Vec::new();
        let mut actions = HashMap::new();
        let mut dying = Vec::new();
        for Due { id, action } in due {
            match action {
                DueAction::Die => dying.push(id),
                DueAction::Enqueue | DueAction::Reclaim => {
                    let new_id = self.ids.next();
                    moves.push((id, new_id));
                    actions.insert(new_id, action);
                }
            }
        }
        let acted = !moves.is_empty() || !dying.is_empty();
        if !moves.is_empty() {
            let placed = self.store.requeue(&moves).await?;
            self.strikes = 0;
            self.held.remove(moves.iter().map(|(id, _)| *id));
            self.count_requeued(placed.iter().filter_map(|id| actions.get(id)));
            self.report(Report::default());
        }
        if self.dying.len() < FROZEN_MAX && !dying.is_empty() {
            self.bury(dying).await;
        }
        Ok(acted)
    }

    /// What is due, without the dying that are known already. Schedules are on time; leases and expiry are late on
    /// purpose, so that a completion that was on its way at the deadline still counts.
    async fn due(&mut self) -> Result<Vec<Due>> {
        let now = self.now();
        let settled = now.saturating_sub(self.config.reclaim_delay);
        let max_attempts = self.info.options.max_attempts;
        // The dying that are known come first, being due the longest.
        let limit = NonZeroUsize::MIN.saturating_add(PASS_LEN + self.dying.len());
        let hidden = !self.dying.is_empty();
        let over = |deadline: Option<Timestamp>, at: Timestamp| hidden || deadline.is_some_and(|d| d < at);
        let mut due = Vec::new();
        if hidden || self.deadlines.enqueue.is_some_and(|at| at <= now) {
            let scheduled = self.store.due(now, max_attempts, limit).await?;
            due.extend(scheduled.into_iter().filter(|due| due.action == DueAction::Enqueue));
        }
        if over(self.deadlines.lease, settled) || over(self.deadlines.expire, settled) {
            let others = self.store.due(settled, max_attempts, limit).await?;
            let fresh = |due: &Due| due.action != DueAction::Enqueue && !self.dying.holds(&due.id);
            due.extend(others.into_iter().filter(fresh));
        }
        Ok(due)
    }

    fn count_requeued<'a>(&mut self, actions: impl Iterator<Item = &'a DueAction>) {
        let (mut enqueued, mut expired) = (0, 0);
        for action in actions {
            match action {
                DueAction::Enqueue => enqueued += 1,
                DueAction::Reclaim | DueAction::Die => expired += 1,
            }
        }
        self.counts.scheduled = self.counts.scheduled.saturating_sub(enqueued);
        self.counts.leased = self.counts.leased.saturating_sub(expired);
        self.counts.ready += enqueued + expired;
        self.totals.expired += expired;
        counter!("leasehold_queue_items_total", "event" => "expired").increment(expired);
    }

    /// Items were deleted: what is left is fewer.
    pub(super) fn count_removed(&mut self, removed: crate::store::Removed) {
        let counts = &mut self.counts;
        counts.ready = counts.ready.saturating_sub(removed.ready);
        counts.leased = counts.leased.saturating_sub(removed.leased);
        counts.scheduled = counts.scheduled.saturating_sub(removed.scheduled);
        // The expired are deleted before others: counted so, nothing ready is ever hidden from leases for long.
        self.expired_ready = self.expired_ready.saturating_sub(removed.ready);
    }

    /// Items died: without a dead queue that is all.
    pub(super) fn count_dead(&mut self, ids: usize) {
        let dead = count(ids);
        self.totals.dead += dead;
        counter!("leasehold_queue_items_total", "event" => "dead").increment(dead);
    }
}

fn sooner(known: &mut Option<Timestamp>, at: Option<Timestamp>) {
    *known = match (*known, at) {
        (Some(known), Some(at)) => Some(known.min(at)),
        (known, at) => known.or(at),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sooner_of_two_deadlines_is_kept() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        for (known, new, kept) in [
            (None, None, None),
            (at(1), None, at(1)),
            (None, at(2), at(2)),
            (at(1), at(2), at(1)),
            (at(2), at(1), at(1)),
        ] {
            let mut deadline = known;
            sooner(&mut deadline, new);
            assert_eq!(deadline, kept);
        }
    }
}

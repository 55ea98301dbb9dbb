//! Dead items on their way to the dead queue.
//!
//! A dying item is frozen: nobody can lease, complete or return it. It is copied to the dead queue under its old id as
//! source id, and removed here only afterwards; so it is never lost. What has arrived is remembered until it is removed
//! and is not copied again; an owner that comes later copies it again, which the dead queue recognises while the first
//! copy is there. A dead queue that is slow or gone holds up nothing here but the dying.

use std::collections::HashSet;

use tokio::time::Instant;

use super::Partition;
use crate::ItemId;
use crate::queue::message::{Moved, Report};
use crate::store::StoreError;
use crate::undertaker::Move;

/// Items moved at once.
const MOVE_LEN: usize = 1_000;

/// Items that are dying and still here.
#[derive(Debug, Default)]
pub(super) struct Dying {
    frozen: HashSet<ItemId>,
    /// Those of them that are in the dead queue already.
    arrived: HashSet<ItemId>,
    /// Some of them are on their way.
    is_moving: bool,
    failures: u32,
    /// When to try again.
    pub(super) retry_at: Option<Instant>,
}

impl Dying {
    pub(super) fn holds(&self, id: &ItemId) -> bool {
        !self.frozen.is_empty() && self.frozen.contains(id)
    }

    pub(super) fn len(&self) -> usize {
        self.frozen.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frozen.is_empty()
    }
}

impl Partition {
    /// Deletes the dead, or sends them to the dead queue.
    pub(super) async fn bury(&mut self, ids: Vec<ItemId>) {
        // Whoever held them holds them no more.
        self.held.remove(ids.iter().copied());
        self.dying.frozen.extend(ids);
        if self.dying.retry_at.is_none() {
            self.move_dying().await;
        }
    }

    /// Starts moving what is dying, unless a move is under way.
    pub(super) async fn move_dying(&mut self) {
        self.dying.retry_at = None;
        if self.dying.is_moving {
            return;
        }
        if !self.health.is_well() {
            // Looked at again as soon as it is.
            self.dying.retry_at = Some(Instant::now());
            return;
        }
        while !self.dying.is_empty() {
            let arrived: Vec<ItemId> = self.dying.arrived.iter().copied().take(MOVE_LEN).collect();
            if !arrived.is_empty() {
                if !self.remove_dead(&arrived).await {
                    return;
                }
                continue;
            }
            let ids: Vec<ItemId> = self.dying.frozen.iter().copied().take(MOVE_LEN).collect();
            let Some(dead_queue) = self.info.options.dead_queue.clone() else {
                if !self.remove_dead(&ids).await {
                    return;
                }
                continue;
            };
            let items = match self.store.fetch(&ids).await {
                Ok(items) => items,
                Err(error) => return self.burial_failed(&error),
            };
            if items.is_empty() {
                // Cleared or deleted meanwhile.
                self.forget_dying(&ids);
                continue;
            }
            if let Some(back) = self.links.myself.upgrade() {
                self.dying.is_moving = true;
                self.links.undertaker.send(Move { from: self.info.clone(), to: dead_queue, items, back });
            }
            return;
        }
    }

    /// A move has ended: what arrived is removed here.
    pub(super) async fn moved(&mut self, moved: Moved) {
        self.dying.is_moving = false;
        self.dying.arrived.extend(&moved.arrived);
        if !moved.arrived.is_empty() && self.health.is_well() && !self.remove_dead(&moved.arrived).await {
            return;
        }
        match moved.error {
            None => {
                self.dying.failures = 0;
                self.move_dying().await;
            }
            Some(message) => {
                let wait = self.config.backoff.after(self.dying.failures);
                self.dying.failures = self.dying.failures.saturating_add(1);
                self.dying.retry_at = Some(Instant::now() + wait);
                tracing::warn!(
                    queue = %self.id.queue, partition = self.id.number, error = %message,
                    "dead items could not be moved"
                );
                self.remember_error(message);
            }
        }
    }

    /// False if the store failed; the items stay frozen then.
    async fn remove_dead(&mut self, ids: &[ItemId]) -> bool {
        match self.store.remove(ids).await {
            Ok(removed) => {
                self.count_removed(removed);
                self.count_dead(usize::try_from(removed.ready + removed.leased).unwrap_or(0));
                self.forget_dying(ids);
                self.report(Report::default());
                true
            }
            Err(error) => {
                self.burial_failed(&error);
                false
            }
        }
    }

    fn forget_dying(&mut self, ids: &[ItemId]) {
        for id in ids {
            self.dying.frozen.remove(id);
            self.dying.arrived.remove(id);
        }
        if self.dying.is_empty() {
            // Nothing hides the deadlines of others any more.
            self.rest_until = None;
        }
    }

    /// The partition is opened anew before anything else, and what is dying tried again then.
    fn burial_failed(&mut self, error: &StoreError) {
        self.mark_failed(error);
        self.dying.retry_at = Some(Instant::now());
        self.report(Report::default());
    }
}

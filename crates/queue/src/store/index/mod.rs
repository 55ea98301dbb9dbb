//! The line of a partition in memory: what is ready, who holds what, what is due.
//!
//! The memory store keeps its items in one, content and all; the embedded store keeps one beside its file, without
//! content. Every step costs the logarithm of the number of items; only lists and clears walk over more than they touch.

mod change;
mod due;
mod sorted;

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::ops::Bound;
use std::time::Duration;

use leasehold_core::Timestamp;

use sorted::SortedSet;

use super::{Cleared, Counts, Deadlines, ItemHeader, Pick, Placement, Ready, Removed, StoreStats};
use crate::{Item, ItemId, ItemState, is_past};

/// Items that one step of a clear looks at.
const CLEAR_LEN: usize = 10_000;

/// The items of a partition; `C` is what is kept of each beside its place and times.
#[derive(Debug)]
pub(crate) struct Index<C> {
    entries: BTreeMap<ItemId, Entry<C>>,
    ready: SortedSet<ItemId>,
    /// By lease deadline.
    leased: SortedSet<(Timestamp, ItemId)>,
    /// By the time to become ready.
    scheduled: SortedSet<(Timestamp, ItemId)>,
    /// The same by id, for lists.
    scheduled_ids: SortedSet<ItemId>,
    /// By expire deadline: all that are not scheduled and can expire.
    expiring: SortedSet<(Timestamp, ItemId)>,
    source_ids: HashMap<ItemId, Box<str>>,
    by_source_id: HashMap<Box<str>, ItemId>,
    /// Of items that are not scheduled; in whole microseconds, so that no sum drifts.
    created_sum: i128,
    lease_deadline_sum: i128,
}

/// What changes about an item while it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) state: ItemState,
    /// Leased: the lease deadline. Scheduled: the time to become ready. Ready: a lease deadline that an import
    /// left on it, or [`Header::UNSET`].
    pub(crate) when: Timestamp,
    pub(crate) expire_deadline: Timestamp,
    pub(crate) created_at: Timestamp,
    pub(crate) attempts: i32,
}

impl Header {
    pub(crate) const UNSET: Timestamp = Timestamp::MIN;

    pub(crate) fn of(item: &Item) -> Self {
        let when = item.enqueue_at.or(item.lease_deadline).unwrap_or(Self::UNSET);
        Header {
            state: item.state(),
            when,
            expire_deadline: item.expire_deadline,
            created_at: item.created_at,
            attempts: item.attempts,
        }
    }

    pub(crate) fn lease_deadline(&self) -> Option<Timestamp> {
        match self.state {
            ItemState::Leased | ItemState::Ready => (self.when != Self::UNSET).then_some(self.when),
            ItemState::Scheduled => None,
        }
    }

    pub(crate) fn enqueue_at(&self) -> Option<Timestamp> {
        (self.state == ItemState::Scheduled).then_some(self.when)
    }

    fn with_id(&self, id: ItemId) -> ItemHeader {
        ItemHeader {
            id,
            state: self.state,
            lease_deadline: self.lease_deadline(),
            expire_deadline: self.expire_deadline,
            enqueue_at: self.enqueue_at(),
            created_at: self.created_at,
            attempts: self.attempts,
        }
    }

    /// Puts what may have changed into an item.
    pub(crate) fn fill(&self, item: &mut Item) {
        item.is_leased = self.state == ItemState::Leased;
        item.lease_deadline = self.lease_deadline();
        item.enqueue_at = self.enqueue_at();
        item.expire_deadline = self.expire_deadline;
        item.attempts = self.attempts;
    }
}

#[derive(Debug)]
struct Entry<C> {
    header: Header,
    /// As [`Ready`] tells them.
    bytes: u32,
    content: C,
}

impl<C> Default for Index<C> {
    fn default() -> Self {
        Index {
            entries: BTreeMap::new(),
            ready: SortedSet::default(),
            leased: SortedSet::default(),
            scheduled: SortedSet::default(),
            scheduled_ids: SortedSet::default(),
            expiring: SortedSet::default(),
            source_ids: HashMap::new(),
            by_source_id: HashMap::new(),
            created_sum: 0,
            lease_deadline_sum: 0,
        }
    }
}

impl<C> Index<C> {
    pub(crate) fn counts(&self) -> Counts {
        let count = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        Counts {
            ready: count(self.ready.len()),
            leased: count(self.leased.len()),
            scheduled: count(self.scheduled.len()),
        }
    }

    pub(crate) fn id_max(&self) -> Option<ItemId> {
        self.entries.last_key_value().map(|(id, _)| *id)
    }

    pub(crate) fn deadlines(&self) -> Deadlines {
        let first = |times: &SortedSet<(Timestamp, ItemId)>| times.first().map(|(at, _)| *at);
        Deadlines {
            lease: first(&self.leased),
            expire: first(&self.expiring),
            enqueue: first(&self.scheduled),
        }
    }

    pub(crate) fn stats(&self, now: Timestamp) -> StoreStats {
        let counts = self.counts();
        let now_micros = i128::from(now.as_micros());
        let mean = |sum: i128, of: u64| match of {
            0 => Duration::ZERO,
            of => Duration::from_micros(u64::try_from(sum / i128::from(of)).unwrap_or(0)),
        };
        let here = counts.ready + counts.leased;
        StoreStats {
            counts,
            average_age: mean(now_micros * i128::from(here) - self.created_sum, here),
            average_lease_left: mean(
                self.lease_deadline_sum - now_micros * i128::from(counts.leased),
                counts.leased,
            ),
            oldest_ready_at: self.ready.first().map(|id| self.entries[id].header.created_at),
        }
    }

    pub(crate) fn header(&self, id: ItemId) -> Option<Header> {
        self.entries.get(&id).map(|entry| entry.header)
    }

    pub(crate) fn headers(&self, ids: &[ItemId]) -> Vec<ItemHeader> {
        ids.iter().filter_map(|id| Some(self.header(*id)?.with_id(*id))).collect()
    }

    pub(crate) fn content(&self, id: ItemId) -> Option<(&Header, &C)> {
        self.entries.get(&id).map(|entry| (&entry.header, &entry.content))
    }

    /// Adds the item unless its source id is known.
    pub(crate) fn place(&mut self, item: &Item, content: C) -> Placement {
        if let Some(source_id) = &item.source_id {
            if let Some(known) = self.by_source_id.get(source_id.as_str()) {
                return Placement::Known(*known);
            }
            self.keep_source_id(item.id, source_id.as_str().into());
        }
        self.insert(item.id, Entry { header: Header::of(item), bytes: Ready::of(item).bytes, content });
        Placement::Placed
    }

    /// Adds an item as it was found in the file.
    #[cfg(feature = "embedded")]
    pub(crate) fn restore(&mut self, ready: Ready, header: Header, source_id: Option<&str>, content: C) {
        let Ready { id, bytes } = ready;
        if let Some(source_id) = source_id {
            self.keep_source_id(id, source_id.into());
        }
        self.insert(id, Entry { header, bytes, content });
    }

    pub(crate) fn next_ready(&self, limit: NonZeroUsize, now: Timestamp) -> Vec<Ready> {
        let live = |id: &ItemId| {
            let Entry { header, bytes, .. } = &self.entries[id];
            (!is_past(header.expire_deadline, now)).then_some(Ready { id: *id, bytes: *bytes })
        };
        self.ready.iter().filter_map(live).take(limit.get()).collect()
    }

    /// Leases those that are ready; their ids and what they are now.
    pub(crate) fn lease(&mut self, picks: &[Pick]) -> Vec<(ItemId, Header)> {
        let ready = |index: &Self, pick: &Pick| {
            index.header(pick.id).is_some_and(|header| header.state == ItemState::Ready)
        };
        let mut leased = Vec::with_capacity(picks.len());
        for pick in picks {
            if ready(self, pick) {
                let header = self.update(pick.id, |header| {
                    header.state = ItemState::Leased;
                    header.when = pick.deadline;
                    header.attempts = header.attempts.saturating_add(1);
                });
                leased.push((pick.id, header));
            }
        }
        leased
    }

    /// Puts items at the tail; the moves that took effect.
    pub(crate) fn requeue(&mut self, moves: &[(ItemId, ItemId)]) -> Vec<(ItemId, ItemId)> {
        moves.iter().copied().filter(|(id, new_id)| self.move_to_tail(*id, *new_id)).collect()
    }

    fn move_to_tail(&mut self, id: ItemId, new_id: ItemId) -> bool {
        let source_id = self.forget_source_id(id);
        let Some(mut entry) = self.take(id) else {
            return false;
        };
        entry.header.state = ItemState::Ready;
        entry.header.when = Header::UNSET;
        self.insert(new_id, entry);
        if let Some(source_id) = source_id {
            self.keep_source_id(new_id, source_id);
        }
        true
    }

    /// Deletes items; those that were here.
    pub(crate) fn remove(&mut self, ids: &[ItemId]) -> (Removed, Vec<ItemId>) {
        let mut removed = Removed::default();
        let found = ids.iter().copied().filter(|id| self.delete(*id, &mut removed)).collect();
        (removed, found)
    }

    /// Deletes those of the next items that have one of the states; their ids too.
    pub(crate) fn clear(
        &mut self,
        ready: bool,
        leased: bool,
        scheduled: bool,
        behind: ItemId,
    ) -> (Cleared, Vec<ItemId>) {
        let is_wanted = |state| match state {
            ItemState::Ready => ready,
            ItemState::Leased => leased,
            ItemState::Scheduled => scheduled,
        };
        let next = self.entries.range((Bound::Excluded(behind), Bound::Unbounded)).take(CLEAR_LEN);
        let looked_at: Vec<_> = next.map(|(id, entry)| (*id, is_wanted(entry.header.state))).collect();
        let next = looked_at.last().filter(|_| looked_at.len() == CLEAR_LEN).map(|(id, _)| *id);
        let ids: Vec<_> = looked_at.into_iter().filter(|(_, wanted)| *wanted).map(|(id, _)| id).collect();
        let (removed, found) = self.remove(&ids);
        (Cleared { removed, next }, found)
    }

    /// Ids from the pivot on: of scheduled items, or of all others.
    /// The ids of a page, and where the next one begins.
    pub(crate) fn list(
        &self,
        scheduled: bool,
        pivot: ItemId,
        limit: usize,
        bytes: usize,
    ) -> (Vec<ItemId>, Option<ItemId>) {
        if scheduled {
            return self.page(self.scheduled_ids.iter_from(pivot).copied(), limit, bytes);
        }
        let here =
            |(id, entry): (&ItemId, &Entry<C>)| (entry.header.state != ItemState::Scheduled).then_some(*id);
        self.page(self.entries.range(pivot..).filter_map(here), limit, bytes)
    }

    fn page(
        &self,
        ids: impl Iterator<Item = ItemId>,
        limit: usize,
        bytes_max: usize,
    ) -> (Vec<ItemId>, Option<ItemId>) {
        let (mut page, mut bytes) = (Vec::new(), 0_usize);
        for id in ids {
            if page.len() >= limit || bytes >= bytes_max {
                return (page, Some(id));
            }
            bytes = bytes.saturating_add(self.entries[&id].bytes as usize);
            page.push(id);
        }
        (page, None)
    }

    fn delete(&mut self, id: ItemId, removed: &mut Removed) -> bool {
        self.forget_source_id(id);
        let Some(entry) = self.take(id) else {
            return false;
        };
        match entry.header.state {
            ItemState::Ready => removed.ready += 1,
            ItemState::Leased => removed.leased += 1,
            ItemState::Scheduled => removed.scheduled += 1,
        }
        true
    }

    /// Changes the header of an item that is here, and every set it is in.
    fn update(&mut self, id: ItemId, change: impl FnOnce(&mut Header)) -> Header {
        let entry = self.entries.get_mut(&id).expect("the caller has looked");
        let before = entry.header;
        change(&mut entry.header);
        let after = entry.header;
        self.leave(id, &before);
        self.enter(id, &after);
        after
    }

    fn insert(&mut self, id: ItemId, entry: Entry<C>) {
        self.enter(id, &entry.header);
        self.entries.insert(id, entry);
    }

    fn take(&mut self, id: ItemId) -> Option<Entry<C>> {
        let entry = self.entries.remove(&id)?;
        self.leave(id, &entry.header);
        Some(entry)
    }

    fn enter(&mut self, id: ItemId, header: &Header) {
        match header.state {
            ItemState::Ready => self.ready.insert(id),
            ItemState::Leased => {
                self.leased.insert((header.when, id));
                self.lease_deadline_sum += i128::from(header.when.as_micros());
            }
            ItemState::Scheduled => {
                self.scheduled.insert((header.when, id));
                self.scheduled_ids.insert(id);
                return;
            }
        }
        self.created_sum += i128::from(header.created_at.as_micros());
        if header.expire_deadline != Timestamp::EPOCH {
            self.expiring.insert((header.expire_deadline, id));
        }
    }

    fn leave(&mut self, id: ItemId, header: &Header) {
        match header.state {
            ItemState::Ready => drop(self.ready.remove(id)),
            ItemState::Leased => {
                self.leased.remove((header.when, id));
                self.lease_deadline_sum -= i128::from(header.when.as_micros());
            }
            ItemState::Scheduled => {
                self.scheduled.remove((header.when, id));
                self.scheduled_ids.remove(id);
                return;
            }
        }
        self.created_sum -= i128::from(header.created_at.as_micros());
        if header.expire_deadline != Timestamp::EPOCH {
            self.expiring.remove((header.expire_deadline, id));
        }
    }

    fn keep_source_id(&mut self, id: ItemId, source_id: Box<str>) {
        self.by_source_id.insert(source_id.clone(), id);
        self.source_ids.insert(id, source_id);
    }

    fn forget_source_id(&mut self, id: ItemId) -> Option<Box<str>> {
        if self.source_ids.is_empty() {
            return None;
        }
        let source_id = self.source_ids.remove(&id)?;
        self.by_source_id.remove(&source_id);
        Some(source_id)
    }
}

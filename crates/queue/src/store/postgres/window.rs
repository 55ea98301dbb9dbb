//! The next ready items, in memory: a lease needs no query to find them.

use std::collections::BTreeMap;
use std::ops::Bound;

use leasehold_core::Timestamp;

use crate::store::Ready;
use crate::{Item, ItemId, ItemState, is_past};

/// How many are read ahead.
pub(super) const LEN_WANTED: usize = 4_096;

/// Every ready item up to the cursor is in here, and none behind it if the tail is reached. Ready items only ever enter
/// at the tail, under ids above all others, so the cursor never goes back while the partition has its owner, and what
/// dead rows lie before it does not matter.
#[derive(Debug)]
pub(super) struct Window {
    ready: BTreeMap<ItemId, Waiting>,
    cursor: ItemId,
    reaches_tail: bool,
}

/// What is known of a ready item.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    expire_deadline: Timestamp,
    /// As [`Ready`] tells them.
    bytes: u32,
}

impl Window {
    /// Nothing is known.
    pub(super) fn new() -> Self {
        Window { ready: BTreeMap::new(), cursor: ItemId::MIN, reaches_tail: false }
    }

    /// Nothing is ready.
    pub(super) fn at_tail() -> Self {
        Window { reaches_tail: true, ..Self::new() }
    }

    /// The first ready items that are not past their expire deadline.
    pub(super) fn next(&self, limit: usize, now: Timestamp) -> Vec<Ready> {
        let live = self.ready.iter().filter(|(_, waiting)| !is_past(waiting.expire_deadline, now));
        live.take(limit).map(|(id, waiting)| Ready { id: *id, bytes: waiting.bytes }).collect()
    }

    /// What to read so that `limit` items can be told: ids behind this one, and how many. None if all are known.
    pub(super) fn missing(&mut self, limit: usize, found: usize, now: Timestamp) -> Option<(ItemId, usize)> {
        if self.reaches_tail || found >= limit {
            return None;
        }
        if self.ready.len() >= LEN_WANTED {
            // They wait for their end, not for a lease.
            self.ready.retain(|_, waiting| !is_past(waiting.expire_deadline, now));
        }
        let room = LEN_WANTED.saturating_sub(self.ready.len());
        Some((self.cursor, room.max(limit - found)))
    }

    /// Takes in what was read; fewer than were wanted means there are no more.
    pub(super) fn read(&mut self, wanted: usize, rows: impl ExactSizeIterator<Item = (Ready, Timestamp)>) {
        self.reaches_tail = rows.len() < wanted;
        for (ready, expire_deadline) in rows {
            self.keep(ready, expire_deadline);
        }
    }

    /// An item became ready at the tail. Its id may have been drawn before that of one that was stored earlier: what is
    /// before the cursor is never read again, so it is kept in any case.
    pub(super) fn enter(&mut self, ready: Ready, expire_deadline: Timestamp) {
        if ready.id < self.cursor || (self.reaches_tail && self.ready.len() < LEN_WANTED) {
            self.keep(ready, expire_deadline);
        } else {
            self.reaches_tail = false;
        }
    }

    /// An item was stored.
    pub(super) fn place(&mut self, item: &Item) {
        if item.state() == ItemState::Ready {
            self.enter(Ready::of(item), item.expire_deadline);
        }
    }

    /// Items are not ready any more, if they were.
    pub(super) fn leave(&mut self, ids: impl Iterator<Item = ItemId>) {
        for id in ids {
            self.ready.remove(&id);
        }
    }

    /// None of those behind one id, up to another, is ready any more.
    pub(super) fn leave_between(&mut self, behind: ItemId, last: ItemId) {
        if behind < last {
            let bounds = (Bound::Excluded(behind), Bound::Included(last));
            let gone: Vec<ItemId> = self.ready.range(bounds).map(|(id, _)| *id).collect();
            self.leave(gone.into_iter());
        }
    }

    fn keep(&mut self, Ready { id, bytes }: Ready, expire_deadline: Timestamp) {
        self.ready.insert(id, Waiting { expire_deadline, bytes });
        self.cursor = self.cursor.max(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ItemId {
        let mut bytes = [0; 20];
        bytes[16..].copy_from_slice(&number.to_be_bytes());
        ItemId::from_bytes(bytes)
    }

    /// Each has a size of its own.
    fn ready(number: u32) -> Ready {
        Ready { id: id(number), bytes: number }
    }

    const NOW: Timestamp = Timestamp::from_millis(1_000);
    const LATER: Timestamp = Timestamp::from_millis(2_000);
    const PAST: Timestamp = Timestamp::from_millis(999);

    fn read(window: &mut Window, wanted: usize, numbers: std::ops::Range<u32>) {
        let rows: Vec<_> = numbers.map(|number| (ready(number), LATER)).collect();
        window.read(wanted, rows.into_iter());
    }

    #[test]
    fn short_answer_is_the_tail_and_what_enters_later_is_known() {
        let mut window = Window::new();
        assert_eq!(window.missing(1, 0, NOW), Some((ItemId::MIN, LEN_WANTED)));
        read(&mut window, LEN_WANTED, 1..3);
        window.enter(ready(9), LATER);
        assert_eq!(window.next(9, NOW), [ready(1), ready(2), ready(9)]);
        assert_eq!(window.missing(9, 3, NOW), None);
    }

    #[test]
    fn what_enters_before_the_tail_is_known_is_left_to_be_read() {
        let mut window = Window::new();
        read(&mut window, 2, 1..3);
        window.enter(ready(9), LATER);
        assert_eq!(window.next(9, NOW), [ready(1), ready(2)]);
        assert_eq!(window.missing(9, 2, NOW), Some((id(2), LEN_WANTED - 2)));
    }

    #[test]
    fn full_window_forgets_that_it_reached_the_tail() {
        let mut window = Window::at_tail();
        let len = u32::try_from(LEN_WANTED).expect("fits");
        for number in 1..=len + 5 {
            window.enter(ready(number), LATER);
        }
        assert_eq!(window.ready.len(), LEN_WANTED);
        window.leave((1..=len).map(id));
        assert_eq!(window.missing(1, 0, NOW), Some((id(len), LEN_WANTED)));
    }

    #[test]
    fn id_drawn_earlier_and_stored_later_is_not_lost() {
        let mut window = Window::at_tail();
        let len = u32::try_from(LEN_WANTED).expect("fits");
        for number in 2..=len + 2 {
            window.enter(ready(number), LATER);
        }
        window.enter(ready(1), LATER);
        assert_eq!(window.next(2, NOW), [ready(1), ready(2)]);
    }

    #[test]
    fn cleared_ids_are_not_ready_and_those_around_them_are() {
        let mut window = Window::new();
        read(&mut window, LEN_WANTED, 1..9);
        window.leave_between(id(2), id(5));
        assert_eq!(window.next(9, NOW), [1, 2, 6, 7, 8].map(ready));
        window.leave_between(id(6), id(6));
        assert_eq!(window.next(9, NOW).len(), 5);
    }

    #[test]
    fn window_full_of_expired_items_makes_room() {
        let mut window = Window::at_tail();
        for number in 1..=u32::try_from(LEN_WANTED).expect("fits") + 1 {
            window.enter(ready(number), PAST);
        }
        assert_eq!(window.next(1, NOW), []);
        assert_eq!(window.missing(1, 0, NOW).map(|(_, wanted)| wanted), Some(LEN_WANTED));
    }

    #[test]
    fn limit_beyond_the_window_is_read_at_once() {
        assert_eq!(Window::new().missing(100_000, 0, NOW), Some((ItemId::MIN, 100_000)));
    }
}

//! Produces: requests become items, and go straight to leases that wait if nothing else is ready.

use std::time::Duration;

use leasehold_core::Timestamp;
use metrics::counter;

use super::lease::Seats;
use super::recover::Unsettled;
use super::rotation::deal;
use super::{Answers, Partition, answer_all, count, split};
use crate::call::unknown;
use crate::queue::message::{Lease, Produce, Report};
use crate::reply::{Leased, Produced};
use crate::request::NewItem;
use crate::store::{Ready, WriteMax};
use crate::{Item, ItemId, ItemIds, ItemState};

/// A time less than this ahead means now.
pub(super) const SCHEDULE_MIN: Duration = Duration::from_millis(100);

/// A write of produced items, some of them handed to leases right away.
#[derive(Debug)]
pub(super) struct ProduceBatch {
    /// Without their items.
    produces: Vec<Produce>,
    /// How many of the items each has.
    lens: Vec<usize>,
    items: Vec<Item>,
    /// Those who get the leased ones.
    leases: Vec<Lease>,
    /// Of the leased items.
    seats: Seats,
}

impl ProduceBatch {
    /// The first of the items: all are stored, or none.
    pub(super) fn witness(&self) -> ItemId {
        self.items[0].id
    }

    /// How many items it has, and how large they are.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.items.len(), self.items.iter().map(Item::bytes).sum())
    }

    /// Whether all callers have left.
    pub(super) fn is_unheard(&self) -> bool {
        self.produces.iter().all(|produce| produce.call.is_unheard())
            && self.leases.iter().all(|lease| lease.call.is_unheard())
    }
}

impl Partition {
    /// Stores what is produced. Returns the leases that are still to be served from what is stored.
    pub(super) async fn produce(&mut self, produces: Vec<Produce>, leases: Vec<Lease>) -> Vec<Lease> {
        if produces.is_empty() {
            return leases;
        }
        if !self.health.is_well() {
            self.report(Report { told: arrived(&produces), produces_back: produces, ..Report::default() });
            return leases;
        }
        let (produces, abandoned) = split(produces, |produce| produce.call.take());
        if !abandoned.is_empty() {
            let told = arrived(&abandoned);
            self.report(Report { told, produces_done: abandoned.len(), ..Report::default() });
        }
        let produces = self.refuse_too_large(produces);
        if produces.is_empty() {
            return leases;
        }
        let (served, leases) =
            if self.counts.ready == 0 { (leases, Vec::new()) } else { (Vec::new(), leases) };
        let batch = self.batch(produces, served);
        match self.store.produce(&batch.items).await {
            Ok(_) => {
                self.strikes = 0;
                self.limits.produce.double();
                self.count_produced(&batch.items);
                self.settle_produce(batch);
            }
            Err(error) => self.failed(&error, Unsettled::Produce(batch)).await,
        }
        leases
    }

    /// Refuses what the store cannot write as a whole, here or in any other partition.
    fn refuse_too_large(&mut self, produces: Vec<Produce>) -> Vec<Produce> {
        let max = self.store.write_max();
        if max == WriteMax::NONE {
            return produces;
        }
        let refused = |produce: &Produce| max.refuse(produce.items.iter().map(NewItem::bytes)).err();
        let (produces, too_large) = split(produces, |produce| refused(produce).is_none());
        if !too_large.is_empty() {
            let told = arrived(&too_large);
            self.report(Report { told, produces_done: too_large.len(), ..Report::default() });
        }
        for produce in too_large {
            if let Some(refusal) = refused(&produce) {
                produce.call.answer(Err(refusal.into()));
            }
        }
        produces
    }

    fn batch(&mut self, mut produces: Vec<Produce>, leases: Vec<Lease>) -> ProduceBatch {
        let now = self.now();
        let options = &self.info.options;
        let lens = produces.iter().map(|produce| produce.items.len()).collect();
        let expire_deadline = now.saturating_add(options.expire_timeout);
        let ids = &mut self.ids;
        let mut items: Vec<Item> = produces
            .iter_mut()
            .flat_map(|produce| std::mem::take(&mut produce.items))
            .map(|new| item(new, ids, now, expire_deadline))
            .collect();
        let mut leases = self.take_leases(leases);
        let ready = items.iter().filter(|item| item.state() == ItemState::Ready);
        let seats = self.seat(&mut leases, ready.map(|item| Ready::of(item).answer_bytes()));
        let lease_timeout = self.info.options.lease_timeout;
        let ready = items.iter_mut().filter(|item| item.state() == ItemState::Ready);
        for (item, request) in ready.zip(&seats.shares) {
            let timeout = leases[*request].lease_timeout.unwrap_or(lease_timeout);
            item.is_leased = true;
            item.lease_deadline = Some(now.saturating_add(timeout));
            item.attempts = 1;
        }
        ProduceBatch { produces, lens, items, leases, seats }
    }

    /// Counts items that were just stored, and what will become of them.
    pub(super) fn count_produced<'a>(&mut self, items: impl IntoIterator<Item = &'a Item>) {
        let mut stored = 0;
        for item in items {
            stored += 1;
            match item.state() {
                ItemState::Ready => self.counts.ready += 1,
                ItemState::Leased => self.counts.leased += 1,
                ItemState::Scheduled => self.counts.scheduled += 1,
            }
            self.expect_item(item);
        }
        self.totals.produced += stored;
        counter!("leasehold_queue_items_total", "event" => "produced").increment(stored);
    }

    /// The items are stored: answers everyone.
    pub(super) fn settle_produce(&mut self, batch: ProduceBatch) {
        let ProduceBatch { produces, lens, items, leases, seats } = batch;
        let partition = self.id.number;
        let mut report =
            Report { told: arrived(&produces), produces_done: produces.len(), ..Report::default() };
        let mut ids = items.iter().map(|item| item.id);
        let produced: Answers<Produced> = produces
            .into_iter()
            .zip(lens)
            .map(|(produce, len)| {
                (produce.call, Ok(Produced { partition, ids: ids.by_ref().take(len).collect() }))
            })
            .collect();
        drop(ids);
        let leased_items = items.into_iter().filter(|item| item.is_leased);
        let hands = deal(seats.shares.iter().copied().zip(leased_items), leases.len());
        let leased: Answers<Leased> = self.hand_out(leases, hands, seats, &mut report);
        self.report(report);
        answer_all(produced);
        answer_all(leased);
    }

    /// Nobody can say any more whether it happened.
    pub(super) fn give_up_produce(&mut self, batch: ProduceBatch, reason: &'static str) {
        let ProduceBatch { produces, leases, .. } = batch;
        let mut report =
            Report { told: arrived(&produces), produces_done: produces.len(), ..Report::default() };
        let leased = self.answer_unknown(leases, reason, &mut report);
        self.report(report);
        for produce in produces {
            produce.call.answer(Err(unknown("produce", reason)));
        }
        answer_all(leased);
    }

    /// Nothing was stored: all may be tried elsewhere.
    pub(super) fn undo_produce(&mut self, batch: ProduceBatch) {
        let ProduceBatch { mut produces, lens, items, leases, .. } = batch;
        let mut items = items.into_iter().map(new_item);
        for (produce, len) in produces.iter_mut().zip(lens) {
            produce.items = items.by_ref().take(len).collect();
        }
        let mut report = Report { told: arrived(&produces), produces_back: produces, ..Report::default() };
        self.give_back(leases, &mut report);
        self.report(report);
    }
}

fn arrived(produces: &[Produce]) -> crate::queue::Told {
    let arrived = produces.iter().map(|produce| produce.charged).sum();
    crate::queue::Told { arrived, ..crate::queue::Told::default() }
}

fn item(new: NewItem, ids: &mut ItemIds, now: Timestamp, expire_deadline: Timestamp) -> Item {
    Item {
        id: ids.next(),
        source_id: None,
        is_leased: false,
        lease_deadline: None,
        expire_deadline,
        enqueue_at: later(new.enqueue_at, now),
        created_at: now,
        attempts: 0,
        max_attempts: 0,
        reference: new.reference,
        encoding: new.encoding,
        kind: new.kind,
        payload: new.payload,
    }
}

fn new_item(item: Item) -> NewItem {
    NewItem {
        enqueue_at: item.enqueue_at,
        reference: item.reference,
        encoding: item.encoding,
        kind: item.kind,
        payload: item.payload,
    }
}

/// A time that is far enough ahead to be worth a schedule.
pub(super) fn later(at: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    at.filter(|at| *at >= now.saturating_add(SCHEDULE_MIN))
}

/// How many of the items can be leased at once: what the router counts for them.
pub(crate) fn ready_len(items: &[NewItem], now: Timestamp) -> u64 {
    count(items.iter().filter(|item| later(item.enqueue_at, now).is_none()).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn times_less_than_a_hundred_milliseconds_ahead_mean_now() {
        for near in [None, Some(at(0)), Some(at(1_000)), Some(at(1_099))] {
            assert_eq!(later(near, at(1_000)), None, "{near:?}");
        }
        assert_eq!(later(Some(at(1_100)), at(1_000)), Some(at(1_100)));
    }

    #[test]
    fn items_that_come_back_are_as_they_were_given() {
        let new = NewItem {
            enqueue_at: Some(at(5_000)),
            reference: "r".into(),
            encoding: "e".into(),
            kind: "k".into(),
            payload: "p".into(),
        };
        let mut ids = ItemIds::default();
        assert_eq!(new_item(item(new.clone(), &mut ids, at(1_000), at(9_000))), new);
    }
}

//! Produces: requests become items.

use std::time::Duration;

use leasehold_core::Timestamp;
use metrics::counter;

use super::turn::Settled;
use super::{Partition, count, split};
use crate::queue::message::{Produce, Report};
use crate::reply::Produced;
use crate::request::NewItem;
use crate::store::WriteMax;
use crate::{Item, ItemId, ItemIds, ItemState};

/// A time less than this ahead means now.
pub(super) const SCHEDULE_MIN: Duration = Duration::from_millis(100);

/// Produced items, some of them handed to leases right away.
#[derive(Debug)]
pub(super) struct ProduceBatch {
    /// Without their items.
    produces: Vec<Produce>,
    /// How many of the items each has.
    lens: Vec<usize>,
    /// Never empty.
    pub(super) items: Vec<Item>,
}

impl ProduceBatch {
    /// The first of the items: all are stored, or none.
    pub(super) fn witness(&self) -> ItemId {
        self.items[0].id
    }

    /// Nothing was stored: all may be tried elsewhere.
    pub(super) fn undo(self, settled: &mut Settled) {
        let ProduceBatch { mut produces, lens, items } = self;
        let mut items = items.into_iter().map(new_item);
        for (produce, len) in produces.iter_mut().zip(lens) {
            produce.items = items.by_ref().take(len).collect();
        }
        settled.report.told.arrived += arrived(&produces).arrived;
        settled.report.produces_back.extend(produces);
    }
}

impl Partition {
    /// What is to be stored, if anything.
    pub(super) fn plan_produce(&mut self, produces: Vec<Produce>) -> Option<ProduceBatch> {
        if produces.is_empty() {
            return None;
        }
        if !self.health.is_well() {
            self.report(Report { told: arrived(&produces), produces_back: produces, ..Report::default() });
            return None;
        }
        let (produces, abandoned) = split(produces, |produce| produce.call.take());
        if !abandoned.is_empty() {
            let told = arrived(&abandoned);
            self.report(Report { told, produces_done: abandoned.len(), ..Report::default() });
        }
        let produces = self.refuse_too_large(produces);
        (!produces.is_empty()).then(|| self.produce_batch(produces))
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

    fn produce_batch(&mut self, mut produces: Vec<Produce>) -> ProduceBatch {
        let now = self.now();
        let lens = produces.iter().map(|produce| produce.items.len()).collect();
        let expire_deadline = now.saturating_add(self.info.options.expire_timeout);
        let ids = &mut self.ids;
        let items = produces
            .iter_mut()
            .flat_map(|produce| std::mem::take(&mut produce.items))
            .map(|new| item(new, ids, now, expire_deadline))
            .collect();
        ProduceBatch { produces, lens, items }
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

    /// The items are stored. Returns those that are leased.
    pub(super) fn settle_produce(&mut self, batch: ProduceBatch, settled: &mut Settled) -> Vec<Item> {
        let ProduceBatch { produces, lens, items } = batch;
        let partition = self.id.number;
        settled.report.told.arrived += arrived(&produces).arrived;
        settled.report.produces_done += produces.len();
        let mut ids = items.iter().map(|item| item.id);
        settled.produced.extend(produces.into_iter().zip(lens).map(|(produce, len)| {
            (produce.call, Ok(Produced { partition, ids: ids.by_ref().take(len).collect() }))
        }));
        items.into_iter().filter(|item| item.is_leased).collect()
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
        let mut ids = ItemIds::after(None, at(0));
        assert_eq!(new_item(item(new.clone(), &mut ids, at(1_000), at(9_000))), new);
    }
}

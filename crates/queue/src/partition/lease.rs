//! Leases: who gets which of the first ready items.

use std::num::NonZeroUsize;

use metrics::{counter, histogram};

use super::recover::Unsettled;
use super::rotation::{Shares, deal, share};
use super::{Answers, Partition, answer_all, count, split};
use crate::call::{Slot, unknown};
use crate::queue::message::{Lease, Report};
use crate::reply::{Leased, Room};
use crate::store::{ItemHeader, Pick, Ready};
use crate::{Error, Item, ItemId};

/// A write of leases.
#[derive(Debug)]
pub(super) struct LeaseBatch {
    leases: Vec<Lease>,
    pub(super) picks: Vec<Pick>,
    /// Of each pick, what it takes in an answer.
    sizes: Vec<usize>,
    seats: Seats,
}

/// Who gets which of some items.
#[derive(Debug, Default)]
pub(super) struct Seats {
    /// For each item the lease that gets it.
    pub(super) shares: Vec<usize>,
    /// Of the leases that get any: they are the first.
    rooms: Vec<Room>,
}

impl LeaseBatch {
    /// How many items it has, and how large they are.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.picks.len(), self.sizes.iter().sum())
    }

    /// Whether all callers have left.
    pub(super) fn is_unheard(&self) -> bool {
        self.leases.iter().all(|lease| lease.call.is_unheard())
    }

    /// Those of the picks that have the lease this write gives and whose callers wait, each with what it takes in an
    /// answer. The headers are those of the picks that were found, in their order.
    pub(super) fn leased_of(&self, headers: Vec<ItemHeader>) -> Vec<(ItemId, usize)> {
        let mut headers = headers.into_iter().peekable();
        let mut leased = Vec::new();
        for ((pick, request), size) in self.picks.iter().zip(&self.seats.shares).zip(&self.sizes) {
            let found = headers.next_if(|header| header.id == pick.id);
            let is_ours = found.is_some_and(|header| header.is_leased_until(pick.deadline));
            if is_ours && !self.leases[*request].call.is_unheard() {
                leased.push((pick.id, *size));
            }
        }
        leased
    }
}

impl Partition {
    /// Leases the first ready items. Requests that get none go back to the router.
    pub(super) async fn lease(&mut self, leases: Vec<Lease>) {
        if leases.is_empty() {
            return;
        }
        let mut leases = self.take_leases(leases);
        let wanted: usize = leases.iter().map(|lease| lease.batch_size).sum();
        let here = usize::try_from(self.leasable()).unwrap_or(usize::MAX).min(self.store.write_max().items);
        let Some(limit) = NonZeroUsize::new(wanted.min(here)) else {
            return self.undo_leases(leases);
        };
        let now = self.now();
        let ready = match self.store.next_ready(limit, now).await {
            Ok(ready) => ready,
            Err(error) => {
                self.mark_failed(&error);
                return self.undo_leases(leases);
            }
        };
        if ready.len() < limit.get() {
            // All that can be leased is known now, whether there is room for it or not; the rest is past its expire
            // deadline.
            self.expired_ready = self.counts.ready.saturating_sub(count(ready.len()));
        }
        if ready.is_empty() {
            return self.undo_leases(leases);
        }
        let bytes_max = self.config.write_bytes_max.min(self.limits.lease.bytes);
        let later = leases.split_off(fitting(&leases, ready.iter().map(Ready::answer_bytes), bytes_max));
        self.put_back(later);
        let seats = self.seat(&mut leases, ready.iter().map(Ready::answer_bytes));
        if leases.is_empty() {
            return;
        }
        let lease_timeout = self.info.options.lease_timeout;
        let picks = ready.iter().zip(&seats.shares).map(|(ready, request)| {
            let timeout = leases[*request].lease_timeout.unwrap_or(lease_timeout);
            Pick { id: ready.id, deadline: now.saturating_add(timeout) }
        });
        let sizes = ready.iter().take(seats.shares.len()).map(Ready::answer_bytes).collect();
        let batch = LeaseBatch { picks: picks.collect(), sizes, leases, seats };
        match self.store.lease(&batch.picks).await {
            Ok(items) => {
                self.strikes = 0;
                self.limits.lease.double();
                let leased = count(items.len());
                self.counts.ready = self.counts.ready.saturating_sub(leased);
                self.counts.leased += leased;
                self.settle_lease(batch, items);
            }
            Err(error) => self.failed(&error, Unsettled::Lease(batch)).await,
        }
    }

    /// Takes the requests whose callers still wait, and lets the router know of the others.
    pub(super) fn take_leases(&mut self, leases: Vec<Lease>) -> Vec<Lease> {
        let (leases, abandoned) = split(leases, |lease| lease.call.take());
        self.release(&abandoned);
        leases
    }

    /// Shares items of these sizes among leases, as far as there is room for the answers. Leases for which there is none
    /// are refused, and taken away.
    pub(super) fn seat(
        &mut self,
        leases: &mut Vec<Lease>,
        sizes: impl Iterator<Item = usize> + Clone,
    ) -> Seats {
        if leases.is_empty() {
            return Seats::default();
        }
        let wanted: Vec<usize> = leases.iter().map(|lease| lease.batch_size).collect();
        let answer_bytes = self.config.answer_bytes_max.min(self.limits.lease.bytes);
        let mut shares = share(sizes.clone(), &wanted, answer_bytes, usize::MAX);
        let needed = shares.bytes.iter().sum();
        let first = sizes.clone().next().unwrap_or(0).min(needed);
        let mut room = Slot::up_to(&self.links.answers, needed, first, self.config.answers_bytes_max);
        if room.amount() < needed {
            shares = share(sizes, &wanted, answer_bytes, room.amount());
        }
        let Shares { requests, bytes, is_full } = shares;
        if is_full {
            self.refuse(leases.split_off(bytes.len()));
        }
        Seats { shares: requests, rooms: bytes.iter().map(|bytes| room.split(*bytes).into()).collect() }
    }

    /// These are served by the next turn. Those whose time is over meanwhile are answered by the router.
    fn put_back(&mut self, leases: Vec<Lease>) {
        let (later, over) = split(leases, |lease| lease.call.put_back());
        self.inbox.put_back(later);
        if !over.is_empty() {
            self.undo_leases(over);
        }
    }

    /// There is no room for what these would be answered with. Nothing is leased for them.
    fn refuse(&mut self, leases: Vec<Lease>) {
        self.release(&leases);
        for lease in leases {
            lease.call.answer(Err(Error::Overloaded));
        }
    }

    /// Lets the router know of leases that are over.
    fn release(&mut self, leases: &[Lease]) {
        if leases.is_empty() {
            return;
        }
        let mut report = Report::default();
        for lease in leases {
            report.told.settled += lease.charged;
            report.released.push((lease.client_id.clone(), lease.call.number));
        }
        self.report(report);
    }

    /// These items are leased, in the order of the picks: answers everyone.
    pub(super) fn settle_lease(&mut self, batch: LeaseBatch, items: Vec<Item>) {
        let mut items = items.into_iter().peekable();
        let dealt = batch.picks.iter().zip(&batch.seats.shares).filter_map(|(pick, request)| {
            items.next_if(|item| item.id == pick.id).map(|item| (*request, item))
        });
        let hands = deal(dealt, batch.leases.len());
        let mut report = Report::default();
        let answers = self.hand_out(batch.leases, hands, batch.seats, &mut report);
        self.report(report);
        answer_all(answers);
    }

    /// Nothing was leased: all go back to the router.
    pub(super) fn undo_lease(&mut self, batch: LeaseBatch) {
        self.undo_leases(batch.leases);
    }

    /// Nobody can say any more whether it happened.
    pub(super) fn give_up_lease(&mut self, batch: LeaseBatch, reason: &'static str) {
        let mut report = Report::default();
        let answers = self.answer_unknown(batch.leases, reason, &mut report);
        self.report(report);
        answer_all(answers);
    }

    pub(super) fn answer_unknown(
        &mut self,
        leases: Vec<Lease>,
        reason: &'static str,
        report: &mut Report,
    ) -> Answers<Leased> {
        let mut answers = Vec::with_capacity(leases.len());
        for lease in leases {
            report.told.settled += lease.charged;
            report.released.push((lease.client_id, lease.call.number));
            answers.push((lease.call, Err(unknown("lease", reason))));
        }
        answers
    }

    fn undo_leases(&mut self, leases: Vec<Lease>) {
        let mut report = Report::default();
        self.give_back(leases, &mut report);
        self.report(report);
    }

    pub(super) fn give_back(&mut self, leases: Vec<Lease>, report: &mut Report) {
        report.told.settled += leases.iter().map(|lease| lease.charged).sum::<u64>();
        report.leases_back.extend(leases);
    }

    /// The answers to those who got something; the others go back to the router.
    pub(super) fn hand_out(
        &mut self,
        leases: Vec<Lease>,
        hands: Vec<Vec<Item>>,
        seats: Seats,
        report: &mut Report,
    ) -> Answers<Leased> {
        let partition = self.id.number;
        let mut answers = Vec::with_capacity(leases.len());
        let mut leased = 0;
        let first_leased = hands.iter().flatten().filter(|item| item.attempts == 1);
        if let Some(oldest) = first_leased.map(|item| item.created_at).min() {
            histogram!("leasehold_queue_wait_seconds")
                .record(self.now().saturating_since(oldest).as_secs_f64());
        }
        let mut rooms = seats.rooms.into_iter();
        for (lease, items) in leases.into_iter().zip(hands) {
            let room = rooms.next().unwrap_or_default();
            report.told.settled += lease.charged;
            if items.is_empty() {
                report.leases_back.push(lease);
                continue;
            }
            leased += count(items.len());
            self.held.add(items.iter().map(|item| item.id));
            self.expect_lease(items.iter().filter_map(|item| item.lease_deadline).min());
            report.released.push((lease.client_id, lease.call.number));
            answers.push((lease.call, Ok(Leased { partition, items, room })));
        }
        self.totals.leased += leased;
        counter!("leasehold_queue_items_total", "event" => "leased").increment(leased);
        answers
    }
}

/// How many of the leases one write serves, at least one: together they want at most `bytes_max` of the first items,
/// which have these sizes.
fn fitting(leases: &[Lease], mut sizes: impl Iterator<Item = usize>, bytes_max: usize) -> usize {
    let mut bytes = 0_usize;
    let fits = |lease: &&Lease| {
        bytes = sizes.by_ref().take(lease.batch_size).fold(bytes, usize::saturating_add);
        bytes <= bytes_max
    };
    leases.iter().take_while(fits).count().max(1)
}

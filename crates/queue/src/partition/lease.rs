//! Leases: who gets which of the first ready items.

use std::num::NonZeroUsize;

use metrics::{counter, histogram};

use super::recover::Unsettled;
use super::rotation::{deal, share};
use super::{Answers, Partition, answer_all, count, split};
use crate::Item;
use crate::queue::message::{Lease, Report};
use crate::reply::Leased;
use crate::store::Pick;

/// A write of leases.
#[derive(Debug)]
pub(super) struct LeaseBatch {
    leases: Vec<Lease>,
    pub(super) picks: Vec<Pick>,
    /// For each pick the lease that gets it.
    shares: Vec<usize>,
}

impl Partition {
    /// Leases the first ready items. Requests that get none go back to the router.
    pub(super) async fn lease(&mut self, leases: Vec<Lease>) {
        if leases.is_empty() {
            return;
        }
        let leases = self.take_leases(leases);
        let wanted: Vec<usize> = leases.iter().map(|lease| lease.batch_size).collect();
        let here = usize::try_from(self.leasable()).unwrap_or(usize::MAX).min(self.store.write_max().items);
        let Some(limit) = NonZeroUsize::new(wanted.iter().sum::<usize>().min(here)) else {
            return self.undo_leases(leases);
        };
        let now = self.now();
        let ids = match self.store.next_ready(limit, now).await {
            Ok(ids) => ids,
            Err(error) => {
                self.mark_failed(&error);
                return self.undo_leases(leases);
            }
        };
        if ids.len() < limit.get() {
            // All that can be leased is known now; the rest is past its expire deadline.
            self.expired_ready = self.counts.ready.saturating_sub(count(ids.len()));
        }
        if ids.is_empty() {
            return self.undo_leases(leases);
        }
        let shares = share(ids.len(), &wanted);
        let lease_timeout = self.info.options.lease_timeout;
        let picks = ids.into_iter().zip(&shares).map(|(id, request)| {
            let timeout = leases[*request].lease_timeout.unwrap_or(lease_timeout);
            Pick { id, deadline: now.saturating_add(timeout) }
        });
        let batch = LeaseBatch { picks: picks.collect(), leases, shares };
        match self.store.lease(&batch.picks).await {
            Ok(items) => {
                self.strikes = 0;
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
        if !abandoned.is_empty() {
            let mut report = Report::default();
            for lease in abandoned {
                report.told.settled += lease.charged;
                report.released.push((lease.client_id, lease.call.number));
            }
            self.report(report);
        }
        leases
    }

    /// These items are leased, in the order of the picks: answers everyone.
    pub(super) fn settle_lease(&mut self, batch: LeaseBatch, items: Vec<Item>) {
        let mut items = items.into_iter().peekable();
        let dealt = batch.picks.iter().zip(batch.shares).filter_map(|(pick, request)| {
            items.next_if(|item| item.id == pick.id).map(|item| (request, item))
        });
        let hands = deal(dealt, batch.leases.len());
        let mut report = Report::default();
        let answers = self.hand_out(batch.leases, hands, &mut report);
        self.report(report);
        answer_all(answers);
    }

    /// Nothing was leased: all go back to the router.
    pub(super) fn undo_lease(&mut self, batch: LeaseBatch) {
        self.undo_leases(batch.leases);
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
        for (lease, items) in leases.into_iter().zip(hands) {
            report.told.settled += lease.charged;
            if items.is_empty() {
                report.leases_back.push(lease);
                continue;
            }
            leased += count(items.len());
            self.held.add(items.iter().map(|item| item.id));
            self.expect_lease(items.iter().filter_map(|item| item.lease_deadline).min());
            report.released.push((lease.client_id, lease.call.number));
            answers.push((lease.call, Ok(Leased { partition, items })));
        }
        self.totals.leased += leased;
        counter!("leasehold_queue_items_total", "event" => "leased").increment(leased);
        answers
    }
}

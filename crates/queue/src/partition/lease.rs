//! Leases: who gets which of the first ready items, and of those that are being produced.

use std::num::NonZeroUsize;

use leasehold_core::Timestamp;
use metrics::{counter, histogram};

use super::rotation::{deal, share};
use super::turn::Settled;
use super::{Answers, Partition, count, split};
use crate::queue::message::{Lease, Report};
use crate::reply::Leased;
use crate::store::{Pick, Result};
use crate::{Item, ItemId, ItemState};

/// Items for those who wait.
#[derive(Debug)]
pub(super) struct LeaseBatch {
    leases: Vec<Lease>,
    /// The items that are stored already.
    pub(super) picks: Vec<Pick>,
    /// For each pick, and then for each leased item of the produce of this turn, the lease that gets it.
    shares: Vec<usize>,
    /// The leased items of the produce, once they are stored.
    pub(super) direct: Vec<Item>,
}

impl Partition {
    /// Picks the first ready items, and marks those of a produce as leased that older ones leave open: they are stored
    /// so. Requests that can get none go back to the router.
    pub(super) async fn plan_lease(&mut self, leases: Vec<Lease>, items: &mut [Item]) -> Option<LeaseBatch> {
        if leases.is_empty() {
            return None;
        }
        let leases = self.take_leases(leases);
        let wanted: Vec<usize> = leases.iter().map(|lease| lease.batch_size).collect();
        let now = self.now();
        let new = items.iter().filter(|item| item.state() == ItemState::Ready).count();
        let (ids, are_all) = match self.next_ready(wanted.iter().sum(), new > 0, now).await {
            Ok(found) => found,
            Err(error) => {
                self.mark_failed(&error);
                self.undo_leases(leases);
                return None;
            }
        };
        let shares = share(ids.len() + if are_all { new } else { 0 }, &wanted);
        if shares.is_empty() {
            self.undo_leases(leases);
            return None;
        }
        let lease_timeout = self.info.options.lease_timeout;
        let deadline =
            |request: usize| now.saturating_add(leases[request].lease_timeout.unwrap_or(lease_timeout));
        let picks: Vec<Pick> = ids
            .into_iter()
            .zip(&shares)
            .map(|(id, request)| Pick { id, deadline: deadline(*request) })
            .collect();
        let new = items.iter_mut().filter(|item| item.state() == ItemState::Ready);
        for (item, request) in new.zip(&shares[picks.len()..]) {
            item.is_leased = true;
            item.lease_deadline = Some(deadline(*request));
            item.attempts = 1;
        }
        Some(LeaseBatch { leases, picks, shares, direct: Vec::new() })
    }

    /// The first ready items, and whether these are all that can be leased. Only who goes on with newer ones has to know
    /// that for sure.
    async fn next_ready(
        &mut self,
        wanted: usize,
        for_sure: bool,
        now: Timestamp,
    ) -> Result<(Vec<ItemId>, bool)> {
        let here = if for_sure { self.counts.ready } else { self.leasable() };
        let most = wanted.min(usize::try_from(here).unwrap_or(usize::MAX)).min(self.store.write_max().items);
        let Some(limit) = NonZeroUsize::new(most) else { return Ok((Vec::new(), here == 0)) };
        let ids = self.store.next_ready(limit, now).await?;
        let is_short = ids.len() < limit.get();
        if is_short {
            // All that can be leased is known now; the rest is past its expire deadline.
            self.expired_ready = self.counts.ready.saturating_sub(count(ids.len()));
        }
        let are_all = is_short || count(ids.len()) == self.counts.ready;
        Ok((ids, are_all))
    }

    /// Counts items that were ready and are leased.
    pub(super) fn count_leased(&mut self, items: &[Item]) {
        let leased = count(items.len());
        self.counts.ready = self.counts.ready.saturating_sub(leased);
        self.counts.leased += leased;
    }

    /// Takes the requests whose callers still wait, and lets the router know of the others.
    fn take_leases(&mut self, leases: Vec<Lease>) -> Vec<Lease> {
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

    /// These items are leased, in the order of the picks, beside those of the produce.
    pub(super) fn settle_lease(&mut self, batch: LeaseBatch, items: Vec<Item>, settled: &mut Settled) {
        let LeaseBatch { leases, picks, shares, direct } = batch;
        let mut items = items.into_iter().peekable();
        let picked = picks.iter().zip(&shares).filter_map(|(pick, request)| {
            items.next_if(|item| item.id == pick.id).map(|item| (*request, item))
        });
        let direct = shares[picks.len()..].iter().copied().zip(direct);
        let hands = deal(picked.chain(direct), leases.len());
        let answers = self.hand_out(leases, hands, &mut settled.report);
        settled.leased.extend(answers);
    }

    fn undo_leases(&mut self, leases: Vec<Lease>) {
        let mut report = Report::default();
        report.told.settled = leases.iter().map(|lease| lease.charged).sum();
        report.leases_back = leases;
        self.report(report);
    }

    /// The answers to those who got something; the others go back to the router.
    fn hand_out(
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

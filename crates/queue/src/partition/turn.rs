//! One turn of the loop: all that waits is planned, written at once, and answered.

use std::collections::HashSet;

use leasehold_core::Timestamp;

use super::change::ChangeBatch;
use super::lease::LeaseBatch;
use super::produce::ProduceBatch;
use super::{Answers, Partition, answer_all, split};
use crate::queue::message::{Change as Request, Report, Work};
use crate::reply::{Leased, Produced};
use crate::store::{Change, Turn, Turned};
use crate::{ItemId, StoreError};

/// What one write carries. No item is in two parts of it.
#[derive(Debug, Default)]
pub(super) struct TurnBatch {
    pub(super) produce: Option<ProduceBatch>,
    pub(super) lease: Option<LeaseBatch>,
    pub(super) change: Option<ChangeBatch>,
}

/// What is to be said once the router knows.
#[derive(Default)]
pub(super) struct Settled {
    pub(super) report: Report,
    pub(super) produced: Answers<Produced>,
    pub(super) leased: Answers<Leased>,
    pub(super) changed: Answers<Option<Timestamp>>,
    /// Items that are to be buried.
    pub(super) dying: Vec<ItemId>,
}

impl TurnBatch {
    fn is_empty(&self) -> bool {
        self.produce.is_none() && self.lease.is_none() && self.change.is_none()
    }

    /// Every id that tells what became of it.
    pub(super) fn ids(&self) -> Vec<ItemId> {
        let produced = self.produce.iter().map(ProduceBatch::witness);
        let leased = self.lease.iter().flat_map(|lease| lease.picks.iter().map(|pick| pick.id));
        let changed = self.change.iter().flat_map(ChangeBatch::ids);
        produced.chain(leased).chain(changed).collect()
    }

    /// Splits off the requests about items that are produced or leased in this very write. Nobody was told that they
    /// hold them, but ids can be guessed, and items be listed.
    fn split_by_items(&self, requests: Vec<Request>) -> (Vec<Request>, Vec<Request>) {
        // No id that was drawn before is larger.
        let first_new = self.produce.as_ref().map_or(ItemId::MAX, ProduceBatch::witness);
        let picks = self.lease.iter().flat_map(|lease| &lease.picks);
        let picked: HashSet<ItemId> = picks.map(|pick| pick.id).collect();
        split(requests, |request| !request.ids.good.iter().any(|id| *id >= first_new || picked.contains(id)))
    }
}

impl Partition {
    /// A lease that came with a produce gets of its items what older ones leave open.
    pub(super) async fn turn(&mut self) {
        let Work { produces, leases, changes } = self.inbox.take_turn(&self.store.write_max());
        let mut produce = self.plan_produce(produces);
        let items = produce.as_mut().map_or(&mut [][..], |batch| &mut batch.items[..]);
        let lease = self.plan_lease(leases, items).await;
        let mut batch = TurnBatch { produce, lease, change: None };
        let (now, later) = batch.split_by_items(self.take_changes(changes));
        let (change, mut waiting) = self.plan_change(now).await;
        batch.change = change;
        self.write_turn(batch).await;
        waiting.extend(later);
        while !waiting.is_empty() {
            let (change, still_waiting) = self.plan_change(waiting).await;
            self.write_turn(TurnBatch { change, ..TurnBatch::default() }).await;
            waiting = still_waiting;
        }
    }

    async fn write_turn(&mut self, batch: TurnBatch) {
        if batch.is_empty() {
            return;
        }
        if !self.health.is_well() {
            let source = "what had to be looked at before could not be".into();
            return self.undo(batch, &StoreError::Unavailable { operation: "turn", source }).await;
        }
        let turned = self.write(&batch).await;
        let mut settled = Settled::default();
        let (rest, error) = self.settle_written(batch, turned, &mut settled);
        self.tell(settled).await;
        if let Some(error) = error {
            self.failed(&error, rest).await;
        }
    }

    async fn write(&mut self, batch: &TurnBatch) -> Turned {
        let changes = batch.change.as_ref().map_or(&[][..], |change| &change.changes);
        let requests: Vec<&[Change]> = changes.iter().map(Vec::as_slice).collect();
        let turn = Turn {
            items: batch.produce.as_ref().map_or(&[], |produce| &produce.items),
            picks: batch.lease.as_ref().map_or(&[], |lease| &lease.picks),
            requests: &requests,
        };
        self.store.turn(&turn).await
    }

    /// Takes in what is done. Returns what is not, and why.
    fn settle_written(
        &mut self,
        batch: TurnBatch,
        turned: Turned,
        settled: &mut Settled,
    ) -> (TurnBatch, Option<StoreError>) {
        let TurnBatch { produce, mut lease, change } = batch;
        let Turned { placements, leased, verdicts, error } = turned;
        let mut rest = TurnBatch::default();
        let mut is_written = false;
        if let Some(produce) = produce {
            if placements.is_some() {
                is_written = true;
                self.count_produced(&produce.items);
                let direct = self.settle_produce(produce, settled);
                if let Some(lease) = &mut lease {
                    lease.direct = direct;
                }
            } else {
                rest.produce = Some(produce);
            }
        }
        if let Some(lease) = lease {
            // Without picks it is about produced items alone, and these are stored or not.
            match if lease.picks.is_empty() { rest.produce.is_none().then(Vec::new) } else { leased } {
                Some(items) => {
                    is_written = true;
                    self.count_leased(&items);
                    self.settle_lease(lease, items, settled);
                }
                None => rest.lease = Some(lease),
            }
        }
        if let Some(change) = change {
            match verdicts {
                Some(verdicts) => {
                    is_written = true;
                    self.count_changed(&change, &verdicts);
                    self.settle_change(change, verdicts, settled);
                }
                None => rest.change = Some(change),
            }
        }
        if is_written {
            self.strikes = 0;
        }
        (rest, error)
    }

    /// Tells the router, answers each request, and buries the dead.
    pub(super) async fn tell(&mut self, settled: Settled) {
        let Settled { report, produced, leased, changed, dying } = settled;
        self.report(report);
        answer_all(produced);
        answer_all(leased);
        answer_all(changed);
        if !dying.is_empty() {
            self.bury(dying).await;
        }
    }
}

//! Completes, retries and extends: what becomes of leased items.
//!
//! All requests of a turn share a write. Completes come first, then retries, then extends; each is judged by itself
//! and happens as a whole or not at all.

use std::collections::{HashMap, HashSet};

use leasehold_core::Timestamp;
use metrics::counter;

use super::health::repeat;
use super::produce::later;
use super::turn::Settled;
use super::{Answers, Partition, answer_all, split};
use crate::call::unknown;
use crate::queue::message::{Change as Request, Fate, Report, Wish};
use crate::store::{Change, Missing, Verdict};
use crate::{Error, Item, ItemId, ItemState, Refusal, StoreError};

/// Changes of leased items.
#[derive(Debug)]
pub(super) struct ChangeBatch {
    requests: Vec<Request>,
    /// What each asks of the store.
    pub(super) changes: Vec<Vec<Change>>,
    /// Whether all items of each were surely held before.
    were_held: Vec<bool>,
}

/// What is known of a request whose answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    Happened,
    DidNotHappen,
    /// Its items are gone, and may have been so before.
    Unknown,
}

impl Partition {
    /// Takes the requests whose callers still wait, in the order in which they are judged.
    pub(super) fn take_changes(&mut self, requests: Vec<Request>) -> Vec<Request> {
        let (mut requests, abandoned) = split(requests, |request| request.call.take());
        self.report_changes(abandoned.len());
        requests.sort_by_key(|request| match request.wish {
            Wish::Complete => 0,
            Wish::Retry(_) => 1,
            Wish::Extend(_) => 2,
        });
        requests
    }

    /// What is to be written, if anything, and the requests that have to wait for what that does.
    pub(super) async fn plan_change(
        &mut self,
        requests: Vec<Request>,
    ) -> (Option<ChangeBatch>, Vec<Request>) {
        let requests = self.judge_unsound(requests).await;
        if requests.is_empty() {
            return (None, requests);
        }
        let spent = match self.spent(&requests).await {
            Ok(spent) => spent,
            Err(error) => {
                self.mark_failed(&error);
                self.refuse_changes(requests);
                return (None, Vec::new());
            }
        };
        let (requests, waiting) = self.split_by_death(requests, &spent);
        let now = self.now();
        let changes: Vec<Vec<Change>> =
            requests.iter().map(|request| self.changes(request, &spent, now)).collect();
        let is_held = |changes: &Vec<Change>| changes.iter().all(|change| self.held.knows(change.id()));
        let were_held = changes.iter().map(is_held).collect();
        (Some(ChangeBatch { requests, changes, were_held }), waiting)
    }

    /// Answers the requests that cannot be right, and all of them if the partition is failing. Returns the others.
    async fn judge_unsound(&mut self, requests: Vec<Request>) -> Vec<Request> {
        let requests = self.refuse_too_many(requests);
        let dying = &self.dying;
        let is_sound = |request: &mut Request| {
            request.ids.malformed.is_none()
                && !request.ids.good.iter().any(|id| dying.holds(id))
                && !(matches!(request.wish, Wish::Retry(_)) && has_repeated(&request.ids.good))
        };
        let (requests, unsound) = split(requests, is_sound);
        if !unsound.is_empty() && self.health.is_well() {
            self.judge(unsound).await;
        } else {
            self.refuse_changes(unsound);
        }
        if self.health.is_well() {
            return requests;
        }
        self.refuse_changes(requests);
        Vec::new()
    }

    /// Refuses what the store cannot change as a whole.
    fn refuse_too_many(&mut self, requests: Vec<Request>) -> Vec<Request> {
        let limit = self.store.write_max().items;
        let (requests, too_many) = split(requests, |request| request.ids.good.len() <= limit);
        self.report_changes(too_many.len());
        for request in too_many {
            let received = request.ids.good.len();
            let refusal = Refusal::StoreLimit { unit: "items", limit, received };
            request.call.answer(Err(refusal.into()));
        }
        requests
    }

    /// Splits off requests about items that an earlier one declares dead. To the store these are still held until they
    /// have moved; here nobody holds them once that is written.
    fn split_by_death(
        &self,
        requests: Vec<Request>,
        spent: &HashSet<ItemId>,
    ) -> (Vec<Request>, Vec<Request>) {
        if requests.len() == 1 || self.info.options.dead_queue.is_none() {
            return (requests, Vec::new());
        }
        let mut dead = HashSet::new();
        split(requests, |request| {
            let is_free = dead.is_empty() || !request.ids.good.iter().any(|id| dead.contains(id));
            if is_free && let Wish::Retry(fates) = &request.wish {
                let ids = request.ids.good.iter().zip(fates);
                let dies = |(id, fate): &(&ItemId, &Fate)| matches!(fate, Fate::Dead) || spent.contains(*id);
                dead.extend(ids.filter(dies).map(|(id, _)| *id));
            }
            is_free
        })
    }

    /// Which of the items to be retried have had their last attempt. Asks the store only if attempts are limited.
    async fn spent(&mut self, requests: &[Request]) -> crate::store::Result<HashSet<ItemId>> {
        let max_attempts = i64::from(self.info.options.max_attempts);
        let retried = |request: &&Request| matches!(request.wish, Wish::Retry(_));
        let ids: Vec<ItemId> =
            requests.iter().filter(retried).flat_map(|request| request.ids.good.iter().copied()).collect();
        if max_attempts == 0 || ids.is_empty() {
            return Ok(HashSet::new());
        }
        let items = self.store.fetch(&ids).await?;
        let is_spent = |item: &Item| i64::from(item.attempts) >= max_attempts;
        Ok(items.iter().filter(|item| is_spent(item)).map(|item| item.id).collect())
    }

    fn changes(&mut self, request: &Request, spent: &HashSet<ItemId>, now: Timestamp) -> Vec<Change> {
        let ids = request.ids.good.iter().copied();
        let options = &self.info.options;
        match &request.wish {
            Wish::Complete => ids.map(|id| Change::Complete { id }).collect(),
            Wish::Extend(timeout) => {
                let deadline = now.saturating_add(timeout.unwrap_or(options.lease_timeout));
                ids.map(|id| Change::Extend { id, deadline }).collect()
            }
            Wish::Retry(fates) => {
                let item_ids = &mut self.ids;
                let has_dead_queue = options.dead_queue.is_some();
                // An instant that is past: an item expires strictly after its deadline.
                let died_at = now.saturating_sub(std::time::Duration::from_micros(1));
                ids.zip(fates)
                    .map(|(id, fate)| match fate {
                        Fate::At(at) if !spent.contains(&id) => match later(*at, now) {
                            Some(at) => Change::Schedule { id, at },
                            None => Change::Return { id, new_id: item_ids.next() },
                        },
                        _ if has_dead_queue => Change::Expire { id, at: died_at },
                        _ => Change::Complete { id },
                    })
                    .collect()
            }
        }
    }

    /// Counts what the requests that were carried out did.
    pub(super) fn count_changed(&mut self, batch: &ChangeBatch, verdicts: &[Verdict]) {
        let counts = &mut self.counts;
        let done = batch.changes.iter().zip(verdicts).filter(|(_, verdict)| **verdict == Verdict::Done);
        for change in done.flat_map(|(changes, _)| changes) {
            match *change {
                Change::Complete { .. } => counts.leased = counts.leased.saturating_sub(1),
                Change::Return { .. } => {
                    counts.leased = counts.leased.saturating_sub(1);
                    counts.ready += 1;
                }
                Change::Schedule { .. } => {
                    counts.leased = counts.leased.saturating_sub(1);
                    counts.scheduled += 1;
                }
                Change::Expire { .. } | Change::Extend { .. } => {}
            }
        }
    }

    /// The store has judged each request.
    pub(super) fn settle_change(
        &mut self,
        batch: ChangeBatch,
        verdicts: Vec<Verdict>,
        settled: &mut Settled,
    ) {
        settled.report.changes_done += batch.len();
        for ((request, changes), verdict) in batch.requests.into_iter().zip(batch.changes).zip(verdicts) {
            let answer = match verdict {
                Verdict::Done => Ok(self.done(&request.wish, &changes, &mut settled.dying)),
                Verdict::Refused { id, missing } => Err(refused(id, missing, &request.wish)),
            };
            settled.changed.push((request.call, answer));
        }
    }

    /// Notes what was done; the new deadline of an extended lease.
    fn done(&mut self, wish: &Wish, changes: &[Change], dying: &mut Vec<ItemId>) -> Option<Timestamp> {
        let mut deadline = None;
        let (mut retried, mut dead) = (0_u64, 0_u64);
        for change in changes {
            if !matches!(change, Change::Extend { .. }) {
                self.held.remove([change.id()]);
            }
            match *change {
                // Without a dead queue the dead are deleted.
                Change::Complete { .. } if matches!(wish, Wish::Retry(_)) => dead += 1,
                Change::Complete { .. } => {
                    self.totals.completed += 1;
                }
                Change::Return { .. } => retried += 1,
                Change::Schedule { at, .. } => {
                    retried += 1;
                    self.expect_schedule(at);
                }
                Change::Expire { id, .. } => dying.push(id),
                Change::Extend { deadline: at, .. } => {
                    deadline = Some(at);
                    self.expect_lease(deadline);
                }
            }
        }
        self.totals.retried += retried;
        self.totals.dead += dead;
        if matches!(wish, Wish::Complete) {
            let completed = super::count(changes.len());
            counter!("leasehold_queue_items_total", "event" => "completed").increment(completed);
        }
        counter!("leasehold_queue_items_total", "event" => "retried").increment(retried);
        counter!("leasehold_queue_items_total", "event" => "dead").increment(dead);
        deadline
    }

    /// Requests with an id that cannot be right: nothing is changed, and the first bad id decides the answer.
    async fn judge(&mut self, requests: Vec<Request>) {
        let ids: Vec<ItemId> = requests.iter().flat_map(|request| request.ids.good.iter().copied()).collect();
        let found = if ids.is_empty() { Ok(Vec::new()) } else { self.store.fetch(&ids).await };
        let items = match found {
            Ok(items) => items,
            Err(error) => {
                self.mark_failed(&error);
                return self.refuse_changes(requests);
            }
        };
        let items: HashMap<ItemId, Item> = items.into_iter().map(|item| (item.id, item)).collect();
        let answers: Answers<Option<Timestamp>> = requests
            .into_iter()
            .map(|request| {
                let error = self.first_error(&request, &items);
                (request.call, Err(error))
            })
            .collect();
        self.report_changes(answers.len());
        answer_all(answers);
    }

    fn first_error(&self, request: &Request, items: &HashMap<ItemId, Item>) -> Error {
        let ends = !matches!(request.wish, Wish::Extend(_));
        let mut ended = HashSet::new();
        for id in &request.ids.good {
            let is_gone = self.dying.holds(id) || (ends && !ended.insert(*id));
            let item = items.get(id).filter(|_| !is_gone);
            match item.map(Item::state) {
                None | Some(ItemState::Scheduled) => return refused(*id, Missing::Item, &request.wish),
                Some(ItemState::Ready) => return refused(*id, Missing::Lease, &request.wish),
                Some(ItemState::Leased) => {}
            }
        }
        match &request.ids.malformed {
            Some(refusal) => refusal.clone().into(),
            // What was dying has been cleared away meanwhile.
            None => Error::PartitionFailing { partition: self.id.number },
        }
    }

    fn refuse_changes(&mut self, requests: Vec<Request>) {
        self.report_changes(requests.len());
        for request in requests {
            request.call.answer(Err(Error::PartitionFailing { partition: self.id.number }));
        }
    }

    fn report_changes(&mut self, changes_done: usize) {
        if changes_done > 0 {
            self.report(Report { changes_done, ..Report::default() });
        }
    }
}

impl ChangeBatch {
    /// Every id that tells whether the changes happened.
    pub(super) fn ids(&self) -> Vec<ItemId> {
        let ids = self.changes.iter().flatten().map(|change| match *change {
            Change::Return { new_id, .. } => new_id,
            _ => change.id(),
        });
        ids.collect()
    }

    /// What has become of each request, to go by what is stored now. All of its changes happened, or none.
    pub(super) fn lost(&self, items: &HashMap<ItemId, Item>) -> Vec<Lost> {
        let lost = |(changes, were_held): (&Vec<Change>, &bool)| {
            let happened = changes.iter().all(|change| has_happened(change, items));
            let is_proven = changes.iter().any(|change| !matches!(change, Change::Complete { .. }));
            match (happened, is_proven || *were_held) {
                (false, _) => Lost::DidNotHappen,
                (true, true) => Lost::Happened,
                (true, false) => Lost::Unknown,
            }
        };
        self.changes.iter().zip(&self.were_held).map(lost).collect()
    }

    /// Splits off the requests of one fate.
    pub(super) fn split_off(&mut self, lost: &mut Vec<Lost>, fate: Lost) -> Self {
        let mut off = ChangeBatch { requests: Vec::new(), changes: Vec::new(), were_held: Vec::new() };
        let mut rest = ChangeBatch { requests: Vec::new(), changes: Vec::new(), were_held: Vec::new() };
        let mut rest_lost = Vec::new();
        let all = self.requests.drain(..).zip(self.changes.drain(..)).zip(self.were_held.drain(..));
        for (((request, changes), were_held), one) in all.zip(lost.drain(..)) {
            let side = if one == fate { &mut off } else { &mut rest };
            side.requests.push(request);
            side.changes.push(changes);
            side.were_held.push(were_held);
            if one != fate {
                rest_lost.push(one);
            }
        }
        *self = rest;
        *lost = rest_lost;
        off
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Nothing was changed. Unlike produces and leases these have no other partition to go to.
    pub(super) fn undo(self, error: &StoreError, settled: &mut Settled) {
        self.fail(settled, |wish| repeat(error, wish.operation()));
    }

    /// Nobody can say any more whether it happened.
    pub(super) fn give_up(self, settled: &mut Settled) {
        self.fail(settled, |wish| unknown(wish.operation(), "the answer of the store was lost"));
    }

    fn fail(self, settled: &mut Settled, error: impl Fn(&Wish) -> Error) {
        settled.report.changes_done += self.len();
        settled.changed.extend(self.requests.into_iter().map(|request| {
            let error = error(&request.wish);
            (request.call, Err(error))
        }));
    }
}

fn has_repeated(ids: &[ItemId]) -> bool {
    let mut seen = HashSet::with_capacity(ids.len());
    ids.len() > 1 && !ids.iter().all(|id| seen.insert(*id))
}

fn has_happened(change: &Change, items: &HashMap<ItemId, Item>) -> bool {
    match *change {
        Change::Complete { id } => !items.contains_key(&id),
        Change::Return { new_id, .. } => items.contains_key(&new_id),
        Change::Schedule { id, at } => items.get(&id).is_some_and(|item| item.enqueue_at == Some(at)),
        Change::Expire { id, at } => items.get(&id).is_some_and(|item| item.expire_deadline == at),
        Change::Extend { id, deadline } => {
            items.get(&id).is_some_and(|item| item.is_leased && item.lease_deadline == Some(deadline))
        }
    }
}

fn refused(id: ItemId, missing: Missing, wish: &Wish) -> Error {
    match missing {
        Missing::Item => Error::ItemNotFound { id },
        Missing::Lease => Error::NotLeased { verb: wish.past_tense(), id },
    }
}

//! Completes, retries and extends: what becomes of leased items.
//!
//! All requests of a turn share one write. Completes come first, then retries, then extends; each is judged by itself
//! and happens as a whole or not at all.

use std::collections::{HashMap, HashSet};

use leasehold_core::Timestamp;
use metrics::counter;

use super::health::repeat;
use super::produce::later;
use super::recover::Unsettled;
use super::{Answers, Partition, answer_all, split};
use crate::call::unknown;
use crate::queue::message::{Change as Request, Fate, Report, Wish};
use crate::store::{Change, ItemHeader, Missing, Verdict};
use crate::{Error, ItemId, ItemState, Refusal, StoreError};

/// A write of changes.
#[derive(Debug)]
pub(super) struct ChangeBatch {
    requests: Vec<Request>,
    /// What each asks of the store.
    changes: Vec<Vec<Change>>,
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
    /// Changes leased items as the requests say.
    pub(super) async fn change(&mut self, requests: Vec<Request>) {
        if requests.is_empty() {
            return;
        }
        let (mut requests, abandoned) = split(requests, |request| request.call.take());
        self.report_changes(abandoned.len());
        requests.sort_by_key(|request| match request.wish {
            Wish::Complete => 0,
            Wish::Retry(_) => 1,
            Wish::Extend(_) => 2,
        });
        while !requests.is_empty() {
            requests = self.change_some(requests).await;
        }
    }

    /// Returns those that have to wait for what the others do.
    async fn change_some(&mut self, requests: Vec<Request>) -> Vec<Request> {
        if !self.health.is_well() {
            self.refuse_changes(requests);
            return Vec::new();
        }
        let requests = self.refuse_too_many(requests);
        let dying = &self.dying;
        let is_sound = |request: &mut Request| {
            request.ids.malformed.is_none()
                && !request.ids.good.iter().any(|id| dying.holds(id))
                && !(matches!(request.wish, Wish::Retry(_)) && has_repeated(&request.ids.good))
        };
        let (requests, unsound) = split(requests, is_sound);
        if !unsound.is_empty() {
            self.judge(unsound).await;
        }
        self.write_changes(requests).await
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

    async fn write_changes(&mut self, requests: Vec<Request>) -> Vec<Request> {
        if requests.is_empty() {
            return requests;
        }
        let spent = match self.spent(&requests).await {
            Ok(spent) => spent,
            Err(error) => {
                self.read_failed(&error);
                self.refuse_failed(requests, &error);
                return Vec::new();
            }
        };
        let (requests, waiting) = self.split_by_death(requests, &spent);
        let now = self.now();
        let changes: Vec<Vec<Change>> =
            requests.iter().map(|request| self.changes(request, &spent, now)).collect();
        let slices: Vec<&[Change]> = changes.iter().map(Vec::as_slice).collect();
        let outcome = self.store.change(&slices).await;
        let is_held = |changes: &Vec<Change>| changes.iter().all(|change| self.held.knows(change.id()));
        let were_held = changes.iter().map(is_held).collect();
        let batch = ChangeBatch { requests, changes, were_held };
        match outcome {
            Ok(verdicts) => {
                self.strikes = 0;
                self.limits.change.double();
                for (changes, verdict) in batch.changes.iter().zip(&verdicts) {
                    if *verdict == Verdict::Done {
                        self.count_changes(changes);
                    }
                }
                self.settle_change(batch, verdicts).await;
            }
            Err(error) => self.failed(&error, Unsettled::Change(batch)).await,
        }
        waiting
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
        let headers = self.store.headers(&ids).await?;
        let is_spent = |header: &&ItemHeader| i64::from(header.attempts) >= max_attempts;
        Ok(headers.iter().filter(is_spent).map(|header| header.id).collect())
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

    fn count_changes(&mut self, changes: &[Change]) {
        let counts = &mut self.counts;
        for change in changes {
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

    /// The store has judged each request: answers everyone, and buries the dead.
    pub(super) async fn settle_change(&mut self, batch: ChangeBatch, verdicts: Vec<Verdict>) {
        let mut answers: Answers<Option<Timestamp>> = Vec::with_capacity(verdicts.len());
        let mut dying = Vec::new();
        for ((request, changes), verdict) in batch.requests.into_iter().zip(batch.changes).zip(verdicts) {
            let answer = match verdict {
                Verdict::Done => Ok(self.done(&request.wish, &changes, &mut dying)),
                Verdict::Refused { id, missing } => Err(refused(id, missing, &request.wish)),
            };
            answers.push((request.call, answer));
        }
        self.report_changes(answers.len());
        answer_all(answers);
        if !dying.is_empty() {
            self.bury(dying).await;
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
        let headers = match self.store.headers(&ids).await {
            Ok(headers) => headers,
            Err(error) => {
                self.read_failed(&error);
                return self.refuse_failed(requests, &error);
            }
        };
        let states: HashMap<ItemId, ItemState> =
            headers.into_iter().map(|header| (header.id, header.state)).collect();
        let answers: Answers<Option<Timestamp>> = requests
            .into_iter()
            .map(|request| {
                let error = self.first_error(&request, &states);
                (request.call, Err(error))
            })
            .collect();
        self.report_changes(answers.len());
        answer_all(answers);
    }

    fn first_error(&self, request: &Request, states: &HashMap<ItemId, ItemState>) -> Error {
        let ends = !matches!(request.wish, Wish::Extend(_));
        let mut ended = HashSet::new();
        for id in &request.ids.good {
            let is_gone = self.dying.holds(id) || (ends && !ended.insert(*id));
            match states.get(id).filter(|_| !is_gone) {
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

    /// Nothing was changed. Unlike produces and leases these have no other partition to go to.
    pub(super) fn undo_change(&mut self, batch: ChangeBatch, error: &StoreError) {
        self.refuse_failed(batch.requests, error);
    }

    /// The store failed before anything was changed.
    fn refuse_failed(&mut self, requests: Vec<Request>, error: &StoreError) {
        let answers: Answers<_> = requests
            .into_iter()
            .map(|request| {
                let operation = request.wish.operation();
                (request.call, Err(repeat(error, operation)))
            })
            .collect();
        self.report_changes(answers.len());
        answer_all(answers);
    }

    /// Nobody can say any more whether it happened.
    pub(super) fn give_up_change(&mut self, batch: ChangeBatch, reason: &'static str) {
        self.report_changes(batch.requests.len());
        for request in batch.requests {
            let operation = request.wish.operation();
            request.call.answer(Err(unknown(operation, reason)));
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

    pub(super) fn items(&self) -> usize {
        self.changes.iter().map(Vec::len).sum()
    }

    /// Whether all callers have left.
    pub(super) fn is_unheard(&self) -> bool {
        self.requests.iter().all(|request| request.call.is_unheard())
    }

    /// What has become of each request, to go by what is stored now. All of its changes happened, or none.
    pub(super) fn lost(&self, headers: &HashMap<ItemId, ItemHeader>) -> Vec<Lost> {
        let lost = |(changes, were_held): (&Vec<Change>, &bool)| {
            let happened = changes.iter().all(|change| has_happened(change, headers));
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
}

fn has_repeated(ids: &[ItemId]) -> bool {
    let mut seen = HashSet::with_capacity(ids.len());
    ids.len() > 1 && !ids.iter().all(|id| seen.insert(*id))
}

fn has_happened(change: &Change, headers: &HashMap<ItemId, ItemHeader>) -> bool {
    match *change {
        Change::Complete { id } => !headers.contains_key(&id),
        Change::Return { new_id, .. } => headers.contains_key(&new_id),
        Change::Schedule { id, at } => headers.get(&id).is_some_and(|item| item.enqueue_at == Some(at)),
        Change::Expire { id, at } => headers.get(&id).is_some_and(|item| item.expire_deadline == at),
        Change::Extend { id, deadline } => {
            headers.get(&id).is_some_and(|item| item.is_leased_until(deadline))
        }
    }
}

fn refused(id: ItemId, missing: Missing, wish: &Wish) -> Error {
    match missing {
        Missing::Item => Error::ItemNotFound { id },
        Missing::Lease => Error::NotLeased { verb: wish.past_tense(), id },
    }
}

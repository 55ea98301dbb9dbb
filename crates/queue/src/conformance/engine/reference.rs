//! Two queues as they should be: what the engine is compared with, written apart from it and from every store.

use std::collections::HashSet;
use std::time::Duration;

use leasehold_core::Timestamp;

use crate::store::{Counts, Removed};
use crate::{GivenId, ImportItem, Item, ItemId, NewItem};

/// How late leases are taken back and items die, as the engine under test is told.
pub(super) const DELAY: Duration = Duration::from_millis(20);
const NEAR: Duration = Duration::from_millis(100);

/// An item, and what is not known of it before it is seen.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) item: Item,
    /// It has a new id.
    pub(super) is_new: bool,
    /// It came from the other queue: where among other newcomers, nobody promised.
    pub(super) has_moved: bool,
}

/// What a change of held items asks for one of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Complete,
    Retry(Option<Timestamp>),
    Dead,
    Extend(Timestamp),
}

/// One queue of one partition; everything in it in order of id.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) items: Vec<Kept>,
    pub(super) lease_timeout: Duration,
    pub(super) expire_timeout: Duration,
    pub(super) max_attempts: i32,
    pub(super) has_dead_queue: bool,
}

impl Reference {
    pub(super) fn produce(&mut self, new: &[NewItem], ids: &[ItemId], now: Timestamp) {
        for (new, id) in new.iter().zip(ids) {
            self.place(Item {
                id: *id,
                source_id: None,
                is_leased: false,
                lease_deadline: None,
                expire_deadline: now.saturating_add(self.expire_timeout),
                enqueue_at: later(new.enqueue_at, now),
                created_at: now,
                attempts: 0,
                max_attempts: 0,
                reference: new.reference.clone(),
                encoding: new.encoding.clone(),
                kind: new.kind.clone(),
                payload: new.payload.clone(),
            });
        }
    }

    /// What the import is answered; the ids of what is stored are the engine's to choose.
    pub(super) fn import(&mut self, given: &[ImportItem], ids: &[ItemId], now: Timestamp) -> Vec<Item> {
        let mut answer = Vec::new();
        for (given, id) in given.iter().zip(ids) {
            let item = Item {
                id: *id,
                source_id: given.source_id.clone(),
                is_leased: given.is_leased,
                lease_deadline: Some(given.lease_deadline.unwrap_or(Timestamp::EPOCH)),
                expire_deadline: given.expire_deadline.unwrap_or(Timestamp::EPOCH),
                enqueue_at: None,
                created_at: now,
                attempts: given.attempts,
                max_attempts: given.max_attempts,
                reference: given.reference.clone(),
                encoding: given.encoding.clone(),
                kind: given.kind.clone(),
                payload: given.payload.clone(),
            };
            let source = item.source_id.as_ref();
            let known =
                self.items.iter().find(|kept| source.is_some() && kept.item.source_id.as_ref() == source);
            match known.map(|kept| kept.item.id) {
                Some(id) => answer.push(Item { id, ..item }),
                None => {
                    self.place(item.clone());
                    answer.push(item);
                }
            }
        }
        answer
    }

    fn place(&mut self, item: Item) {
        self.items.push(Kept { item, is_new: false, has_moved: false });
    }

    /// The items of the lease, as they are then.
    pub(super) fn lease(
        &mut self,
        batch_size: usize,
        timeout: Option<Duration>,
        now: Timestamp,
    ) -> Vec<Item> {
        let deadline = now.saturating_add(timeout.unwrap_or(self.lease_timeout));
        let is_ready = |item: &Item| !item.is_leased && item.enqueue_at.is_none() && !is_over(item, now);
        let ready = self.items.iter_mut().map(|kept| &mut kept.item).filter(|item| is_ready(item));
        let lease = |item: &mut Item| {
            (item.is_leased, item.lease_deadline) = (true, Some(deadline));
            item.attempts += 1;
            item.clone()
        };
        ready.take(batch_size).map(lease).collect()
    }

    /// The words of the refusal, or else what has died.
    pub(super) fn change(
        &mut self,
        verb: &str,
        changes: &[(GivenId, Fate)],
        now: Timestamp,
    ) -> Result<Vec<Kept>, String> {
        let mut gone = HashSet::new();
        let mut parsed = Vec::new();
        for (id, fate) in changes {
            let id = id.clone().parsed().map_err(|refusal| refusal.to_string())?;
            match self.items.iter().find(|kept| kept.item.id == id && kept.item.enqueue_at.is_none()) {
                Some(kept) if !gone.contains(&id) => {
                    if !kept.item.is_leased {
                        return Err(format!("item(s) cannot be {verb}; '{id}' is not marked as leased"));
                    }
                }
                _ => return Err(format!("invalid storage id; '{id}' does not exist")),
            }
            if !matches!(fate, Fate::Extend(_)) {
                gone.insert(id);
            }
            parsed.push((id, *fate));
        }
        let mut dead = Vec::new();
        for (id, fate) in parsed {
            let at = self.items.iter().position(|kept| kept.item.id == id).expect("it was found");
            let item = &mut self.items[at].item;
            let is_spent = self.max_attempts > 0 && item.attempts >= self.max_attempts;
            match fate {
                Fate::Complete => drop(self.items.remove(at)),
                Fate::Extend(deadline) => item.lease_deadline = Some(deadline),
                Fate::Retry(retry_at) if !is_spent => match later(retry_at, now) {
                    Some(later) => {
                        (item.is_leased, item.lease_deadline, item.enqueue_at) = (false, None, Some(later));
                    }
                    None => self.requeue(at),
                },
                Fate::Retry(_) | Fate::Dead => dead.push(self.items.remove(at)),
            }
        }
        Ok(dead)
    }

    /// To the tail, under an id that is not known yet.
    fn requeue(&mut self, at: usize) {
        let Kept { item, .. } = self.items.remove(at);
        let item = Item { id: ItemId::MIN, is_leased: false, lease_deadline: None, enqueue_at: None, ..item };
        self.items.push(Kept { item, is_new: true, has_moved: false });
    }

    /// What time has done by now; returns the dead.
    pub(super) fn live(&mut self, now: Timestamp) -> Vec<Kept> {
        let settled = now.saturating_sub(DELAY);
        let max_attempts = self.max_attempts;
        let is_over_lease =
            |item: &Item| item.is_leased && item.lease_deadline.is_some_and(|deadline| deadline < settled);
        let dies = |item: &Item| {
            item.enqueue_at.is_none()
                && (is_over(item, settled)
                    || is_over_lease(item) && max_attempts > 0 && item.attempts >= max_attempts)
        };
        let mut dead: Vec<Kept> = self.items.extract_if(.., |kept| dies(&kept.item)).collect();
        let is_due = |item: &Item| item.enqueue_at.filter(|at| *at <= now);
        self.requeue_all(is_due);
        self.requeue_all(|item| item.lease_deadline.filter(|_| is_over_lease(item)));
        // A scheduled item does not die before its time, and then at once.
        dead.extend(self.items.extract_if(.., |kept| dies(&kept.item)));
        dead
    }

    /// Those that are due, the longest due first.
    fn requeue_all(&mut self, since: impl Fn(&Item) -> Option<Timestamp>) {
        let mut due: Vec<(Timestamp, ItemId)> =
            self.items.iter().filter_map(|kept| Some((since(&kept.item)?, kept.item.id))).collect();
        due.sort_unstable();
        for (_, id) in due {
            let at = self.items.iter().position(|kept| kept.item.id == id).expect("it was found");
            self.requeue(at);
        }
    }

    /// Takes the dead of the other queue.
    pub(super) fn bury(&mut self, dead: Vec<Kept>, now: Timestamp) {
        for Kept { item, is_new, .. } in dead {
            let source_id = (!is_new).then(|| item.id.to_string());
            let item = Item {
                id: ItemId::MIN,
                source_id,
                is_leased: false,
                lease_deadline: None,
                expire_deadline: now.saturating_add(self.expire_timeout),
                enqueue_at: None,
                created_at: now,
                attempts: 0,
                ..item
            };
            self.items.push(Kept { item, is_new: true, has_moved: true });
        }
    }

    pub(super) fn remove(&mut self, is_meant: impl Fn(&Item) -> bool) -> Removed {
        let gone: Vec<Kept> = self.items.extract_if(.., |kept| is_meant(&kept.item)).collect();
        let counts = count(&gone);
        Removed { ready: counts.ready, leased: counts.leased, scheduled: counts.scheduled }
    }

    pub(super) fn counts(&self) -> Counts {
        count(&self.items)
    }

    /// The mean age of what is not scheduled, and the mean time left of what is leased.
    pub(super) fn averages(&self, now: Timestamp) -> (Duration, Duration) {
        let mean = |values: Vec<i64>| {
            let len = i64::try_from(values.len()).expect("fits").max(1);
            Duration::from_micros(u64::try_from(values.iter().sum::<i64>() / len).unwrap_or(0))
        };
        let here = || self.items.iter().map(|kept| &kept.item).filter(|item| item.enqueue_at.is_none());
        let ages = here().map(|item| now.as_micros() - item.created_at.as_micros());
        let left = here()
            .filter(|item| item.is_leased)
            .map(|item| item.lease_deadline.map_or(0, |deadline| deadline.as_micros() - now.as_micros()));
        (mean(ages.collect()), mean(left.collect()))
    }

    /// Every instant at which something may happen.
    pub(super) fn instants(&self) -> Vec<Timestamp> {
        let of = |kept: &Kept| {
            let Item { lease_deadline, expire_deadline, enqueue_at, .. } = kept.item;
            [lease_deadline, Some(expire_deadline), enqueue_at]
        };
        self.items.iter().flat_map(of).flatten().collect()
    }
}

fn count(items: &[Kept]) -> Counts {
    let mut counts = Counts::default();
    for Kept { item, .. } in items {
        match (item.enqueue_at, item.is_leased) {
            (Some(_), _) => counts.scheduled += 1,
            (None, true) => counts.leased += 1,
            (None, false) => counts.ready += 1,
        }
    }
    counts
}

fn later(at: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    at.filter(|at| *at >= now.saturating_add(NEAR))
}

/// Strictly after its deadline; an import without one never dies.
fn is_over(item: &Item, now: Timestamp) -> bool {
    item.expire_deadline != Timestamp::EPOCH && now > item.expire_deadline
}

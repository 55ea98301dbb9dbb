//! A request on its way through the engine, and the caller who waits for its answer.
//!
//! A request is *queued* until the owner of a partition takes it into a write. Until then the caller may give up and
//! knows that nothing happened; afterwards it waits for the truth.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use leasehold_core::Deadline;
use tokio::sync::oneshot;

use crate::{Error, Result, StoreError};

const QUEUED: u8 = 0;
const TAKEN: u8 = 1;
const ABANDONED: u8 = 2;

/// Where a request is; shared by the caller and whoever has the request.
#[derive(Debug)]
struct Ticket(AtomicU8);

impl Ticket {
    fn turn(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// A share of something limited: a place among waiting requests, or bytes of memory. Dropping it makes room.
#[derive(Debug)]
pub(crate) struct Slot {
    used: Arc<AtomicUsize>,
    amount: usize,
}

impl Slot {
    /// So much of it, unless too much is in use. Whoever is alone gets what it needs.
    pub(crate) fn of(used: &Arc<AtomicUsize>, amount: usize, limit: usize) -> Option<Self> {
        let slot = Slot { used: used.clone(), amount };
        let before = used.fetch_add(amount, Ordering::AcqRel);
        (before == 0 || before.saturating_add(amount) <= limit).then_some(slot)
    }

    /// As much of it as is free, at most `wanted`. Whoever is alone gets at least `least`.
    pub(crate) fn up_to(used: &Arc<AtomicUsize>, wanted: usize, least: usize, limit: usize) -> Self {
        let mut amount = 0;
        let taken = used.fetch_update(Ordering::AcqRel, Ordering::Acquire, |before| {
            amount = wanted.min(limit.saturating_sub(before));
            if before == 0 {
                amount = amount.max(least);
            }
            Some(before + amount)
        });
        taken.expect("there is always a next value");
        Slot { used: used.clone(), amount }
    }

    /// A part of it, for another to drop.
    pub(crate) fn split(&mut self, amount: usize) -> Self {
        self.amount = self.amount.checked_sub(amount).expect("no part is larger than the whole");
        Slot { used: self.used.clone(), amount }
    }

    pub(crate) fn amount(&self) -> usize {
        self.amount
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.used.fetch_sub(self.amount, Ordering::AcqRel);
    }
}

/// The engine's end of a request.
#[derive(Debug)]
pub(crate) struct Call<T> {
    /// Its place among all requests of the queue.
    pub(crate) number: u64,
    deadline: Deadline,
    ticket: Arc<Ticket>,
    reply: oneshot::Sender<Result<T>>,
    slot: Option<Slot>,
}

impl<T> Call<T> {
    pub(crate) fn new(number: u64, deadline: Deadline, slot: Slot) -> (Self, Pending<T>) {
        let ticket = Arc::new(Ticket(AtomicU8::new(QUEUED)));
        let (reply, receiver) = oneshot::channel();
        let pending = Pending { deadline, ticket: ticket.clone(), receiver };
        (Call { number, deadline, ticket, reply, slot: Some(slot) }, pending)
    }

    /// Whether the caller gave up.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.ticket.0.load(Ordering::Acquire) == ABANDONED
    }

    /// Whether the caller has left.
    pub(crate) fn is_unheard(&self) -> bool {
        self.reply.is_closed()
    }

    /// Makes room for another request while this one waits.
    pub(crate) fn free_slot(&mut self) {
        self.slot = None;
    }

    /// Takes the request into a write; false if its caller has given up.
    pub(crate) fn take(&mut self) -> bool {
        self.slot = None;
        self.ticket.turn(QUEUED, TAKEN)
    }

    /// Nothing happened, it may be tried elsewhere; false if there is no time left for that, and the caller waits
    /// for an answer now, or is gone: done later, it would be done for nobody.
    pub(crate) fn put_back(&mut self) -> bool {
        self.ticket.turn(TAKEN, QUEUED);
        if self.reply.is_closed() || self.is_past(Instant::now()) {
            self.ticket.turn(QUEUED, ABANDONED);
        }
        !self.is_abandoned()
    }

    pub(crate) fn is_past(&self, now: Instant) -> bool {
        self.deadline.is_past(now)
    }

    /// The caller may be gone; then nobody hears it.
    pub(crate) fn answer(self, answer: Result<T>) {
        drop(self.reply.send(answer));
    }
}

/// The caller's end of a request.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    deadline: Deadline,
    ticket: Arc<Ticket>,
    receiver: oneshot::Receiver<Result<T>>,
}

impl<T> Pending<T> {
    /// Waits for the answer until the deadline, and for `grace` longer if the request is being written: only then
    /// is the truth worth more than the time. `late` is the error of a request that nobody took.
    pub(crate) async fn answer(
        &mut self,
        operation: &'static str,
        grace: Duration,
        late: impl FnOnce() -> Error,
    ) -> Result<T> {
        let deadline = tokio::time::Instant::from_std(self.deadline.instant());
        match tokio::time::timeout_at(deadline, &mut self.receiver).await {
            Ok(received) => return received.unwrap_or_else(|_| Err(self.lost(operation))),
            Err(_) if self.abandon() => return Err(late()),
            Err(_) => {}
        }
        match tokio::time::timeout(grace, &mut self.receiver).await {
            Ok(received) => received.unwrap_or_else(|_| Err(self.lost(operation))),
            Err(_) => Err(unknown(operation, "the store has not answered in time")),
        }
    }

    /// Gives up; false if the request is in a write already.
    fn abandon(&self) -> bool {
        self.ticket.turn(QUEUED, ABANDONED) || self.ticket.0.load(Ordering::Acquire) == ABANDONED
    }

    /// Nobody waits any more. Said before the request is abandoned: whoever puts it back after a write then sees one
    /// or the other.
    pub(crate) fn leave(&mut self) {
        self.receiver.close();
        self.abandon();
    }

    /// Nobody has the request any more.
    fn lost(&self, operation: &'static str) -> Error {
        if self.abandon() {
            Error::QueueStopping
        } else {
            unknown(operation, "the owner of the partition was stopped")
        }
    }
}

/// An outcome that nobody knows.
pub(crate) fn unknown(operation: &'static str, reason: &'static str) -> Error {
    Error::Indeterminate { operation, source: StoreError::Indeterminate { operation, source: reason.into() } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(7);

    fn call(timeout: Duration) -> (Call<u32>, Pending<u32>) {
        let slot = Slot::of(&Arc::default(), 1, 1).expect("room for one");
        Call::new(1, Deadline::after(timeout), slot)
    }

    #[test]
    fn slots_are_given_back() {
        let used = Arc::default();
        let first = Slot::of(&used, 1, 2).expect("room for two");
        assert!(Slot::of(&used, 2, 2).is_none());
        assert!(Slot::of(&used, 1, 2).is_some());
        drop(first);
        assert!(Slot::of(&used, 7, 2).is_some(), "alone");
        assert_eq!(used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn slots_take_what_is_free_and_are_given_back_in_parts() {
        let used = Arc::default();
        let mut first = Slot::up_to(&used, 7, 1, 10);
        let rest = Slot::up_to(&used, 7, 5, 10);
        assert_eq!((first.amount(), rest.amount()), (7, 3), "the least is for those who are alone");
        assert_eq!(Slot::up_to(&used, 1, 1, 10).amount(), 0);
        let part = first.split(4);
        drop(first);
        assert_eq!(Slot::up_to(&used, 9, 0, 10).amount(), 3);
        drop((part, rest));
        assert_eq!(used.load(Ordering::Relaxed), 0);
        assert_eq!(Slot::up_to(&used, 99, 12, 10).amount(), 12, "alone");
        assert_eq!(used.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn request_nobody_took_times_out_as_not_done_and_cannot_be_taken_later() {
        let (mut call, mut pending) = call(Duration::from_secs(1));
        let answer = pending.answer("test", GRACE, || Error::LeaseTimeout).await;
        assert!(matches!(answer, Err(Error::LeaseTimeout)));
        assert!(!call.take());
    }

    #[tokio::test(start_paused = true)]
    async fn request_in_a_write_waits_for_the_truth_and_then_says_it_is_unknown() {
        let (mut call, mut pending) = call(Duration::from_secs(1));
        assert!(call.take());
        let answer = pending.answer("test", GRACE, || Error::LeaseTimeout).await;
        assert!(matches!(answer, Err(Error::Indeterminate { operation: "test", .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn request_put_back_after_its_deadline_is_to_be_answered() {
        let (mut call, _pending) = call(Duration::ZERO);
        assert!(call.take());
        assert!(!call.put_back());
    }

    #[tokio::test]
    async fn request_of_a_caller_who_left_during_a_write_is_not_put_back() {
        let (mut call, mut pending) = call(GRACE);
        assert!(call.take());
        pending.leave();
        assert!(!call.put_back());
        assert!(!call.take());
    }

    #[tokio::test]
    async fn request_whose_caller_waits_is_put_back() {
        let (mut call, _pending) = call(GRACE);
        assert!(call.take());
        assert!(call.put_back());
        assert!(call.take());
    }

    #[tokio::test]
    async fn lost_request_is_unknown_only_if_it_was_taken() {
        let (call_queued, mut pending) = call(GRACE);
        drop(call_queued);
        assert!(matches!(
            pending.answer("test", GRACE, || Error::LeaseTimeout).await,
            Err(Error::QueueStopping)
        ));
        let (mut call_taken, mut pending) = call(GRACE);
        assert!(call_taken.take());
        drop(call_taken);
        let answer = pending.answer("test", GRACE, || Error::LeaseTimeout).await;
        assert!(matches!(answer, Err(Error::Indeterminate { .. })));
    }
}

//! What the engine is asked, and the rules a request must keep.
//!
//! Fields are as a client gave them; the engine finds the queue first and checks the rest then, in the order in which
//! clients expect to hear of mistakes.

use std::time::Duration;

use bytes::Bytes;
use leasehold_core::{Deadline, Timestamp};

use crate::engine::Limits;
use crate::{ItemId, QueueName, Refusal};

const TIMEOUT_MAX: Duration = Duration::from_secs(15 * 60);
const TIMEOUT_MIN: Duration = Duration::from_millis(10);
/// Ids of items have 27; longer ones than this do not fit the indexes of every store.
const SOURCE_ID_BYTES_MAX: usize = 512;
/// A retry carries no timeout of its own.
const RETRY_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Items to add to a queue.
#[derive(Clone, Debug)]
pub struct ProduceRequest {
    /// Where to.
    pub queue: QueueName,
    /// How long to look for a partition that can take them: more than 10 ms, less than 15 minutes.
    pub timeout: Duration,
    /// They go to one partition, in order, all or none.
    pub items: Vec<NewItem>,
}

/// An item as its producer gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewItem {
    /// When it becomes ready; now, if it is left out or less than 100 ms ahead.
    pub enqueue_at: Option<Timestamp>,
    /// Opaque.
    pub reference: String,
    /// Opaque.
    pub encoding: String,
    /// Opaque.
    pub kind: String,
    /// Opaque.
    pub payload: Bytes,
}

/// A wish for items.
#[derive(Clone, Debug)]
pub struct LeaseRequest {
    /// Where from.
    pub queue: QueueName,
    /// Who asks: one request at a time.
    pub client_id: String,
    /// How many items at most.
    pub batch_size: i64,
    /// How long to wait for the first: more than 10 ms, at most 15 minutes.
    pub timeout: Duration,
    /// For how long the items are leased, instead of the queue's own lease timeout.
    pub lease_timeout: Option<Duration>,
}

/// Leased items that are done.
#[derive(Clone, Debug)]
pub struct CompleteRequest {
    /// The queue they were leased from.
    pub queue: QueueName,
    /// The partition they were leased from.
    pub partition: i64,
    /// How long to wait: not zero, at most 15 minutes.
    pub timeout: Duration,
    /// Which; all or none.
    pub ids: Vec<GivenId>,
}

/// Leased items that go back.
#[derive(Clone, Debug)]
pub struct RetryRequest {
    /// The queue they were leased from.
    pub queue: QueueName,
    /// The partition they were leased from.
    pub partition: i64,
    /// Which; all or none.
    pub items: Vec<RetryItem>,
}

/// A leased item that goes back.
#[derive(Clone, Debug)]
pub struct RetryItem {
    /// Which.
    pub id: GivenId,
    /// When it is ready again; now, if it is left out or less than 100 ms ahead.
    pub retry_at: Option<Timestamp>,
    /// It goes to the dead queue; without one it is deleted.
    pub dead: bool,
}

/// Leased items to hold longer.
#[derive(Clone, Debug)]
pub struct ExtendRequest {
    /// The queue they were leased from.
    pub queue: QueueName,
    /// The partition they were leased from.
    pub partition: i64,
    /// How long to wait: not zero, at most 15 minutes.
    pub timeout: Duration,
    /// Which; all or none.
    pub ids: Vec<GivenId>,
    /// For how long from now; the queue's own lease timeout if it is left out.
    pub lease_timeout: Option<Duration>,
}

/// What to delete from a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClearRequest {
    /// Ready items.
    pub queue: bool,
    /// Leased items too, if `queue` is set.
    pub destructive: bool,
    /// Scheduled items.
    pub scheduled: bool,
}

/// An item put into a partition as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportItem {
    /// The id it had elsewhere. One that is already here is left out.
    pub source_id: Option<String>,
    /// Whether somebody holds it.
    pub is_leased: bool,
    /// Until when it is held.
    pub lease_deadline: Option<Timestamp>,
    /// When it dies; never, if it is left out.
    pub expire_deadline: Option<Timestamp>,
    /// How often it was leased.
    pub attempts: i32,
    /// Kept, never used.
    pub max_attempts: i32,
    /// Opaque.
    pub reference: String,
    /// Opaque.
    pub encoding: String,
    /// Opaque.
    pub kind: String,
    /// Opaque.
    pub payload: Bytes,
}

/// An id as a client gave it, which may be none. Kept with its mistake, because of all ids of a request the first bad
/// one decides the answer, be it malformed or unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenId(Result<ItemId, Refusal>);

impl From<ItemId> for GivenId {
    fn from(id: ItemId) -> Self {
        GivenId(Ok(id))
    }
}

impl From<&str> for GivenId {
    fn from(text: &str) -> Self {
        GivenId(text.parse())
    }
}

impl GivenId {
    /// The id, or what is wrong with it.
    ///
    /// # Errors
    /// The rule it breaks.
    pub fn parsed(self) -> Result<ItemId, Refusal> {
        self.0
    }
}

/// Ids up to the first malformed one.
#[derive(Debug)]
pub(crate) struct Ids {
    pub(crate) good: Vec<ItemId>,
    pub(crate) malformed: Option<Refusal>,
}

impl Ids {
    pub(crate) fn split(given: impl IntoIterator<Item = GivenId>) -> Self {
        let mut good = Vec::new();
        for id in given {
            match id.0 {
                Ok(id) => good.push(id),
                Err(refusal) => return Ids { good, malformed: Some(refusal) },
            }
        }
        Ids { good, malformed: None }
    }
}

impl ProduceRequest {
    pub(crate) fn check(&self, limits: &Limits) -> Result<Deadline, Refusal> {
        required(self.timeout)?;
        if self.timeout >= TIMEOUT_MAX {
            return Err(Refusal::TimeoutTooLong { requested: self.timeout });
        }
        long_enough(self.timeout)?;
        match self.items.len() {
            0 => return Err(Refusal::ProduceEmpty),
            received if received > limits.produce_items_max => {
                return Err(Refusal::ProduceTooMany { limit: limits.produce_items_max, received });
            }
            _ => {}
        }
        for item in &self.items {
            no_nul(&item.reference, &item.encoding, &item.kind)?;
            in_range("enqueue_at", item.enqueue_at)?;
        }
        Ok(Deadline::after(self.timeout))
    }
}

impl ImportItem {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if let Some(source_id) = &self.source_id {
            if source_id.len() > SOURCE_ID_BYTES_MAX {
                return Err(Refusal::TextLength { field: "source_id", limit: SOURCE_ID_BYTES_MAX });
            }
            if source_id.contains('\0') {
                return Err(Refusal::TextNul { field: "source_id" });
            }
        }
        in_range("lease_deadline", self.lease_deadline)?;
        in_range("expire_deadline", self.expire_deadline)?;
        no_nul(&self.reference, &self.encoding, &self.kind)
    }
}

impl LeaseRequest {
    pub(crate) fn check(
        &self,
        limits: &Limits,
        expire_timeout: Duration,
    ) -> Result<(Deadline, usize), Refusal> {
        if self.client_id.trim().is_empty() {
            return Err(Refusal::ClientIdEmpty);
        }
        let batch_size = usize::try_from(self.batch_size).unwrap_or(0);
        if batch_size == 0 {
            return Err(Refusal::LeaseEmpty);
        }
        if batch_size > limits.lease_items_max {
            return Err(Refusal::LeaseTooMany { limit: limits.lease_items_max, requested: batch_size });
        }
        required(self.timeout)?;
        not_too_long(self.timeout)?;
        long_enough(self.timeout)?;
        lease_timeout_fits(self.lease_timeout, expire_timeout)?;
        Ok((Deadline::after(self.timeout), batch_size))
    }
}

impl CompleteRequest {
    pub(crate) fn check(&self, limits: &Limits) -> Result<Deadline, Refusal> {
        ids_fit(self.ids.len(), limits)?;
        not_too_long(self.timeout)?;
        required(self.timeout)?;
        Ok(Deadline::after(self.timeout))
    }
}

impl RetryRequest {
    pub(crate) fn check(&self, limits: &Limits) -> Result<Deadline, Refusal> {
        match self.items.len() {
            0 => Err(Refusal::RetryEmpty),
            received if received > limits.complete_items_max => {
                Err(Refusal::RetryTooMany { limit: limits.complete_items_max, received })
            }
            _ => {
                self.items.iter().try_for_each(|item| in_range("retry_at", item.retry_at))?;
                Ok(Deadline::after(RETRY_TIMEOUT))
            }
        }
    }
}

impl ExtendRequest {
    pub(crate) fn check(&self, limits: &Limits, expire_timeout: Duration) -> Result<Deadline, Refusal> {
        ids_fit(self.ids.len(), limits)?;
        not_too_long(self.timeout)?;
        required(self.timeout)?;
        lease_timeout_fits(self.lease_timeout, expire_timeout)?;
        Ok(Deadline::after(self.timeout))
    }
}

impl ClearRequest {
    pub(crate) fn check(self) -> Result<Self, Refusal> {
        if self.queue || self.scheduled { Ok(self) } else { Err(Refusal::ClearNothing) }
    }
}

/// Not every store can keep it in a text, and a store's refusal would look like its failure.
fn no_nul(reference: &str, encoding: &str, kind: &str) -> Result<(), Refusal> {
    for (field, text) in [("reference", reference), ("encoding", encoding), ("kind", kind)] {
        if text.contains('\0') {
            return Err(Refusal::TextNul { field });
        }
    }
    Ok(())
}

/// The times of the wire. Stores reach further, but not all equally far.
fn in_range(field: &'static str, at: Option<Timestamp>) -> Result<(), Refusal> {
    const FIRST: Timestamp = Timestamp::from_millis(-62_135_596_800_000);
    const LAST: Timestamp = Timestamp::from_millis(253_402_300_799_999);
    match at {
        Some(at) if !(FIRST..=LAST).contains(&at) => Err(Refusal::TimeRange { field }),
        _ => Ok(()),
    }
}

fn required(timeout: Duration) -> Result<(), Refusal> {
    if timeout.is_zero() { Err(Refusal::TimeoutRequired) } else { Ok(()) }
}

fn not_too_long(requested: Duration) -> Result<(), Refusal> {
    if requested > TIMEOUT_MAX { Err(Refusal::TimeoutTooLong { requested }) } else { Ok(()) }
}

fn long_enough(requested: Duration) -> Result<(), Refusal> {
    if requested <= TIMEOUT_MIN { Err(Refusal::TimeoutTooShort { requested }) } else { Ok(()) }
}

fn ids_fit(received: usize, limits: &Limits) -> Result<(), Refusal> {
    match received {
        0 => Err(Refusal::CompleteEmpty),
        received if received > limits.complete_items_max => {
            Err(Refusal::CompleteTooMany { limit: limits.complete_items_max, received })
        }
        _ => Ok(()),
    }
}

/// An item must not be held longer than it lives.
fn lease_timeout_fits(given: Option<Duration>, expire_timeout: Duration) -> Result<(), Refusal> {
    match given {
        Some(timeout) if timeout < Duration::from_micros(1) || timeout > expire_timeout => {
            Err(Refusal::LeaseTimeoutOverride)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn produce(timeout: Duration, items: usize) -> Result<Deadline, Refusal> {
        let items = vec![NewItem::default(); items];
        ProduceRequest { queue: "q".parse().expect("a name"), timeout, items }.check(&Limits::default())
    }

    fn lease(client_id: &str, batch_size: i64, timeout: Duration) -> Result<usize, Refusal> {
        let queue = "q".parse().expect("a name");
        let client_id = client_id.to_owned();
        let request = LeaseRequest { queue, client_id, batch_size, timeout, lease_timeout: None };
        request.check(&Limits::default(), HOUR).map(|(_, batch_size)| batch_size)
    }

    fn complete(timeout: Duration, ids: usize) -> Result<Deadline, Refusal> {
        let ids = vec![ItemId::MIN.into(); ids];
        CompleteRequest { queue: "q".parse().expect("a name"), partition: 0, timeout, ids }
            .check(&Limits::default())
    }

    #[test]
    fn produce_is_checked_in_order_and_at_the_edges() {
        let zero = Duration::ZERO;
        assert_eq!(produce(zero, 0), Err(Refusal::TimeoutRequired));
        assert_eq!(produce(TIMEOUT_MAX, 0), Err(Refusal::TimeoutTooLong { requested: TIMEOUT_MAX }));
        assert_eq!(produce(TIMEOUT_MIN, 0), Err(Refusal::TimeoutTooShort { requested: TIMEOUT_MIN }));
        let shortest = TIMEOUT_MIN + Duration::from_nanos(1);
        assert_eq!(produce(shortest, 0), Err(Refusal::ProduceEmpty));
        let longest = TIMEOUT_MAX - Duration::from_nanos(1);
        assert_eq!(produce(longest, 1001), Err(Refusal::ProduceTooMany { limit: 1000, received: 1001 }));
        assert!(produce(longest, 1000).is_ok());
    }

    #[test]
    fn text_that_not_every_store_can_keep_is_refused() {
        let item = NewItem { kind: "a\0b".to_owned(), ..NewItem::default() };
        let request =
            ProduceRequest { queue: "q".parse().expect("a name"), timeout: HOUR / 60, items: vec![item] };
        assert_eq!(request.check(&Limits::default()), Err(Refusal::TextNul { field: "kind" }));
        let import = |source_id: String| ImportItem { source_id: Some(source_id), ..ImportItem::default() };
        assert_eq!(import("x".repeat(512)).check(), Ok(()));
        let too_long = Refusal::TextLength { field: "source_id", limit: 512 };
        assert_eq!(import("x".repeat(513)).check(), Err(too_long));
        assert_eq!(import("\0".to_owned()).check(), Err(Refusal::TextNul { field: "source_id" }));
        for far in [Timestamp::MIN, Timestamp::MAX] {
            let import = ImportItem { expire_deadline: Some(far), ..ImportItem::default() };
            assert_eq!(import.check(), Err(Refusal::TimeRange { field: "expire_deadline" }));
        }
    }

    #[test]
    fn lease_is_checked_in_order_and_at_the_edges() {
        let zero = Duration::ZERO;
        assert_eq!(lease(" ", 0, zero), Err(Refusal::ClientIdEmpty));
        assert_eq!(lease("c", 0, zero), Err(Refusal::LeaseEmpty));
        assert_eq!(lease("c", -7, zero), Err(Refusal::LeaseEmpty));
        assert_eq!(lease("c", 1001, zero), Err(Refusal::LeaseTooMany { limit: 1000, requested: 1001 }));
        assert_eq!(lease("c", 1000, zero), Err(Refusal::TimeoutRequired));
        let long = TIMEOUT_MAX + Duration::from_nanos(1);
        assert_eq!(lease("c", 1, long), Err(Refusal::TimeoutTooLong { requested: long }));
        assert_eq!(lease("c", 1, TIMEOUT_MIN), Err(Refusal::TimeoutTooShort { requested: TIMEOUT_MIN }));
        assert_eq!(lease("c", 1, TIMEOUT_MAX), Ok(1));
    }

    #[test]
    fn complete_is_checked_in_order_and_has_no_shortest_timeout() {
        let long = TIMEOUT_MAX + Duration::from_nanos(1);
        assert_eq!(complete(long, 0), Err(Refusal::CompleteEmpty));
        assert_eq!(complete(long, 1001), Err(Refusal::CompleteTooMany { limit: 1000, received: 1001 }));
        assert_eq!(complete(long, 1), Err(Refusal::TimeoutTooLong { requested: long }));
        assert_eq!(complete(Duration::ZERO, 1), Err(Refusal::TimeoutRequired));
        assert!(complete(Duration::from_nanos(1), 1000).is_ok());
    }

    #[test]
    fn lease_is_not_longer_than_an_item_lives() {
        assert_eq!(lease_timeout_fits(Some(HOUR), HOUR), Ok(()));
        assert_eq!(lease_timeout_fits(None, HOUR), Ok(()));
        for bad in [Duration::ZERO, HOUR + Duration::from_micros(1)] {
            assert_eq!(lease_timeout_fits(Some(bad), HOUR), Err(Refusal::LeaseTimeoutOverride));
        }
    }

    #[test]
    fn ids_are_read_up_to_the_first_malformed_one() {
        let ids = Ids::split([ItemId::MIN.into(), "junk".into(), ItemId::MAX.into()]);
        assert_eq!(ids.good, [ItemId::MIN]);
        assert_eq!(ids.malformed, Some(Refusal::ItemIdLength { id: "junk".into() }));
    }
}

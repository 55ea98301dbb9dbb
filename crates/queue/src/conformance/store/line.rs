//! A partition with its owner at hand, and words to say what a case is about.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use leasehold_core::Timestamp;

use crate::conformance::{Harness, Start};
use crate::store::{Change, DueAction, PartitionId, Pick, Placement, Verdict};
use crate::{Item, ItemId, ItemIds, PartitionStore, Store};

/// The instant at which cases begin.
pub(super) const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// How long items live unless a case says otherwise.
const EXPIRE_TIMEOUT: Duration = Duration::from_secs(3_600);

/// An instant after the start.
#[must_use]
pub(super) fn at(seconds: u64) -> Timestamp {
    START.saturating_add(Duration::from_secs(seconds))
}

/// A partition and its owner.
pub struct Line {
    /// The place it is in.
    pub harness: Box<dyn Harness>,
    /// The owner's handle.
    pub owner: Box<dyn PartitionStore>,
    ids: ItemIds,
}

impl Line {
    /// An empty partition, opened.
    pub async fn start(start: Start) -> Self {
        Self::over(start().await).await
    }

    /// The partition of a place that may hold something, opened.
    pub async fn over(harness: Box<dyn Harness>) -> Self {
        let mut owner = harness.store().partition(&Self::partition());
        let opened = owner.open().await.expect("open");
        Line { harness, owner, ids: ItemIds::after(&opened, START).expect("ids") }
    }

    /// Which partition cases use.
    pub fn partition() -> PartitionId {
        PartitionId { queue: "orders".parse().expect("a name"), number: 0 }
    }

    /// The place.
    pub fn store(&self) -> Arc<dyn Store> {
        self.harness.store()
    }

    /// The next id of the partition.
    pub fn id(&mut self) -> ItemId {
        self.ids.next()
    }

    /// A ready item that has not been stored yet; its payload says what it is.
    pub fn item(&mut self, payload: &str) -> Item {
        Item {
            id: self.ids.next(),
            source_id: None,
            is_leased: false,
            lease_deadline: None,
            expire_deadline: START.saturating_add(EXPIRE_TIMEOUT),
            enqueue_at: None,
            created_at: START,
            attempts: 0,
            max_attempts: 0,
            reference: format!("reference of {payload}"),
            encoding: "text".to_owned(),
            kind: "case".to_owned(),
            payload: Bytes::copy_from_slice(payload.as_bytes()),
        }
    }

    /// Stores an item.
    pub async fn place(&mut self, item: Item) -> ItemId {
        let placements = self.owner.produce(std::slice::from_ref(&item)).await.expect("produce");
        assert_eq!(placements, [Placement::Placed]);
        item.id
    }

    /// Stores ready items in one batch.
    pub async fn produced(&mut self, payloads: &[&str]) -> Vec<ItemId> {
        let items: Vec<_> = payloads.iter().map(|payload| self.item(payload)).collect();
        let placements = self.owner.produce(&items).await.expect("produce");
        assert!(placements.iter().all(|placement| *placement == Placement::Placed), "{placements:?}");
        items.into_iter().map(|item| item.id).collect()
    }

    /// Stores a ready item and leases it until a minute after the start.
    pub async fn leased(&mut self, payload: &str) -> ItemId {
        let id = self.produced(&[payload]).await[0];
        let leased = self.owner.lease(&[Pick { id, deadline: at(60) }]).await.expect("lease");
        assert_eq!(leased.len(), 1);
        id
    }

    /// Stores an item that is to become ready some seconds after the start.
    pub async fn scheduled(&mut self, payload: &str, seconds: u64) -> ItemId {
        let item = Item { enqueue_at: Some(at(seconds)), ..self.item(payload) };
        self.place(item).await
    }

    /// The ids that would be leased at the start.
    pub async fn ready(&mut self) -> Vec<ItemId> {
        self.ready_at(START).await
    }

    /// The ids that would be leased.
    pub async fn ready_at(&mut self, now: Timestamp) -> Vec<ItemId> {
        let ready = self.owner.next_ready(limit(100_000), now).await.expect("next_ready");
        ready.into_iter().map(|ready| ready.id).collect()
    }

    /// What would be leased at the start, and the size that is told of each.
    pub async fn sizes(&mut self) -> Vec<(ItemId, u32)> {
        let ready = self.owner.next_ready(limit(100_000), START).await.expect("next_ready");
        ready.into_iter().map(|ready| (ready.id, ready.bytes)).collect()
    }

    /// The verdict on one request.
    pub async fn change(&mut self, changes: &[Change]) -> Verdict {
        let verdicts = self.owner.change(&[changes]).await.expect("change");
        assert_eq!(verdicts.len(), 1);
        verdicts[0]
    }

    /// What is due, without a limit on attempts.
    pub async fn due(&mut self, now: Timestamp) -> Vec<(ItemId, DueAction)> {
        let due = self.owner.due(now, 0, limit(100_000)).await.expect("due");
        due.into_iter().map(|due| (due.id, due.action)).collect()
    }

    /// The item with this id, if it is here.
    pub async fn find(&mut self, id: ItemId) -> Option<Item> {
        self.owner.fetch(&[id]).await.expect("fetch").pop()
    }

    /// The payloads of all items that are not scheduled, in order.
    pub async fn payloads(&mut self) -> Vec<String> {
        let items = self.owner.list(false, ItemId::MIN, 100_000, usize::MAX).await.expect("list").items;
        items.iter().map(|item| String::from_utf8_lossy(&item.payload).into_owned()).collect()
    }
}

/// A limit.
#[must_use]
pub(super) fn limit(limit: usize) -> NonZeroUsize {
    NonZeroUsize::new(limit).expect("a limit above zero")
}

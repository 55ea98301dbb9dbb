//! A partition of a store in a database, its owner and items for it.

use std::time::Duration;

use bytes::Bytes;
use leasehold_core::Timestamp;
use leasehold_queue::store::PartitionId;
use leasehold_queue::{Item, ItemIds, PartitionStore, Store};

/// The instant at which items are produced.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A partition, its owner and its ids.
pub(crate) struct Line {
    pub(crate) owner: Box<dyn PartitionStore>,
    pub(crate) ids: ItemIds,
}

impl Line {
    pub(crate) async fn open(store: &dyn Store, queue: &str) -> Self {
        let mut owner = store.partition(&partition(queue));
        let opened = owner.open().await.expect("open");
        Line { owner, ids: ItemIds::after(&opened, START).expect("ids") }
    }

    pub(crate) fn item(&mut self, payload: &str) -> Item {
        Item {
            id: self.ids.next(),
            source_id: None,
            is_leased: false,
            lease_deadline: None,
            expire_deadline: at(3_600),
            enqueue_at: None,
            created_at: START,
            attempts: 0,
            max_attempts: 0,
            reference: String::new(),
            encoding: String::new(),
            kind: String::new(),
            payload: Bytes::copy_from_slice(payload.as_bytes()),
        }
    }
}

pub(crate) fn at(seconds: u64) -> Timestamp {
    START.saturating_add(Duration::from_secs(seconds))
}

pub(crate) fn partition(queue: &str) -> PartitionId {
    PartitionId { queue: queue.parse().expect("a name"), number: 0 }
}

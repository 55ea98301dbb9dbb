//! The contract over the embedded store, and what it promises beyond: everything outlives the process.

mod faults;
pub(crate) mod fixture;

use leasehold_core::Timestamp;
use leasehold_queue::{Item, ItemId, queue_conformance, store_conformance};

use fixture::Embedded;

store_conformance!(Embedded);
queue_conformance!(Embedded, [allow(unused)], [store]);

/// A ready item that never dies.
fn item(id: ItemId) -> Item {
    Item {
        id,
        source_id: None,
        is_leased: false,
        lease_deadline: None,
        expire_deadline: Timestamp::EPOCH,
        enqueue_at: None,
        created_at: Timestamp::EPOCH,
        attempts: 0,
        max_attempts: 0,
        reference: String::new(),
        encoding: String::new(),
        kind: String::new(),
        payload: "payload".into(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_process_loses_nothing_it_told_of() {
    let seed = u64::from(std::process::id());
    let (kills, acknowledged) = crate::crash::kill_and_audit(seed, |kills| kills < 20).await;
    assert!(acknowledged > kills, "{acknowledged} steps in {kills} runs: the children did nothing");
}

//! Writes are bounded in bytes, and are smaller after one whose outcome was unknown.

use std::future::Future;

use super::faulty::Fault;
use super::served::{PATIENCE, SECOND, Served, lease_request, name, new_item};
use crate::{Engine, Error, ExtendRequest, ImportItem, Leased, NewItem, ProduceRequest, QueueStats, Result};

const ITEM_BYTES: usize = 20_000;
/// Room for four items, and not for five.
const WRITE_BYTES: usize = 100_000;

fn large() -> NewItem {
    new_item(&"x".repeat(ITEM_BYTES))
}

async fn bounded(served: &mut Served) {
    served.reconfigure(|config| config.write_bytes_max = WRITE_BYTES).await;
    served.create("jobs").await;
}

/// Carries requests out that arrive together: the queue is paused until it has all of them.
async fn together<T: Send + 'static, F: Future<Output = Result<T>> + Send + 'static>(
    served: &Served,
    requests: usize,
    request: impl Fn(Engine, usize) -> F,
    waiting: fn(&QueueStats) -> usize,
) -> Vec<Result<T>> {
    served.engine.pause(&name("jobs")).await.expect("pause");
    let requests: Vec<_> =
        (0..requests).map(|number| tokio::spawn(request(served.engine.clone(), number))).collect();
    served.until(|| async { waiting(&served.stats("jobs").await) == requests.len() }).await;
    for operation in ["produce", "lease", "change"] {
        served.faults.take_writes(operation);
    }
    served.engine.unpause(&name("jobs")).await.expect("unpause");
    let mut answers = Vec::new();
    for request in requests {
        answers.push(request.await.expect("it ends"));
    }
    answers
}

async fn produces(served: &Served, requests: usize, items: Vec<NewItem>) {
    let request = |engine: Engine, _| {
        let request = ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: items.clone() };
        async move { engine.produce(request).await }
    };
    for answer in together(served, requests, request, |stats| stats.produce_waiting).await {
        answer.expect("produce");
    }
}

async fn leases(served: &Served, requests: usize, batch_size: i64) -> Vec<Leased> {
    let request = |engine: Engine, number| async move {
        engine.lease(lease_request("jobs", &format!("c{number}"), batch_size)).await
    };
    let leased = together(served, requests, request, |stats| stats.lease_waiting).await;
    leased.into_iter().map(|leased| leased.expect("there is enough")).collect()
}

fn items(writes: &[(usize, usize)]) -> Vec<usize> {
    writes.iter().map(|(items, _)| *items).collect()
}

/// However much waits, a write ends in time; only what one request carries is never split.
pub async fn turn_writes_so_many_bytes_and_the_next_goes_on(served: &mut Served) {
    bounded(served).await;
    produces(served, 10, vec![large(); 2]).await;
    let writes = served.faults.take_writes("produce");
    assert_eq!(items(&writes), [4; 5]);
    assert!(writes.iter().all(|(_, bytes)| *bytes <= WRITE_BYTES), "{writes:?}");
    produces(served, 1, vec![large(); 10]).await;
    assert_eq!(items(&served.faults.take_writes("produce")), [10]);
}

/// An importer can import the same items again.
pub async fn import_takes_as_many_writes_as_it_needs(served: &mut Served) {
    bounded(served).await;
    let item = ImportItem { payload: large().payload, ..ImportItem::default() };
    let imported = served.engine.import_items(&name("jobs"), 0, vec![item; 10]).await.expect("import");
    assert_eq!(items(&served.faults.take_writes("produce")), [4, 4, 2]);
    let stored = served.items("jobs", 0).await;
    assert!(stored.iter().map(|item| item.id).eq(imported.iter().map(|item| item.id)));
}

/// Each caller gets as much as before.
pub async fn turn_answers_leases_with_so_many_bytes_and_the_next_goes_on(served: &mut Served) {
    bounded(served).await;
    for _ in 0..5 {
        produces(served, 1, vec![large(); 4]).await;
    }
    let leased = leases(served, 5, 3).await;
    assert_eq!(items(&served.faults.take_writes("lease")), [3; 5]);
    assert!(leased.iter().all(|leased| leased.items.len() == 3), "{leased:?}");
    let alone = leases(served, 1, 5).await;
    assert_eq!(alone[0].items.len(), 5, "one request is answered whole");
}

/// A write that took too long would do so again.
pub async fn batch_of_unknown_outcome_is_halved(served: &mut Served) {
    served.create("jobs").await;
    served.faults.once("produce", Fault::LostRequest);
    produces(served, 8, vec![new_item("x"); 10]).await;
    assert_eq!(items(&served.faults.take_writes("produce")), [80, 40, 40]);
    served.faults.once("lease", Fault::LostRequest);
    let leased = leases(served, 8, 10).await;
    assert_eq!(items(&served.faults.take_writes("lease")), [80, 40, 40]);
    let ids: Vec<Vec<_>> =
        leased.iter().map(|leased| leased.items.iter().map(|item| item.id.into()).collect()).collect();
    let extend = |engine: Engine, number: usize| {
        let (queue, ids) = (name("jobs"), ids[number].clone());
        let request = ExtendRequest { queue, partition: 0, timeout: PATIENCE, ids, lease_timeout: None };
        async move { engine.extend(request).await }
    };
    // So that these differ from the leases.
    served.advance(SECOND);
    served.faults.once("change", Fault::LostRequest);
    for answer in together(served, 8, extend, |stats| stats.complete_waiting).await {
        assert!(matches!(answer, Err(Error::Storage(_))), "{answer:?}");
    }
    for writes in [vec![40, 40], vec![80]] {
        for answer in together(served, 8, extend, |stats| stats.complete_waiting).await {
            answer.expect("they are held");
        }
        assert_eq!(items(&served.faults.take_writes("change")), writes);
    }
}

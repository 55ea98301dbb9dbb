//! Writes whose answer was lost, and refusals, about items that are too large to be read in time.

use super::faulty::Fault;
use super::served::{PATIENCE, SECOND, Served, lease_request, name, new_item, payloads, words};
use crate::{Error, ExtendRequest, Extended, GivenId, Leased, Result, RetryItem, RetryRequest};

/// So large that reading them shows in what was read.
const ITEM_BYTES: usize = 20_000;
const ITEMS: u8 = 60;
/// How often a write is tried to be settled.
const TRIES: usize = 3;

/// Large items, all leased. Nothing was read since.
async fn held(served: &Served) -> Leased {
    served.create_with("jobs", |queue| queue.max_attempts = 9).await;
    let items = vec![new_item(&"x".repeat(ITEM_BYTES)); ITEMS.into()];
    served.produce_items("jobs", items, PATIENCE).await.expect("produce");
    let leased = served.lease("jobs", ITEMS.into()).await;
    assert_eq!(leased.items.len(), usize::from(ITEMS));
    assert!(served.faults.take_contents() >= usize::from(ITEMS) * ITEM_BYTES, "a lease reads them");
    leased
}

fn ids(leased: &Leased) -> Vec<GivenId> {
    leased.items.iter().map(|item| item.id.into()).collect()
}

async fn extend(served: &Served, leased: &Leased) -> Result<Extended> {
    let (queue, ids) = (name("jobs"), ids(leased));
    served
        .engine
        .extend(ExtendRequest { queue, partition: 0, timeout: PATIENCE, ids, lease_timeout: None })
        .await
}

async fn retry(served: &Served, ids: Vec<GivenId>) -> Result<()> {
    let items = ids.into_iter().map(|id| RetryItem { id, retry_at: None, dead: false }).collect();
    served.engine.retry(RetryRequest { queue: name("jobs"), partition: 0, items }).await
}

/// Heartbeats of many consumers are a small write, and so is finding out what became of them.
pub async fn lost_answer_about_large_items_is_settled_without_reading_them(served: &mut Served) {
    let leased = held(served).await;
    served.faults.always("fetch", None, Fault::Unavailable);
    served.faults.once("change", Fault::LostAnswer);
    let deadline = extend(served, &leased).await.expect("it is settled").lease_deadline;
    assert_eq!(served.items("jobs", 0).await[0].lease_deadline, Some(deadline));
    served.faults.take_contents();
    // So that one extend differs from the next.
    served.advance(SECOND);
    served.faults.once("change", Fault::LostRequest);
    let answer = extend(served, &leased).await;
    assert!(matches!(answer, Err(Error::Storage(_))), "{answer:?}");
    served.faults.once("change", Fault::LostAnswer);
    retry(served, ids(&leased)).await.expect("it is settled");
    assert_eq!(served.faults.take_contents(), 0);
}

/// One id that cannot be right must not cost what the others hold, nor the partition its health.
pub async fn refusal_beside_large_items_reads_none_of_them(served: &mut Served) {
    let leased = held(served).await;
    let with = |id: GivenId| [ids(&leased), vec![id]].concat();
    for _ in 0..2 {
        let refused = served.complete_ids("jobs", 0, with("junk".into())).await;
        assert!(words(refused).contains("'junk'"));
        let refused = retry(served, with(leased.items[0].id.into())).await;
        assert!(
            matches!(refused, Err(Error::ItemNotFound { id }) if id == leased.items[0].id),
            "{refused:?}"
        );
        assert_eq!(served.faults.take_contents(), 0);
        // The second time, with a store that cannot be opened: no caller needs that.
        served.faults.always("open", None, Fault::Unavailable);
    }
    served.faults.once("headers", Fault::Unavailable);
    let answer = served.complete_ids("jobs", 0, with("junk".into())).await;
    assert!(matches!(answer, Err(Error::Storage(_))), "{answer:?}");
    assert_eq!(served.partition_stats("jobs").await.failures, 0, "a look that failed says nothing of writes");
    served.complete("jobs", &leased).await.expect("they are held");
}

/// One write that cannot be settled does not keep the partition from serving.
pub async fn write_that_cannot_be_settled_is_unknown_and_the_partition_goes_on(served: &mut Served) {
    let leased = held(served).await;
    served.faults.always("headers", None, Fault::Unavailable);
    served.faults.take_calls("headers");
    served.faults.once("change", Fault::LostAnswer);
    let answer = extend(served, &leased).await;
    assert!(matches!(answer, Err(Error::Indeterminate { operation: "extend", .. })), "{answer:?}");
    assert_eq!(served.faults.take_calls("headers"), TRIES);
    served.produce("jobs", &["next"]).await;
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["next"]);
    assert_eq!(served.partition_stats("jobs").await.failures, 0);
    served.complete("jobs", &leased).await.expect("they are held");
}

/// What it did is found by the next open; whose it was does not matter any more.
pub async fn write_that_nobody_waits_for_is_not_settled(served: &mut Served) {
    held(served).await;
    served.produce("jobs", &["a", "b"]).await;
    served.faults.take_calls("open");
    served.faults.take_calls("headers");
    served.faults.always("open", None, Fault::Held);
    served.faults.once("lease", Fault::LostAnswer);
    let engine = served.engine.clone();
    let lease = tokio::spawn(async move { engine.lease(lease_request("jobs", "gone", 1)).await });
    served.until(|| async { served.faults.take_calls("open") == 1 }).await;
    served.faults.take_contents();
    lease.abort();
    assert!(lease.await.expect_err("it was aborted").is_cancelled());
    served.faults.heal();
    served.until(|| async { served.partition_stats("jobs").await.failures == 0 }).await;
    assert_eq!((served.faults.take_calls("headers"), served.faults.take_contents()), (0, 0));
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["b"]);
    assert_eq!(served.stats("jobs").await.lease_waiting, 0);
}

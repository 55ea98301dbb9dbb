//! What arrives together is written together, and each is told its own truth.

use std::time::Duration;

use tokio::task::JoinHandle;

use super::faulty::Fault;
use super::served::{HOUR, PATIENCE, Served, lease_request, name, new_item, payloads};
use crate::conformance::Harness;
use crate::{CompleteRequest, Error, GivenId, Leased, ProduceRequest, Produced, QueueChange, Result};

/// Requests of every kind that have arrived and are not served yet.
struct Together {
    produce: JoinHandle<Result<Produced>>,
    lease: JoinHandle<Result<Leased>>,
    complete: JoinHandle<Result<()>>,
}

impl Together {
    /// They wait until [`go`](Self::go).
    async fn wait<H: Harness>(served: &Served<H>, payload: &str, batch_size: i64, ids: Vec<GivenId>) -> Self {
        let queue = name("jobs");
        served.engine.pause(&queue).await.expect("pause");
        let (engine, items) = (served.engine.clone(), vec![new_item(payload)]);
        let request = ProduceRequest { queue: queue.clone(), timeout: PATIENCE, items };
        let produce = tokio::spawn(async move { engine.produce(request).await });
        let engine = served.engine.clone();
        let request = lease_request("jobs", payload, batch_size);
        let lease = tokio::spawn(async move { engine.lease(request).await });
        let engine = served.engine.clone();
        let request = CompleteRequest { queue, partition: 0, timeout: PATIENCE, ids };
        let complete = tokio::spawn(async move { engine.complete(request).await });
        served
            .until(|| async {
                let stats = served.stats("jobs").await;
                (stats.produce_waiting, stats.lease_waiting, stats.complete_waiting) == (1, 1, 1)
            })
            .await;
        Together { produce, lease, complete }
    }

    async fn go<H: Harness>(self, served: &Served<H>) -> (Result<Produced>, Result<Leased>, Result<()>) {
        served.engine.unpause(&name("jobs")).await.expect("unpause");
        let ended = |_| "it ends";
        (
            self.produce.await.map_err(ended).expect("produce"),
            self.lease.await.map_err(ended).expect("lease"),
            self.complete.await.map_err(ended).expect("complete"),
        )
    }
}

fn ids(leased: &Leased) -> Vec<GivenId> {
    leased.items.iter().map(|item| item.id.into()).collect()
}

/// One write for a produce, a lease and a complete.
pub async fn requests_of_every_kind_share_a_write<H: Harness>(served: &mut Served<H>) {
    served.create("jobs").await;
    served.produce("jobs", &["held", "ready"]).await;
    let held = served.lease("jobs", 1).await;
    let together = Together::wait(served, "new", 1, ids(&held)).await;
    for operation in ["turn", "produce", "lease", "change"] {
        served.faults.take_calls(operation);
    }
    let (produced, leased, completed) = together.go(served).await;
    assert_eq!(payloads(&leased.expect("lease").items), ["ready"]);
    assert_eq!(produced.expect("produce").ids.len(), 1);
    completed.expect("complete");
    let calls = ["turn", "produce", "lease", "change"].map(|operation| served.faults.take_calls(operation));
    assert_eq!(calls, [1, 0, 0, 0]);
    let counts = served.partition_stats("jobs").await.counts;
    assert_eq!((counts.ready, counts.leased), (1, 1));
}

/// A lease gets what is ready, and what is produced beside it, in this order.
pub async fn lease_gets_old_items_before_new_ones<H: Harness>(served: &mut Served<H>) {
    served.create("jobs").await;
    served.produce("jobs", &["held", "old"]).await;
    let held = served.lease("jobs", 1).await;
    let together = Together::wait(served, "new", 9, ids(&held)).await;
    let (produced, leased, completed) = together.go(served).await;
    let leased = leased.expect("lease");
    assert_eq!(payloads(&leased.items), ["old", "new"]);
    assert!(leased.items.iter().all(|item| item.is_leased && item.attempts == 1), "{leased:?}");
    assert_eq!(produced.expect("produce").ids, [leased.items[1].id]);
    completed.expect("complete");
    served.complete("jobs", &leased).await.expect("both are held");
    served.until_empty("jobs").await;
}

/// Old items that nobody may have any more do not keep a lease from new ones.
pub async fn lease_gets_new_items_past_expired_ones<H: Harness>(served: &mut Served<H>) {
    let both = |queue: &mut QueueChange| (queue.lease_timeout, queue.expire_timeout) = (HOUR, HOUR);
    served.create_with("jobs", both).await;
    served.produce("jobs", &["held", "expired"]).await;
    let held = served.lease("jobs", 1).await;
    let together = Together::wait(served, "new", 9, ids(&held)).await;
    // Past the deadlines, and before anybody acts on them.
    served.advance(HOUR + Duration::from_millis(1));
    let (produced, leased, _) = together.go(served).await;
    produced.expect("produce");
    assert_eq!(payloads(&leased.expect("lease").items), ["new"]);
}

/// A request that is refused says so to its own caller alone.
pub async fn refused_complete_spoils_nothing_beside_it<H: Harness>(served: &mut Served<H>) {
    served.create("jobs").await;
    let done = served.produce("jobs", &["done", "ready"]).await.ids[0];
    let held = served.lease("jobs", 1).await;
    served.complete("jobs", &held).await.expect("complete");
    let together = Together::wait(served, "new", 1, vec![done.into()]).await;
    let (produced, leased, completed) = together.go(served).await;
    produced.expect("produce");
    assert_eq!(payloads(&leased.expect("lease").items), ["ready"]);
    assert!(matches!(completed, Err(Error::ItemNotFound { id }) if id == done), "{completed:?}");
    assert_eq!(payloads(&served.items("jobs", 0).await), ["ready", "new"]);
}

/// Whoever knows the id of an item that is just being leased comes after the lease.
pub async fn complete_of_an_item_leased_beside_it_comes_after<H: Harness>(served: &mut Served<H>) {
    served.create("jobs").await;
    let ready = served.produce("jobs", &["ready"]).await.ids[0];
    let together = Together::wait(served, "new", 1, vec![ready.into()]).await;
    let (produced, leased, completed) = together.go(served).await;
    produced.expect("produce");
    assert_eq!(leased.expect("lease").items[0].id, ready);
    completed.expect("it was leased");
    assert_eq!(payloads(&served.items("jobs", 0).await), ["new"]);
}

/// When the answer to all of it was lost, each is told what is stored.
pub async fn lost_answer_of_a_turn_is_settled_for_each<H: Harness>(served: &mut Served<H>) {
    served.create("jobs").await;
    for (fault, happened) in [(Fault::LostAnswer, true), (Fault::LostRequest, false)] {
        served.produce("jobs", &["held", "old"]).await;
        let held = served.lease("jobs", 1).await;
        let together = Together::wait(served, "new", 2, ids(&held)).await;
        served.faults.once("turn", fault);
        let (produced, leased, completed) = together.go(served).await;
        produced.expect("stored, or stored again");
        let leased = leased.expect("leased, or leased again");
        assert_eq!(payloads(&leased.items)[0], "old", "{fault:?}");
        assert!(leased.items.iter().all(|item| item.attempts == 1), "{leased:?}");
        assert_eq!(completed.is_ok(), happened, "{fault:?}: {completed:?}");
        if !happened {
            assert!(matches!(completed, Err(Error::Storage(_))), "{completed:?}");
            served.complete("jobs", &held).await.expect("nothing had happened");
        }
        served.complete("jobs", &leased).await.expect("all are held");
        let left = served.items("jobs", 0).await;
        assert_eq!(left.len() + leased.items.len(), 2, "nothing is stored twice: {left:?}");
        if !left.is_empty() {
            let rest = served.lease("jobs", 9).await;
            assert_eq!(payloads(&rest.items), ["new"]);
            served.complete("jobs", &rest).await.expect("held");
        }
        served.until_empty("jobs").await;
    }
}

/// When surely nothing happened, produce and lease are tried again, and the complete is told.
pub async fn failed_turn_is_undone_for_each<H: Harness>(served: &mut Served<H>) {
    served.create("jobs").await;
    served.produce("jobs", &["held", "old"]).await;
    let held = served.lease("jobs", 1).await;
    let together = Together::wait(served, "new", 1, ids(&held)).await;
    served.faults.once("turn", Fault::Unavailable);
    let (produced, leased, completed) = together.go(served).await;
    produced.expect("stored in the end");
    assert_eq!(payloads(&leased.expect("leased in the end").items), ["old"]);
    assert!(matches!(completed, Err(Error::Storage(_))), "{completed:?}");
    served.complete("jobs", &held).await.expect("it is still held");
    assert_eq!(payloads(&served.items("jobs", 0).await), ["old", "new"]);
}

/// While nobody can look nobody is told a story, and everyone is told the truth when somebody can.
pub async fn outcome_of_a_turn_that_stays_unknown_is_settled_later<H: Harness>(served: &mut Served<H>) {
    served
        .reconfigure(|config| {
            config.storage_timeout = Duration::from_millis(100) * H::SHORTENED;
        })
        .await;
    served.create("jobs").await;
    served.produce("jobs", &["held", "old"]).await;
    let held = served.lease("jobs", 1).await;
    let together = Together::wait(served, "new", 2, ids(&held)).await;
    served.faults.always("open", None, Fault::Unavailable);
    served.faults.once("turn", Fault::LostAnswer);
    served.engine.unpause(&name("jobs")).await.expect("unpause");
    served.until(|| async { served.partition_stats("jobs").await.failures > 0 }).await;
    assert!(!together.produce.is_finished() && !together.complete.is_finished());
    served.faults.heal();
    let (produced, leased, completed) = together.go(served).await;
    produced.expect("it is stored");
    assert_eq!(payloads(&leased.expect("they are leased").items), ["old", "new"]);
    // Who held it before is forgotten when the partition is opened anew, not what was known when it was written.
    completed.expect("it is gone, and was held");
}

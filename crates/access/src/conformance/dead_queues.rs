//! A dead queue of another namespace is permitted to one queue, each as it is.

use std::time::Duration;

use super::{Store, TIME};
use crate::DeadQueuePair;

fn pair(queue: &str, dead_queue: &str) -> DeadQueuePair {
    DeadQueuePair {
        queue: queue.parse().expect("a name"),
        queue_created_at: TIME,
        dead_queue: dead_queue.parse().expect("a name"),
        dead_queue_created_at: TIME.saturating_add(Duration::from_micros(1)),
    }
}

async fn is_permitted(store: &Store, pair: &DeadQueuePair) -> bool {
    store.dead_queues().is_permitted(pair).await.expect("answers")
}

/// A queue of the same name that was created since is another one.
pub async fn permitted_pair_is_known_by_both_beginnings(store: &Store) {
    let permitted = pair("orders", "dead");
    assert!(!is_permitted(store, &permitted).await);
    store.dead_queues().permit(&permitted).await.expect("answers");
    assert!(is_permitted(store, &permitted).await);
    let later = TIME.saturating_add(Duration::from_micros(7));
    for other in [
        DeadQueuePair { queue_created_at: later, ..permitted.clone() },
        DeadQueuePair { dead_queue_created_at: later, ..permitted.clone() },
        DeadQueuePair { dead_queue_created_at: TIME, ..permitted.clone() },
        DeadQueuePair { dead_queue: "Dead".parse().expect("a name"), ..permitted.clone() },
        DeadQueuePair { queue: "orders2".parse().expect("a name"), ..permitted.clone() },
    ] {
        assert!(!is_permitted(store, &other).await, "{other:?}");
    }
}

/// And forgetting takes it away.
pub async fn later_pair_replaces_the_former(store: &Store) {
    let (former, later, other) = (pair("orders", "dead"), pair("orders", "dead2"), pair("bills", "dead"));
    for permitted in [&former, &other, &later] {
        store.dead_queues().permit(permitted).await.expect("answers");
    }
    assert!(!is_permitted(store, &former).await);
    assert!(is_permitted(store, &later).await);
    for _ in 0..2 {
        store.dead_queues().forget(&later.queue).await.expect("answers");
    }
    assert!(!is_permitted(store, &later).await);
    assert!(is_permitted(store, &other).await);
}

//! A second owner comes in the middle of every write: of the first one nothing is committed after it.

use std::time::Duration;

use leasehold_dsql_sim::rules::Level;
use leasehold_queue::{Store, StoreError};

use super::fixture::{Fixture, Line, partition};
use super::writes::{ALL, content, filled};

/// Long enough for a takeover on a busy machine; one that was too slow is tried again.
const DELAY_MS: u64 = 1_500;

impl Fixture {
    /// Holds up the next statement of this kind.
    fn hold_up(&self, kind: &str, table: &str) {
        self.cluster.arm(&format!(
            r#"{{"name": "hold", "action": "delay", "kind": "{kind}", "table": "{table}", "times": 1, "delay_ms": {DELAY_MS}}}"#
        ));
    }

    /// Until a statement is held up.
    async fn held_up(&self) {
        while self.cluster.fired() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn is_fenced(answer: &Result<(), StoreError>) -> bool {
    matches!(answer, Err(StoreError::Fenced { .. }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn takeover_in_the_middle_of_any_write_ends_it() {
    for level in Level::ALL {
        let fixture = Fixture::start(*level).await;
        let outside = fixture.cluster.behind().await;
        for write in &ALL {
            let mut ended = false;
            for attempt in 0..5 {
                let queue = format!("{}-{attempt}", write.name);
                let (mut first, ids) = filled(&fixture.store(), &queue).await;
                let before = content(&outside, &queue).await;
                fixture.hold_up(write.kind, "leasehold_items");
                let run = write.run;
                let writing = tokio::spawn(async move {
                    let answer = run(&mut first, ids).await;
                    (first, answer)
                });
                fixture.held_up().await;
                let mut second = fixture.store().partition(&partition(&queue));
                second.open().await.expect("takes over");
                let taken = content(&outside, &queue).await;
                let (mut first, answer) = writing.await.expect("no panic");
                assert_eq!(content(&outside, &queue).await, taken, "{} after the takeover", write.name);
                assert!(answer.is_ok() || is_fenced(&answer), "{}: {answer:?}", write.name);
                assert_eq!(answer.is_ok(), taken != before, "{}: {answer:?}", write.name);
                for late in &ALL {
                    let answer = (late.run)(&mut first, ids).await;
                    assert!(is_fenced(&answer), "{} after {}: {answer:?}", late.name, write.name);
                }
                assert_eq!(content(&outside, &queue).await, taken, "a fenced owner wrote");
                ended = is_fenced(&answer);
                if ended {
                    break;
                }
            }
            assert!(ended, "no takeover came in the middle of {}", write.name);
        }
    }
}

/// The window the other way round: what commits first counts, and the takeover sees it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn takeover_that_loses_to_a_write_sees_it() {
    let fixture = Fixture::start(Level::L2025_05).await;
    let store = fixture.store();
    let (mut first, ids) = filled(&store, "orders").await;
    let mut second = fixture.store().partition(&partition("orders"));
    second.open().await.expect("the tables are known to it");
    first.owner.open().await.expect("back again");
    fixture.hold_up("select", "leasehold_items");
    let taking = tokio::spawn(async move { second.open().await });
    fixture.held_up().await;
    let removed = first.owner.remove(&[ids.held]).await;
    let opened = taking.await.expect("no panic").expect("takes over in the end");
    let counts = (opened.counts.ready, opened.counts.leased);
    match removed {
        Ok(removed) => assert_eq!((removed.leased, counts), (1, (1, 0)), "the takeover sees the write"),
        // It was too slow for the window.
        Err(error) => assert_eq!((is_fenced(&Err(error)), counts), (true, (1, 1))),
    }
}

/// Dropped and made anew, the partition is another one: whoever owned the first owns nothing of the second.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn owner_of_a_dropped_partition_is_fenced_also_when_it_is_made_anew() {
    let fixture = Fixture::start(Level::L2025_05).await;
    let store = fixture.store();
    store.drop_partition(&partition("orders")).await.expect("fine if nothing was ever there");
    let (mut first, ids) = filled(&store, "orders").await;
    store.drop_partition(&partition("orders")).await.expect("drop");
    store.drop_partition(&partition("orders")).await.expect("fine if it does not exist");
    assert!(is_fenced(&first.owner.remove(&[ids.held]).await.map(drop)));
    let mut again = Line::open(&store, "orders").await;
    store.drop_partition(&partition("orders")).await.expect("drop");
    let mut second = Line::open(&store, "orders").await;
    let item = again.item("late");
    assert!(is_fenced(&again.owner.produce(&[item]).await.map(drop)));
    assert_eq!(second.owner.open().await.expect("open").counts, Default::default());
}

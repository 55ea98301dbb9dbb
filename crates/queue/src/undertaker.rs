//! The task that brings dead items to the queues they go to.
//!
//! Partitions do not talk to each other: one that waited for another, which is slow or gone, would hold up its own
//! queue. They hand their dead over here and are told later what arrived.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Weak};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;

use crate::engine::Inner;
use crate::queue::message::{Cold, Moved, PartitionMessage};
use crate::{Item, ItemId, QueueInfo, QueueName};

/// Dead items of one partition. Each partition has at most one move under way.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) from: Arc<QueueInfo>,
    pub(crate) to: QueueName,
    pub(crate) items: Vec<Item>,
    pub(crate) back: UnboundedSender<PartitionMessage>,
}

/// Where partitions hand over their dead.
#[derive(Clone, Debug)]
pub(crate) struct UndertakerHandle(pub(crate) UnboundedSender<Move>);

impl UndertakerHandle {
    /// If nobody takes it the engine is being stopped, and the dead stay where they are.
    pub(crate) fn send(&self, handed: Move) {
        drop(self.0.send(handed));
    }
}

/// Runs until no partition is left that could hand over anything.
pub(crate) async fn run(engine: Weak<Inner>, mut moves: UnboundedReceiver<Move>) {
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            handed = moves.recv() => match handed {
                Some(handed) => drop(under_way.spawn(carry(engine.clone(), handed))),
                None => break,
            },
            Some(_) = under_way.join_next() => {}
        }
    }
    while under_way.join_next().await.is_some() {}
}

async fn carry(engine: Weak<Inner>, handed: Move) {
    let Move { from, to, items, back } = handed;
    let mut answer = Answer { back, moved: failed(&to, Vec::new(), "the move was cut short") };
    answer.moved = deliver(engine, &from, &to, items).await;
}

/// Tells the partition what became of its move, however that ends: until it hears of it, it starts no other.
struct Answer {
    back: UnboundedSender<PartitionMessage>,
    moved: Moved,
}

impl Drop for Answer {
    fn drop(&mut self) {
        let moved = std::mem::take(&mut self.moved);
        drop(self.back.send(PartitionMessage::Moved(moved)));
    }
}

fn failed(to: &QueueName, arrived: Vec<ItemId>, error: &str) -> Moved {
    Moved { arrived, error: Some(format!("dead queue {to}: {error}")) }
}

async fn deliver(engine: Weak<Inner>, from: &QueueInfo, to: &QueueName, items: Vec<Item>) -> Moved {
    let Some(engine) = engine.upgrade() else {
        return failed(to, Vec::new(), "the engine is gone");
    };
    if let Some(reason) = engine.undeliverable(from, to).await {
        return failed(to, Vec::new(), &reason);
    }
    let queue = match engine.open(to).await {
        Ok(queue) => queue,
        Err(error) => return failed(to, Vec::new(), &error.to_string()),
    };
    drop(engine);
    let Some(partitions) = NonZeroUsize::new(queue.partitions_len()) else {
        return failed(to, Vec::new(), "it has no partitions");
    };
    let mut by_partition: BTreeMap<usize, Vec<Item>> = BTreeMap::new();
    for item in items {
        by_partition.entry(partition_of(item.id, partitions)).or_default().push(item);
    }
    let mut arrived = Vec::new();
    let mut error = None;
    for (partition, items) in by_partition {
        let ids: Vec<ItemId> = items.iter().map(|item| item.id).collect();
        match queue.ask(partition, |reply| Cold::Deposit { items, reply }).await.flatten() {
            Ok(()) => arrived.extend(ids),
            Err(refused) => error = Some(refused.to_string()),
        }
    }
    match error {
        None => Moved { arrived, error: None },
        Some(error) => failed(to, arrived, &error),
    }
}

/// The same for the same item, whenever it is asked: a second copy must meet the first.
fn partition_of(source_id: ItemId, partitions: NonZeroUsize) -> usize {
    // Ids of one partition follow each other: every bit of an id must reach the bits that choose.
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let hash = source_id.as_bytes().iter().fold(0_u64, |hash, byte| {
        let mixed = (hash ^ u64::from(*byte)).wrapping_mul(ODD);
        mixed ^ (mixed >> 29)
    });
    usize::try_from(hash % u64::try_from(partitions.get()).unwrap_or(u64::MAX)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use leasehold_core::Timestamp;

    use super::*;
    use crate::{Namespace, QueueChange};

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn items_spread_over_the_partitions_of_the_dead_queue() {
        let mut id = ItemId::from_bytes([7; 20]);
        let mut hit = [0; 4];
        let four = NonZeroUsize::new(4).expect("not zero");
        for _ in 0..1_000 {
            hit[partition_of(id, four)] += 1;
            id = id.successor();
        }
        assert!(hit.iter().all(|count| *count > 150), "{hit:?}");
        assert_eq!(partition_of(id, four), partition_of(id, four));
    }

    #[tokio::test]
    async fn partition_hears_of_a_move_that_was_cut_short() {
        let (back, mut mailbox) = tokio::sync::mpsc::unbounded_channel();
        let (moves, handed) = tokio::sync::mpsc::unbounded_channel();
        let undertaker = tokio::spawn(async move { run(Weak::new(), handed).await });
        let to: QueueName = "dead".parse().expect("a name");
        let from = Arc::new(QueueInfo {
            name: "dying".parse().expect("a name"),
            namespace: Namespace::default(),
            options: QueueChange {
                lease_timeout: MINUTE,
                expire_timeout: MINUTE,
                requested_partitions: 1,
                ..QueueChange::default()
            }
            .create()
            .expect("options"),
            partitions: Vec::new(),
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
        });
        moves
            .send(Move { from, to: to.clone(), items: Vec::new(), back: back.clone() })
            .expect("it takes it");
        assert!(
            matches!(mailbox.recv().await, Some(PartitionMessage::Moved(moved)) if moved.error.is_some())
        );
        drop(Answer { back, moved: failed(&to, Vec::new(), "the move was cut short") });
        let Some(PartitionMessage::Moved(moved)) = mailbox.recv().await else { panic!("nothing was told") };
        assert_eq!(moved.error.as_deref(), Some("dead queue dead: the move was cut short"));
        drop(moves);
        undertaker.await.expect("it ends with its partitions");
    }
}

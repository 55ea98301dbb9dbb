//! A disk that is full or broken, a caller that goes away, a record that is damaged.

use std::num::NonZeroUsize;

use leasehold_core::Timestamp;
use leasehold_embedded::Written;
use leasehold_queue::conformance::Harness as _;
use leasehold_queue::conformance::store::Line;
use leasehold_queue::store::{Change, Placement, Verdict};
use leasehold_queue::{ItemId, StoreError};
use redb::{ReadableTable, ReadableTableMetadata, TableDefinition};

use super::fixture::{Embedded, begin_and_drop};

const ITEMS: TableDefinition<'_, [u8; 28], &[u8]> = TableDefinition::new("queue.items");
const STATES: TableDefinition<'_, [u8; 28], &[u8]> = TableDefinition::new("queue.states");

/// Opens the partition, as often as a disk that has just come back needs.
async fn open_again(line: &mut Line) {
    while line.owner.open().await.is_err() {
        tokio::task::yield_now().await;
    }
}

fn must_be_opened<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_refuses_writes_and_loses_nothing() {
    let (mut line, disk) = Embedded::start().await.line().await;
    let held = line.leased("held").await;
    line.produced(&["ready"]).await;
    disk.faults.set_full(true);
    let items = [line.item("too much"), line.item("too much as well")];
    let failed = line.owner.produce(&items).await.expect_err("the disk is full");
    assert!(
        matches!(failed, StoreError::Unavailable { .. } | StoreError::Indeterminate { .. }),
        "{failed:?}"
    );
    must_be_opened(line.owner.next_ready(NonZeroUsize::MIN, Timestamp::EPOCH).await);
    must_be_opened(line.owner.change(&[&[Change::Complete { id: held }]]).await);
    must_be_opened(line.owner.open().await);

    disk.faults.set_full(false);
    open_again(&mut line).await;
    let found = line.owner.fetch(&[items[0].id, items[1].id]).await.expect("settles the outcome").len();
    assert!(found == 0 || found == 2, "half of a batch was written");
    let expected: &[&str] =
        if found == 0 { &["held", "ready"] } else { &["held", "ready", "too much", "too much as well"] };
    assert_eq!(line.payloads().await, expected);
    assert_eq!(line.change(&[Change::Complete { id: held }]).await, Verdict::Done);
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_sync_is_indeterminate_and_settled_by_opening() {
    let (mut line, disk) = Embedded::start().await.line().await;
    let held = line.leased("held").await;
    disk.faults.set_unsynced(true);
    let failed = line.owner.change(&[&[Change::Complete { id: held }]]).await.expect_err("is not known");
    assert!(matches!(failed, StoreError::Indeterminate { .. }), "{failed:?}");
    disk.faults.set_unsynced(false);
    open_again(&mut line).await;
    let found = line.find(held).await;
    assert_eq!(line.payloads().await.len(), usize::from(found.is_some()));
    line.produced(&["goes on"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_opening_finds_after_a_failed_sync_outlives_a_power_loss() {
    let (mut line, disk) = Embedded::start().await.line().await;
    line.produced(&["before"]).await;
    let item = line.item("in doubt");
    disk.faults.fail_next_sync();
    let failed = line.owner.produce(&[item]).await.expect_err("is not known");
    assert!(matches!(failed, StoreError::Indeterminate { .. }), "{failed:?}");
    open_again(&mut line).await;
    let found = line.payloads().await;
    disk.faults.lose_power();
    let (folder, faults) = (disk.folder.clone(), disk.faults.clone());
    drop((line, disk));
    let (mut line, _disk) = Embedded::on(folder, faults).line().await;
    assert_eq!(line.payloads().await, found);
    assert_eq!(found[0], "before");
}

#[tokio::test]
async fn call_that_is_dropped_midway_demands_opening() {
    let (mut line, disk) = Embedded::start().await.line().await;
    line.produced(&["before"]).await;
    let items = [line.item("dropped"), line.item("dropped")];
    let held = disk.hold_writer().await;
    begin_and_drop(line.owner.produce(&items)).await;
    drop(held);
    must_be_opened(line.owner.stats(Timestamp::EPOCH).await);
    must_be_opened(line.owner.produce(&items).await);
    let opened = line.owner.open().await.expect("opens");
    let found = line.owner.fetch(&[items[0].id, items[1].id]).await.expect("fetch").len();
    assert!(found == 0 || found == 2, "half of a batch was written");
    assert_eq!(opened.counts.ready, 1 + found as u64);
}

#[tokio::test]
async fn closed_handle_owns_nothing() {
    let (mut line, _disk) = Embedded::start().await.line().await;
    line.produced(&["kept"]).await;
    line.owner.close().await;
    line.owner.close().await;
    let refused = line.owner.list(false, ItemId::MIN, 9, usize::MAX).await.expect_err("is closed");
    assert!(matches!(refused, StoreError::Fenced { .. }), "{refused:?}");
    line.owner.open().await.expect("opens anew");
    assert_eq!(line.payloads().await, ["kept"]);
}

#[tokio::test]
async fn damaged_record_is_told_and_not_guessed_at() {
    let (mut line, disk) = Embedded::start().await.line().await;
    let ids = line.produced(&["good", "bad"]).await;
    let damage = |table: TableDefinition<'static, [u8; 28], &'static [u8]>, record: &'static [u8]| {
        let damaged = disk.opened.write_blocking(move |write| {
            let last = write.open_table(ITEMS)?.last()?.map(|(key, _)| key.value());
            write.open_table(table)?.insert(last.expect("two items"), record)?;
            Ok(Written::Changed(()))
        });
        damaged.expect("writes");
    };
    damage(STATES, &[1, 9]);
    let refused = line.owner.open().await.expect_err("no state of ours");
    assert!(
        matches!(&refused, StoreError::Unusable { what, .. } if what.contains(&ids[1].to_string())),
        "{refused}"
    );
    damage(ITEMS, &[200]);
    let refused = line.owner.open().await.expect_err("no item of ours");
    assert_eq!(refused.code(), "queue.store_unusable");
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_that_write_together_share_syncs() {
    let harness = Embedded::start().await;
    let faults = harness.faults();
    let mut writers = tokio::task::JoinSet::new();
    let go = std::sync::Arc::new(tokio::sync::Barrier::new(64));
    for number in 0..64 {
        let partition = leasehold_queue::store::PartitionId { number, ..Line::partition() };
        let mut owner = harness.store().partition(&partition);
        let mut ids = leasehold_queue::ItemIds::default();
        let (go, faults) = (go.clone(), faults.clone());
        writers.spawn(async move {
            owner.open().await.expect("opens");
            go.wait().await;
            let before = faults.syncs();
            let item = super::item(ids.next());
            assert_eq!(owner.produce(&[item]).await.expect("produces"), [Placement::Placed]);
            before
        });
    }
    let started = writers.join_all().await.into_iter().min().expect("64 writers");
    let syncs = faults.syncs() - started;
    assert!(syncs < 48, "{syncs} syncs for 64 writes");
}

#[tokio::test]
async fn dropped_partition_leaves_nothing_in_the_file() {
    let (mut line, disk) = Embedded::start().await.line().await;
    for _ in 0..3 {
        let items: Vec<_> = (0..4_000).map(|_| line.item("to be dropped")).collect();
        line.owner.produce(&items).await.expect("produces");
    }
    let left = || disk.opened.read(|read| Ok(read.open_table(ITEMS)?.len()?)).expect("reads");
    let store = line.store();
    let partition = Line::partition();
    let held = disk.hold_writer().await;
    begin_and_drop(store.drop_partition(&partition)).await;
    drop(held);
    store.drop_partition(&partition).await.expect("goes on");
    assert_eq!(left(), 0);
    assert_eq!(line.owner.open().await.expect("a new one").counts.ready, 0);
}

#[tokio::test]
async fn what_a_crash_left_of_a_dropped_partition_never_comes_back_and_goes_step_by_step() {
    const DROPPED: TableDefinition<'_, u64, ()> = TableDefinition::new("queue.dropped");
    const PARTITIONS: TableDefinition<'_, (&str, u32), u64> = TableDefinition::new("queue.partitions");
    let (mut line, disk) = Embedded::start().await.line().await;
    for _ in 0..2 {
        let items: Vec<_> = (0..5_000).map(|_| line.item("dropped")).collect();
        line.owner.produce(&items).await.expect("produces");
    }
    // As a crash between the first step of dropping and the others leaves it.
    let forgotten = disk.opened.write_blocking(|write| {
        let number = write.open_table(PARTITIONS)?.remove(("orders", 0))?.map(|number| number.value());
        write.open_table(DROPPED)?.insert(number.expect("is there"), ())?;
        Ok(Written::Changed(()))
    });
    forgotten.expect("writes");
    let folder = disk.folder.clone();
    drop((line, disk));
    let (mut line, disk) = Embedded::over(folder).line().await;
    assert_eq!(line.payloads().await, [""; 0], "a new partition of the same name is empty");
    line.produced(&["new"]).await;
    for _ in 0..4 {
        line.owner.open().await.expect("opens, and sweeps a little");
    }
    // Behind the last step in the mailbox.
    line.produced(&["newer"]).await;
    let left = disk.opened.read(|read| Ok(read.open_table(ITEMS)?.len()?)).expect("reads");
    assert_eq!(left, 2);
    assert_eq!(line.payloads().await, ["new", "newer"]);
}

#[tokio::test]
async fn file_stays_small_however_often_its_items_change() {
    let (mut line, disk) = Embedded::start().await.line().await;
    let payload = "x".repeat(1_000);
    let mut after_one = 0;
    for round in 0..10 {
        let items: Vec<_> = (0..1_000).map(|_| line.item(&payload)).collect();
        line.owner.produce(&items).await.expect("produces");
        let picks: Vec<_> = items
            .iter()
            .map(|item| leasehold_queue::store::Pick { id: item.id, deadline: Timestamp::MAX })
            .collect();
        line.owner.lease(&picks).await.expect("leases");
        let changes: Vec<_> = items.iter().map(|item| Change::Complete { id: item.id }).collect();
        assert_eq!(line.change(&changes).await, Verdict::Done);
        if round == 0 {
            after_one = disk.file_bytes();
        }
    }
    let bytes = disk.file_bytes();
    assert!(bytes <= 2 * after_one.max(4 << 20), "{bytes} bytes after ten rounds, {after_one} after one");
}

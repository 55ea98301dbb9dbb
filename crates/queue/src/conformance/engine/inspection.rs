//! Figures, lists, imports, deletions, clearing, pausing.

use super::faulty::Fault;
use super::served::{
    HOUR, LATE, MINUTE, PATIENCE, SECOND, SHORT, Served, lease_request, name, new_item, payloads, words,
};
use crate::store::Counts;
use crate::{ClearRequest, Error, GivenId, ImportItem, ItemId, ListItems, Totals};

fn import(payload: &str) -> ImportItem {
    ImportItem { payload: payload.to_owned().into(), ..ImportItem::default() }
}

/// Counts follow every change, and averages are over what they say.
pub async fn stats_are_true(served: &mut Served) {
    served.create("jobs").await;
    served.produce_items("jobs", vec![new_item("x"); 500], PATIENCE).await.expect("produce");
    served.produce_at("jobs", "later", served.after(HOUR)).await;
    let leased = served.lease("jobs", 15).await;
    served.advance(10 * SECOND);
    let stats = served.partition_stats("jobs").await;
    assert_eq!(stats.counts, Counts { ready: 485, leased: 15, scheduled: 1 });
    assert_eq!((stats.failures, stats.partition), (0, 0));
    assert_eq!((stats.average_age, stats.average_lease_left), (10 * SECOND, 50 * SECOND));
    served.complete("jobs", &leased).await.expect("complete");
    let stats = served.partition_stats("jobs").await;
    assert_eq!(stats.counts, Counts { ready: 485, leased: 0, scheduled: 1 });
    assert_eq!(stats.average_lease_left, std::time::Duration::ZERO);
}

/// Every partition shows its own figures under its own number.
pub async fn stats_are_per_partition(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 3).await;
    for len in [3, 2, 1] {
        served.produce_items("jobs", vec![new_item("x"); len], PATIENCE).await.expect("produce");
    }
    served.lease("jobs", 3).await;
    let stats = served.stats("jobs").await;
    let seen: Vec<_> =
        stats.partitions.iter().map(|one| (one.partition, one.counts.ready, one.counts.leased)).collect();
    assert_eq!(seen, [(0, 0, 3), (1, 2, 0), (2, 1, 0)]);
}

/// Waiting requests are counted while they wait, and not after.
pub async fn waiting_requests_are_counted(served: &mut Served) {
    served.create("jobs").await;
    let first = served.waiting_lease("jobs", "a", 1).await;
    let second = served.waiting_lease("jobs", "b", 1).await;
    let stats = served.stats("jobs").await;
    assert_eq!((stats.lease_waiting, stats.in_flight, stats.produce_waiting), (2, 2, 0));
    served.produce("jobs", &["x", "y"]).await;
    first.await.expect("the lease ends").expect("an item");
    second.await.expect("the lease ends").expect("an item");
    let stats = served.stats("jobs").await;
    assert_eq!((stats.lease_waiting, stats.in_flight), (0, 0));
}

/// What a console shows: totals of what happened, and how old the first in line is.
pub async fn overview_counts_what_happened(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b", "c", "d"]).await;
    served.advance(SECOND);
    let leased = served.lease("jobs", 2).await;
    served.complete_ids("jobs", 0, vec![leased.items[0].id.into()]).await.expect("complete");
    let overview = served.engine.overview().await;
    assert_eq!(overview[0].partitions[0].oldest_ready_age, Some(SECOND));
    let third = served.lease("jobs", 1).await;
    served.retry("jobs", &third, None, false).await.expect("retry");
    served.advance(MINUTE + LATE);
    served.until_ready("jobs", 3).await;
    let overview = served.engine.overview().await;
    assert_eq!((overview.len(), &overview[0].name), (1, &name("jobs")));
    let partition = &overview[0].partitions[0];
    let expected = Totals { produced: 4, leased: 3, completed: 1, retried: 1, expired: 1, dead: 0 };
    assert_eq!(partition.totals, expected);
    assert_eq!(partition.counts, Counts { ready: 3, leased: 0, scheduled: 0 });
    assert_eq!((partition.failures, &partition.last_error, partition.frozen), (0, &None, 0));
}

/// Lists start at the pivot, and show scheduled items only where they belong.
pub async fn lists_start_at_the_pivot(served: &mut Served) {
    served.create("jobs").await;
    let ids = served.produce("jobs", &["a", "b", "c"]).await.ids;
    served.produce_at("jobs", "later", served.after(HOUR)).await;
    let queue = name("jobs");
    let pivot = ids[1].to_string();
    let list = ListItems { queue: &queue, partition: 0, pivot: &pivot, limit: 1 };
    assert_eq!(payloads(&served.engine.list_items(list.clone()).await.expect("list")), ["b"]);
    let rest = ListItems { limit: 0, ..list.clone() };
    assert_eq!(payloads(&served.engine.list_items(rest).await.expect("list")), ["b", "c"]);
    let negative = ListItems { limit: -1, ..list.clone() };
    assert!(served.engine.list_items(negative).await.expect("list").is_empty());
    assert_eq!(payloads(&served.scheduled("jobs").await), ["later"]);
    let bad = ListItems { pivot: "junk", ..list.clone() };
    assert_eq!(
        words(served.engine.list_items(bad).await),
        "invalid storage id; 'junk': Valid encoded KSUIDs are 27 characters"
    );
    let bad = ListItems { partition: 7, pivot: "junk", ..list };
    assert_eq!(
        words(served.engine.list_items(bad).await),
        "partition is invalid; '7' is not a valid partition"
    );
}

/// A long list is read in pages, and no other request waits for it.
pub async fn long_list_is_read_in_pages_beside_the_work(served: &mut Served) {
    served.create("jobs").await;
    for number in 0..3 {
        let item = new_item(&number.to_string());
        served.produce_items("jobs", vec![item; 700], PATIENCE).await.expect("produce");
    }
    served.faults.take_calls("list");
    served.faults.always("list", None, Fault::Held);
    let engine = served.engine.clone();
    let list = tokio::spawn(async move {
        let queue = name("jobs");
        engine.list_items(ListItems { queue: &queue, partition: 0, pivot: "", limit: 20_000 }).await
    });
    served.until(|| async { served.faults.take_calls("list") == 1 }).await;
    served.produce("jobs", &["last"]).await;
    let leased = served.lease("jobs", 1).await;
    served.complete("jobs", &leased).await.expect("it is held");
    served.faults.heal();
    let listed = list.await.expect("it ends").expect("list");
    assert!(listed.is_sorted_by(|one, other| one.id < other.id));
    assert!((2_100..=2_101).contains(&listed.len()), "{} items", listed.len());
    assert_eq!(listed.last().map(|item| &item.payload[..]), Some(&b"last"[..]), "it is on a later page");
    assert_eq!(served.faults.take_calls("list"), 2, "after the first page");
}

/// Rather than to be cut without a word, or to fill the memory.
pub async fn list_beyond_its_bounds_is_refused(served: &mut Served) {
    served.reconfigure(|config| config.list_bytes_max = 50_000).await;
    served.create("jobs").await;
    served.produce_items("jobs", vec![new_item(&"x".repeat(20_000)); 3], PATIENCE).await.expect("produce");
    let queue = name("jobs");
    let list = async |limit| {
        served.engine.list_items(ListItems { queue: &queue, partition: 0, pivot: "", limit }).await
    };
    assert_eq!(list(2).await.expect("they fit").len(), 2);
    let too_long = "limit is invalid; the first 3 items have more than 50000 bytes, ask for fewer";
    assert_eq!(words(list(20_000).await), too_long);
    for limit in [20_001, i64::from(i32::MAX)] {
        assert_eq!(words(list(limit).await), "limit is invalid; cannot be greater than 20000");
    }
}

/// A store that cannot be read for somebody can be written for others.
pub async fn failed_list_does_not_fail_the_partition(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    served.faults.always("list", None, Fault::Unavailable);
    served.faults.always("open", None, Fault::Unavailable);
    let queue = name("jobs");
    for _ in 0..3 {
        let list = ListItems { queue: &queue, partition: 0, pivot: "", limit: 0 };
        let answer = served.engine.list_items(list).await;
        assert!(matches!(answer, Err(Error::Storage(_))), "{answer:?}");
    }
    assert_eq!(served.partition_stats("jobs").await.failures, 0);
    served.produce("jobs", &["b"]).await;
    served.faults.heal();
    assert_eq!(payloads(&served.items("jobs", 0).await), ["a", "b"]);
}

/// Imported items come in order, with new ids, and can be leased at once.
pub async fn imported_items_are_leasable_at_once(served: &mut Served) {
    served.create("jobs").await;
    let items: Vec<ImportItem> = (0..10_000).map(|number| import(&number.to_string())).collect();
    let imported = served.engine.import_items(&name("jobs"), 0, items).await.expect("import");
    assert_eq!(imported.len(), 10_000);
    assert!(imported.is_sorted_by(|one, other| one.id < other.id));
    assert_eq!(imported[0].created_at, served.now());
    assert_eq!(imported[0].lease_deadline, Some(leasehold_core::Timestamp::EPOCH));
    let leased = served.lease("jobs", 3).await;
    assert_eq!(payloads(&leased.items), ["0", "1", "2"]);
    assert_eq!(leased.items[0].id, imported[0].id);
    assert_eq!(served.partition_stats("jobs").await.counts, Counts { ready: 9_997, leased: 3, scheduled: 0 });
}

/// An import may say that somebody holds an item.
pub async fn imported_lease_runs_out(served: &mut Served) {
    served.create("jobs").await;
    let held = ImportItem {
        is_leased: true,
        lease_deadline: Some(served.after(MINUTE)),
        attempts: 3,
        max_attempts: 9,
        ..import("a")
    };
    let imported = served.engine.import_items(&name("jobs"), 0, vec![held]).await.expect("import");
    assert!(imported[0].is_leased && imported[0].attempts == 3 && imported[0].max_attempts == 9);
    served.assert_nothing_to_lease("jobs").await;
    served.advance(MINUTE + LATE);
    assert_eq!(served.lease("jobs", 1).await.items[0].attempts, 4);
}

/// A source id is stored once; the answer names the item that is there.
pub async fn known_source_id_is_imported_once(served: &mut Served) {
    served.create("jobs").await;
    let item = |payload| ImportItem { source_id: Some("s1".into()), ..import(payload) };
    let queue = name("jobs");
    let first = served.engine.import_items(&queue, 0, vec![item("a")]).await.expect("import");
    let second = served.engine.import_items(&queue, 0, vec![item("b"), import("c")]).await.expect("import");
    assert_eq!(second[0].id, first[0].id);
    assert_eq!(payloads(&served.items("jobs", 0).await), ["a", "c"]);
    assert_eq!(served.partition_stats("jobs").await.counts.ready, 2);
    let empty = served.engine.import_items(&queue, 0, vec![]).await;
    assert_eq!(words(empty), "items is invalid; cannot be empty");
}

/// Deleting takes leased items too, leaves unknown ids alone, and does nothing if an id is malformed.
pub async fn items_are_deleted_by_id(served: &mut Served) {
    served.create("jobs").await;
    let ids = served.produce("jobs", &["a", "b", "c"]).await.ids;
    served.lease("jobs", 1).await;
    let queue = name("jobs");
    let given: Vec<GivenId> = vec![ids[0].into(), "junk".into()];
    assert!(words(served.engine.delete_items(&queue, 0, given).await).contains("'junk'"));
    let given: Vec<GivenId> = vec![ids[0].into(), ids[1].into(), ItemId::MIN.into()];
    let removed = served.engine.delete_items(&queue, 0, given).await.expect("delete");
    assert_eq!(removed, Counts { ready: 1, leased: 1, scheduled: 0 });
    assert_eq!(payloads(&served.items("jobs", 0).await), ["c"]);
    assert_eq!(words(served.engine.delete_items(&queue, 0, vec![]).await), "ids is invalid; cannot be empty");
}

/// Clearing takes only what it is told to.
pub async fn clear_takes_what_it_is_told(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    let queue = name("jobs");
    let fill = async || {
        served.produce("jobs", &["a", "b"]).await;
        served.produce("jobs", &["c", "d"]).await;
        served.lease("jobs", 1).await
    };
    let counts = async || {
        let stats = served.stats("jobs").await;
        stats.partitions.iter().fold((0, 0, 0), |sum, partition| {
            let counts = partition.counts;
            (sum.0 + counts.ready, sum.1 + counts.leased, sum.2 + counts.scheduled)
        })
    };
    let nothing =
        served.engine.clear(&queue, ClearRequest { destructive: true, ..ClearRequest::default() }).await;
    assert_eq!(words(nothing), "invalid clear request; one of 'queue', 'scheduled' must be true");
    served.produce_at("jobs", "later", served.after(HOUR)).await;
    let leased = fill().await;
    served
        .engine
        .clear(&queue, ClearRequest { queue: true, ..ClearRequest::default() })
        .await
        .expect("clear");
    assert_eq!(counts().await, (0, 1, 1));
    let destructive = ClearRequest { queue: true, destructive: true, scheduled: false };
    served.engine.clear(&queue, destructive).await.expect("clear");
    assert_eq!(counts().await, (0, 0, 1));
    assert!(words(served.complete("jobs", &leased).await).ends_with("does not exist"));
    fill().await;
    served
        .engine
        .clear(&queue, ClearRequest { scheduled: true, ..ClearRequest::default() })
        .await
        .expect("clear");
    assert_eq!(counts().await, (3, 1, 0));
    assert_eq!(served.lease("jobs", 1).await.items.len(), 1);
}

/// While a queue is paused requests are held and figures are served; afterwards all is done as one batch.
pub async fn pause_holds_requests_and_serves_figures(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["old"]).await;
    let old = served.lease("jobs", 1).await;
    let queue = name("jobs");
    served.engine.pause(&queue).await.expect("pause");
    served.engine.pause(&queue).await.expect("pausing twice is pausing");
    let engine = served.engine.clone();
    let lease = tokio::spawn(async move { engine.lease(lease_request("jobs", "c", 10)).await });
    let engine = served.engine.clone();
    let request =
        crate::ProduceRequest { queue: queue.clone(), timeout: PATIENCE, items: vec![new_item("new")] };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    let engine = served.engine.clone();
    let ids = vec![old.items[0].id.into()];
    let request = crate::CompleteRequest { queue: queue.clone(), partition: 0, timeout: PATIENCE, ids };
    let complete = tokio::spawn(async move { engine.complete(request).await });
    served
        .until(|| async {
            let stats = served.stats("jobs").await;
            (stats.lease_waiting, stats.produce_waiting, stats.complete_waiting, stats.in_flight)
                == (1, 1, 1, 3)
        })
        .await;
    assert_eq!(served.items("jobs", 0).await.len(), 1, "nothing was done");
    served.engine.import_items(&queue, 0, vec![import("imported")]).await.expect("cold requests are served");
    let timeout = served.try_lease("jobs", 1, SHORT).await;
    assert!(matches!(timeout, Err(Error::LeaseTimeout)), "{timeout:?}");
    served.engine.unpause(&queue).await.expect("unpause");
    produce.await.expect("it ends").expect("produce");
    complete.await.expect("it ends").expect("complete");
    let leased = lease.await.expect("it ends").expect("items");
    assert_eq!(payloads(&leased.items), ["imported", "new"]);
}

/// Reloading loses nothing and wakes whoever waits.
pub async fn reload_keeps_everything(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    served.produce("jobs", &["a"]).await;
    served.produce("jobs", &["b"]).await;
    let held = served.lease("jobs", 1).await;
    served.engine.reload(&name("jobs")).await.expect("reload");
    served.complete("jobs", &held).await.expect("the lease is still valid");
    served.lease("jobs", 1).await;
    served.assert_nothing_to_lease("jobs").await;
}

/// Figures that the store takes its time for hold up nobody.
pub async fn slow_stats_hold_up_nobody(served: &mut Served) {
    served.create("jobs").await;
    served.faults.take_calls("stats");
    served.faults.always("stats", None, Fault::Held);
    let engine = served.engine.clone();
    let stats = tokio::spawn(async move { engine.stats(&name("jobs")).await });
    served.until(|| async { served.faults.take_calls("stats") == 1 }).await;
    served.produce("jobs", &["a", "b"]).await;
    let leased = served.lease("jobs", 1).await;
    served.complete("jobs", &leased).await.expect("it is held");
    served.faults.heal();
    let stats = stats.await.expect("it ends").expect("stats");
    assert_eq!(stats.partitions[0].counts, Counts { ready: 1, ..Counts::default() });
}

/// A store that cannot tell the averages is not one that cannot be written.
pub async fn failed_stats_do_not_fail_the_partition(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    served.faults.always("stats", None, Fault::Unavailable);
    let stats = served.partition_stats("jobs").await;
    assert_eq!((stats.counts.ready, stats.failures), (1, 0));
    served.faults.always("open", None, Fault::Unavailable);
    served.produce("jobs", &["b"]).await;
    assert_eq!(served.partition_stats("jobs").await.counts.ready, 2);
}

/// A clear of many items leaves others their turns, and ends although more items come.
pub async fn clear_of_many_items_lets_others_work(served: &mut Served) {
    served.create("jobs").await;
    // More than the largest step of any store, which is 10,000 items.
    let batches = 11_u32;
    for _ in 0..batches {
        served.produce_items("jobs", vec![new_item("old"); 1_000], PATIENCE).await.expect("produce");
    }
    let (clears, produces) = (|| served.faults.take_calls("clear"), || served.faults.take_calls("produce"));
    let (queue, engine) = (name("jobs"), served.engine.clone());
    engine.pause(&queue).await.expect("pause");
    let request =
        crate::ProduceRequest { queue: queue.clone(), timeout: PATIENCE, items: vec![new_item("new")] };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.stats("jobs").await.produce_waiting == 1 }).await;
    clears();
    produces();
    served.faults.always("clear", None, Fault::Held);
    let engine = served.engine.clone();
    let all = ClearRequest { queue: true, destructive: true, scheduled: true };
    let clear = tokio::spawn(async move { engine.clear(&name("jobs"), all).await });
    served.until(|| async { clears() == 1 }).await;
    // The second answer comes when all that was held is on its way.
    for _ in 0..2 {
        served.engine.unpause(&queue).await.expect("unpause");
    }
    served.faults.release();
    served.until(|| async { clears() == 1 }).await;
    assert_eq!(produces(), 1, "it had its turn between two steps");
    served.faults.heal();
    produce.await.expect("it ends").expect("it is stored");
    let removed = clear.await.expect("it ends").expect("clear").ready;
    let left = served.items("jobs", 0).await.len();
    assert_eq!(removed + u64::try_from(left).expect("fits"), u64::from(batches) * 1_000 + 1);
    assert!(left <= 1, "{left} are left");
}

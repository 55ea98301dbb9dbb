//! Two servers that take one partition from each other, and what neither may conclude from what the other did.

use std::future::Future;
use std::sync::Arc;

use tokio::task::JoinHandle;

use super::faulty::Fault;
use super::served::{MINUTE, PATIENCE, Served, lease_request, name, new_item, payloads, queue_change};
use crate::{
    CompleteRequest, Engine, Error, ImportItem, Leased, ListItems, Namespace, ProduceRequest, QueueChange,
    Result,
};

/// Starts a request whose write is lost as told, and returns when the server is about to open the partition anew: from
/// here on another may come in between.
async fn interrupted<T: Send + 'static>(
    served: &Served,
    operation: &'static str,
    fault: Fault,
    request: impl Future<Output = Result<T>> + Send + 'static,
) -> JoinHandle<Result<T>> {
    served.faults.once(operation, fault);
    served.faults.always("open", None, Fault::Held);
    served.faults.take_calls("open");
    let request = tokio::spawn(request);
    served.until(|| async { served.faults.take_calls("open") == 1 }).await;
    request
}

/// A server that has taken the partition.
async fn other_server(served: &Served) -> Engine {
    let other = served.second_engine();
    other.stats(&name("jobs")).await.expect("the queue is opened");
    other
}

async fn lease(engine: &Engine) -> Leased {
    engine.lease(lease_request("jobs", "other", 10)).await.expect("there is something to lease")
}

async fn complete(engine: &Engine, leased: &Leased) -> Result<()> {
    let ids = leased.items.iter().map(|item| item.id.into()).collect();
    let partition = leased.partition.into();
    engine.complete(CompleteRequest { queue: name("jobs"), partition, timeout: PATIENCE, ids }).await
}

async fn items(engine: &Engine) -> Vec<String> {
    let queue = name("jobs");
    let list = ListItems { queue: &queue, partition: 0, pivot: "", limit: 0 };
    let items = engine.list_items(list).await.expect("the items are listed");
    payloads(&items).into_iter().map(str::to_owned).collect()
}

/// Lets the first server go on, which takes the partition back; its answer must be that it does not know.
async fn assert_unknown<T: std::fmt::Debug>(
    served: &Served,
    request: JoinHandle<Result<T>>,
    verb: &'static str,
) {
    served.faults.heal();
    let answer = request.await.expect("it ends");
    let is_unknown = matches!(&answer, Err(Error::Indeterminate { operation, .. }) if *operation == verb);
    assert!(is_unknown, "{answer:?}");
}

/// An item that somebody else leased meanwhile is not handed out a second time.
pub async fn lease_is_not_settled_by_what_another_server_leased(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let engine = served.engine.clone();
    let request = async move { engine.lease(lease_request("jobs", "first", 10)).await };
    let request = interrupted(served, "lease", Fault::LostRequest, request).await;
    let other = other_server(served).await;
    let leased = lease(&other).await;
    assert_eq!(payloads(&leased.items), ["a"]);
    assert_unknown(served, request, "lease").await;
    served.assert_nothing_to_lease("jobs").await;
    other.shutdown().await;
}

/// Items that were stored, leased and completed meanwhile are not stored again.
pub async fn produce_is_not_repeated_when_another_server_completed_it(served: &mut Served) {
    served.create("jobs").await;
    let engine = served.engine.clone();
    let request = ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("a")] };
    let request = async move { engine.produce(request).await };
    let request = interrupted(served, "produce", Fault::LostAnswer, request).await;
    let other = other_server(served).await;
    let leased = lease(&other).await;
    complete(&other, &leased).await.expect("it is held");
    assert_unknown(served, request, "produce").await;
    assert_eq!(items(&served.engine).await, [""; 0]);
    other.shutdown().await;
}

/// An item that is gone was not necessarily completed by who asked for it.
pub async fn complete_is_not_settled_by_what_another_server_completed(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    let leased = Arc::new(leased);
    let (engine, held) = (served.engine.clone(), leased.clone());
    let request = async move { complete(&engine, &held).await };
    let request = interrupted(served, "change", Fault::LostRequest, request).await;
    let other = other_server(served).await;
    complete(&other, &leased).await.expect("it is held");
    assert_unknown(served, request, "complete").await;
    other.shutdown().await;
}

/// A queue that another server has created meanwhile keeps what was stored in it.
pub async fn create_does_not_drop_what_another_server_stored(served: &mut Served) {
    let created = served.create("jobs").await;
    served.produce("jobs", &["old"]).await;
    let records = served.records();
    served.reconfigure(|_| {}).await;
    assert!(records.delete(&created).await.expect("its items are left behind"));
    served.faults.once("drop", Fault::Held);
    served.faults.take_calls("drop");
    let engine = served.engine.clone();
    let create = || (name("jobs"), Namespace::default(), queue_change());
    let (queue, namespace, change) = create();
    let slow = tokio::spawn(async move { engine.create_queue(queue, namespace, change).await });
    served.until(|| async { served.faults.take_calls("drop") == 1 }).await;
    let other = served.second_engine();
    let produce = || ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("new")] };
    let refused = other.produce(produce()).await;
    assert!(matches!(refused, Err(Error::QueueNotFound { .. })), "it cannot be seen yet: {refused:?}");
    let (queue, namespace, change) = create();
    other.create_queue(queue, namespace, change).await.expect("it is faster");
    other.produce(produce()).await.expect("it is stored");
    served.faults.heal();
    let answer = slow.await.expect("it ends");
    assert!(matches!(answer, Err(Error::QueueExists { .. })), "{answer:?}");
    assert_eq!(items(&other).await, ["new"]);
    other.shutdown().await;
}

/// What another server was told of a queue counts for the one that serves it, once it reads the record again.
pub async fn update_through_another_server_counts_after_a_reload(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    let other = served.second_engine();
    let change = QueueChange { lease_timeout: 2 * MINUTE, ..queue_change() };
    other.update_queue(&name("jobs"), change).await.expect("update");
    served.engine.reload(&name("jobs")).await.expect("reload");
    assert_eq!(served.engine.queue(&name("jobs")).await.expect("open").options.lease_timeout, 2 * MINUTE);
    let leased = served.lease("jobs", 1).await;
    assert_eq!(leased.items[0].lease_deadline, Some(served.after(2 * MINUTE)));
    other.delete_queue(&name("jobs")).await.expect("delete");
    let answer = served.engine.reload(&name("jobs")).await;
    assert!(matches!(answer, Err(Error::QueueNotFound { .. })), "{answer:?}");
    other.shutdown().await;
}

/// A partition that comes back after another server had it is served as the record says by then.
pub async fn update_through_another_server_counts_after_a_takeover(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let engine = served.engine.clone();
    let request = async move { engine.lease(lease_request("jobs", "first", 1)).await };
    let request = interrupted(served, "lease", Fault::LostRequest, request).await;
    let other = other_server(served).await;
    let change = QueueChange { lease_timeout: 2 * MINUTE, ..queue_change() };
    other.update_queue(&name("jobs"), change).await.expect("update");
    assert_unknown(served, request, "lease").await;
    let leased = served.lease("jobs", 1).await;
    assert_eq!(leased.items[0].lease_deadline, Some(served.after(2 * MINUTE)));
    other.shutdown().await;
}

/// Imports neither.
pub async fn import_is_not_repeated_when_another_server_completed_it(served: &mut Served) {
    served.create("jobs").await;
    let engine = served.engine.clone();
    let item = ImportItem { payload: "a".into(), ..ImportItem::default() };
    let request = async move { engine.import_items(&name("jobs"), 0, vec![item]).await };
    let request = interrupted(served, "produce", Fault::LostAnswer, request).await;
    let other = other_server(served).await;
    let leased = lease(&other).await;
    complete(&other, &leased).await.expect("it is held");
    assert_unknown(served, request, "import").await;
    assert_eq!(items(&served.engine).await, [""; 0]);
    other.shutdown().await;
}

/// The id of an item that is gone is not that of another one later, wherever the clock is: the former holder ends nothing.
pub async fn complete_of_a_former_holder_ends_no_later_item(served: &mut Served) {
    served.create("jobs").await;
    // What stays is from before each step of the clock.
    served.produce("jobs", &["stays"]).await;
    served.lease("jobs", 1).await;
    let start = served.now();
    for seconds in [0, 3_600, 3_600, 0] {
        served.produce("jobs", &["done"]).await;
        let former = served.lease("jobs", 1).await;
        served.complete("jobs", &former).await.expect("it is held");
        served.jump(start.saturating_sub(std::time::Duration::from_secs(seconds)));
        // The next owner, as after a restart.
        served.reconfigure(|_| {}).await;
        served.produce("jobs", &["later"]).await;
        let later = served.lease("jobs", 1).await;
        let answer = served.complete("jobs", &former).await;
        assert!(matches!(answer, Err(Error::ItemNotFound { .. })), "{seconds} s back: {answer:?}");
        assert_eq!(items(&served.engine).await, ["stays", "later"]);
        served.complete("jobs", &later).await.expect("it is held");
    }
}

fn is_not_found<T: std::fmt::Debug>(answer: Result<T>) {
    assert!(matches!(answer, Err(Error::QueueNotFound { .. })), "{answer:?}");
}

async fn produce(engine: &Engine, payload: &str) -> Result<crate::Produced> {
    engine
        .produce(ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item(payload)] })
        .await
}

async fn create(engine: &Engine) -> crate::QueueInfo {
    engine.create_queue(name("jobs"), Namespace::default(), queue_change()).await.expect("it is created")
}

/// Nothing is stored for a queue that another server deletes after this one has read its record.
pub async fn deleted_queue_is_not_opened_by_whoever_has_read_its_record(served: &mut Served) {
    let other = served.second_engine();
    create(&other).await;
    served.faults.always("open", None, Fault::Held);
    served.faults.take_calls("open");
    let engine = served.engine.clone();
    let late = tokio::spawn(async move { produce(&engine, "late").await });
    served.until(|| async { served.faults.take_calls("open") == 1 }).await;
    other.delete_queue(&name("jobs")).await.expect("delete");
    let before = served.last_owner("jobs").await;
    served.faults.heal();
    is_not_found(late.await.expect("it ends"));
    assert_eq!(served.last_owner("jobs").await, before, "no partition is made");
    is_not_found(produce(&served.engine, "later").await);
    create(&served.engine).await;
    assert_eq!(items(&served.engine).await, [""; 0]);
    other.shutdown().await;
}

/// A server that serves a queue which another one deletes learns so by its next write, and knows the next queue of that name.
pub async fn deleted_queue_is_gone_for_the_server_that_serves_it(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["old"]).await;
    let other = served.second_engine();
    for is_created_again in [false, true] {
        other.delete_queue(&name("jobs")).await.expect("delete");
        if is_created_again {
            // By a clock that stands still.
            create(&other).await;
        }
        is_not_found(produce(&served.engine, "late").await);
        if !is_created_again {
            is_not_found(produce(&served.engine, "later").await);
            create(&served.engine).await;
        }
        assert_eq!(items(&other).await, [""; 0], "created again: {is_created_again}");
        served.engine.reload(&name("jobs")).await.expect("reload");
        produce(&served.engine, "kept").await.expect("it is the next queue");
        assert_eq!(items(&served.engine).await, ["kept"]);
    }
    other.shutdown().await;
}

/// A queue that another server has deleted can be created, and a server that still has it open reloads the next one.
pub async fn queue_is_created_although_the_deleted_one_is_still_open(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["old"]).await;
    let other = served.second_engine();
    other.delete_queue(&name("jobs")).await.expect("delete");
    served.create("jobs").await;
    served.produce("jobs", &["new"]).await;
    assert_eq!(payloads(&served.items("jobs", 0).await), ["new"]);
    other.reload(&name("jobs")).await.expect("reload");
    let change = QueueChange { lease_timeout: 2 * MINUTE, ..queue_change() };
    other.update_queue(&name("jobs"), change).await.expect("update");
    produce(&other, "newer").await.expect("it is the next queue");
    other.shutdown().await;
}

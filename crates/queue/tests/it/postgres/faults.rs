//! Connections that break at the worst moment, servers that die, callers that leave.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use leasehold_queue::store::postgres::{Config, PostgresStore};
use leasehold_queue::store::{Change, Pick, StoreError, Verdict};
use leasehold_queue::{ItemId, Store};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

use super::fixture::{Fixture, Line, START, at, partition, pool};

/// An owner whose connection goes through a proxy.
struct Wire {
    _fixture: Fixture,
    proxy: FaultProxy,
    line: Line,
}

impl Wire {
    /// Every statement has been prepared, so that an id travels in one message only.
    async fn lay() -> Self {
        let fixture = Fixture::start().await;
        let server = Cluster::shared().address();
        let proxy = FaultProxy::start(server).await.expect("a proxy");
        let url = fixture.url.replace(&server.to_string(), &proxy.address().to_string());
        let store = PostgresStore::new(pool(&url, 1), Config::default());
        let mut line = Line::open(&store, "orders").await;
        let (warm, new_id) = (line.item("warm"), line.ids.next());
        line.owner.produce(std::slice::from_ref(&warm)).await.expect("produce");
        line.owner.lease(&[Pick { id: warm.id, deadline: at(1) }]).await.expect("lease");
        line.owner.change(&[&[Change::Return { id: warm.id, new_id }]]).await.expect("return");
        line.owner.lease(&[Pick { id: new_id, deadline: at(1) }]).await.expect("lease");
        line.owner.change(&[&[Change::Complete { id: new_id }]]).await.expect("complete");
        line.owner.requeue(&[(warm.id, new_id)]).await.expect("requeue");
        line.owner.remove(&[warm.id]).await.expect("remove");
        Wire { _fixture: fixture, proxy, line }
    }

    fn lose(&self, id: ItemId, action: Action) -> leasehold_testkit::proxy::RuleHandle {
        self.proxy.add(Rule::on(Trigger::Request(id.to_string().into_bytes())).then(action))
    }
}

fn is_indeterminate<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::Indeterminate { .. })), "{answer:?}");
}

/// Cut before the server heard of it, and after it had done it: the answer is the same, the truth is not.
const FAULTS: [(Action, bool); 2] = [(Action::Cut, false), (Action::DropReply, true)];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_answer_of_a_produce_is_settled_by_opening_and_looking() {
    for (action, happened) in FAULTS {
        let Wire { proxy, mut line, _fixture } = Wire::lay().await;
        let items = line.items(5);
        let ids: Vec<_> = items.iter().map(|item| item.id).collect();
        let lost = proxy.add(Rule::on(Trigger::Request(ids[4].to_string().into_bytes())).then(action));
        is_indeterminate(line.owner.produce(&items).await);
        lost.fired().await;
        // The handle is nobody's until it is opened.
        assert!(matches!(line.owner.fetch(&ids).await, Err(StoreError::Fenced { .. })));
        let opened = line.owner.open().await.expect("open");
        let found = line.owner.fetch(&ids).await.expect("fetch");
        assert_eq!((found.len(), opened.counts.ready), if happened { (5, 5) } else { (0, 0) }, "{action:?}");
        let ready = line.owner.next_ready(NonZeroUsize::new(9).expect("nine"), START).await.expect("ready");
        assert_eq!(ready.len(), found.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_answers_of_other_writes_are_settled_the_same_way() {
    for (action, happened) in FAULTS {
        let mut wire = Wire::lay().await;
        let item = wire.line.item("one");
        wire.line.owner.produce(std::slice::from_ref(&item)).await.expect("produce");

        let lost = wire.lose(item.id, action);
        is_indeterminate(wire.line.owner.lease(&[Pick { id: item.id, deadline: at(60) }]).await);
        lost.fired().await;
        wire.line.owner.open().await.expect("open");
        let found = wire.line.owner.fetch(&[item.id]).await.expect("fetch");
        assert_eq!((found[0].is_leased, found[0].attempts), (happened, i32::from(happened)), "{action:?}");

        if !happened {
            wire.line.owner.lease(&[Pick { id: item.id, deadline: at(60) }]).await.expect("lease");
        }
        let new_id = wire.line.ids.next();
        let lost = wire.lose(new_id, action);
        is_indeterminate(wire.line.owner.change(&[&[Change::Return { id: item.id, new_id }]]).await);
        lost.fired().await;
        wire.line.owner.open().await.expect("open");
        let found = wire.line.owner.fetch(&[item.id, new_id]).await.expect("fetch");
        assert_eq!(found[0].id == new_id, happened, "{action:?}");

        let (id, last) = (found[0].id, wire.line.ids.next());
        let lost = wire.lose(last, action);
        is_indeterminate(wire.line.owner.requeue(&[(id, last)]).await);
        lost.fired().await;
        wire.line.owner.open().await.expect("open");
        let found = wire.line.owner.fetch(&[id, last]).await.expect("fetch");
        assert_eq!(found[0].id == last, happened, "{action:?}");

        let lost = wire.lose(found[0].id, action);
        is_indeterminate(wire.line.owner.remove(&[found[0].id]).await);
        lost.fired().await;
        wire.line.owner.open().await.expect("open");
        assert_eq!(wire.line.owner.fetch(&[found[0].id]).await.expect("fetch").is_empty(), happened);
    }
}

/// A read that is lost is just lost, and the owner stays the owner.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_answer_of_a_read_is_unavailable() {
    let mut wire = Wire::lay().await;
    let item = wire.line.item("one");
    wire.line.owner.fetch(&[item.id]).await.expect("fetch");
    wire.lose(item.id, Action::DropReply);
    let error = wire.line.owner.fetch(&[item.id]).await.expect_err("the reply was lost");
    assert!(matches!(error, StoreError::Unavailable { operation: "fetch", .. }), "{error:?}");
    wire.line.owner.produce(&[item]).await.expect("still the owner");
}

/// A server that is not there is not an unknown outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn server_that_is_away_is_unavailable_and_comes_back() {
    let mut wire = Wire::lay().await;
    wire.proxy.refuse(true);
    wire.proxy.cut_all();
    let item = wire.line.item("one");
    // The first write may meet the connection before it is known to be dead.
    let first = wire.line.owner.produce(std::slice::from_ref(&item)).await;
    assert!(
        matches!(first, Err(StoreError::Unavailable { .. } | StoreError::Indeterminate { .. })),
        "{first:?}"
    );
    let error = wire.line.owner.open().await.expect_err("away");
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    wire.proxy.refuse(false);
    wire.line.owner.open().await.expect("back");
    wire.line.owner.produce(&[item]).await.expect("produce");
}

/// A caller that leaves in the middle of a write does not write with a handle that knows too little: neither when the
/// server never heard of it, nor when it was done and only the answer was on its way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn dropped_calls_leave_a_handle_that_must_be_opened() {
    // How the server begins its answer to a prepared statement that it was given values for.
    const BIND_COMPLETE: [u8; 5] = [b'2', 0, 0, 0, 4];
    for happened in [false, true] {
        let Wire { proxy, mut line, _fixture } = Wire::lay().await;
        let items = line.items(20);
        let ids: Vec<_> = items.iter().map(|item| item.id).collect();
        let trigger = match happened {
            false => Trigger::Request(ids[19].to_string().into_bytes()),
            true => Trigger::Reply(BIND_COMPLETE.to_vec()),
        };
        let stuck = proxy.add(Rule::on(trigger).then(Action::Blackhole));
        tokio::select! {
            answer = line.owner.produce(&items) => panic!("it was answered: {answer:?}"),
            () = stuck.fired() => {}
        }
        let before = line.owner.fetch(&ids).await;
        assert!(matches!(before, Err(StoreError::Fenced { .. })), "{before:?}");
        // What is stuck ends, as it does when a server notices that its client is gone.
        proxy.cut_all();
        // The connection that opens partitions is cut as well: the first open may meet it before it is known to be dead.
        if line.owner.open().await.is_err() {
            line.owner.open().await.expect("open");
        }
        let found = line.owner.fetch(&ids).await.expect("fetch").len();
        assert_eq!(found, if happened { 20 } else { 0 });
    }
}

/// `kill -9` in the middle of the work: what was answered stays, what was not is there as a whole or not at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn nothing_answered_is_lost_across_kills_of_the_server() {
    let cluster = Arc::new(Cluster::start(Settings::durable()).expect("a cluster"));
    let url = cluster.url("postgres");
    let mut alive: HashSet<ItemId> = HashSet::new();
    for _ in 0..3 {
        let store = PostgresStore::new(pool(&url, 2), Config::default());
        let mut line = Line::open(&store, "orders").await;
        let (told, mut progress) = tokio::sync::mpsc::unbounded_channel();
        let mut known = alive.clone();
        let work = tokio::spawn(async move {
            loop {
                let items = line.items(50);
                let ids: HashSet<_> = items.iter().map(|item| item.id).collect();
                match line.owner.produce(&items).await {
                    Ok(_) => known.extend(&ids),
                    Err(_) => return (known, ids),
                }
                let limit = NonZeroUsize::new(40).expect("forty");
                let Ok(ready) = line.owner.next_ready(limit, START).await else {
                    return (known, HashSet::new());
                };
                let picks: Vec<_> =
                    ready.iter().map(|ready| Pick { id: ready.id, deadline: at(60) }).collect();
                let Ok(leased) = line.owner.lease(&picks).await else { return (known, HashSet::new()) };
                assert_eq!(leased.len(), picks.len());
                let complete: Vec<_> = ready.iter().map(|ready| Change::Complete { id: ready.id }).collect();
                let ids: HashSet<_> = ready.into_iter().map(|ready| ready.id).collect();
                match line.owner.change(&[&complete]).await {
                    Ok(verdicts) => assert_eq!(verdicts, [Verdict::Done]),
                    Err(_) => return (known, ids),
                }
                known.retain(|id| !ids.contains(id));
                let _ = told.send(());
            }
        });
        for _ in 0..30 {
            progress.recv().await.expect("work goes on");
        }
        let killed = cluster.clone();
        tokio::task::spawn_blocking(move || killed.kill()).await.expect("no panic").expect("killed");
        let (known, doubtful) = work.await.expect("no panic");
        let restarted = cluster.clone();
        tokio::task::spawn_blocking(move || restarted.restart()).await.expect("no panic").expect("restarted");

        let mut auditor =
            PostgresStore::new(pool(&url, 2), Config::default()).partition(&partition("orders"));
        auditor.open().await.expect("open");
        let listed = auditor.list(false, ItemId::MIN, 1_000_000, usize::MAX).await.expect("list").items;
        alive = listed.iter().map(|item| item.id).collect();
        let sure: HashSet<_> = known.difference(&doubtful).copied().collect();
        assert!(sure.is_subset(&alive), "lost: {:?}", sure.difference(&alive).collect::<Vec<_>>());
        let rest: HashSet<_> = alive.difference(&sure).copied().collect();
        assert!(rest.is_empty() || rest == doubtful, "half of a batch: {} of {}", rest.len(), doubtful.len());
    }
}

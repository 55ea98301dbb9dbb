//! The windows in which a former owner's write could slip in, held open on purpose.

use leasehold_queue::store::{Change, Pick, StoreError, Verdict};
use leasehold_queue::{ItemId, ItemIds, Store};
use leasehold_testkit::postgres::Cluster;
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

use super::fixture::{Fixture, Line, PATIENCE, START, at, partition, pool, session};

/// Sessions of this schema that wait for somebody. The schema's name is in the path that every session asked for.
async fn waiting(fixture: &Fixture, count: i64) {
    let sql = "SELECT count(DISTINCT waiter.pid) FROM pg_stat_activity AS waiter
                 JOIN pg_locks ON pg_locks.pid = waiter.pid AND NOT pg_locks.granted
                WHERE EXISTS (SELECT FROM pg_locks AS held WHERE held.pid = waiter.pid
                                 AND held.relation = 'leasehold_partitions'::regclass)";
    fixture.until(sql, count).await;
}

fn is_fenced<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::Fenced { .. })), "{answer:?}");
}

async fn held_item(line: &mut Line) -> leasehold_queue::ItemId {
    let item = line.item("held");
    line.owner.produce(std::slice::from_ref(&item)).await.expect("produce");
    line.owner.lease(&[Pick { id: item.id, deadline: at(60) }]).await.expect("lease");
    item.id
}

/// A write of the first owner is under way while the second takes over: the second waits, and sees it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn takeover_waits_for_a_write_under_way() {
    let fixture = Fixture::start().await;
    let mut first = Line::open(&fixture.store(), "orders").await;
    let id = held_item(&mut first).await;
    let blocker = session(&fixture.url).await;
    blocker.batch_execute("BEGIN; SELECT FROM \"items_1buPSdlPil_0\" FOR UPDATE").await.expect("locks");

    let write = tokio::spawn(async move {
        let verdicts = first.owner.change(&[&[Change::Complete { id }]]).await;
        (first, verdicts)
    });
    waiting(&fixture, 1).await;
    let mut second = fixture.store().partition(&partition("orders"));
    let takeover = tokio::spawn(async move {
        let opened = second.open().await;
        (second, opened)
    });
    waiting(&fixture, 2).await;
    blocker.batch_execute("COMMIT").await.expect("lets go");

    let (mut first, verdicts) = tokio::time::timeout(PATIENCE, write).await.expect("ends").expect("no panic");
    assert_eq!(verdicts.expect("it was the owner's"), [Verdict::Done]);
    let (_second, opened) = tokio::time::timeout(PATIENCE, takeover).await.expect("ends").expect("no panic");
    assert_eq!(opened.expect("opened").counts.leased, 0, "the write that was under way is seen");
    let late = first.item("late");
    is_fenced(first.owner.produce(&[late]).await);
}

/// Every kind of write runs into a takeover that is not committed yet, with a snapshot from before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn write_that_waited_for_a_takeover_changes_nothing() {
    type Write = fn(&mut Line, leasehold_queue::ItemId) -> futures::Pending<'_>;
    let writes: [(&str, Write); 7] = [
        ("produce", |line, _| {
            let item = line.item("late");
            Box::pin(async move { line.owner.produce(&[item]).await.map(drop) })
        }),
        ("import", |line, _| {
            let mut item = line.item("late");
            item.source_id = Some("s".to_owned());
            Box::pin(async move { line.owner.produce(&[item]).await.map(drop) })
        }),
        ("complete", |line, id| {
            Box::pin(async move { line.owner.change(&[&[Change::Complete { id }]]).await.map(drop) })
        }),
        ("return", |line, id| {
            let new_id = line.ids.next();
            Box::pin(async move { line.owner.change(&[&[Change::Return { id, new_id }]]).await.map(drop) })
        }),
        ("requeue", |line, id| {
            let new_id = line.ids.next();
            Box::pin(async move { line.owner.requeue(&[(id, new_id)]).await.map(drop) })
        }),
        ("remove", |line, id| Box::pin(async move { line.owner.remove(&[id]).await.map(drop) })),
        ("clear", |line, _| {
            Box::pin(async move { line.owner.clear(true, true, true, ItemId::MIN).await.map(drop) })
        }),
    ];
    for (name, write) in writes {
        for (end, is_taken) in [("COMMIT", true), ("ROLLBACK", false)] {
            let fixture = Fixture::start().await;
            let mut line = Line::open(&fixture.store(), "orders").await;
            let id = held_item(&mut line).await;
            let taker = session(&fixture.url).await;
            taker
                .batch_execute(
                    "BEGIN; UPDATE leasehold_partitions SET epoch = nextval('leasehold_partition_epochs')",
                )
                .await
                .expect("takes");
            let before = fixture.number(CONTENT).await;
            let writing = tokio::spawn(async move {
                let answer = write(&mut line, id).await;
                (line, answer)
            });
            waiting(&fixture, 1).await;
            taker.batch_execute(end).await.expect("ends");
            let (_line, answer) =
                tokio::time::timeout(PATIENCE, writing).await.expect("ends").expect("no panic");
            if is_taken {
                is_fenced(answer);
                assert_eq!(fixture.number(CONTENT).await, before, "{name} after {end}");
            } else {
                answer.unwrap_or_else(|error| panic!("{name} after {end}: {error:?}"));
                assert_ne!(fixture.number(CONTENT).await, before, "{name} after {end}");
            }
        }
    }
}

/// A number for all that is stored.
const CONTENT: &str =
    "SELECT coalesce(sum(hashtext(item::text)::bigint), 0)::bigint FROM \"items_1buPSdlPil_0\" AS item";

mod futures {
    use leasehold_queue::StoreError;

    pub(super) type Pending<'a> =
        std::pin::Pin<Box<dyn std::future::Future<Output = Result<(), StoreError>> + Send + 'a>>;
}

/// A write that was on its way for so long that the partition has another owner when it arrives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn write_that_arrives_after_a_takeover_is_fenced() {
    let fixture = Fixture::start().await;
    let server = Cluster::shared().address();
    let proxy = FaultProxy::start(server).await.expect("a proxy");
    let url = fixture.url.replace(&server.to_string(), &proxy.address().to_string());
    let slow = leasehold_queue::store::postgres::PostgresStore::new(pool(&url, 1), Default::default());
    let mut first = Line::open(&slow, "orders").await;
    let warm = first.item("warm");
    first.owner.produce(&[warm]).await.expect("produce");

    let late = first.item("late");
    let trigger = Trigger::Request(late.id.to_string().into_bytes());
    let delayed = proxy.add(Rule::on(trigger).then(Action::Hold));
    let write = tokio::spawn(async move { first.owner.produce(&[late]).await });
    delayed.fired().await;
    let mut second = fixture.store().partition(&partition("orders"));
    assert_eq!(second.open().await.expect("open").counts.ready, 1);
    delayed.let_go();
    is_fenced(tokio::time::timeout(PATIENCE, write).await.expect("ends").expect("no panic"));
    assert_eq!(fixture.number("SELECT count(*) FROM \"items_1buPSdlPil_0\"").await, 1);
}

/// Dropped and made anew, the partition is another one: whoever owned the first owns nothing of the second.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn owner_of_a_dropped_partition_is_fenced_also_when_it_is_made_anew() {
    let fixture = Fixture::start().await;
    let store = fixture.store();
    let mut first = Line::open(&store, "orders").await;
    let id = held_item(&mut first).await;
    store.drop_partition(&partition("orders")).await.expect("drop");
    store.drop_partition(&partition("orders")).await.expect("fine if it does not exist");
    is_fenced(first.owner.remove(&[id]).await);

    let mut again = Line::open(&store, "orders").await;
    store.drop_partition(&partition("orders")).await.expect("drop");
    let mut second = Line::open(&store, "orders").await;
    let item = again.item("late");
    is_fenced(again.owner.produce(&[item]).await);
    assert_eq!(second.owner.open().await.expect("open").counts.ready, 0);
}

/// Drops, takeovers and writes of one partition at the same time do not end in a deadlock: they take their locks in one
/// order. An open may lose against drops again and again, and says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn drops_takeovers_and_writes_do_not_wait_for_each_other() {
    let fixture = Fixture::start().await;
    let store = fixture.store();
    let work: Vec<_> = (0..3)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..15 {
                    if number == 0 {
                        store.drop_partition(&partition("orders")).await.expect("drop");
                    } else {
                        write_once(&store).await;
                    }
                }
            })
        })
        .collect();
    for work in work {
        tokio::time::timeout(PATIENCE, work).await.expect("ends").expect("no panic");
    }
}

async fn write_once(store: &dyn Store) {
    let mut owner = store.partition(&partition("orders"));
    match owner.open().await {
        Ok(opened) => {
            let mut line = Line { owner, ids: ItemIds::after(&opened, START).expect("ids") };
            let items = line.items(3);
            let answer = line.owner.produce(&items).await;
            assert!(matches!(answer, Ok(_) | Err(StoreError::Fenced { .. })), "{answer:?}");
        }
        Err(error) => assert!(format!("{error:?}").contains("42P01"), "{error:?}"),
    }
}

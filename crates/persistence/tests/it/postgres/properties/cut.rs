//! Property 6: integrity under failures. A line that is cut around COMMIT.

use leasehold_persistence::Error;
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

use crate::fixture::{Change, Fixture, Watcher};
use crate::writes::all;

/// The whole statement, and the whole of its answer: `BEGIN … READ COMMITTED` has its letters too.
const COMMIT: &[u8] = b"COMMIT\0";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_commit_is_unknown_and_the_write_is_whole_or_absent() {
    let fixture = Fixture::postgres().await;
    let outside = Watcher::new(fixture.outside().await).await;
    let (mut seed, mut cut) = (0, 0);
    let (request, reply) = (Trigger::Request(COMMIT.to_vec()), Trigger::Reply(COMMIT.to_vec()));
    for (trigger, happened) in [(request, false), (reply, true)] {
        for write in all() {
            let proxy = FaultProxy::start(fixture.address()).await.expect("a proxy");
            let database = fixture.by_way_of(proxy.address(), None).await;
            let reference = (write.prepare)(fixture.database.clone(), seed + 1).await;
            let before = outside.content().await;
            reference(fixture.database.clone()).await.expect("the reference");
            let wanted = before.until(&outside.content().await);
            let prepared = (write.prepare)(fixture.database.clone(), seed + 2).await;
            seed += 2;
            let before = outside.content().await;
            let rule = proxy.add(Rule::on(trigger.clone()).then(Action::Cut));
            let answer = prepared(database.clone()).await;
            if rule.count() == 0 {
                // A statement that is a transaction by itself sends no COMMIT.
                answer.unwrap_or_else(|error| panic!("{}: {error:?}", write.name));
                continue;
            }
            cut += 1;
            let error = answer.expect_err("a lost COMMIT");
            assert!(matches!(error, Error::UnknownOutcome { .. }), "{} {trigger:?}: {error:?}", write.name);
            proxy.clear();
            ended(&outside).await;
            let change = before.until(&outside.content().await);
            assert_eq!(change, if happened { wanted } else { Change::new() }, "{} {trigger:?}", write.name);
            let again = prepared(database).await;
            let code = again.as_ref().err().map(Error::code);
            assert_eq!(code, write.again.filter(|_| happened), "{} {trigger:?}: {again:?}", write.name);
        }
    }
    assert!(cut > 20, "{cut} transactions");
}

/// Waits until no other session of this schema is in a transaction: a server may take a moment to see that its client is
/// gone.
async fn ended(outside: &tokio_postgres::Client) {
    let sql = "SELECT count(*) FROM pg_locks
               WHERE pid <> pg_backend_pid() AND relation IN (
                   SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)";
    while outside.query_one(sql, &[]).await.expect("a count").get::<_, i64>(0) > 0 {}
}

//! Property 4: concurrency safety. What another commits between two statements of an operation, or while one of them waits.

use std::time::Duration;

use leasehold_core::Timestamp;
use leasehold_persistence::{
    Blob, Heartbeat, HostId, MemberFilter, Membership, NamedQueueKey, NamedQueues, PageSize,
};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

use super::waited_for;
use crate::fixture::Fixture;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn messages_that_are_deleted_while_a_reader_looks_for_the_first_are_not_read() {
    let fixture = Fixture::postgres().await;
    let queues = NamedQueues::new(fixture.database.clone());
    let key = NamedQueueKey::new(2, "orders").expect("a key");
    queues.create(&key).await.expect("a queue");
    for data in 0..3 {
        queues.enqueue(&key, &Blob::proto3(vec![data])).await.expect("an id");
    }
    let proxy = FaultProxy::start(fixture.address()).await.expect("a proxy");
    let reader = NamedQueues::new(fixture.by_way_of(proxy.address(), None).await);
    let look = proxy.add(Rule::on(Trigger::Request(b"SELECT message_id".to_vec())).then(Action::Hold));
    let read = tokio::spawn({
        let key = key.clone();
        async move { reader.read(&key, PageSize::MAX, None).await }
    });
    look.fired().await;
    queues.delete_range(&key, 2).await.expect("a deletion");
    look.let_go();
    assert_eq!(read.await.expect("no panic").expect("a page").items, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn host_that_renews_while_expired_hosts_are_pruned_stays() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let fixture = Fixture::postgres().await;
    let membership = Membership::new(fixture.database.clone());
    for number in [1, 2] {
        let (host, joined) = (HostId::from_bytes([number; 16]), Timestamp::from_millis(5));
        let heartbeat = Heartbeat::new(host, "10.0.0.1", 7_233, 1, joined, HOUR).expect("a heartbeat");
        membership.upsert(&heartbeat).await.expect("a heartbeat");
    }
    let holder = fixture.outside().await;
    let expire = "UPDATE cluster_membership SET record_expiry = record_expiry - interval '2 h'";
    holder.batch_execute(expire).await.expect("expired");
    let renew = "BEGIN;
                 UPDATE cluster_membership SET record_expiry = record_expiry + interval '2 h'
                 WHERE host_id = decode(repeat('01', 16), 'hex')";
    holder.batch_execute(renew).await.expect("renewed");
    let pruned = tokio::spawn({
        let membership = membership.clone();
        async move { membership.prune(10).await }
    });
    waited_for(&holder, &fixture.outside().await).await;
    holder.batch_execute("COMMIT").await.expect("renewed");
    assert_eq!(pruned.await.expect("no panic").expect("a number"), 1);
    let members = membership.members(&MemberFilter::default(), PageSize::MAX, None).await.expect("members");
    assert_eq!(members.items.iter().map(|member| member.host_id.as_bytes()[0]).collect::<Vec<_>>(), [1]);
}

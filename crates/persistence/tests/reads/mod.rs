//! Every read of every store, once, whatever there is to find.

use leasehold_core::Timestamp;
use leasehold_persistence::{
    ClusterMetadatas, Database, EndpointId, Endpoints, Error, Executions, History, MemberFilter, Membership,
    NamedQueueKey, NamedQueues, NamespaceBy, NamespaceId, Namespaces, Order, PageSize, PageToken, Queue,
    QueueType, ReadBranch, Result, Shards,
};

use crate::cases::history::branch;
use crate::fixture::runs::{current_of, key_of};

/// That nothing is there is an answer, too.
fn answered<T>(answer: Result<T>) {
    match answer {
        Ok(_)
        | Err(
            Error::NotFound { .. }
            | Error::NamespaceNotFound
            | Error::QueueNotFound { .. }
            | Error::Missing { .. }
            | Error::ShardOwnershipLost { .. },
        ) => {}
        Err(error) => panic!("{error:?}"),
    }
}

pub(crate) async fn every_read(database: &Database) {
    let size = PageSize::MAX;
    let (id, name, number) =
        (PageToken::from_bytes([0; 16]), PageToken::from_bytes("a"), PageToken::from_bytes([0; 8]));

    let shards = Shards::new(database.clone());
    answered(shards.get(1).await);
    answered(shards.assert_ownership(1, 1).await);

    let namespaces = Namespaces::new(database.clone());
    answered(namespaces.notification_version().await);
    answered(namespaces.get(NamespaceBy::Id(NamespaceId::from_bytes([1; 16]))).await);
    answered(namespaces.get(NamespaceBy::Name("a")).await);
    for token in [None, Some(&id)] {
        answered(namespaces.list(size, token).await);
    }

    let queue = Queue::new(database.clone(), QueueType::NAMESPACE_REPLICATION);
    answered(queue.read(-1, size).await);
    answered(queue.ack_levels().await);
    answered(queue.dead_letters().ack_levels().await);
    for token in [None, Some(&number)] {
        answered(queue.dead_letters().read(-1, 10, size, token).await);
    }
    let (queues, key) = (NamedQueues::new(database.clone()), NamedQueueKey::new(2, "a").expect("a key"));
    for token in [None, Some(&number)] {
        answered(queues.read(&key, size, token).await);
    }
    for token in [None, Some(&name)] {
        answered(queues.list(2, size, token).await);
    }

    let clusters = ClusterMetadatas::new(database.clone());
    answered(clusters.get("a").await);
    for token in [None, Some(&name)] {
        answered(clusters.list(size, token).await);
    }
    let all = MemberFilter::default();
    let few = MemberFilter {
        host_id: Some(leasehold_persistence::HostId::from_bytes([1; 16])),
        rpc_address: Some("10.0.0.1".to_owned()),
        role: 1,
        heard_within: Some(std::time::Duration::from_secs(1)),
        joined_since: Some(Timestamp::EPOCH),
    };
    for (filter, token) in [(&all, None), (&few, Some(&id))] {
        answered(Membership::new(database.clone()).members(filter, size, token).await);
    }

    let endpoints = Endpoints::new(database.clone());
    answered(endpoints.table_version().await);
    answered(endpoints.get(EndpointId::from_bytes([1; 16])).await);
    for token in [None, Some(&id)] {
        answered(endpoints.list(size, token, 0).await);
    }

    let executions = Executions::new(database.clone());
    answered(executions.get(&key_of("a", 1)).await);
    answered(executions.get_current(&current_of("a")).await);
    let history = History::new(database.clone());
    let nodes = ReadBranch::new(branch(1, 1, 1), 1..9, size).expect("a request");
    let later = nodes.clone().after(PageToken::from_bytes([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    for request in [&nodes, &later] {
        answered(history.read_branch(request, Order::Ascending).await);
        answered(history.read_branch(request, Order::Descending).await);
        answered(history.read_branch_info(request).await);
    }
    answered(history.tree(1, branch(1, 1, 1).tree_id).await);
    answered(history.list_branches(size, None).await);
}

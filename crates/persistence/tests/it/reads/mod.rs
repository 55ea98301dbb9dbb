//! Every read of every store, once, whatever there is to find.

use leasehold_core::Timestamp;
use leasehold_persistence::{
    Category, ClusterMetadatas, Database, EndpointId, Endpoints, Error, Executions, GetTasks, History,
    HistoryTaskRange, HistoryTasks, MemberFilter, Membership, NamedQueueKey, NamedQueues, NamespaceBy,
    NamespaceId, Namespaces, Order, PageSize, PageToken, Queue, QueueType, ReadBranch,
    ReplicationDeadLetters, Result, Shards, TaskLevel, TaskQueueKey, TaskQueues, TaskType, UserDataStore,
};

use crate::fixture::runs::{branch, current_of, key_of};

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
    for range in [
        HistoryTaskRange::ids(Category::TRANSFER, 0..9),
        HistoryTaskRange::times(Category::TIMER, Timestamp::EPOCH..Timestamp::from_micros(9)),
    ] {
        let range = range.expect("a range");
        answered(HistoryTasks::new(database.clone()).get(1, &range, size, None).await);
    }
    let dead = ReplicationDeadLetters::new(database.clone(), "east", 1).expect("dead letters");
    answered(dead.get(0..9, size, None).await);
    answered(dead.is_empty(0).await);

    let namespace_id = NamespaceId::from_bytes([1; 16]);
    let key = TaskQueueKey::new(namespace_id, "orders", TaskType::Workflow).expect("a key");
    for (queues, pass) in [(TaskQueues::new(database.clone()), 0), (TaskQueues::fair(database.clone()), 1)] {
        answered(queues.get(&key).await);
        answered(queues.list(size, None).await);
        let from = TaskLevel { pass, task_id: 0 };
        let tasks = GetTasks { sub_queue: 0, from, below_task_id: None, page_size: size };
        answered(queues.get_tasks(&key, &tasks, None).await);
    }
    let user_data = UserDataStore::new(database.clone());
    answered(user_data.get(namespace_id, "orders").await);
    answered(user_data.list(namespace_id, size, Some(&name)).await);
    answered(user_data.task_queues_by_build_id(namespace_id, "new").await);
    answered(user_data.count_task_queues_by_build_id(namespace_id, "new").await);
}

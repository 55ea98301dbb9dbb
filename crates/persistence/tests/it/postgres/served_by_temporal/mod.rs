//! What a Temporal server wrote, read by every store, and written on. The rows are in `rows.sql`, which says what they are.

use std::collections::BTreeSet;

use leasehold_core::Timestamp;
use leasehold_persistence::{
    Archetype, Branch, Category, Chain, ClusterMetadatas, CreateMode, CurrentKey, Endpoints, Error,
    ExecutionKey, ExecutionState, ExecutionStatus, GetTasks, History, HistoryTaskRange, HistoryTasks,
    Inspector, MemberFilter, Membership, NamespaceBy, NamespaceId, Namespaces, Order, PageSize, Queue,
    QueueType, ReadBranch, RequestIdInfo, RunId, TaskLevel, TaskQueueKey, TaskQueues, TaskType, TreeId,
    WorkflowId,
};

use crate::fixture::Fixture;
use crate::fixture::runs::{create, run, snapshot};

const ROWS: &str = include_str!("rows.sql");
const SHOP: &str = "6107eb22-31e9-4bbd-8ca6-d31e28cd6613";
const ORDER_1: &str = "01a1e158-12ea-7671-8cfb-809c0b1e538c";
/// The run that was started, and the one that continues it.
const ORDER_2: [&str; 2] = ["01a1e158-145d-7089-a6c5-a036197e172b", "95eeee3b-148a-47c9-8a2f-83f29cccfa65"];
const STUCK: &str = "01a1e158-18ca-778c-b004-ef05171863a6";
const CHILD: &str = "01a1e158-18da-7137-9f39-2ff681d13cc1";

async fn fixture() -> Fixture {
    let fixture = Fixture::postgres().await;
    fixture.outside().await.batch_execute(ROWS).await.expect("rows");
    fixture
}

fn shop() -> NamespaceId {
    SHOP.parse().expect("an id")
}

fn run_id(text: &str) -> RunId {
    text.parse().expect("an id")
}

fn key(shard_id: i32, workflow: &str, run: &str) -> ExecutionKey {
    let workflow_id = WorkflowId::new(workflow).expect("a name");
    ExecutionKey { shard_id, namespace_id: shop(), workflow_id, run_id: run_id(run) }
}

fn current(shard_id: i32, workflow: &str) -> CurrentKey {
    key(shard_id, workflow, CHILD).current(Archetype::WORKFLOW)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn runs_are_read_with_their_tokens_and_entries() {
    let fixture = fixture().await;
    let executions = fixture.executions();
    for (key, version, next_event_id) in [
        (key(1, "order 1", ORDER_1), 8, 14),
        (key(1, "order 2", ORDER_2[0]), 7, 12),
        (key(1, "order 2", ORDER_2[1]), 8, 12),
        (key(3, "stuck", STUCK), 7, 12),
        (key(3, "child", CHILD), 3, 3),
    ] {
        let found = executions.get(&key).await.expect("a run");
        let record = found.record;
        assert_eq!((record.db_record_version, record.next_event_id), (version, next_event_id), "{key:?}");
        assert_eq!((record.info.encoding(), record.state.encoding()), ("Proto3", "Proto3"), "{key:?}");
        assert!(found.buffered_events.is_empty(), "{key:?}");
    }
    let stuck = executions.get(&key(3, "stuck", STUCK)).await.expect("a run").maps;
    assert_eq!(stuck.activities.keys().copied().collect::<Vec<_>>(), [5]);
    assert_eq!(stuck.children.keys().copied().collect::<Vec<_>>(), [6]);
    assert_eq!(stuck.timers.keys().collect::<Vec<_>>(), ["7"]);
    let signalled = executions.get(&key(1, "order 1", ORDER_1)).await.expect("a run").maps;
    assert_eq!(signalled.signals_requested.len(), 1);
    for (shard_id, workflow, run, state, status) in [
        (1, "order 1", ORDER_1, ExecutionState::Completed, ExecutionStatus::Completed),
        (1, "order 2", ORDER_2[1], ExecutionState::Running, ExecutionStatus::Running),
        (3, "child", CHILD, ExecutionState::Running, ExecutionStatus::Running),
    ] {
        let found = executions.get_current(&current(shard_id, workflow)).await.expect("a current run");
        assert_eq!((found.run_id, found.state, found.status), (run_id(run), state, status), "{workflow}");
    }
    let inspector = Inspector::new(fixture.database.clone());
    let ranges = inspector.shards(None, PageSize::MAX).await.expect("shards");
    let ranges: Vec<_> = ranges.iter().map(|shard| (shard.shard_id, shard.range_id)).collect();
    assert_eq!(ranges, [(1, 1), (2, 1), (3, 1), (4, 1)]);
    assert_eq!(inspector.namespace("shop").await.expect("a namespace"), shop());
}

/// A run of ours against those of the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn new_run_meets_the_current_one_and_follows_a_completed_one() {
    let fixture = fixture().await;
    let executions = fixture.executions();
    let new = |workflow: &str| {
        let mut run = run(workflow, 1, 1);
        run.key.namespace_id = shop();
        snapshot(run)
    };
    let error = executions.create(&create(1, CreateMode::BrandNew, new("order 2"))).await;
    let Err(Error::CurrentWorkflowConditionFailed(found)) = error else { panic!("{error:?}") };
    assert_eq!(found.run_id, Some(run_id(ORDER_2[1])));
    assert_eq!(found.first_execution_run_id, Some(run_id(ORDER_2[0])));
    assert_eq!((found.state, found.last_write_version), (Some(ExecutionState::Running), 0));
    let requests: Vec<_> = found.request_ids.into_values().collect();
    assert_eq!(requests, [RequestIdInfo { event_type: 1, event_id: 1 }]);

    let shards = fixture.shards();
    let shard = shards.get(1).await.expect("a shard");
    shards.take_over(&shard, shard.blob.clone()).await.expect("a takeover");
    let follows =
        CreateMode::UpdateCurrent { previous_run_id: run_id(ORDER_1), previous_last_write_version: 0 };
    let error = executions.create(&create(1, follows, new("order 1"))).await.expect_err("the past");
    assert!(matches!(error, Error::ShardOwnershipLost { expected: 1, actual: 2, .. }), "{error:?}");
    executions.create(&create(2, follows, new("order 1"))).await.expect("a new run");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn histories_are_chains() {
    let fixture = fixture().await;
    let history = History::new(fixture.database.clone());
    for (shard_id, run, nodes, next_event_id) in
        [(1, ORDER_1, 7, 14), (1, ORDER_2[0], 6, 12), (1, ORDER_2[1], 7, 12), (3, STUCK, 6, 12)]
    {
        let tree_id: TreeId = run.parse().expect("an id");
        let [branch] = history.tree(shard_id, tree_id).await.expect("a tree").try_into().expect("a branch");
        assert_eq!(branch.branch, Branch { shard_id, tree_id, branch_id: branch.branch.branch_id });
        let all = ReadBranch::new(branch.branch, 1..next_event_id, PageSize::MAX).expect("a request");
        let up = history.read_branch(&all, Order::Ascending).await.expect("nodes").items;
        let up = Chain::ascending(0).pick(up).expect("a chain");
        assert_eq!((up.len(), up[0].info.node_id, up[0].info.prev_txn_id), (nodes, 1, 0), "{run}");
        let down = history.read_branch(&all, Order::Descending).await.expect("nodes").items;
        let mut down = Chain::descending(up[nodes - 1].info.txn_id).pick(down).expect("a chain");
        down.reverse();
        assert_eq!(down, up, "{run}");
    }
}

/// Tasks have ids of the range of their shard: what the fence is for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn tasks_of_shards_have_ids_of_their_range() {
    let fixture = fixture().await;
    let tasks = HistoryTasks::new(fixture.database.clone());
    let all_times = Timestamp::EPOCH..Timestamp::from_micros(i64::MAX / 4);
    for (shard_id, category, count) in [
        (1, Category::TRANSFER, 8),
        (3, Category::TRANSFER, 6),
        (1, Category::TIMER, 16),
        (3, Category::TIMER, 4),
        (1, Category::VISIBILITY, 8),
        (3, Category::VISIBILITY, 4),
    ] {
        let range = match category.is_scheduled() {
            true => HistoryTaskRange::times(category, all_times.clone()),
            false => HistoryTaskRange::ids(category, 1 << 20..2 << 20),
        };
        let found = tasks.get(shard_id, &range.expect("a range"), PageSize::MAX, None).await.expect("tasks");
        assert_eq!(found.items.len(), count, "{category:?} of {shard_id}");
        assert!(found.items.iter().all(|task| task.task_id() >> 20 == 1), "{:?}", found.items);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn task_queues_are_found_by_name_with_their_tasks() {
    let fixture = fixture().await;
    let (queues, fair) =
        (TaskQueues::new(fixture.database.clone()), TaskQueues::fair(fixture.database.clone()));
    let mut tasks = BTreeSet::new();
    for name in ["orders", "nobody"] {
        for partition in 0..4 {
            let name = if partition == 0 { name.to_owned() } else { format!("/_sys/{name}/{partition}") };
            for task_type in [TaskType::Workflow, TaskType::Activity] {
                let key = TaskQueueKey::new(shop(), &name, task_type).expect("a key");
                assert_eq!(queues.get(&key).await.expect("a queue").range_id, 1, "{name}");
                if partition == 0 {
                    assert_eq!(fair.get(&key).await.expect("a queue").range_id, 1, "{name}");
                }
                let from = TaskLevel { pass: 0, task_id: 0 };
                let all = GetTasks { sub_queue: 0, from, below_task_id: None, page_size: PageSize::MAX };
                let found = queues.get_tasks(&key, &all, None).await.expect("tasks").items;
                tasks.extend(found.iter().map(|task| (name.clone(), task.level.task_id)));
            }
        }
    }
    let wanted = [("/_sys/nobody/1", 1), ("/_sys/nobody/2", 1), ("/_sys/orders/3", 1)];
    assert_eq!(tasks, wanted.map(|(name, id)| (name.to_owned(), id)).into());
    let listed = queues.list(PageSize::MAX, None).await.expect("queues").items;
    let names: BTreeSet<_> =
        listed.iter().filter_map(|queue| queue.key.as_ref()).map(TaskQueueKey::name).collect();
    assert_eq!((listed.len(), names.len()), (18, 10), "{names:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn what_a_cluster_has_one_of_is_read() {
    let fixture = fixture().await;
    let database = &fixture.database;
    let namespaces = Namespaces::new(database.clone());
    assert_eq!(namespaces.notification_version().await.expect("a version"), 3);
    let found = namespaces.get(NamespaceBy::Name("shop")).await.expect("a namespace");
    assert_eq!((found.notification_version, found.record.id()), (2, shop()));
    assert_eq!(namespaces.get(NamespaceBy::Id(shop())).await.expect("a namespace"), found);
    assert_eq!(namespaces.list(PageSize::MAX, None).await.expect("namespaces").items.len(), 2);

    let queue = Queue::new(database.clone(), QueueType::NAMESPACE_REPLICATION);
    for levels in [queue.ack_levels().await, queue.dead_letters().ack_levels().await] {
        let levels = levels.expect("ack levels");
        assert_eq!((levels.blob.data(), levels.blob.encoding(), levels.version), (&b"{}"[..], "Json", 0));
    }
    let clusters = ClusterMetadatas::new(database.clone()).list(PageSize::MAX, None).await.expect("clusters");
    let clusters: Vec<_> =
        clusters.items.iter().map(|cluster| (cluster.name.as_str(), cluster.version)).collect();
    assert_eq!(clusters, [("active", 1)]);
    let endpoints = Endpoints::new(database.clone()).list(PageSize::MAX, None, 0).await.expect("endpoints");
    let versions: Vec<_> = endpoints.page.items.iter().map(|endpoint| endpoint.version).collect();
    assert_eq!((endpoints.table_version, versions), (1, vec![1]));

    // They were last heard of when the rows were written.
    let revive = "UPDATE cluster_membership SET record_expiry = now() AT TIME ZONE 'UTC' + interval '1 day'";
    fixture.outside().await.batch_execute(revive).await.expect("alive");
    let members =
        Membership::new(database.clone()).members(&MemberFilter::default(), PageSize::MAX, None).await;
    let roles: BTreeSet<_> = members.expect("members").items.iter().map(|member| member.role).collect();
    assert_eq!(roles, BTreeSet::from([1, 2, 3, 4]));
}

/// Operators see who owns what, by what Temporal keeps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn owners_and_levels_are_shown() {
    let fixture = fixture().await;
    let inspector = Inspector::new(fixture.database.clone());
    let shards = inspector.shards(None, PageSize::MAX).await.expect("shards");
    assert_eq!(shards.len(), 4);
    for shard in shards {
        let owner = shard.owner.expect("an owner");
        assert!(owner.starts_with(&format!("127.0.0.1:17003-{}-", shard.shard_id)), "{owner}");
    }
    let queues = inspector.queues().await.expect("queues").queues;
    let queues: Vec<_> = queues.iter().map(|queue| (queue.queue_type, queue.ack_levels.len())).collect();
    assert_eq!(queues, [(-1, 0), (1, 0)], "ack levels are JSON");
    let page = inspector.task_queues(false, PageSize::MAX, None).await.expect("task queues");
    let name = |listed: &leasehold_persistence::ListedTaskQueue| {
        listed.key.as_ref().map(|key| key.name().to_owned())
    };
    assert!(page.items.iter().map(name).any(|name| name.as_deref() == Some("/_sys/orders/3")));
}

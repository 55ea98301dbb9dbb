//! Fences: what was begun under a range is committed before the next owner takes over, or never.

use std::collections::BTreeSet;
use std::time::Duration;

use leasehold_persistence::{
    Archetype, Blob, ConflictResolution, ConflictResolveMode, CreateMode, Error, Executions, FenceMode,
    SetExecution, Shards, UpdateExecution, UpdateMode,
};
use leasehold_txn::{DsqlLevel, Operation, Policy, Statement};
use tokio_postgres::Client;

use crate::fixture::runs::{brand_new, completed, create, mutation, run, snapshot, transfer};
use crate::fixture::{Fixture, Gate};

macro_rules! fence_cases {
    ($target:ident) => {
        $target!(
            fence:
            plain_read_of_the_shard_loses_a_task,
            every_fence_keeps_tasks_before_the_takeover,
            no_fence_rests_on_an_index,
            change_of_data_passes_writes_under_a_key_share_fence,
            owner_of_the_past_writes_nothing,
            lost_shard_is_told_before_anything_else,
            missing_shard_takes_no_writes,
        );
    };
}

/// The ids that the owner of a range gives to its tasks begin with the range.
fn task_id(range_id: i64) -> i64 {
    range_id << 20 | 1
}

async fn stored_tasks(outside: &Client) -> BTreeSet<i64> {
    let rows = outside.query("SELECT task_id FROM transfer_tasks", &[]).await.expect("tasks");
    rows.iter().map(|row| row.get(0)).collect()
}

/// An owner whose task is written and whose COMMIT is on its way; what it is told in the end.
struct Paused {
    gate: Gate,
    owner: tokio::task::JoinHandle<Result<(), Error>>,
}

impl Paused {
    async fn at(fixture: &Fixture, mode: FenceMode, range_id: i64) -> Self {
        let gate = Gate::start(fixture.address()).await;
        let database = fixture.by_way_of(gate.address(), Some(mode)).await;
        Self::behind(gate, Executions::new(database), range_id).await
    }

    /// One who does not try again: a conflict is seen.
    async fn once_at(fixture: &Fixture, mode: FenceMode, range_id: i64) -> Self {
        let gate = Gate::start(fixture.address()).await;
        let database = fixture.once_by_way_of(gate.address(), mode).await;
        Self::behind(gate, Executions::new(database), range_id).await
    }

    async fn behind(mut gate: Gate, owner: Executions, range_id: i64) -> Self {
        gate.close();
        let task = transfer(task_id(range_id));
        let owner = tokio::spawn(async move { owner.add_history_tasks(1, range_id, &[task]).await });
        gate.held().await;
        Self { gate, owner }
    }

    async fn goes_on(self) -> Result<(), Error> {
        self.gate.open();
        self.owner.await.expect("no panic")
    }
}

async fn shards(fixture: &Fixture, mode: FenceMode) -> Shards {
    Shards::new(fixture.another(Some(mode)).await)
}

/// The modes that a database has, the one for demonstrations left out.
fn modes(fixture: &Fixture) -> Vec<FenceMode> {
    match fixture.level() {
        Some(DsqlLevel::UpdateOnly) => vec![FenceMode::Update],
        Some(DsqlLevel::KeyShare) => vec![FenceMode::KeyShare, FenceMode::Update],
        None => vec![FenceMode::Share, FenceMode::KeyShare, FenceMode::Update],
    }
}

/// The anomaly of `docs/adr/0018-shard-fence.md`: both commit, and the task lies below the range that the new owner reads from.
pub(crate) async fn plain_read_of_the_shard_loses_a_task(fixture: &Fixture) {
    let shard = fixture.shard(1).await;
    let paused = Paused::at(fixture, FenceMode::Unfenced, 1).await;
    let shards = shards(fixture, FenceMode::Unfenced).await;
    shards.take_over(&shard, Blob::proto3(vec![2])).await.expect("a takeover");
    let outside = fixture.outside().await;
    assert_eq!(stored_tasks(&outside).await, BTreeSet::new(), "the new owner has seen all below its range");
    paused.goes_on().await.expect("the owner of the past is not stopped");
    assert_eq!(
        stored_tasks(&outside).await,
        BTreeSet::from([task_id(1)]),
        "and nobody will look there again"
    );
}

/// Property 4: concurrency safety. Whoever waits and whoever fails, what is below the new range when it is taken is all
/// that ever will be.
pub(crate) async fn every_fence_keeps_tasks_before_the_takeover(fixture: &Fixture) {
    let mut shard = fixture.shard(1).await;
    let outside = fixture.outside().await;
    for mode in modes(fixture) {
        let paused = Paused::at(fixture, mode, shard.range_id).await;
        let (previous, range_id) = (shard.range_id, shard.range_id + 1);
        let shards = shards(fixture, mode).await;
        let takeover = tokio::spawn(async move { shards.take_over(&shard, Blob::proto3(vec![2])).await });
        let owner = if fixture.is_dsql() {
            // Nobody waits: the owner of the past fails, tries again, and sees the range.
            takeover.await.expect("no panic").expect("a takeover");
            let seen = stored_tasks(&outside).await;
            let owner = paused.goes_on().await;
            assert_eq!(stored_tasks(&outside).await, seen, "{mode}");
            owner
        } else {
            // The takeover waits for the transaction that read the range.
            waiting_for_a_lock(&outside).await;
            assert!(!takeover.is_finished(), "{mode}");
            let owner = paused.goes_on().await;
            takeover.await.expect("no panic").expect("a takeover");
            owner
        };
        match owner {
            Ok(()) => assert!(stored_tasks(&outside).await.contains(&task_id(previous)), "{mode}"),
            Err(Error::ShardOwnershipLost { expected, actual, .. }) => {
                assert_eq!((expected, actual), (previous, range_id), "{mode}");
                assert!(!stored_tasks(&outside).await.contains(&task_id(previous)), "{mode}");
            }
            Err(error) => panic!("{mode}: {error:?}"),
        }
        assert_eq!(owner.is_ok(), !fixture.is_dsql(), "{mode}");
        shard = fixture.shards().get(1).await.expect("the shard");
        assert_eq!(shard.range_id, range_id, "{mode}");
    }
}

/// The index that DSQL's table has, for versions before this one, may be gone, and PostgreSQL's table never had it.
pub(crate) async fn no_fence_rests_on_an_index(fixture: &Fixture) {
    if fixture.is_dsql() {
        let drop =
            Statement::write(Operation::new("test"), "ALTER TABLE shards DROP CONSTRAINT shards_fence");
        drop.execute(fixture.database.pool(), &Policy::none(), &[]).await.expect("no index");
    }
    every_fence_keeps_tasks_before_the_takeover(fixture).await;
}

/// Waits until a session of this test's schema waits for a row.
async fn waiting_for_a_lock(outside: &Client) {
    let sql = "SELECT count(*) FROM pg_locks AS wanted
               JOIN pg_locks AS row ON row.pid = wanted.pid AND row.relation = 'shards'::regclass
               WHERE NOT wanted.granted";
    let waits = async {
        while outside.query_one(sql, &[]).await.expect("a number").get::<_, i64>(0) == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waits).await.expect("somebody waits");
}

/// Acknowledged levels are stored in the row of the shard all the time: that must cost its owner nothing.
pub(crate) async fn change_of_data_passes_writes_under_a_key_share_fence(fixture: &Fixture) {
    let lease = fixture.lease(1).await;
    if !modes(fixture).contains(&FenceMode::KeyShare) {
        // Where the lock is not to be had nobody is told otherwise.
        assert!(!fixture.has_mode(FenceMode::KeyShare).await);
        return;
    }
    let paused = Paused::once_at(fixture, FenceMode::KeyShare, 1).await;
    lease.sync_state(Blob::proto3(vec![2])).await.expect("a change while the write is under way");
    paused.goes_on().await.expect("the write");
    let stored = fixture.shards().get(1).await.expect("the shard");
    assert_eq!((stored.range_id, stored.blob), (1, Blob::proto3(vec![2])));
    assert_eq!(stored_tasks(&fixture.outside().await).await, BTreeSet::from([task_id(1)]));
}

/// Every write under a shard, as an owner at `range_id` sends it for the run `number`.
async fn every_write(executions: &Executions, range_id: i64) -> Vec<(&'static str, Result<(), Error>)> {
    let change = || mutation(completed(run("orders", 1, 2)));
    let new = |number| snapshot(run("orders", number, 1));
    let archetype = Archetype::WORKFLOW;
    let updated =
        UpdateExecution::new(range_id, UpdateMode::UpdateCurrent, archetype, change(), Some(new(2)));
    let reset = snapshot(run("orders", 1, 2));
    let mode = ConflictResolveMode::UpdateCurrent;
    let resolved = ConflictResolution::new(range_id, mode, archetype, reset.clone(), None, None);
    let set = SetExecution::new(range_id, reset);
    vec![
        ("create", executions.create(&create(range_id, CreateMode::BrandNew, new(3))).await),
        ("update", executions.update(&updated.expect("a request")).await),
        ("conflict_resolve", executions.conflict_resolve(&resolved.expect("a request")).await),
        ("set", executions.set(&set.expect("a request")).await),
        ("add_history_tasks", executions.add_history_tasks(1, range_id, &[transfer(1)]).await),
    ]
}

pub(crate) async fn owner_of_the_past_writes_nothing(fixture: &Fixture) {
    let shard = fixture.shard(1).await;
    let executions = fixture.executions();
    executions.create(&brand_new(run("orders", 1, 1))).await.expect("a run");
    let mut lease = fixture.shards().take_over(&shard, Blob::proto3(vec![2])).await.expect("a takeover");
    lease.renew(Blob::proto3(vec![3])).await.expect("a renewal");
    let outside = fixture.outside().await;
    let before = crate::fixture::runs::tables(&outside).await;
    for range_id in [1, 2, 4] {
        for (write, answer) in every_write(&executions, range_id).await {
            let is_lost = matches!(answer, Err(Error::ShardOwnershipLost { shard_id: 1, expected, actual: 3 })
                if expected == range_id);
            assert!(is_lost, "{write} at {range_id}: {answer:?}");
        }
    }
    assert_eq!(crate::fixture::runs::tables(&outside).await, before);
}

/// Lost ownership, then the current run, then the token of the run: each hides those behind it.
pub(crate) async fn lost_shard_is_told_before_anything_else(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    executions.create(&brand_new(run("orders", 1, 1))).await.expect("a run");
    let beside = create(1, CreateMode::BypassCurrent, snapshot(completed(run("orders", 2, 1))));
    executions.create(&beside).await.expect("a run");
    // Not the current run, at a version that is not stored, followed by a run that is there.
    let change = mutation(completed(run("orders", 2, 9)));
    let wrong = |range_id| {
        let new = Some(snapshot(run("orders", 1, 1)));
        let mode = UpdateMode::UpdateCurrent;
        UpdateExecution::new(range_id, mode, Archetype::WORKFLOW, change.clone(), new).expect("a request")
    };
    let error = executions.update(&wrong(5)).await.expect_err("another range");
    assert!(matches!(error, Error::ShardOwnershipLost { .. }), "{error:?}");
    let error = executions.update(&wrong(1)).await.expect_err("not the current run");
    assert!(matches!(error, Error::CurrentWorkflowConditionFailed(_)), "{error:?}");
    let outside = fixture.outside().await;
    let point = "UPDATE current_executions SET run_id = other.run_id FROM executions AS other
                 WHERE other.run_id <> current_executions.run_id";
    outside.batch_execute(point).await.expect("the other run is current");
    let error = executions.update(&wrong(1)).await.expect_err("another version");
    assert!(matches!(error, Error::WorkflowConditionFailed { db_record_version: 1, .. }), "{error:?}");
}

pub(crate) async fn missing_shard_takes_no_writes(fixture: &Fixture) {
    let executions = fixture.executions();
    for (write, answer) in every_write(&executions, 1).await {
        assert!(matches!(answer, Err(Error::Missing { what: "the shard" })), "{write}: {answer:?}");
    }
}

//! Runs: made once, changed by whoever knows their token, read as a whole.

use leasehold_persistence::{
    AppendNode, Archetype, Blob, Branch, BranchId, CreateExecution, CreateMode, CurrentConflict, Error,
    ExecutionState, HistoryNode, Maps, NodeInfo, SetExecution, TreeId, UpdateMode,
};

use crate::fixture::Fixture;
use crate::fixture::runs::{
    FIRST_RUN, brand_new, completed, create, current_of, key_of, keys_of, maps, mutation, run, run_id,
    snapshot, tables, tasks, transfer, update, zombie,
};

macro_rules! execution_cases {
    ($target:ident) => {
        $target!(
            execution:
            created_run_reads_back_whole,
            second_brand_new_run_learns_of_the_first,
            conflict_tells_the_version_of_the_run_and_not_that_of_its_record,
            completed_run_makes_way_for_a_new_one,
            run_beside_the_current_one_leaves_it_as_it_is,
            run_that_is_there_already_is_refused_with_zeros,
            record_whose_run_is_gone_is_no_current_run,
            one_token_counts_and_the_other_does_not,
            missing_run_cannot_be_changed,
            change_under_the_current_run_moves_its_record,
            change_beside_the_current_run_is_refused_for_the_current_run,
            entry_that_comes_and_goes_is_gone,
            buffered_events_keep_their_order,
            set_replaces_every_part_and_leaves_the_record,
            other_archetypes_have_records_of_their_own,
            record_is_deleted_with_its_run_only,
            deleted_run_leaves_nothing_and_may_be_deleted_again,
            thousands_of_entries_are_deleted,
            task_that_is_there_already_undoes_everything,
            history_stays_when_the_write_behind_it_fails,
        );
    };
}

/// The current execution that a writer was told of.
pub(crate) fn conflict(error: Error) -> CurrentConflict {
    match error {
        Error::CurrentWorkflowConditionFailed(conflict) => *conflict,
        error => panic!("{error:?}"),
    }
}

pub(crate) async fn created_run_reads_back_whole(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let error = executions.get(&key_of("orders", 1)).await.expect_err("no run");
    assert!(matches!(error, Error::NotFound { what: "execution" }), "{error:?}");

    let mut new = snapshot(run("orders", 1, 1));
    new.maps = maps(1);
    new.tasks = tasks(5);
    executions.create(&create(1, CreateMode::BrandNew, new.clone())).await.expect("a run");
    let found = executions.get(&new.run.key).await.expect("the run");
    assert_eq!((found.record, found.maps, found.buffered_events), (new.run.record, new.maps, vec![]));
    let current = executions.get_current(&current_of("orders")).await.expect("a current run");
    assert_eq!((current.run_id, current.create_request_id.as_str()), (run_id(1), "request 1"));
    assert_eq!(current.state, ExecutionState::Running);
    let stored = tables(&fixture.outside().await).await;
    for table in ["transfer", "timer", "replication", "visibility", "history_immediate", "history_scheduled"]
    {
        assert_eq!(stored[&format!("{table}_tasks")].len(), 1, "{table}");
    }
}

pub(crate) async fn second_brand_new_run_learns_of_the_first(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let first = run("orders", 1, 1);
    executions.create(&brand_new(first.clone())).await.expect("a run");
    let error = executions.create(&brand_new(run("orders", 2, 1))).await.expect_err("a current run");
    let found = conflict(error);
    assert_eq!((found.run_id, found.first_execution_run_id), (Some(run_id(1)), Some(run_id(FIRST_RUN))));
    assert_eq!(found.request_ids.keys().collect::<Vec<_>>(), ["request 1"]);
    assert_eq!((found.state, found.last_write_version), (Some(ExecutionState::Running), 7));
    assert_eq!((found.start_time, found.blob), (first.summary.start_time, Some(first.record.state)));

    // Records from before states were stored, in each form that Temporal takes for one.
    let outside = fixture.outside().await;
    for absent in ["data_encoding = ''", "data = ''", "data = NULL"] {
        let sql = format!("UPDATE current_executions SET {absent}");
        outside.batch_execute(&sql).await.expect("an old record");
        let error = executions.create(&brand_new(run("orders", 2, 1))).await.expect_err("a current run");
        let found = conflict(error);
        assert_eq!(found.request_ids.keys().collect::<Vec<_>>(), ["request 1"], "{absent}");
        assert_eq!(found.request_ids["request 1"].event_id, 1, "{absent}");
        assert_eq!((found.first_execution_run_id, found.blob), (None, None), "{absent}");
    }
}

/// Contract: the version that counts, and that is told, is the one in the row of the run.
pub(crate) async fn conflict_tells_the_version_of_the_run_and_not_that_of_its_record(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    executions.create(&brand_new(completed(run("orders", 1, 1)))).await.expect("a run");
    let outside = fixture.outside().await;
    outside.batch_execute("UPDATE current_executions SET last_write_version = 99").await.expect("a change");
    let error = executions.create(&brand_new(run("orders", 2, 1))).await.expect_err("a current run");
    assert_eq!(conflict(error).last_write_version, 7);
    let replaces = |version| CreateMode::UpdateCurrent {
        previous_run_id: run_id(1),
        previous_last_write_version: version,
    };
    let second = |version| create(1, replaces(version), snapshot(run("orders", 2, 1)));
    let error = executions.create(&second(99)).await.expect_err("another version");
    assert_eq!(conflict(error).last_write_version, 7);
    executions.create(&second(7)).await.expect("a new run");
}

pub(crate) async fn completed_run_makes_way_for_a_new_one(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let replaces = |previous: u8, version| CreateMode::UpdateCurrent {
        previous_run_id: run_id(previous),
        previous_last_write_version: version,
    };
    let second = |mode| create(1, mode, snapshot(run("orders", 2, 1)));
    let error = executions.create(&second(replaces(1, 7))).await.expect_err("no current run");
    assert_eq!(conflict(error).run_id, None);

    executions.create(&brand_new(run("orders", 1, 1))).await.expect("a run");
    let error = executions.create(&second(replaces(1, 7))).await.expect_err("under way");
    assert_eq!(conflict(error).state, Some(ExecutionState::Running));

    let end = update(UpdateMode::UpdateCurrent, mutation(completed(run("orders", 1, 2))), None);
    executions.update(&end).await.expect("an end");
    for mode in [replaces(3, 7), replaces(1, 6)] {
        let error = executions.create(&second(mode)).await.expect_err("another run or version");
        assert_eq!(conflict(error).run_id, Some(run_id(1)));
    }
    executions.create(&second(replaces(1, 7))).await.expect("a new run");
    let current = executions.get_current(&current_of("orders")).await.expect("a current run");
    assert_eq!(current.run_id, run_id(2));
}

pub(crate) async fn run_beside_the_current_one_leaves_it_as_it_is(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let beside = |number| create(1, CreateMode::BypassCurrent, snapshot(zombie(run("orders", number, 1))));
    executions.create(&beside(1)).await.expect("a run without a current one");
    let error = executions.get_current(&current_of("orders")).await.expect_err("no current run");
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");

    executions.create(&brand_new(run("orders", 2, 1))).await.expect("a run");
    executions.create(&beside(3)).await.expect("a run beside it");
    let error = executions.create(&beside(2)).await.expect_err("the current run itself");
    assert_eq!(conflict(error).run_id, Some(run_id(2)));
    let current = executions.get_current(&current_of("orders")).await.expect("a current run");
    assert_eq!(current.run_id, run_id(2));
}

pub(crate) async fn run_that_is_there_already_is_refused_with_zeros(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let beside = create(1, CreateMode::BypassCurrent, snapshot(zombie(run("orders", 1, 1))));
    executions.create(&beside).await.expect("a run");
    let before = tables(&fixture.outside().await).await;
    for request in [beside, brand_new(run("orders", 1, 1))] {
        let error = executions.create(&request).await.expect_err("it is there");
        let is_zeros =
            matches!(error, Error::WorkflowConditionFailed { next_event_id: 0, db_record_version: 0 });
        assert!(is_zeros, "{error:?}");
    }
    assert_eq!(tables(&fixture.outside().await).await, before, "nothing of either stayed");
}

pub(crate) async fn record_whose_run_is_gone_is_no_current_run(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    executions.create(&brand_new(run("orders", 1, 1))).await.expect("a run");
    executions.delete(&key_of("orders", 1)).await.expect("a deletion");
    let mode = CreateMode::UpdateCurrent { previous_run_id: run_id(1), previous_last_write_version: 7 };
    let error = executions.create(&create(1, mode, snapshot(run("orders", 2, 1)))).await.expect_err("none");
    assert_eq!(conflict(error).run_id, None);
    // Its record is in the way of a new one all the same, and the answer says whose it is.
    let error = executions.create(&brand_new(run("orders", 2, 1))).await.expect_err("a record");
    assert_eq!(conflict(error).run_id, Some(run_id(1)));
    let beside = create(1, CreateMode::BypassCurrent, snapshot(zombie(run("orders", 1, 1))));
    executions.create(&beside).await.expect("not the current run");
}

pub(crate) async fn one_token_counts_and_the_other_does_not(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    executions.create(&brand_new(run("orders", 1, 1))).await.expect("a run");
    // With a version the condition may be any number.
    let mut by_version = mutation(run("orders", 1, 2));
    by_version.condition = 12_345;
    executions.update(&update(UpdateMode::IgnoreCurrent, by_version.clone(), None)).await.expect("a change");
    let error = executions.update(&update(UpdateMode::IgnoreCurrent, by_version, None)).await;
    let stored = Error::WorkflowConditionFailed { next_event_id: 20, db_record_version: 2 };
    assert_eq!(error.expect_err("an old version").to_string(), stored.to_string());

    // Without one the next event counts, whatever version is stored.
    let mut by_event = mutation(run("orders", 1, 0));
    by_event.run.record.next_event_id = 25;
    by_event.condition = 19;
    let error = executions.update(&update(UpdateMode::IgnoreCurrent, by_event.clone(), None)).await;
    assert_eq!(error.expect_err("another event").to_string(), stored.to_string());
    by_event.condition = 20;
    executions.update(&update(UpdateMode::IgnoreCurrent, by_event, None)).await.expect("a change");
    let found = executions.get(&key_of("orders", 1)).await.expect("the run").record;
    assert_eq!((found.next_event_id, found.db_record_version), (25, 0));
}

pub(crate) async fn missing_run_cannot_be_changed(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let change = mutation(run("orders", 1, 4));
    let error = executions.update(&update(UpdateMode::IgnoreCurrent, change.clone(), None)).await;
    assert!(
        matches!(error, Err(Error::ConditionFailed { what: "execution", expected: Some(3), actual: None })),
        "{error:?}"
    );
    let set = SetExecution::new(1, snapshot(run("orders", 1, 4))).expect("a request");
    let error = executions.set(&set).await.expect_err("no run");
    assert!(matches!(error, Error::ConditionFailed { .. }), "{error:?}");
    let error = executions.update(&update(UpdateMode::UpdateCurrent, change, None)).await;
    assert!(matches!(error, Err(Error::Missing { what: "the current execution" })), "{error:?}");
}

pub(crate) async fn change_under_the_current_run_moves_its_record(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    executions.create(&brand_new(run("orders", 1, 1))).await.expect("a run");
    let mut second = snapshot(run("orders", 2, 1));
    second.maps = maps(2);
    let end = mutation(completed(run("orders", 1, 2)));
    executions
        .update(&update(UpdateMode::UpdateCurrent, end, Some(second.clone())))
        .await
        .expect("an end and a beginning");
    let current = executions.get_current(&current_of("orders")).await.expect("a current run");
    assert_eq!((current.run_id, current.create_request_id.as_str()), (run_id(2), "request 2"));
    assert_eq!(executions.get(&second.run.key).await.expect("the new run").maps, maps(2));
    let old = executions.get(&key_of("orders", 1)).await.expect("the old run");
    assert_eq!(old.record.db_record_version, 2);

    // The old run is not the current one any more.
    let late = update(UpdateMode::UpdateCurrent, mutation(completed(run("orders", 1, 3))), None);
    assert_eq!(conflict(executions.update(&late).await.expect_err("another")).run_id, Some(run_id(2)));
    // A run to follow that is there already undoes everything.
    let end = mutation(completed(run("orders", 2, 2)));
    let again = update(UpdateMode::UpdateCurrent, end, Some(snapshot(run("orders", 1, 1))));
    let before = tables(&fixture.outside().await).await;
    let error = executions.update(&again).await.expect_err("it is there");
    let is_zeros = matches!(error, Error::WorkflowConditionFailed { next_event_id: 0, db_record_version: 0 });
    assert!(is_zeros, "{error:?}");
    assert_eq!(tables(&fixture.outside().await).await, before);
}

pub(crate) async fn change_beside_the_current_run_is_refused_for_the_current_run(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let change = || update(UpdateMode::BypassCurrent, mutation(zombie(run("orders", 1, 2))), None);
    let beside = create(1, CreateMode::BypassCurrent, snapshot(zombie(run("orders", 1, 1))));
    executions.create(&beside).await.expect("a run");
    executions.update(&change()).await.expect("a change where no run is current");
    executions.create(&brand_new(run("orders", 2, 1))).await.expect("a run");
    let again = update(UpdateMode::BypassCurrent, mutation(zombie(run("orders", 1, 3))), None);
    executions.update(&again).await.expect("a change beside the current run");
    let current = update(UpdateMode::BypassCurrent, mutation(zombie(run("orders", 2, 2))), None);
    let error = executions.update(&current).await.expect_err("the current run itself");
    assert_eq!(conflict(error).run_id, Some(run_id(2)));
}

pub(crate) async fn entry_that_comes_and_goes_is_gone(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let mut new = snapshot(run("orders", 1, 1));
    new.maps = maps(1);
    executions.create(&create(1, CreateMode::BrandNew, new)).await.expect("a run");

    let mut change = mutation(run("orders", 1, 2));
    change.upserts = maps(2);
    // One that is there changes.
    change.upserts.activities.insert(1, Blob::proto3(vec![9]));
    executions.update(&update(UpdateMode::UpdateCurrent, change, None)).await.expect("a change");
    let found = executions.get(&key_of("orders", 1)).await.expect("the run").maps;
    assert_eq!(found.activities[&1], Blob::proto3(vec![9]));
    assert_eq!((found.timers.len(), found.signals_requested.len(), found.chasm_nodes.len()), (2, 2, 4));

    let mut change = mutation(run("orders", 1, 3));
    change.upserts = maps(3);
    change.deletes = keys_of(&maps(3));
    change.deletes.activities.extend([1, 77]);
    change.deletes.timers.insert("timer 1".to_owned());
    executions.update(&update(UpdateMode::UpdateCurrent, change, None)).await.expect("a change");
    let mut expected = found;
    expected.activities.remove(&1);
    expected.timers.remove("timer 1");
    assert_eq!(executions.get(&key_of("orders", 1)).await.expect("the run").maps, expected);

    let mut change = mutation(run("orders", 1, 4));
    change.deletes = keys_of(&expected);
    executions.update(&update(UpdateMode::UpdateCurrent, change, None)).await.expect("a change");
    assert_eq!(executions.get(&key_of("orders", 1)).await.expect("the run").maps, Maps::default());
}

pub(crate) async fn buffered_events_keep_their_order(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    executions.create(&brand_new(run("orders", 1, 1))).await.expect("a run");
    let event = |number| Blob::proto3(vec![number]);
    for (version, clears, added, expected) in [
        (2, false, Some(1), vec![1]),
        (3, false, Some(2), vec![1, 2]),
        (4, false, None, vec![1, 2]),
        (5, true, Some(3), vec![3]),
        (6, false, Some(4), vec![3, 4]),
        (7, true, None, vec![]),
    ] {
        let mut change = mutation(run("orders", 1, version));
        change.clear_buffered_events = clears;
        change.new_buffered_events = added.map(event);
        executions.update(&update(UpdateMode::UpdateCurrent, change, None)).await.expect("a change");
        let found = executions.get(&key_of("orders", 1)).await.expect("the run").buffered_events;
        assert_eq!(found, expected.into_iter().map(event).collect::<Vec<_>>(), "at version {version}");
    }
}

pub(crate) async fn set_replaces_every_part_and_leaves_the_record(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let mut new = snapshot(run("orders", 1, 1));
    new.maps = maps(1);
    executions.create(&create(1, CreateMode::BrandNew, new)).await.expect("a run");
    let mut change = mutation(run("orders", 1, 2));
    change.upserts = maps(2);
    change.new_buffered_events = Some(Blob::proto3(vec![1]));
    executions.update(&update(UpdateMode::UpdateCurrent, change, None)).await.expect("a change");
    let record = executions.get_current(&current_of("orders")).await.expect("a current run");

    let mut whole = snapshot(completed(run("orders", 1, 3)));
    whole.maps = maps(2);
    whole.maps.activities = [(2, Blob::proto3(vec![42])), (3, Blob::proto3(vec![43]))].into();
    whole.tasks = vec![transfer(9)];
    let set = SetExecution::new(1, whole.clone()).expect("a request");
    executions.set(&set).await.expect("a replacement");
    let found = executions.get(&whole.run.key).await.expect("the run");
    assert_eq!((found.record, found.maps, found.buffered_events), (whole.run.record, whole.maps, vec![]));
    let after = executions.get_current(&current_of("orders")).await.expect("a current run");
    assert_eq!(after, record);
    let error = executions.set(&set).await.expect_err("an old version");
    assert!(matches!(error, Error::WorkflowConditionFailed { db_record_version: 3, .. }), "{error:?}");
}

pub(crate) async fn other_archetypes_have_records_of_their_own(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let other = Archetype::other(5).expect("a kind");
    let new = |number, archetype| {
        let snapshot = snapshot(run("orders", number, 1));
        CreateExecution::new(1, CreateMode::BrandNew, archetype, snapshot).expect("a request")
    };
    executions.create(&new(1, Archetype::WORKFLOW)).await.expect("a workflow");
    executions.create(&new(2, other)).await.expect("something else of that name");
    let error = executions.create(&new(3, other)).await.expect_err("there is one");
    assert_eq!(conflict(error).run_id, Some(run_id(2)));
    executions.create(&new(3, Archetype::other(6).expect("a kind"))).await.expect("something else again");

    let key = key_of("orders", 0).current(other);
    assert_eq!(executions.get_current(&key).await.expect("a current run").run_id, run_id(2));
    let change = leasehold_persistence::UpdateExecution::new(
        1,
        UpdateMode::UpdateCurrent,
        other,
        mutation(completed(run("orders", 2, 2))),
        None,
    );
    executions.update(&change.expect("a request")).await.expect("a change");
    let found = executions.get_current(&key).await.expect("a current run");
    assert_eq!(found.state, ExecutionState::Completed);
    executions.delete_current(&key, run_id(2)).await.expect("a deletion");
    assert!(executions.get_current(&key).await.is_err());
    let workflow = executions.get_current(&current_of("orders")).await.expect("a current run");
    assert_eq!(workflow.run_id, run_id(1));
}

pub(crate) async fn record_is_deleted_with_its_run_only(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    executions.create(&brand_new(run("orders", 1, 1))).await.expect("a run");
    let current = current_of("orders");
    executions.delete_current(&current, run_id(2)).await.expect("nothing to do");
    assert_eq!(executions.get_current(&current).await.expect("a current run").run_id, run_id(1));
    for _ in 0..2 {
        executions.delete_current(&current, run_id(1)).await.expect("a deletion");
        assert!(executions.get_current(&current).await.is_err());
    }
}

pub(crate) async fn deleted_run_leaves_nothing_and_may_be_deleted_again(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let before = tables(&fixture.outside().await).await;
    for number in [1, 2] {
        let mut new = snapshot(zombie(run("orders", number, 1)));
        new.maps = maps(number);
        executions.create(&create(1, CreateMode::BypassCurrent, new)).await.expect("a run");
        let mut change = mutation(zombie(run("orders", number, 2)));
        change.new_buffered_events = Some(Blob::proto3(vec![1]));
        executions.update(&update(UpdateMode::IgnoreCurrent, change, None)).await.expect("a change");
    }
    let second = executions.get(&key_of("orders", 2)).await.expect("the other run");
    for _ in 0..2 {
        executions.delete(&key_of("orders", 1)).await.expect("a deletion");
        assert!(executions.get(&key_of("orders", 1)).await.is_err());
    }
    assert_eq!(executions.get(&key_of("orders", 2)).await.expect("the other run"), second);
    executions.delete(&key_of("orders", 2)).await.expect("a deletion");
    assert_eq!(tables(&fixture.outside().await).await, before);
}

/// More than DSQL changes in a transaction.
pub(crate) async fn thousands_of_entries_are_deleted(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let mut new = snapshot(run("orders", 1, 1));
    new.maps = maps(1);
    executions.create(&create(1, CreateMode::BrandNew, new)).await.expect("a run");
    for version in 2..5 {
        let mut change = mutation(run("orders", 1, version));
        let ids = version * 10_000..version * 10_000 + 1_100;
        change.upserts.signals_requested = ids.map(|id| id.to_string()).collect();
        executions.update(&update(UpdateMode::UpdateCurrent, change, None)).await.expect("a change");
    }
    let empty = SetExecution::new(1, snapshot(run("orders", 1, 5))).expect("a request");
    if fixture.is_dsql() {
        let error = executions.set(&empty).await.expect_err("too much for a transaction");
        assert!(matches!(error, Error::TransactionSizeLimit { .. }), "{error:?}");
    }
    executions.delete(&key_of("orders", 1)).await.expect("a deletion");
    let stored = tables(&fixture.outside().await).await;
    for table in ["executions", "signals_requested_sets", "chasm_node_maps", "activity_info_maps"] {
        assert_eq!(stored[table].len(), 0, "{table}");
    }
}

pub(crate) async fn task_that_is_there_already_undoes_everything(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    executions.add_history_tasks(1, 1, &tasks(5)).await.expect("tasks");
    let before = tables(&fixture.outside().await).await;
    for task in tasks(5) {
        let mut new = snapshot(run("orders", 1, 1));
        new.maps = maps(1);
        new.tasks = vec![transfer(6), task.clone()];
        let error = executions.create(&create(1, CreateMode::BrandNew, new)).await.expect_err("a twin");
        assert!(matches!(error, Error::Refused { .. }), "{error:?}");
        let error = executions.add_history_tasks(1, 1, &[transfer(6), task]).await.expect_err("a twin");
        assert!(matches!(error, Error::Refused { .. }), "{error:?}");
        assert_eq!(tables(&fixture.outside().await).await, before);
    }
}

/// Contract: what was appended stays as garbage when the transaction behind it fails.
pub(crate) async fn history_stays_when_the_write_behind_it_fails(fixture: &Fixture) {
    fixture.shard(1).await;
    let executions = fixture.executions();
    let branch = Branch {
        shard_id: 1,
        tree_id: TreeId::from_bytes([1; 16]),
        branch_id: BranchId::from_bytes([1; 16]),
    };
    let node = |node_id, txn_id, prev_txn_id| HistoryNode {
        info: NodeInfo::new(node_id, txn_id, prev_txn_id).expect("a place"),
        events: Blob::proto3(vec![1]),
    };
    let first = AppendNode::new_branch(branch, node(1, 5, 0), Blob::proto3(vec![1]));
    executions.create(&brand_new(run("orders", 1, 1)).appending(vec![first])).await.expect("a run");
    let late = update(UpdateMode::UpdateCurrent, mutation(run("orders", 1, 9)), None);
    let more = (2..4).map(|id| AppendNode::existing(branch, node(id, id + 4, id + 3))).collect();
    let error = executions.update(&late.appending(more)).await.expect_err("another version");
    assert!(matches!(error, Error::WorkflowConditionFailed { .. }), "{error:?}");
    let outside = fixture.outside().await;
    let nodes = outside.query("SELECT node_id FROM history_node ORDER BY node_id", &[]).await.expect("nodes");
    assert_eq!(nodes.iter().map(|row| row.get(0)).collect::<Vec<i64>>(), [1, 2, 3]);
}

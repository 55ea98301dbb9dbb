//! Which states of runs go with which modes: what the requests refuse before anything is sent.

use super::*;
use crate::{Blob, NamespaceId, Result, RunId};

use ExecutionState::{Completed, Created, Running, Zombie};

const STATES: [ExecutionState; 4] = [Created, Running, Completed, Zombie];

fn run(number: u8, state: ExecutionState) -> Run {
    let status = match state {
        Completed => ExecutionStatus::Completed,
        _ => ExecutionStatus::Running,
    };
    Run {
        key: ExecutionKey {
            shard_id: 1,
            namespace_id: NamespaceId::from_bytes([1; 16]),
            workflow_id: WorkflowId::new("orders").expect("a name"),
            run_id: RunId::from_bytes([number; 16]),
        },
        record: Record {
            info: Blob::proto3(vec![]),
            state: Blob::proto3(vec![]),
            next_event_id: 2,
            last_write_version: 1,
            db_record_version: 1,
        },
        summary: Summary { create_request_id: "request".to_owned(), state, status, start_time: None },
    }
}

fn snapshot(run: Run) -> Snapshot {
    Snapshot { run, condition: 0, maps: Maps::default(), tasks: Vec::new() }
}

fn mutation(run: Run) -> Mutation {
    Mutation {
        run,
        condition: 0,
        upserts: Maps::default(),
        deletes: MapKeys::default(),
        clear_buffered_events: false,
        new_buffered_events: None,
        tasks: Vec::new(),
    }
}

fn create(mode: CreateMode, new: Run) -> Result<CreateExecution> {
    CreateExecution::new(1, mode, Archetype::WORKFLOW, snapshot(new))
}

fn update(mode: UpdateMode, old: Run, new: Option<Run>) -> Result<UpdateExecution> {
    UpdateExecution::new(1, mode, Archetype::WORKFLOW, mutation(old), new.map(snapshot))
}

fn resolve(
    mode: ConflictResolveMode,
    reset: Run,
    new: Option<Run>,
    was: Option<Run>,
) -> Result<ConflictResolution> {
    ConflictResolution::new(
        1,
        mode,
        Archetype::WORKFLOW,
        snapshot(reset),
        new.map(snapshot),
        was.map(mutation),
    )
}

const fn is_open(state: ExecutionState) -> bool {
    matches!(state, Created | Running)
}

#[test]
fn new_run_is_no_zombie_unless_it_is_beside_the_current_one() {
    let replaces = CreateMode::UpdateCurrent {
        previous_run_id: RunId::from_bytes([2; 16]),
        previous_last_write_version: 1,
    };
    for state in STATES {
        for mode in [CreateMode::BrandNew, replaces] {
            assert_eq!(create(mode, run(1, state)).is_ok(), state != Zombie, "{mode:?} {state:?}");
        }
        assert_eq!(create(CreateMode::BypassCurrent, run(1, state)).is_ok(), !is_open(state), "{state:?}");
    }
}

#[test]
fn changed_run_makes_way_only_when_it_has_ended() {
    for old in STATES {
        let alone = |mode| update(mode, run(1, old), None).is_ok();
        assert_eq!(alone(UpdateMode::UpdateCurrent), old != Zombie, "{old:?}");
        assert_eq!(alone(UpdateMode::BypassCurrent), !is_open(old), "{old:?}");
        assert!(alone(UpdateMode::IgnoreCurrent), "{old:?}");
        for new in STATES {
            let both = |mode| update(mode, run(1, old), Some(run(2, new))).is_ok();
            assert_eq!(both(UpdateMode::UpdateCurrent), old == Completed && new != Zombie, "{old:?} {new:?}");
            assert_eq!(both(UpdateMode::BypassCurrent), !is_open(old) && !is_open(new), "{old:?} {new:?}");
            assert!(!both(UpdateMode::IgnoreCurrent), "{old:?} {new:?}");
        }
    }
}

#[test]
fn reset_run_makes_way_only_when_it_has_ended() {
    use ConflictResolveMode::{BypassCurrent, UpdateCurrent};
    for reset in STATES {
        let alone = |mode| resolve(mode, run(1, reset), None, None).is_ok();
        assert_eq!(alone(UpdateCurrent), reset != Zombie, "{reset:?}");
        assert_eq!(alone(BypassCurrent), !is_open(reset), "{reset:?}");
        for other in STATES {
            let new = |mode| resolve(mode, run(1, reset), Some(run(2, other)), None).is_ok();
            assert_eq!(new(UpdateCurrent), reset == Completed && other != Zombie, "{reset:?} {other:?}");
            assert_eq!(new(BypassCurrent), !is_open(reset) && !is_open(other), "{reset:?} {other:?}");
            let was = |mode| resolve(mode, run(1, reset), None, Some(run(2, other))).is_ok();
            assert_eq!(was(UpdateCurrent), reset != Zombie && !is_open(other), "{reset:?} {other:?}");
            assert!(!was(BypassCurrent), "{reset:?} {other:?}");
        }
    }
    assert!(
        resolve(UpdateCurrent, run(1, Completed), None, Some(run(1, Completed))).is_err(),
        "one run twice"
    );
}

#[test]
fn runs_of_a_request_are_of_one_workflow() {
    let elsewhere: [fn(&mut ExecutionKey); 3] = [
        |key| key.shard_id = 2,
        |key| key.namespace_id = NamespaceId::from_bytes([2; 16]),
        |key| key.workflow_id = WorkflowId::new("invoices").expect("a name"),
    ];
    for elsewhere in elsewhere {
        let mut other = run(2, Completed);
        elsewhere(&mut other.key);
        let mode = ConflictResolveMode::UpdateCurrent;
        assert!(update(UpdateMode::UpdateCurrent, run(1, Completed), Some(other.clone())).is_err());
        assert!(resolve(mode, run(1, Completed), Some(other.clone()), None).is_err());
        assert!(resolve(mode, run(1, Completed), None, Some(other)).is_err());
    }
}

#[test]
fn what_no_column_keeps_is_refused_in_every_part() {
    let long = "x".repeat(256);
    let spoil: [fn(&mut Run, &str); 3] = [
        |run, long| run.summary.create_request_id = long.to_owned(),
        |run, _| run.record.db_record_version = -1,
        |run, _| run.summary.status = ExecutionStatus::Failed,
    ];
    for spoil in spoil {
        let mut bad = run(1, Running);
        spoil(&mut bad, &long);
        assert!(create(CreateMode::BrandNew, bad.clone()).is_err());
        assert!(update(UpdateMode::UpdateCurrent, bad.clone(), None).is_err());
        assert!(resolve(ConflictResolveMode::UpdateCurrent, bad.clone(), None, None).is_err());
        assert!(SetExecution::new(1, snapshot(bad)).is_err());
    }
}

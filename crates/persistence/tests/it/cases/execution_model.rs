//! Random operations on the runs of a workflow, against a model of what each must answer and leave behind.

use std::collections::BTreeMap;

use leasehold_persistence::{
    Archetype, Blob, ConflictResolution, ConflictResolveMode, CreateExecution, CreateMode, Error,
    ExecutionState, Executions, Maps, Mutation, Run, SetExecution, Snapshot, UpdateExecution, UpdateMode,
};

use crate::fixture::runs::{
    completed, current_of, key_of, keys_of, maps, mutation, run, run_id, snapshot, tables, transfer, zombie,
};
use crate::fixture::{Dice, Fixture};

macro_rules! execution_model_cases {
    ($target:ident) => {
        $target!(
            execution_model:
            random_operations_answer_and_store_what_the_model_says,
        );
    };
}

const CASES: std::ops::Range<u64> = 0..40;
const OPERATIONS: u64 = 10;
const RUNS: u8 = 4;

/// What a writer is told, in the words of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Done,
    Lost,
    CurrentIs(Option<u8>),
    Tokens { next_event_id: i64, version: i64 },
    NoRun,
    NoCurrent,
}

impl Answer {
    const EXISTS: Self = Self::Tokens { next_event_id: 0, version: 0 };

    fn of(answer: Result<(), Error>) -> Self {
        match answer {
            Ok(()) => Self::Done,
            Err(Error::ShardOwnershipLost { .. }) => Self::Lost,
            Err(Error::CurrentWorkflowConditionFailed(found)) => {
                Self::CurrentIs(found.run_id.map(|run_id| run_id.as_bytes()[0]))
            }
            Err(Error::WorkflowConditionFailed { next_event_id, db_record_version }) => {
                Self::Tokens { next_event_id, version: db_record_version }
            }
            Err(Error::ConditionFailed { what: "execution", .. }) => Self::NoRun,
            Err(Error::Missing { what: "the current execution" }) => Self::NoCurrent,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// The runs of one workflow.
#[derive(Default)]
struct Model {
    current: Option<(u8, ExecutionState)>,
    runs: BTreeMap<u8, Stored>,
}

struct Stored {
    run: Run,
    maps: Maps,
    buffered: Vec<Blob>,
}

fn number(run: &Run) -> u8 {
    run.key.run_id.as_bytes()[0]
}

impl Model {
    fn check_run(&self, run: &Run, condition: i64) -> Result<(), Answer> {
        let stored = &self.runs.get(&number(run)).ok_or(Answer::NoRun)?.run.record;
        let holds = match run.record.db_record_version {
            0 => stored.next_event_id == condition,
            version => stored.db_record_version == version - 1,
        };
        let (next_event_id, version) = (stored.next_event_id, stored.db_record_version);
        if holds { Ok(()) } else { Err(Answer::Tokens { next_event_id, version }) }
    }

    fn check_current_is(&self, expected: u8) -> Result<(), Answer> {
        match self.current {
            None => Err(Answer::NoCurrent),
            Some((found, _)) if found != expected => Err(Answer::CurrentIs(Some(found))),
            Some(_) => Ok(()),
        }
    }

    fn check_current_is_not(&self, unwanted: u8) -> Result<(), Answer> {
        match self.current {
            Some((found, _)) if found == unwanted => Err(Answer::CurrentIs(Some(found))),
            _ => Ok(()),
        }
    }

    fn check_new(&self, new: Option<&Snapshot>) -> Result<(), Answer> {
        match new {
            Some(new) if self.runs.contains_key(&number(&new.run)) => Err(Answer::EXISTS),
            _ => Ok(()),
        }
    }

    fn point_at(&mut self, run: &Run) {
        self.current = Some((number(run), run.summary.state));
    }

    fn replace(&mut self, snapshot: &Snapshot) {
        let (run, maps) = (snapshot.run.clone(), snapshot.maps.clone());
        self.runs.insert(number(&run), Stored { run, maps, buffered: Vec::new() });
    }

    fn change(&mut self, mutation: &Mutation) {
        let stored = self.runs.get_mut(&number(&mutation.run)).expect("checked");
        stored.run = mutation.run.clone();
        let (maps, comes, goes) = (&mut stored.maps, mutation.upserts.clone(), &mutation.deletes);
        maps.activities.extend(comes.activities);
        maps.activities.retain(|id, _| !goes.activities.contains(id));
        maps.timers.extend(comes.timers);
        maps.timers.retain(|id, _| !goes.timers.contains(id));
        maps.children.extend(comes.children);
        maps.children.retain(|id, _| !goes.children.contains(id));
        maps.request_cancels.extend(comes.request_cancels);
        maps.request_cancels.retain(|id, _| !goes.request_cancels.contains(id));
        maps.signals.extend(comes.signals);
        maps.signals.retain(|id, _| !goes.signals.contains(id));
        maps.signals_requested.extend(comes.signals_requested);
        maps.signals_requested.retain(|id| !goes.signals_requested.contains(id));
        maps.chasm_nodes.extend(comes.chasm_nodes);
        maps.chasm_nodes.retain(|path, _| !goes.chasm_nodes.contains(path));
        if mutation.clear_buffered_events {
            stored.buffered.clear();
        }
        stored.buffered.extend(mutation.new_buffered_events.clone());
    }

    fn create(&mut self, mode: CreateMode, new: &Snapshot) -> Result<(), Answer> {
        // A record whose run is gone is none, until somebody wants to make it.
        let current = self.current.filter(|(run, _)| self.runs.contains_key(run));
        match (mode, current) {
            (CreateMode::BrandNew, _) => {
                if let Some((found, _)) = self.current {
                    return Err(Answer::CurrentIs(Some(found)));
                }
            }
            (CreateMode::UpdateCurrent { .. }, None) => return Err(Answer::CurrentIs(None)),
            (
                CreateMode::UpdateCurrent { previous_run_id, previous_last_write_version },
                Some((found, state)),
            ) => {
                let version = self.runs[&found].run.record.last_write_version;
                if run_id(found) != previous_run_id
                    || version != previous_last_write_version
                    || state != ExecutionState::Completed
                {
                    return Err(Answer::CurrentIs(Some(found)));
                }
            }
            (CreateMode::BypassCurrent, Some((found, _))) if found == number(&new.run) => {
                return Err(Answer::CurrentIs(Some(found)));
            }
            (CreateMode::BypassCurrent, _) => {}
        }
        self.check_new(Some(new))?;
        if mode != CreateMode::BypassCurrent {
            self.point_at(&new.run);
        }
        self.replace(new);
        Ok(())
    }

    fn update(
        &mut self,
        mode: UpdateMode,
        mutation: &Mutation,
        new: Option<&Snapshot>,
    ) -> Result<(), Answer> {
        match mode {
            UpdateMode::UpdateCurrent => self.check_current_is(number(&mutation.run))?,
            UpdateMode::BypassCurrent => self.check_current_is_not(number(&mutation.run))?,
            UpdateMode::IgnoreCurrent => {}
        }
        self.check_run(&mutation.run, mutation.condition)?;
        self.check_new(new)?;
        if mode == UpdateMode::UpdateCurrent {
            self.point_at(new.map_or(&mutation.run, |new| &new.run));
        }
        self.change(mutation);
        new.into_iter().for_each(|new| self.replace(new));
        Ok(())
    }

    fn conflict_resolve(
        &mut self,
        mode: ConflictResolveMode,
        reset: &Snapshot,
        new: Option<&Snapshot>,
        current: Option<&Mutation>,
    ) -> Result<(), Answer> {
        match mode {
            ConflictResolveMode::UpdateCurrent => {
                self.check_current_is(number(current.map_or(&reset.run, |current| &current.run)))?;
            }
            ConflictResolveMode::BypassCurrent => self.check_current_is_not(number(&reset.run))?,
        }
        self.check_run(&reset.run, reset.condition)?;
        if let Some(current) = current {
            self.check_run(&current.run, current.condition)?;
        }
        self.check_new(new)?;
        if mode == ConflictResolveMode::UpdateCurrent {
            self.point_at(new.map_or(&reset.run, |new| &new.run));
        }
        self.replace(reset);
        current.into_iter().for_each(|current| self.change(current));
        new.into_iter().for_each(|new| self.replace(new));
        Ok(())
    }

    fn set(&mut self, snapshot: &Snapshot) -> Result<(), Answer> {
        self.check_run(&snapshot.run, snapshot.condition)?;
        self.replace(snapshot);
        Ok(())
    }
}

/// One workflow's worth of chance. What is rolled depends on the model alone, so every database gets the same.
struct Player<'a> {
    dice: Dice,
    workflow: &'a str,
    model: Model,
    next_task: i64,
}

impl Player<'_> {
    fn any_run(&mut self) -> u8 {
        // Mostly the current one: a random one is seldom what a request may be about.
        match self.model.current {
            Some((current, _)) if !self.dice.once_in(3) => current,
            _ => 1 + u8::try_from(self.dice.roll(u64::from(RUNS))).expect("small"),
        }
    }

    /// A run as a writer sends it who knows the stored token, mostly, and brings one of the two; and the condition.
    fn known(&mut self, number: u8) -> (Run, i64) {
        let stored = self.model.runs.get(&number).map(|stored| &stored.run.record);
        let (next_event_id, version) =
            stored.map_or((10, 1), |record| (record.next_event_id, record.db_record_version));
        let off = if self.dice.once_in(5) { 1 } else { 0 };
        let mut known = run(self.workflow, number, version + 1 + off);
        known.record.next_event_id = next_event_id + self.dice.between(0..=3);
        known.record.last_write_version = self.dice.between(1..=2);
        // With a version the condition is a number without meaning.
        let mut condition = self.dice.between(0..=100);
        if self.dice.once_in(3) {
            known.record.db_record_version = 0;
            condition = next_event_id + off;
        }
        (known, condition)
    }

    fn some_maps(&mut self) -> Maps {
        if self.dice.once_in(2) {
            Maps::default()
        } else {
            maps(u8::try_from(self.dice.roll(3)).expect("small"))
        }
    }

    fn tasks(&mut self) -> Vec<leasehold_persistence::HistoryTask> {
        self.next_task += 1;
        if self.dice.once_in(2) { Vec::new() } else { vec![transfer(self.next_task)] }
    }

    fn snapshot_of(&mut self, (run, condition): (Run, i64)) -> Snapshot {
        Snapshot { condition, maps: self.some_maps(), tasks: self.tasks(), ..snapshot(run) }
    }

    fn new_snapshot(&mut self, shape: fn(Run) -> Run) -> Snapshot {
        let number = 1 + u8::try_from(self.dice.roll(u64::from(RUNS))).expect("small");
        let mut new = run(self.workflow, number, 1);
        new.record.last_write_version = self.dice.between(1..=2);
        self.snapshot_of((shape(new), 0))
    }

    fn mutation_of(&mut self, (run, condition): (Run, i64)) -> Mutation {
        let goes = self.some_maps();
        Mutation {
            condition,
            upserts: self.some_maps(),
            deletes: keys_of(&goes),
            clear_buffered_events: self.dice.once_in(4),
            new_buffered_events: self.dice.once_in(3).then(|| Blob::proto3(vec![7])),
            tasks: self.tasks(),
            ..mutation(run)
        }
    }

    /// What the model answers, and what the database does.
    async fn play(&mut self, executions: &Executions) -> (Answer, Answer) {
        let range_id = if self.dice.once_in(12) { 2 } else { 1 };
        let is_lost = range_id != 1;
        let workflow = Archetype::WORKFLOW;
        let judge = |model: &mut Model, apply: &dyn Fn(&mut Model) -> Result<(), Answer>| {
            if is_lost { Answer::Lost } else { apply(model).map_or_else(|answer| answer, |()| Answer::Done) }
        };
        match self.dice.roll(9) {
            0 | 1 => {
                let mode = match self.dice.roll(3) {
                    0 => CreateMode::BrandNew,
                    1 => CreateMode::BypassCurrent,
                    _ => CreateMode::UpdateCurrent {
                        previous_run_id: run_id(self.any_run()),
                        previous_last_write_version: self.dice.between(1..=2),
                    },
                };
                let shape = match mode {
                    CreateMode::BypassCurrent => zombie,
                    _ if self.dice.once_in(2) => completed,
                    _ => |run| run,
                };
                let new = self.new_snapshot(shape);
                let expected = judge(&mut self.model, &|model| model.create(mode, &new));
                let request = CreateExecution::new(range_id, mode, workflow, new).expect("a request");
                (expected, Answer::of(executions.create(&request).await))
            }
            2..=4 => {
                let number = self.any_run();
                let (known, condition) = self.known(number);
                let mode = match self.dice.roll(4) {
                    0 => UpdateMode::BypassCurrent,
                    1 => UpdateMode::IgnoreCurrent,
                    _ => UpdateMode::UpdateCurrent,
                };
                let has_new = mode == UpdateMode::UpdateCurrent && self.dice.once_in(3);
                let shape: fn(Run) -> Run = match mode {
                    UpdateMode::BypassCurrent => zombie,
                    _ if has_new => completed,
                    _ => |run| run,
                };
                let mutation = self.mutation_of((shape(known), condition));
                let new = has_new.then(|| self.new_snapshot(|run| run));
                let expected = judge(&mut self.model, &|model| model.update(mode, &mutation, new.as_ref()));
                let request =
                    UpdateExecution::new(range_id, mode, workflow, mutation, new).expect("a request");
                (expected, Answer::of(executions.update(&request).await))
            }
            5 => {
                let number = self.any_run();
                let known = self.known(number);
                let bypasses = self.dice.once_in(3);
                let other = 1 + number % RUNS;
                let was = (!bypasses && self.dice.once_in(2)).then(|| self.known(other));
                let has_new = self.dice.once_in(3);
                let shape: fn(Run) -> Run = match (bypasses, has_new) {
                    (true, _) => zombie,
                    (false, true) => completed,
                    (false, false) => |run| run,
                };
                let reset = self.snapshot_of((shape(known.0), known.1));
                let was = was.map(|(run, condition)| self.mutation_of((completed(run), condition)));
                let new = has_new.then(|| self.new_snapshot(if bypasses { zombie } else { |run| run }));
                let mode = match bypasses {
                    true => ConflictResolveMode::BypassCurrent,
                    false => ConflictResolveMode::UpdateCurrent,
                };
                let expected = judge(&mut self.model, &|model| {
                    model.conflict_resolve(mode, &reset, new.as_ref(), was.as_ref())
                });
                let request = ConflictResolution::new(range_id, mode, workflow, reset, new, was);
                let request = request.expect("a request");
                (expected, Answer::of(executions.conflict_resolve(&request).await))
            }
            6 => {
                let number = self.any_run();
                let known = self.known(number);
                let snapshot = self.snapshot_of(known);
                let expected = judge(&mut self.model, &|model| model.set(&snapshot));
                let request = SetExecution::new(range_id, snapshot).expect("a request");
                (expected, Answer::of(executions.set(&request).await))
            }
            7 => {
                let number = self.any_run();
                self.model.runs.remove(&number);
                (Answer::Done, Answer::of(executions.delete(&key_of(self.workflow, number)).await))
            }
            _ => {
                let number = self.any_run();
                self.model.current = self.model.current.filter(|(current, _)| *current != number);
                let key = current_of(self.workflow);
                (Answer::Done, Answer::of(executions.delete_current(&key, run_id(number)).await))
            }
        }
    }

    async fn compare(&self, executions: &Executions) {
        for number in 1..=RUNS {
            let found = executions.get(&key_of(self.workflow, number)).await;
            match (self.model.runs.get(&number), found) {
                (None, Err(Error::NotFound { .. })) => {}
                (Some(stored), Ok(found)) => {
                    assert_eq!(found.record, stored.run.record);
                    assert_eq!(found.maps, stored.maps);
                    assert_eq!(found.buffered_events, stored.buffered);
                }
                (_, found) => panic!("run {number}: {found:?}"),
            }
        }
        let current = executions.get_current(&current_of(self.workflow)).await;
        let current = current.ok().map(|current| (current.run_id.as_bytes()[0], current.state));
        assert_eq!(current, self.model.current);
    }
}

pub(crate) async fn random_operations_answer_and_store_what_the_model_says(fixture: &Fixture) {
    operations_answer_and_store_what_the_model_says(fixture, CASES).await;
}

/// Property 2: conditional atomicity, one writer at a time; and the same answers and tables from PostgreSQL and from DSQL.
pub(crate) async fn operations_answer_and_store_what_the_model_says(
    fixture: &Fixture,
    seeds: std::ops::Range<u64>,
) {
    fixture.shard(1).await;
    let answers = play_all(fixture, seeds.clone()).await;
    let told = |wanted: fn(&Answer) -> bool| answers.iter().filter(|answer| wanted(answer)).count();
    assert!(told(|answer| *answer == Answer::Done) > 100, "chance is against it");
    assert!(told(|answer| matches!(answer, Answer::CurrentIs(Some(_)))) > 10, "chance is against it");
    assert!(told(|answer| matches!(answer, Answer::Tokens { .. })) > 10, "chance is against it");
    assert!(told(|answer| *answer == Answer::NoRun) > 2, "chance is against it");
    if fixture.is_dsql() {
        let twin = Fixture::postgres().await;
        twin.shard(1).await;
        assert_eq!(play_all(&twin, seeds).await, answers);
        let (here, there) = (tables(&fixture.outside().await).await, tables(&twin.outside().await).await);
        assert_eq!(here, there);
    }
}

async fn play_all(fixture: &Fixture, seeds: std::ops::Range<u64>) -> Vec<Answer> {
    let executions = fixture.executions();
    let mut answers = Vec::new();
    for seed in seeds {
        let workflow = format!("workflow {seed}");
        let next_task = i64::try_from(seed).expect("small") * 1_000;
        let mut player = Player { dice: Dice(seed), workflow: &workflow, model: Model::default(), next_task };
        for operation in 0..OPERATIONS {
            let (expected, answer) = player.play(&executions).await;
            assert_eq!(answer, expected, "operation {operation} of seed {seed}");
            answers.push(answer);
        }
        player.compare(&executions).await;
    }
    answers
}

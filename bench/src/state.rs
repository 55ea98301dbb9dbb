//! Writes of executions, and how fast and how evenly they go.

use std::error::Error as StdError;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use leasehold_persistence::{
    Archetype, Blob, Category, CreateExecution, CreateMode, Database, ExecutionKey, ExecutionState,
    ExecutionStatus, Executions, HistoryTask, MapKeys, Maps, Mutation, NamespaceId, Record, Run, RunId,
    ShardId, Shards, Snapshot, Summary, UpdateExecution, UpdateMode, WorkflowId,
};
use tokio::task::JoinSet;

/// What went wrong.
pub type Failed = Box<dyn StdError + Send + Sync>;

/// The range that every shard is at.
pub const RANGE: i64 = 1;
/// The namespace of all.
pub const NAMESPACE: NamespaceId = NamespaceId::from_bytes([7; 16]);

/// What an execution keeps, in bytes; a small workflow's.
const INFO_BYTES: usize = 1_000;
const STATE_BYTES: usize = 200;
const TASK_BYTES: usize = 100;

/// One who writes executions of its own, one write after the other.
#[derive(Debug)]
pub struct Writer {
    executions: Executions,
    shard_id: ShardId,
    number: u64,
    made: u64,
    tasks: i64,
    /// The run that is changed, and its version.
    open: Option<(ExecutionKey, i64)>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A run is made, and made the current one, with a task.
    Create,
    /// A run is changed, with its record as the current one and a task.
    Update,
}

impl Work {
    /// Both.
    pub const ALL: [Work; 2] = [Work::Create, Work::Update];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Work::Create => "create",
            Work::Update => "update",
        }
    }
}

impl Writer {
    /// The writer of a number, in the shard that its number falls to. `run` tells the measurements of one database apart.
    #[must_use]
    pub fn new(database: &Database, run: u64, number: usize, shards: usize) -> Self {
        let number = number as u64;
        let shard_id = ShardId::try_from(number % shards as u64 + 1).expect("few shards");
        Self {
            executions: Executions::new(database.clone()),
            shard_id,
            number: run << 16 | number,
            made: 0,
            tasks: 0,
            open: None,
        }
    }

    /// Writes once.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn write(&mut self, work: Work) -> leasehold_persistence::Result<()> {
        match (work, self.open.take()) {
            (Work::Update, Some((key, version))) => {
                let changed = self.update(key.clone(), version + 1);
                let outcome = self.executions.update(&changed).await;
                self.open = Some((key, version + i64::from(outcome.is_ok())));
                outcome
            }
            _ => self.create().await,
        }
    }

    async fn create(&mut self) -> leasehold_persistence::Result<()> {
        let key = self.next_key();
        let snapshot = Snapshot {
            run: run(key.clone(), 1),
            condition: 0,
            maps: Maps::default(),
            tasks: vec![self.task()],
        };
        let request = CreateExecution::new(RANGE, CreateMode::BrandNew, Archetype::WORKFLOW, snapshot)?;
        self.executions.create(&request).await?;
        self.open = Some((key, 1));
        Ok(())
    }

    fn update(&mut self, key: ExecutionKey, version: i64) -> UpdateExecution {
        let mutation = Mutation {
            run: run(key, version),
            condition: 0,
            upserts: Maps::default(),
            deletes: MapKeys::default(),
            clear_buffered_events: false,
            new_buffered_events: None,
            tasks: vec![self.task()],
        };
        UpdateExecution::new(RANGE, UpdateMode::UpdateCurrent, Archetype::WORKFLOW, mutation, None)
            .expect("a request that is valid")
    }

    fn next_key(&mut self) -> ExecutionKey {
        self.made += 1;
        let workflow = format!("bench-{}-{}", self.number, self.made);
        let run = u128::from(self.number) << 64 | u128::from(self.made);
        ExecutionKey {
            shard_id: self.shard_id,
            namespace_id: NAMESPACE,
            workflow_id: WorkflowId::new(workflow).expect("a short id"),
            run_id: RunId::from_bytes(run.to_be_bytes()),
        }
    }

    /// Ids of tasks are unique in a shard.
    fn task(&mut self) -> HistoryTask {
        self.tasks += 1;
        let id = i64::try_from(self.number).expect("few writers") << 32 | self.tasks;
        HistoryTask::immediate(Category::TRANSFER, id, blob(TASK_BYTES)).expect("a task")
    }
}

fn run(key: ExecutionKey, version: i64) -> Run {
    Run {
        key,
        record: Record {
            info: blob(INFO_BYTES),
            state: blob(STATE_BYTES),
            next_event_id: version + 2,
            last_write_version: 1,
            db_record_version: version,
        },
        summary: Summary {
            create_request_id: "bench".to_owned(),
            state: ExecutionState::Running,
            status: ExecutionStatus::Running,
            start_time: None,
        },
    }
}

/// Bytes that do not compress to nothing.
#[must_use]
pub fn blob(len: usize) -> Blob {
    let mut seed = 0x9e37_79b9_u32;
    let bytes: Vec<u8> = (0..len)
        .map(|_| {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            seed.to_le_bytes()[0]
        })
        .collect();
    Blob::proto3(bytes)
}

/// How many bytes an execution's info, its state and a task have.
#[must_use]
pub const fn sizes() -> (usize, usize, usize) {
    (INFO_BYTES, STATE_BYTES, TASK_BYTES)
}

/// Makes the shards.
///
/// # Errors
/// What the store answers.
pub async fn make_shards(database: &Database, shards: usize) -> leasehold_persistence::Result<()> {
    let store = Shards::new(database.clone());
    for shard_id in 1..=ShardId::try_from(shards).expect("few shards") {
        store.get_or_create(shard_id, || (RANGE, blob(STATE_BYTES))).await?;
    }
    Ok(())
}

/// What a slice of time brought.
#[derive(Debug)]
pub struct Slice {
    /// Writes in a second.
    pub rate: f64,
    /// Writes in all.
    pub writes: u64,
    /// Writes that were given up.
    pub failures: u64,
    /// How long each took, in microseconds.
    pub latency: Histogram<u64>,
}

impl Slice {
    /// How long a write took, in milliseconds, at most for this part of them.
    #[must_use]
    pub fn milliseconds(&self, quantile: f64) -> f64 {
        self.latency.value_at_quantile(quantile) as f64 / 1_000.0
    }
}

/// Lets all work until the time is over; gives the workers back. A write that answers false was given up.
///
/// # Errors
/// The first that a worker meets.
pub async fn measure<W, F>(
    workers: Vec<W>,
    slice: Duration,
    write: impl Fn(W) -> F + Send + Sync + 'static,
) -> Result<(Slice, Vec<W>), Failed>
where
    W: Send + 'static,
    F: Future<Output = (W, Result<bool, Failed>)> + Send + 'static,
{
    let write = Arc::new(write);
    let begun = Instant::now();
    let mut working = JoinSet::new();
    for mut worker in workers {
        let write = Arc::clone(&write);
        working.spawn(async move {
            let (mut latency, mut failures) = (Histogram::<u64>::new(3)?, 0);
            while begun.elapsed() < slice {
                let asked = Instant::now();
                let outcome;
                (worker, outcome) = write(worker).await;
                match outcome? {
                    true => latency.record(u64::try_from(asked.elapsed().as_micros())?)?,
                    false => failures += 1,
                }
            }
            Ok::<_, Failed>((worker, latency, failures))
        });
    }
    let (mut workers, mut latency, mut failures) = (Vec::new(), Histogram::<u64>::new(3)?, 0);
    for worked in working.join_all().await {
        let (worker, of_worker, failed) = worked?;
        workers.push(worker);
        latency.add(&of_worker)?;
        failures += failed;
    }
    let writes = latency.len();
    let rate = writes as f64 / begun.elapsed().as_secs_f64();
    Ok((Slice { rate, writes, failures, latency }, workers))
}

/// [`measure`] of writers of executions.
///
/// # Errors
/// The first that is not a lost race.
pub async fn measure_writers(
    writers: Vec<Writer>,
    work: Work,
    slice: Duration,
) -> Result<(Slice, Vec<Writer>), Failed> {
    let write = move |mut writer: Writer| async move {
        let outcome = match writer.write(work).await {
            Ok(()) => Ok(true),
            Err(leasehold_persistence::Error::OccExhausted { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        };
        (writer, outcome)
    };
    measure(writers, slice, write).await
}

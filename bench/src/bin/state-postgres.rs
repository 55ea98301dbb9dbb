//! Executions on a durable PostgreSQL: makes and changes per second in every fence mode, against the same statements by hand,
//! and how both grow with shards and tasks.

use std::path::Path;
use std::time::Duration;

use clap::Parser;
use leasehold_bench::plot::{Line, svg};
use leasehold_bench::rates::median;
use leasehold_bench::state::{
    Failed, NAMESPACE, RANGE, Slice, Work, Writer, blob, make_shards, measure, measure_writers, sizes,
};
use leasehold_persistence::{Config, Database, FenceMode, Schema};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{ConnectionString, Parameters, Pool};
use tokio_postgres::{Client, NoTls, Statement};

const TASKS: [usize; 3] = [1, 8, 32];
const SHARDS: [usize; 3] = [1, 4, 16];
const PLOT: &str = "benchmarks/state-shards.svg";

/// The modes, by the name they have in tables. Without a fence tasks get lost: it is there to show what the fence costs.
const MODES: [FenceMode; 4] = [FenceMode::Unfenced, FenceMode::Share, FenceMode::KeyShare, FenceMode::Update];

/// Measures writes of executions on PostgreSQL.
#[derive(Debug, Parser)]
struct Arguments {
    /// How often every form is measured.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// Shards that the tasks of the first table write to.
    #[arg(long, default_value_t = 4)]
    shards: usize,
}

/// What writes, and where it is in the list of forms.
enum Form {
    ByHand(Vec<ByHand>),
    Store(Vec<Writer>),
}

#[derive(Default)]
struct Column {
    rates: Vec<f64>,
    ratios: Vec<f64>,
    median_ms: Vec<f64>,
    high_ms: Vec<f64>,
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, the figures mean nothing");
    }
    let cluster = Cluster::start(Settings::durable().with("shared_buffers", "1GB"))?;
    let url = cluster.url("postgres");
    let pool = pool(&url)?;
    let schema = Schema::of(pool.dialect());
    schema.apply(&pool).await?;
    let mut databases = Vec::new();
    for mode in MODES {
        let config = Config { fence_mode: Some(mode), ..Config::new(pool.dialect()) };
        databases.push(Database::open(pool.clone(), config).await?);
    }
    let most = SHARDS.into_iter().chain([arguments.shards]).max().unwrap_or(1);
    make_shards(&databases[0], most).await?;

    println!(
        "writes of executions, {} shard(s); rates are medians of {} rounds, ratios are within a round; PostgreSQL {}",
        arguments.shards,
        arguments.rounds,
        cluster.version()
    );
    println!("| work | tasks | fence | /s | of by hand | median ms | p99 ms |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let mut run = 0;
    for work in Work::ALL {
        for tasks in TASKS {
            run += 1;
            compare(&arguments, &url, &databases, work, tasks, run).await?;
        }
    }
    scale(&arguments, &databases).await?;
    println!("![updates per second by shards and tasks]({PLOT})");
    Ok(())
}

fn pool(url: &str) -> Result<Pool, Failed> {
    let connection: ConnectionString = url.parse()?;
    Ok(Pool::new(leasehold_txn::Config::new(connection).size_max(34))?)
}

/// Prints a row for each form.
async fn compare(
    arguments: &Arguments,
    url: &str,
    databases: &[Database],
    work: Work,
    tasks: usize,
    run: u64,
) -> Result<(), Failed> {
    let slice = Duration::from_secs_f64(arguments.seconds);
    let mut forms = Vec::new();
    let mut by_hand = Vec::new();
    for number in 0..tasks {
        by_hand.push(ByHand::connect(url, run << 8, number, arguments.shards).await?);
    }
    forms.push(("by hand, share".to_owned(), Form::ByHand(by_hand)));
    for (at, database) in databases.iter().enumerate() {
        let writers = (0..tasks)
            .map(|number| Writer::new(database, run << 8 | (at as u64 + 1), number, arguments.shards));
        forms.push((database.fence_mode().to_string(), Form::Store(writers.collect())));
    }
    let mut columns: Vec<Column> = forms.iter().map(|_| Column::default()).collect();
    for round in 0..=arguments.rounds {
        let mut base = f64::NAN;
        for ((_, form), column) in forms.iter_mut().zip(&mut columns) {
            let measured = form.measure(work, slice).await?;
            if matches!(form, Form::ByHand(_)) {
                base = measured.rate;
            }
            // The first round only warms.
            if round > 0 {
                column.rates.push(measured.rate);
                column.ratios.push(measured.rate / base);
                column.median_ms.push(measured.milliseconds(0.5));
                column.high_ms.push(measured.milliseconds(0.99));
            }
        }
    }
    for ((name, _), column) in forms.iter().zip(&columns) {
        println!(
            "| {} | {tasks} | {name} | {:.0} | {:.2} | {:.2} | {:.2} |",
            work.name(),
            median(&column.rates),
            median(&column.ratios),
            median(&column.median_ms),
            median(&column.high_ms)
        );
    }
    Ok(())
}

impl Form {
    async fn measure(&mut self, work: Work, slice: Duration) -> Result<Slice, Failed> {
        match self {
            Form::ByHand(workers) => {
                let write = move |mut worker: ByHand| async move {
                    let outcome = worker.write(work).await.map(|()| true);
                    (worker, outcome)
                };
                let (measured, back) = measure(std::mem::take(workers), slice, write).await?;
                *workers = back;
                Ok(measured)
            }
            Form::Store(writers) => {
                let (measured, back) = measure_writers(std::mem::take(writers), work, slice).await?;
                *writers = back;
                Ok(measured)
            }
        }
    }
}

/// Updates by shards and tasks, as a table and as a plot.
async fn scale(arguments: &Arguments, databases: &[Database]) -> Result<(), Failed> {
    let slice = Duration::from_secs_f64(arguments.seconds);
    println!("\nupdates per second by shards and tasks");
    println!("| fence | shards | 1 task | 8 tasks | 32 tasks |");
    println!("| --- | --- | --- | --- | --- |");
    let mut lines = Vec::new();
    let fenced = databases.iter().filter(|database| database.fence_mode() != FenceMode::Unfenced);
    for (at, database) in fenced.enumerate() {
        for shards in SHARDS {
            let mut values = Vec::new();
            for tasks in TASKS {
                let run = 0x8000
                    | ((at as u64) << 8)
                    | ((shards as u64) << 2)
                    | ((tasks as u64).ilog2() as u64 / 2);
                let mut writers =
                    (0..tasks).map(|number| Writer::new(database, run, number, shards)).collect();
                let mut rates = Vec::new();
                for _ in 0..arguments.rounds {
                    let measured;
                    (measured, writers) = measure_writers(writers, Work::Update, slice).await?;
                    rates.push(measured.rate);
                }
                values.push(median(&rates));
            }
            let mode = database.fence_mode();
            let shown: Vec<String> = values.iter().map(|rate| format!("{rate:.0}")).collect();
            println!("| {mode} | {shards} | {} |", shown.join(" | "));
            // Six lines can be told apart; key-share is as share here, where nobody writes the shard's row.
            if mode != FenceMode::KeyShare {
                lines.push(Line { name: format!("{mode}, {shards} shard(s)"), values });
            }
        }
    }
    let places: Vec<String> = TASKS.iter().map(ToString::to_string).collect();
    let drawn = svg("updates of executions per second", "tasks", &places, &lines);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(PLOT);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, drawn)?;
    Ok(())
}

/// The same statements in the same round trips, without the store.
struct ByHand {
    client: Client,
    statements: Statements,
    shard_id: i32,
    number: u64,
    made: u64,
    tasks: i64,
    open: Option<(String, [u8; 16], i64)>,
}

struct Statements {
    fence: Statement,
    lock_both: Statement,
    lock_current: Statement,
    lock_execution: Statement,
    insert_current: Statement,
    insert_execution: Statement,
    update_current: Statement,
    update_execution: Statement,
    insert_task: Statement,
}

impl ByHand {
    async fn connect(url: &str, run: u64, number: usize, shards: usize) -> Result<Self, Failed> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        let statements = Statements {
            fence: client.prepare("SELECT range_id FROM shards WHERE shard_id = $1 FOR SHARE").await?,
            lock_both: client
                .prepare(
                    "SELECT held.run_id, held.state, run.last_write_version
                     FROM current_executions AS held
                     JOIN executions AS run USING (shard_id, namespace_id, workflow_id, run_id)
                     WHERE held.shard_id = $1 AND held.namespace_id = $2 AND held.workflow_id = $3
                     FOR UPDATE",
                )
                .await?,
            lock_current: client
                .prepare(
                    "SELECT run_id, state, last_write_version FROM current_executions
                     WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 FOR UPDATE",
                )
                .await?,
            lock_execution: client
                .prepare(
                    "SELECT db_record_version, next_event_id FROM executions
                     WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4 FOR UPDATE",
                )
                .await?,
            insert_current: client
                .prepare(
                    "INSERT INTO current_executions (shard_id, namespace_id, workflow_id, run_id, create_request_id, state,
                         status, last_write_version, data, data_encoding)
                     VALUES ($1, $2, $3, $4, 'bench', 2, 1, 1, $5, 'Proto3')",
                )
                .await?,
            insert_execution: client
                .prepare(
                    "INSERT INTO executions (shard_id, namespace_id, workflow_id, run_id, next_event_id,
                         last_write_version, data, data_encoding, state, state_encoding, db_record_version)
                     VALUES ($1, $2, $3, $4, 3, 1, $5, 'Proto3', $6, 'Proto3', 1)",
                )
                .await?,
            update_current: client
                .prepare(
                    "UPDATE current_executions
                     SET run_id = $4, create_request_id = 'bench', state = 2, status = 1, start_time = NULL,
                         last_write_version = 1, data = $5, data_encoding = 'Proto3'
                     WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4",
                )
                .await?,
            update_execution: client
                .prepare(
                    "UPDATE executions
                     SET next_event_id = $5::bigint + 2, last_write_version = 1, data = $6, data_encoding = 'Proto3', state = $7,
                         state_encoding = 'Proto3', db_record_version = $5::bigint
                     WHERE shard_id = $1 AND namespace_id = $2 AND workflow_id = $3 AND run_id = $4
                       AND db_record_version = $5::bigint - 1",
                )
                .await?,
            insert_task: client
                .prepare(
                    "INSERT INTO transfer_tasks (shard_id, task_id, data, data_encoding) VALUES ($1, $2, $3, 'Proto3')",
                )
                .await?,
        };
        let shard_id = i32::try_from(number % shards + 1)?;
        let number = run << 16 | number as u64;
        Ok(Self { client, statements, shard_id, number, made: 0, tasks: 0, open: None })
    }

    async fn write(&mut self, work: Work) -> Result<(), Failed> {
        match (work, self.open.take()) {
            (Work::Update, Some((workflow, run, version))) => {
                self.update(&workflow, &run, version + 1).await?;
                self.open = Some((workflow, run, version + 1));
                Ok(())
            }
            _ => self.create().await,
        }
    }

    fn next_task(&mut self) -> Result<i64, Failed> {
        self.tasks += 1;
        Ok(i64::try_from(self.number)? << 32 | self.tasks)
    }

    async fn create(&mut self) -> Result<(), Failed> {
        self.made += 1;
        let workflow = format!("bench-{}-{}", self.number, self.made);
        let run = (u128::from(self.number) << 64 | u128::from(self.made)).to_be_bytes();
        let task_id = self.next_task()?;
        let (client, statements, shard_id) = (&self.client, &self.statements, &self.shard_id);
        let namespace_id = NAMESPACE.as_bytes().as_slice();
        let (info, state, task) = blobs();
        let (run_id, workflow_id) = (run.as_slice(), workflow.as_str());
        let workflow_key: Parameters<'_> = &[shard_id, &namespace_id, &workflow_id];
        let fence: Parameters<'_> = &[shard_id];
        let (_, range, held) = tokio::try_join!(
            client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"),
            client.query_one(&statements.fence, fence),
            client.query_opt(&statements.lock_both, workflow_key)
        )?;
        if range.get::<_, i64>(0) != RANGE || held.is_some() {
            return Err("the shard or the workflow is another's".into());
        }
        let current: Parameters<'_> = &[shard_id, &namespace_id, &workflow_id, &run_id, &state];
        let execution: Parameters<'_> = &[shard_id, &namespace_id, &workflow_id, &run_id, &info, &state];
        let of_task: Parameters<'_> = &[shard_id, &task_id, &task];
        tokio::try_join!(
            client.execute(&statements.insert_current, current),
            client.execute(&statements.insert_execution, execution),
            client.execute(&statements.insert_task, of_task)
        )?;
        client.batch_execute("COMMIT").await?;
        self.open = Some((workflow, run, 1));
        Ok(())
    }

    async fn update(&mut self, workflow_id: &str, run: &[u8; 16], version: i64) -> Result<(), Failed> {
        let task_id = self.next_task()?;
        let (client, statements, shard_id) = (&self.client, &self.statements, &self.shard_id);
        let namespace_id = NAMESPACE.as_bytes().as_slice();
        let (info, state, task) = blobs();
        let run_id = run.as_slice();
        let workflow_key: Parameters<'_> = &[shard_id, &namespace_id, &workflow_id];
        let run_key: Parameters<'_> = &[shard_id, &namespace_id, &workflow_id, &run_id];
        let fence: Parameters<'_> = &[shard_id];
        let (_, range, current, execution) = tokio::try_join!(
            client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"),
            client.query_one(&statements.fence, fence),
            client.query_one(&statements.lock_current, workflow_key),
            client.query_one(&statements.lock_execution, run_key)
        )?;
        let is_expected = range.get::<_, i64>(0) == RANGE
            && current.get::<_, &[u8]>(0) == run_id
            && execution.get::<_, i64>(0) == version - 1;
        if !is_expected {
            return Err("the shard or the run is not as expected".into());
        }
        let current: Parameters<'_> = &[shard_id, &namespace_id, &workflow_id, &run_id, &state];
        let execution: Parameters<'_> =
            &[shard_id, &namespace_id, &workflow_id, &run_id, &version, &info, &state];
        let of_task: Parameters<'_> = &[shard_id, &task_id, &task];
        let (of_current, of_execution, _) = tokio::try_join!(
            client.execute(&statements.update_current, current),
            client.execute(&statements.update_execution, execution),
            client.execute(&statements.insert_task, of_task)
        )?;
        if (of_current, of_execution) != (1, 1) {
            return Err("nothing was changed".into());
        }
        client.batch_execute("COMMIT").await?;
        Ok(())
    }
}

fn blobs() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let (info, state, task) = sizes();
    let bytes = |len| blob(len).data().to_vec();
    (bytes(info), bytes(state), bytes(task))
}

//! apalis on PostgreSQL in the three shapes that are measured; the answer is one line of JSON.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use apalis::prelude::{BoxDynError, Data, ParallelizeExt, TaskSink, WorkerBuilder, WorkerContext};
use apalis_postgres::{Config, PgPool, PostgresStorage};
use futures::future::try_join_all;
use serde_json::json;
use sqlx::postgres::PgPoolOptions;
use tokio::sync::Notify;
use tokio::task::JoinSet;

const WORKERS: usize = 4;
const BATCH: usize = 100;
const VERSION: &str = "1.0.0";

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, jobs, batch, clients] = &arguments[..] else { return Err("url, jobs, batch, clients".into()) };
    let (jobs, batch, clients) = (jobs.parse::<usize>()?, batch.parse::<usize>()?, clients.parse::<usize>()?);
    let calls = jobs.div_ceil(batch);
    let stored = jobs + calls * batch;

    let pool = PgPoolOptions::new().max_connections(u32::try_from(clients)?).connect(url).await?;
    PostgresStorage::setup(&pool).await?;
    let one = seconds(in_turns(&pool, jobs, clients, None)).await?;
    let many = seconds(in_turns(&pool, calls, clients, Some(batch))).await?;
    expect_left(&pool, stored).await?;
    sqlx::query("ANALYZE").execute(&pool).await?;
    let worked = seconds(work(&pool, stored)).await?;
    expect_left(&pool, 0).await?;

    let answer = json!({
        "version": VERSION,
        "settings": format!("1 process, {WORKERS} workers, batches of {BATCH}, as in its example"),
        "note": "a completed job stays as a row; completions are written in batches after the task has returned",
        "add": jobs as f64 / one,
        "add_batch": (calls * batch) as f64 / many,
        "work": stored as f64 / worked,
    });
    println!("{answer}");
    Ok(())
}

async fn seconds(body: impl Future<Output = Outcome>) -> Outcome<f64> {
    let started = Instant::now();
    body.await?;
    Ok(started.elapsed().as_secs_f64())
}

fn storage(pool: &PgPool) -> PostgresStorage<String> {
    let config = Config::default().queue("nothing").batch_size(BATCH).lock_tasks(false);
    PostgresStorage::new(pool).with_config(config)
}

/// As JSON it has 100 bytes.
fn payload() -> String {
    "x".repeat(98)
}

/// Every client waits for its answer before it asks again.
async fn in_turns(pool: &PgPool, calls: usize, clients: usize, batch: Option<usize>) -> Outcome {
    let begun = Arc::new(AtomicUsize::new(0));
    let mut running = JoinSet::new();
    for _ in 0..clients {
        let (mut storage, begun) = (storage(pool), begun.clone());
        running.spawn(async move {
            while begun.fetch_add(1, Ordering::Relaxed) < calls {
                match batch {
                    None => storage.push(payload()).await?,
                    Some(len) => storage.push_bulk(vec![payload(); len]).await?,
                }
            }
            Outcome::Ok(())
        });
    }
    while let Some(client) = running.join_next().await {
        client??;
    }
    Ok(())
}

struct Done {
    count: AtomicUsize,
    total: usize,
    all: Notify,
}

async fn nothing(_: String, done: Data<Arc<Done>>) -> Result<(), BoxDynError> {
    if done.count.fetch_add(1, Ordering::Relaxed) + 1 == done.total {
        done.all.notify_one();
    }
    Ok(())
}

/// A worker that stops writes the completions that it still has.
async fn work(pool: &PgPool, total: usize) -> Outcome {
    let done = Arc::new(Done { count: AtomicUsize::new(0), total, all: Notify::new() });
    let (mut contexts, mut workers) = (Vec::new(), Vec::new());
    for number in 0..WORKERS {
        let context = WorkerContext::new(&format!("worker-{number}"));
        let worker = WorkerBuilder::new(&context)
            .backend(storage(pool))
            .data(done.clone())
            .parallelize(tokio::spawn)
            .build(nothing);
        workers.push(worker.run());
        contexts.push(context);
    }
    let stopped = async {
        done.all.notified().await;
        contexts.iter().try_for_each(WorkerContext::stop)
    };
    let (ended, stopped) = futures::join!(try_join_all(workers), stopped);
    ended.map_err(|error| error.to_string())?;
    stopped.map_err(|error| error.to_string())?;
    Ok(())
}

/// A rate of jobs that were not done would be worth nothing.
async fn expect_left(pool: &PgPool, wanted: usize) -> Outcome {
    let found: i64 =
        sqlx::query_scalar("SELECT count(*) FROM apalis.jobs WHERE status <> 'Done'").fetch_one(pool).await?;
    if usize::try_from(found)? != wanted {
        return Err(format!("{found} jobs are left, not {wanted}").into());
    }
    Ok(())
}

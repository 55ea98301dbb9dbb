//! The three shapes that are measured, over a queue in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use super::{Load, Outcome, Rates};

/// A queue that can be added to and worked off.
pub trait Queue: Send + Sync {
    /// Adds and works, one call after the other.
    type Caller: Caller;

    /// How many callers work at the same time.
    fn workers(&self) -> usize;

    /// A query for how many jobs are not done.
    fn left(&self) -> &'static str;

    /// A caller with this number; adding and working have numbers of their own.
    fn caller(&self, number: usize) -> impl Future<Output = Outcome<Self::Caller>> + Send;
}

/// One of those who use a queue at the same time.
pub trait Caller: Send + 'static {
    /// Returns when so many jobs are stored.
    fn add(&mut self, len: usize) -> impl Future<Output = Outcome> + Send;

    /// Takes some jobs and ends them; how many, none if no more are to be had.
    fn work(&mut self) -> impl Future<Output = Outcome<usize>> + Send;
}

/// Adds one by one, adds in batches, then works everything off.
///
/// # Errors
/// The queue failed, or jobs were left that it said were done.
pub async fn measure(queue: &impl Queue, url: &str, load: Load) -> Outcome<Rates> {
    let beside = connect(url).await?;
    let one = add(queue, load.clients, load.jobs, 1).await?;
    let many = add(queue, load.clients, load.batches(), load.batch).await?;
    expect_left(&beside, queue.left(), load.stored()).await?;
    // A table that has been in use has statistics.
    beside.batch_execute("ANALYZE").await?;
    let worked = work_off(queue, load.stored()).await?;
    expect_left(&beside, queue.left(), 0).await?;
    let batched = load.stored() - load.jobs;
    Ok(Rates {
        add: load.jobs as f64 / one,
        add_batch: batched as f64 / many,
        work: load.stored() as f64 / worked,
    })
}

/// Seconds that so many calls took, by clients that wait for their answers.
async fn add(queue: &impl Queue, clients: usize, calls: usize, len: usize) -> Outcome<f64> {
    let begun = Arc::new(AtomicUsize::new(0));
    let mut callers = Vec::new();
    for number in 0..clients {
        callers.push(queue.caller(number).await?);
    }
    let started = Instant::now();
    let mut running = JoinSet::new();
    for mut caller in callers {
        let begun = begun.clone();
        running.spawn(async move {
            while begun.fetch_add(1, Ordering::Relaxed) < calls {
                caller.add(len).await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(client) = running.join_next().await {
        client??;
    }
    Ok(started.elapsed().as_secs_f64())
}

/// Seconds until so many jobs were ended; whoever still waits for jobs then is sent home.
async fn work_off(queue: &impl Queue, total: usize) -> Outcome<f64> {
    let ended = Arc::new(AtomicUsize::new(0));
    let all = Arc::new(Notify::new());
    let mut callers = Vec::new();
    for number in 0..queue.workers() {
        callers.push(queue.caller(number).await?);
    }
    let started = Instant::now();
    let mut running = JoinSet::new();
    for mut caller in callers {
        let (ended, all) = (ended.clone(), all.clone());
        running.spawn(async move {
            loop {
                match caller.work().await? {
                    0 => return Outcome::Ok(()),
                    some if ended.fetch_add(some, Ordering::Relaxed) + some == total => all.notify_one(),
                    _ => {}
                }
            }
        });
    }
    let last = all.notified();
    tokio::pin!(last);
    loop {
        tokio::select! {
            () = &mut last => return Ok(started.elapsed().as_secs_f64()),
            worker = running.join_next() => match worker {
                Some(worker) => worker??,
                None => return Err(format!("{} of {total} jobs were found", ended.load(Ordering::Relaxed)).into()),
            },
        }
    }
}

/// A rate of jobs that were not done would be worth nothing.
async fn expect_left(beside: &Client, left: &str, wanted: usize) -> Outcome {
    let found: i64 = beside.query_one(left, &[]).await?.get(0);
    match usize::try_from(found)? == wanted {
        true => Ok(()),
        false => Err(format!("{found} jobs are left, not {wanted}").into()),
    }
}

/// A session whose background task ends with the client.
///
/// # Errors
/// The server did not let it in.
pub async fn connect(url: &str) -> Outcome<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

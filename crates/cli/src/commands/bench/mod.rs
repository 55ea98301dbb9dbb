//! A load generator over HTTP.

mod figures;
mod report;
mod worker;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use leasehold_api::queue::{QueueInfo, QueuesDeleteRequest};
use leasehold_client::{Client, Error};
use leasehold_core::duration;
use tokio::task::JoinSet;

use self::figures::{Figures, Live};
use self::report::Report;
use self::worker::Worker;
use super::block_on;
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::target::Target;

/// Put load on a server and measure it.
///
/// Every client works on its own: it produces a batch, leases as many items as it produced, whoever's they are, and
/// completes them. The queue is created if it is missing, and deleted afterwards if it was.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  leasehold bench --clients 64 --duration 10s
  leasehold bench --mode produce --batch 100 --payload 1000 --json")]
pub(crate) struct Bench {
    #[command(flatten)]
    target: Target,

    /// The queue
    #[arg(long, default_value = "leasehold-bench")]
    queue: String,

    /// How many clients work at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    clients: u16,

    /// Items in a request
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    batch: u16,

    /// Bytes of each item
    #[arg(long, value_name = "BYTES", default_value_t = 100)]
    payload: usize,

    /// How long
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    duration: Duration,

    /// Partitions of the queue, if it is created
    #[arg(long, value_name = "N", default_value_t = 1)]
    partitions: i32,

    /// What each client does
    #[arg(long, value_enum, default_value_t = Mode::Cycle)]
    mode: Mode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Produce, lease, complete
    Cycle,
    /// Produce only
    Produce,
}

impl Bench {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        block_on(async {
            let client = self.target.client()?;
            let created = create(&client, &self.queue, self.partitions).await?;
            let measured = self.measure(&client).await;
            if created {
                let request = QueuesDeleteRequest { queue_name: self.queue.clone(), force: false };
                client.delete_queue(&request).await?;
            }
            let report = measured?;
            print(self.target.json, &report, || report.to_string())?;
            Ok(Done::Yes)
        })
    }

    async fn measure(&self, client: &Client) -> Result<Report, Failure> {
        let started = Instant::now();
        let deadline = started + self.duration;
        let live = Arc::new(Live::default());
        let mut workers = JoinSet::new();
        for number in 0..self.clients {
            let worker = Worker {
                client: client.clone(),
                queue: self.queue.clone(),
                client_id: format!("bench-{number}-{}", crate::client_id::random()),
                batch: self.batch,
                payload: vec![b'x'; self.payload].into(),
                mode: self.mode,
                live: Arc::clone(&live),
            };
            workers.spawn(worker.run(deadline));
        }
        let mut figures = Figures::default();
        let mut watch = Watch::new();
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                ended = workers.join_next() => match ended {
                    None => break,
                    Some(Ok(measured)) => figures.add(&measured?),
                    Some(Err(panicked)) => std::panic::resume_unwind(panicked.into_panic()),
                },
                _ = tick.tick() => watch.show(&live, started.elapsed()),
            }
        }
        drop(watch);
        Ok(Report::new(self, &figures, started.elapsed()))
    }
}

/// Whether it was missing.
async fn create(client: &Client, queue: &str, partitions: i32) -> Result<bool, Failure> {
    let info = QueueInfo {
        queue_name: queue.to_owned(),
        lease_timeout: "1m".to_owned(),
        expire_timeout: "1h".to_owned(),
        requested_partitions: partitions,
        ..QueueInfo::default()
    };
    match client.create_queue(&info).await {
        Ok(()) => Ok(true),
        Err(Error::Answered { status: 400, message, .. }) if message.ends_with("already exists") => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Figures while it runs, on a terminal.
struct Watch {
    watched: bool,
    items: u64,
}

impl Watch {
    fn new() -> Self {
        Watch { watched: io::stderr().is_terminal(), items: 0 }
    }

    fn show(&mut self, live: &Live, elapsed: Duration) {
        let items = live.items();
        if self.watched {
            let rate = items - self.items;
            let _ = write!(io::stderr(), "\r\x1b[K{elapsed:>4.0?}  {rate} items/s  {items} items");
        }
        self.items = items;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.watched {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

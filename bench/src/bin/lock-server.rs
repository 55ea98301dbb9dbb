//! Locks through a server on a durable PostgreSQL: 128 clients on keys of their own, against the library with 32
//! connections. Clients, server and database share the machine.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use leasehold_client::{Endpoint, HttpBackend};
use leasehold_locks::backend::postgres::{Config, OptionalColumns, PostgresBackend};
use leasehold_locks::{AcquireRequest, Key, LockBackend, LockId, Ttl};
use leasehold_server::Server;
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{ConnectionString, Pool};
use serde_json::json;
use tokio::task::JoinSet;

/// The allocator of the binary that serves.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keys a client goes through, so that each finds its counter and no lock, as in steady work.
const KEYS: usize = 50;
const CLIENTS: usize = 128;
const CONNECTIONS: usize = 32;

/// Measures locks through a server.
#[derive(Debug, Parser)]
struct Arguments {
    /// How often each form is measured.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    let cluster = Cluster::start(Settings::durable().with("shared_buffers", "256MB"))?;
    let url = cluster.url("postgres");
    let library = library(&url)?;
    library.setup_schema(OptionalColumns::Without).await?;
    let config = leasehold_server::Config::new("127.0.0.1:0", url.parse()?);
    let server = Server::bind(&config).await?;
    let endpoint: Endpoint = format!("http://{}", server.address()).parse()?;
    let serving = tokio::spawn(server.run(std::future::pending()));
    let through_server: Arc<dyn LockBackend> = Arc::new(HttpBackend::new(endpoint));
    let library: Arc<dyn LockBackend> = Arc::new(library);

    let slice = Duration::from_secs_f64(arguments.seconds);
    let (mut direct, mut served, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        direct.push(pairs(&library, CONNECTIONS, slice).await?);
        served.push(pairs(&through_server, CLIENTS, slice).await?);
        ratios.push(served[served.len() - 1] / direct[direct.len() - 1]);
    }
    serving.abort();
    let (direct, served, ratio) = (median(&mut direct), median(&mut served), median(&mut ratios));
    if arguments.json {
        println!("{}", json!({ "library_32": direct, "server_128": served, "ratio": ratio }));
    } else {
        println!("acquire + release, pairs/s, medians of {} rounds", arguments.rounds);
        println!("  library, {CONNECTIONS} connections  {direct:>9.0}");
        println!("  server, {CLIENTS} clients      {served:>9.0}");
        println!("  server / library, median of rounds  {ratio:.2}");
    }
    Ok(())
}

fn library(url: &str) -> Outcome<PostgresBackend> {
    let config = leasehold_txn::Config::new(ConnectionString::parse(url)?).size_max(CONNECTIONS);
    Ok(PostgresBackend::new(Pool::new(config)?, Config::default()))
}

/// Pairs per second of so many tasks, each on keys of its own.
async fn pairs(backend: &Arc<dyn LockBackend>, tasks: usize, slice: Duration) -> Outcome<f64> {
    let started = Instant::now();
    let mut running = JoinSet::new();
    for task in 0..tasks {
        let backend = backend.clone();
        running.spawn(async move {
            let mut done = 0_u32;
            while started.elapsed() < slice {
                let key = Key::parse(&format!("bench:{task}:{}", done as usize % KEYS))?;
                let request = AcquireRequest { key, lock_id: LockId::generate()?, ttl: Ttl::DEFAULT };
                let grant = backend.acquire(&request).await?.acquired().ok_or("a key of its own was held")?;
                backend.release(&grant.lock_id).await?;
                done += 1;
            }
            Ok::<u32, Box<dyn Error + Send + Sync>>(done)
        });
    }
    let mut done = 0;
    while let Some(task) = running.join_next().await {
        done += task??;
    }
    Ok(f64::from(done) / started.elapsed().as_secs_f64())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

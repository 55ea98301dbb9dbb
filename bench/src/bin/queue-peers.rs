//! Queues on a durable PostgreSQL beside those that others use: adding one by one, adding in batches, and working off, in
//! turns on databases of their own.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use leasehold_bench::peers::by_hand::{ByHand, Hold};
use leasehold_bench::peers::install::Program;
use leasehold_bench::peers::leasehold::Leasehold;
use leasehold_bench::peers::report::{Row, table};
use leasehold_bench::peers::shapes::connect;
use leasehold_bench::peers::{Figures, Load, Outcome, PAYLOAD_BYTES};
use leasehold_testkit::postgres::{Cluster, Settings};

/// Measures our queues beside others.
#[derive(Debug, Parser)]
struct Arguments {
    /// How often every queue is measured.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Jobs that are added one per call, and again in batches.
    #[arg(long, default_value_t = 10_000, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    jobs: usize,
    /// Jobs in a batch that is added.
    #[arg(long, default_value_t = 100, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1_000))]
    batch: usize,
    /// Callers that add at the same time.
    #[arg(long, default_value_t = 16, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=64))]
    clients: usize,
    /// Install the queues that are not, from the package registries.
    #[arg(long)]
    install: bool,
    /// Where they are installed; beside this program's own build unless told otherwise.
    #[arg(long)]
    cache: Option<PathBuf>,
    /// Only queues whose name contains this, beside the first; may be given several times.
    #[arg(long)]
    only: Vec<String>,
    /// Seconds a queue may take for a round.
    #[arg(long, default_value_t = 300)]
    limit: u64,
}

/// A queue, and how it is measured.
#[derive(Clone, Copy, Debug)]
enum Peer {
    Library(Leasehold),
    Served(Leasehold),
    ByHand(ByHand),
    Program(Program),
}

/// The first is the one that all are compared with.
const PEERS: [(&str, Peer); 11] = [
    ("Leasehold, library", Peer::Library(Leasehold { batch: 100, workers: 4 })),
    ("Leasehold, library, one by one", Peer::Library(Leasehold { batch: 1, workers: 16 })),
    ("Leasehold, server", Peer::Served(Leasehold { batch: 100, workers: 4 })),
    (
        "by hand, in a transaction, one by one",
        Peer::ByHand(ByHand { hold: Hold::Transaction, batch: 1, workers: 16 }),
    ),
    ("by hand, in a transaction", Peer::ByHand(ByHand { hold: Hold::Transaction, batch: 100, workers: 4 })),
    ("by hand, leased", Peer::ByHand(ByHand { hold: Hold::Lease, batch: 100, workers: 4 })),
    ("graphile-worker", Peer::Program(Program::Node("graphile-worker.mjs"))),
    ("pg-boss", Peer::Program(Program::Node("pg-boss.mjs"))),
    ("apalis", Peer::Program(Program::Apalis)),
    ("Procrastinate", Peer::Program(Program::Python("measure_procrastinate.py"))),
    ("PgQueuer", Peer::Program(Program::Python("measure_pgqueuer.py"))),
];

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    let Arguments { jobs, batch, clients, .. } = arguments;
    let run = Run {
        load: Load { jobs, batch, clients },
        limit: Duration::from_secs(arguments.limit),
        cache: arguments.cache.map_or_else(beside_this_program, Ok)?,
        cluster: Cluster::start(Settings::durable().with("shared_buffers", "1GB"))?,
    };
    let is_wanted =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|part| name.contains(part));
    let mut rows = Vec::new();
    for (number, (name, peer)) in PEERS.into_iter().enumerate() {
        if number == 0 || is_wanted(name) {
            let ready = match peer {
                Peer::Program(program) => {
                    eprintln!("{name}: looking for it");
                    program.prepare(&run.cache, arguments.install).await
                }
                _ => Ok(()),
            };
            rows.push((peer, ready, Row { name, rounds: Vec::new() }));
        }
    }
    for round in 1..=arguments.rounds {
        for (peer, ready, row) in &mut rows {
            let figures = match ready {
                Ok(()) => run.measure(*peer).await?,
                Err(why) => Err(why.clone()),
            };
            match &figures {
                Ok(Figures { rates, .. }) => eprintln!("round {round}: {}: {rates:.0?}", row.name),
                Err(why) => eprintln!("round {round}: {}: {why}", row.name),
            }
            row.rounds.push(figures);
        }
    }
    println!(
        "jobs/s, medians of {} round(s) in turns; × is how many times faster the first row is, taken within rounds. {jobs} \
         jobs of {PAYLOAD_BYTES} bytes added one per call by {clients} callers, as many in batches of {batch}, then all worked \
         off by handlers that do nothing, until the last is acknowledged. PostgreSQL {}, fsync and synchronous_commit on, a \
         fresh database each; client and server share the machine.",
        arguments.rounds,
        run.cluster.version()
    );
    let rows: Vec<Row> = rows.into_iter().map(|(_, _, row)| row).collect();
    print!("{}", table(&rows));
    Ok(())
}

/// The folder of builds, where it goes when they do.
fn beside_this_program() -> Outcome<PathBuf> {
    let program = std::env::current_exe()?;
    let builds = program.ancestors().nth(2).ok_or("this program is in no folder")?;
    Ok(builds.join("peers"))
}

struct Run {
    load: Load,
    limit: Duration,
    cache: PathBuf,
    cluster: Cluster,
}

impl Run {
    /// One round of one queue, on a database that nobody used before. What the queue could not do is an answer.
    async fn measure(&self, peer: Peer) -> Outcome<Result<Figures, String>> {
        const DATABASE: &str = "peer";
        let admin = connect(&self.cluster.url("postgres")).await?;
        admin.batch_execute(&format!("CREATE DATABASE {DATABASE} TEMPLATE template0")).await?;
        // Nobody pays for pages that others left to be written.
        admin.batch_execute("CHECKPOINT").await?;
        let url = self.cluster.url(DATABASE);
        let figures = match peer {
            Peer::Library(form) => self.bounded(form.library(&url, self.load)).await,
            Peer::Served(form) => self.bounded(form.served(&url, self.load)).await,
            Peer::ByHand(form) => self.bounded(form.run(&url, self.load)).await,
            Peer::Program(program) => program.run(&self.cache, &url, self.load, self.limit).await,
        };
        admin.batch_execute(&format!("DROP DATABASE {DATABASE} WITH (FORCE)")).await?;
        Ok(figures)
    }

    async fn bounded(&self, body: impl Future<Output = Outcome<Figures>>) -> Result<Figures, String> {
        match tokio::time::timeout(self.limit, Box::pin(body)).await {
            Ok(done) => done.map_err(|error| error.to_string()),
            Err(_) => Err(format!("not done within {} s", self.limit.as_secs())),
        }
    }
}

//! What the DSQL simulator costs over PostgreSQL itself: the same transactions, in turns, on one server.

use std::error::Error;
use std::time::{Duration, Instant};

use clap::Parser;
use leasehold_dsql_sim::{Config, Mode, Simulator};
use leasehold_testkit::postgres::{Cluster, Settings};
use tokio_postgres::{Client, NoTls, Statement};

const ROWS: i64 = 16_000;
/// The rows of one client, so that nobody meets.
const ROWS_EACH: i64 = 1_000;

/// Compares the simulator with the PostgreSQL behind it.
#[derive(Parser)]
struct Arguments {
    /// Rounds, each with a figure of its own.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u16).range(3..))]
    rounds: u16,
    /// How long one form is measured in a round.
    #[arg(long, default_value_t = 1_000)]
    slice_ms: u64,
    /// Let the server sync to disk.
    #[arg(long)]
    durable: bool,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    /// One UPDATE by itself.
    Single,
    /// BEGIN, two UPDATEs, COMMIT.
    Transfer,
    /// BEGIN, a read, twelve UPDATEs, COMMIT.
    Thirteen,
}

impl Work {
    const ALL: [Work; 3] = [Work::Single, Work::Transfer, Work::Thirteen];

    fn name(self) -> &'static str {
        match self {
            Work::Single => "one statement",
            Work::Transfer => "two writes in a transaction",
            Work::Thirteen => "one read and twelve writes in a transaction",
        }
    }
}

struct Session {
    client: Client,
    read: Statement,
    write: Statement,
    rows_from: i64,
    turn: i64,
}

impl Session {
    async fn connect(url: &str, number: i64) -> Result<Session, tokio_postgres::Error> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        let read = client.prepare("SELECT balance FROM account WHERE id = $1").await?;
        let write = client.prepare("UPDATE account SET balance = balance + $1 WHERE id = $2").await?;
        Ok(Session { client, read, write, rows_from: number * ROWS_EACH, turn: 0 })
    }

    fn row(&mut self) -> i64 {
        self.turn += 1;
        self.rows_from + self.turn % ROWS_EACH
    }

    async fn write(&mut self) -> Result<(), tokio_postgres::Error> {
        let row = self.row();
        self.client.execute(&self.write, &[&1_i64, &row]).await.map(drop)
    }

    async fn once(&mut self, work: Work) -> Result<(), tokio_postgres::Error> {
        let writes = match work {
            Work::Single => return self.write().await,
            Work::Transfer => 2,
            Work::Thirteen => 12,
        };
        self.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
        if matches!(work, Work::Thirteen) {
            let row = self.row();
            self.client.query_one(&self.read, &[&row]).await?;
        }
        for _ in 0..writes {
            self.write().await?;
        }
        self.client.batch_execute("COMMIT").await
    }
}

/// Transactions per second of all sessions together.
async fn rate(sessions: &mut Vec<Session>, work: Work, slice: Duration) -> Result<f64, Box<dyn Error>> {
    let begun = Instant::now();
    let mut running = tokio::task::JoinSet::new();
    for mut session in sessions.drain(..) {
        running.spawn(async move {
            let mut done = 0_u32;
            while begun.elapsed() < slice {
                session.once(work).await?;
                done += 1;
            }
            Ok::<_, tokio_postgres::Error>((session, done))
        });
    }
    let mut total = 0;
    for ended in running.join_all().await {
        let (session, done) = ended?;
        sessions.push(session);
        total += done;
    }
    Ok(f64::from(total) / begun.elapsed().as_secs_f64())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, the figures mean nothing");
    }
    let settings = if arguments.durable { Settings::durable() } else { Settings::fast() };
    let cluster = Cluster::start(settings)?;
    let direct = cluster.url("postgres");
    let simulator = |mode| {
        let mut config = Config::new(direct.parse().expect("a URL of a cluster"));
        config.cluster.mode = mode;
        Simulator::start(config)
    };
    let (deferred, native) = (simulator(Mode::Deferred).await?, simulator(Mode::Native).await?);
    let (setup, connection) = tokio_postgres::connect(&direct, NoTls).await?;
    tokio::spawn(connection);
    let table =
        "CREATE TABLE account (id bigint PRIMARY KEY, balance bigint NOT NULL) WITH (fillfactor = 50)";
    setup.batch_execute(table).await?;
    setup.execute("INSERT INTO account SELECT id, 0 FROM generate_series(0, $1) id", &[&ROWS]).await?;

    println!("| work | clients | PostgreSQL /s | deferred /s | cost | native /s | cost |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for clients in [1, 16] {
        for work in Work::ALL {
            measure(&arguments, work, clients, &[&direct, &deferred.url(), &native.url()]).await?;
        }
    }
    Ok(())
}

/// Prints a line: medians of rates, and the median of the ratios within a round.
async fn measure(
    arguments: &Arguments,
    work: Work,
    clients: i64,
    urls: &[&str; 3],
) -> Result<(), Box<dyn Error>> {
    let slice = Duration::from_millis(arguments.slice_ms);
    let mut sessions = Vec::new();
    for url in urls {
        let mut of_url = Vec::new();
        for number in 0..clients {
            of_url.push(Session::connect(url, number).await?);
        }
        rate(&mut of_url, work, slice / 4).await?;
        sessions.push(of_url);
    }
    let mut rates = vec![Vec::new(); urls.len()];
    let mut costs = vec![Vec::new(); urls.len()];
    for _ in 0..arguments.rounds {
        let mut round = Vec::new();
        for of_url in &mut sessions {
            round.push(rate(of_url, work, slice).await?);
        }
        for (index, found) in round.iter().enumerate() {
            rates[index].push(*found);
            costs[index].push(round[0] / found);
        }
    }
    let [direct, deferred, native] = [0, 1, 2].map(|index| median(&mut rates[index]));
    let [_, cost, native_cost] = [0, 1, 2].map(|index| median(&mut costs[index]));
    let name = work.name();
    println!(
        "| {name} | {clients} | {direct:.0} | {deferred:.0} | {cost:.2} | {native:.0} | {native_cost:.2} |"
    );
    Ok(())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

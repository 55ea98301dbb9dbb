//! What `leasehold_txn::run` costs over the same statements by hand: one connection, no conflicts.

use std::convert::Infallible;
use std::error::Error;

use clap::Parser;
use leasehold_bench::pairs::{Comparison, Plan};
use leasehold_bench::placement::Placement;
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{Config, Operation, Policy, Pool, Statement, run};
use tokio_postgres::{Client, NoTls};

const TRANSFER: Operation = Operation::new("bench.transfer");
const DEPOSIT: Operation = Operation::new("bench.deposit");

const TAKE_SQL: &str = "UPDATE account SET balance = balance - $1 WHERE id = $2";
const GIVE_SQL: &str = "UPDATE account SET balance = balance + $1 WHERE id = $2";
const PROCESS_SQL: &str = "SELECT pg_backend_pid()";

const ACCOUNTS: u32 = 1_000;

/// Compares `run` with the same statements by hand.
#[derive(Parser)]
struct Arguments {
    /// A database to use; a throw-away durable server unless given.
    #[arg(long)]
    url: Option<String>,
    /// Make the throw-away server skip disk syncs: less for the overhead to hide behind.
    #[arg(long, conflicts_with = "url")]
    no_sync: bool,
    /// Rounds, each with a figure of its own.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u16).range(5..))]
    rounds: u16,
    /// Pairs of slices in a round.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u16).range(1..))]
    pairs: u16,
    /// Transactions in a slice.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    slice: u16,
    /// Count metrics with the Prometheus recorder, as the server does.
    #[arg(long)]
    metrics: bool,
    /// Threads of the runtime.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Let the scheduler choose the processors, in place of one for the client and another for the server.
    #[arg(long)]
    unplaced: bool,
    /// Print JSON in place of the table.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, the figures mean nothing");
    }
    // Kept to the end: the recorder answers through its handle.
    let _recorder = arguments
        .metrics
        .then(|| metrics_exporter_prometheus::PrometheusBuilder::new().install_recorder())
        .transpose()?;
    let settings = if arguments.no_sync { Settings::fast() } else { Settings::durable() };
    let cluster = arguments.url.is_none().then(|| Cluster::start(settings)).transpose()?;
    let url = match (&arguments.url, &cluster) {
        (Some(url), _) => url.clone(),
        (None, Some(cluster)) => cluster.url("postgres"),
        (None, None) => return Err("no server".into()),
    };
    // After the server has started: it would inherit the place.
    let placement = Placement::of_this_machine().filter(|_| !arguments.unplaced && cluster.is_some());
    placement.map_or(Ok(()), Placement::place_client)?;
    let mut builder = match arguments.threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(arguments.threads.into()).enable_all().build()?;
    let mut comparisons = [
        Comparison::new("control: two statements by hand, against themselves"),
        Comparison::new("two statements in a transaction, run against by hand"),
        Comparison::new("one statement, autocommit, run against by hand"),
    ];
    runtime.block_on(create_accounts(&url))?;
    for turn in 0..arguments.rounds {
        runtime.block_on(round(&url, &arguments, placement, turn, &mut comparisons))?;
    }

    if arguments.json {
        println!("{}", serde_json::Value::Array(comparisons.iter().map(Comparison::json).collect()));
    } else {
        for comparison in &comparisons {
            println!("{}", comparison.table());
        }
    }
    Ok(())
}

/// One round on fresh connections, each of the three opened first, second and last in turn.
async fn round(
    url: &str,
    arguments: &Arguments,
    placement: Option<Placement>,
    turn: u16,
    [control, transfers, deposits]: &mut [Comparison; 3],
) -> Result<(), Box<dyn Error>> {
    let plan = Plan { pairs: arguments.pairs.into(), slice: arguments.slice.into() };
    let pool = Pool::new(Config::new(url.parse()?).size_max(1))?;
    let policy = Policy::none();
    // The pool opens its connection when first asked.
    let warm = || Statement::read(DEPOSIT, PROCESS_SQL).query(&pool, &policy, &[]);
    let (hand, other, rows);
    match turn % 3 {
        0 => {
            (hand, other) = (ByHand::connect(url).await?, ByHand::connect(url).await?);
            rows = warm().await?;
        }
        1 => {
            other = ByHand::connect(url).await?;
            rows = warm().await?;
            hand = ByHand::connect(url).await?;
        }
        _ => {
            rows = warm().await?;
            (hand, other) = (ByHand::connect(url).await?, ByHand::connect(url).await?);
        }
    }
    if let Some(placement) = placement {
        for process in [rows[0].try_get(0)?, hand.process().await?, other.process().await?] {
            placement.place_server(process)?;
        }
    }
    let (hand, other, pool, policy) = (&hand, &other, &pool, &policy);

    let by_hand_twice = control.round(
        plan,
        |run| async move { hand.transfer(run).await.expect("a transaction by hand") },
        |run| async move { other.transfer(run).await.expect("a transaction by hand") },
    );
    by_hand_twice.await;
    let by_hand_and_run = transfers.round(
        plan,
        |run| async move { hand.transfer(run).await.expect("a transaction by hand") },
        |turn| async move {
            let (from, to) = accounts(turn);
            run::<_, Infallible, _>(pool, TRANSFER, policy, |tx| {
                Box::pin(async move {
                    tx.execute(TAKE_SQL, &[&1_i64, &from]).await?;
                    tx.execute(GIVE_SQL, &[&1_i64, &to]).await?;
                    Ok(())
                })
            })
            .await
            .expect("a transaction by run");
        },
    );
    by_hand_and_run.await;
    let by_hand_and_run = deposits.round(
        plan,
        |run| async move { hand.deposit(run).await.expect("a statement by hand") },
        |run| async move {
            let deposit = Statement::write(DEPOSIT, GIVE_SQL);
            deposit.execute(pool, policy, &[&1_i64, &accounts(run).0]).await.expect("a statement by run");
        },
    );
    by_hand_and_run.await;
    pool.close().await;
    Ok(())
}

/// The same statements without `run`.
struct ByHand {
    client: Client,
    take: tokio_postgres::Statement,
    give: tokio_postgres::Statement,
}

impl ByHand {
    async fn connect(url: &str) -> Result<Self, tokio_postgres::Error> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        let (take, give) = (client.prepare(TAKE_SQL).await?, client.prepare(GIVE_SQL).await?);
        Ok(Self { client, take, give })
    }

    /// The server process of this connection.
    async fn process(&self) -> Result<i32, tokio_postgres::Error> {
        self.client.query_one(PROCESS_SQL, &[]).await?.try_get(0)
    }

    async fn transfer(&self, run: u32) -> Result<(), tokio_postgres::Error> {
        let (from, to) = accounts(run);
        self.client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
        self.client.execute(&self.take, &[&1_i64, &from]).await?;
        self.client.execute(&self.give, &[&1_i64, &to]).await?;
        self.client.batch_execute("COMMIT").await
    }

    async fn deposit(&self, run: u32) -> Result<(), tokio_postgres::Error> {
        self.client.execute(&self.give, &[&1_i64, &accounts(run).0]).await.map(drop)
    }
}

/// The accounts, half empty pages, so that updates stay on their page.
async fn create_accounts(url: &str) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    client
        .batch_execute(&format!(
            "DROP TABLE IF EXISTS account;
             CREATE TABLE account (id bigint PRIMARY KEY, balance bigint NOT NULL) WITH (fillfactor = 50);
             INSERT INTO account SELECT id, 0 FROM generate_series(0, {ACCOUNTS}) id"
        ))
        .await
}

fn accounts(run: u32) -> (i64, i64) {
    (i64::from(run % ACCOUNTS), i64::from((run + ACCOUNTS / 2) % ACCOUNTS))
}

//! What `leasehold_txn::run` costs over the same statements by hand: one connection, no conflicts.

use std::convert::Infallible;
use std::error::Error;

use clap::Parser;
use leasehold_bench::pairs::{Comparison, Plan, compare};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{Config, Operation, Policy, Pool, Statement, run};
use tokio_postgres::NoTls;

const TRANSFER: Operation = Operation::new("bench.transfer");
const DEPOSIT: Operation = Operation::new("bench.deposit");

const TAKE_SQL: &str = "UPDATE account SET balance = balance - $1 WHERE id = $2";
const GIVE_SQL: &str = "UPDATE account SET balance = balance + $1 WHERE id = $2";

const ACCOUNTS: usize = 1_000;

/// Compares `run` with the same statements by hand.
#[derive(Parser)]
struct Arguments {
    /// A database to use; a throw-away durable server unless given.
    #[arg(long)]
    url: Option<String>,
    /// Rounds, each with a figure of its own.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u16).range(5..))]
    rounds: u16,
    /// Pairs of slices in a round.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pairs: u16,
    /// Transactions in a slice.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..))]
    slice: u16,
    /// Count metrics with the Prometheus recorder, as the server does.
    #[arg(long)]
    metrics: bool,
    /// Threads of the runtime.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
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
    let cluster = arguments.url.is_none().then(|| Cluster::start(Settings::durable())).transpose()?;
    let url = match (&arguments.url, &cluster) {
        (Some(url), _) => url.clone(),
        (None, Some(cluster)) => cluster.url("postgres"),
        (None, None) => return Err("no server".into()),
    };
    let mut builder = match arguments.threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(arguments.threads.into()).enable_all().build()?;
    let comparisons = runtime.block_on(measure(&url, &arguments))?;

    if arguments.json {
        println!("{}", serde_json::Value::Array(comparisons.iter().map(Comparison::json).collect()));
    } else {
        println!("{:<26} {:>24}  {:>24}  run over by hand", "µs, median (of rounds)", "by hand", "run");
        for comparison in &comparisons {
            println!("{}", comparison.row());
        }
    }
    Ok(())
}

async fn measure(url: &str, arguments: &Arguments) -> Result<[Comparison; 2], Box<dyn Error>> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let connection = tokio::spawn(connection);
    client
        .batch_execute(&format!(
            "DROP TABLE IF EXISTS account;
             CREATE TABLE account (id bigint PRIMARY KEY, balance bigint NOT NULL) WITH (fillfactor = 50);
             INSERT INTO account SELECT id, 0 FROM generate_series(0, {ACCOUNTS}) id"
        ))
        .await?;
    let take = client.prepare(TAKE_SQL).await?;
    let give = client.prepare(GIVE_SQL).await?;
    let pool = Pool::new(Config::new(url.parse()?).size_max(1))?;
    let policy = Policy::none();
    let plan = Plan {
        rounds: arguments.rounds.into(),
        pairs: arguments.pairs.into(),
        slice: arguments.slice.into(),
    };
    let (client, take, give, pool, policy) = (&client, &take, &give, &pool, &policy);

    let transfers = compare(
        "two statements",
        plan,
        |run| async move {
            let (from, to) = accounts(run);
            let work = async {
                client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
                client.execute(take, &[&1_i64, &from]).await?;
                client.execute(give, &[&1_i64, &to]).await?;
                client.batch_execute("COMMIT").await
            };
            work.await.expect("a transaction by hand");
        },
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
    )
    .await;
    let deposits = compare(
        "one statement, autocommit",
        plan,
        |run| async move {
            client.execute(give, &[&1_i64, &accounts(run).0]).await.expect("a statement by hand");
        },
        |run| async move {
            let deposit = Statement::write(DEPOSIT, GIVE_SQL);
            deposit.execute(pool, policy, &[&1_i64, &accounts(run).0]).await.expect("a statement by run");
        },
    )
    .await;
    client.batch_execute("DROP TABLE account").await?;
    pool.close().await;
    connection.abort();
    Ok([transfers, deposits])
}

fn accounts(run: usize) -> (i64, i64) {
    let account = |n: usize| i64::try_from(n % ACCOUNTS).unwrap_or_default();
    (account(run), account(run + ACCOUNTS / 2))
}

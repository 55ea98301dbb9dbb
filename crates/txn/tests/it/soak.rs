//! Transactions through a network that breaks at random, for as long as asked: what was answered is what happened.
//!
//! `cargo xtask soak txn --minutes 10 --seed 1`

use std::time::{Duration, Instant};

use leasehold_core::Class;
use leasehold_testkit::postgres::Cluster;
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use leasehold_txn::{Config, Dialect, Error, Failure, Isolation, Operation, Policy, Pool, run};
use tokio_postgres::{Client, NoTls};

const WRITE: Operation = Operation::new("soak.write");
const WORKERS: u64 = 4;

/// What a worker was told of one id.
#[derive(Debug, PartialEq)]
enum Told {
    Committed,
    NotCommitted,
    Unknown,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak txn"]
async fn answers_are_true_whatever_breaks() {
    let seed = from_environment("LEASEHOLD_SOAK_SEED").unwrap_or(1);
    let minutes = from_environment("LEASEHOLD_SOAK_MINUTES").unwrap_or(1);
    let deadline = Instant::now() + Duration::from_secs(60 * minutes);
    let schema = Cluster::shared().schema().await;
    let (outside, connection) = tokio_postgres::connect(schema.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let tables = "CREATE TABLE written (id bigint PRIMARY KEY);
                  CREATE TABLE counter (id bigint PRIMARY KEY, value bigint NOT NULL);
                  INSERT INTO counter VALUES (0, 0)";
    outside.batch_execute(tables).await.unwrap();

    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..WORKERS {
        let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
        let url =
            schema.url().replace(&Cluster::shared().address().to_string(), &proxy.address().to_string());
        workers.spawn(work(worker, seed, url, proxy, deadline));
    }
    let told: Vec<(i64, Told)> = workers.join_all().await.into_iter().flatten().collect();
    judge(&outside, seed, &told).await;
}

/// Writes one row and counts it, over and over, with something broken before most of it.
async fn work(worker: u64, seed: u64, url: String, proxy: FaultProxy, deadline: Instant) -> Vec<(i64, Told)> {
    let dialect = Dialect::Postgres { isolation: Isolation::RepeatableRead, retry_conflicts: true };
    let config = Config::new(url.parse().unwrap()).dialect(dialect).size_max(2);
    let pool = Pool::new(config.connect_timeout(Duration::from_secs(2))).unwrap();
    let policy = Policy::new(50, Duration::from_millis(1), Duration::from_millis(20)).unwrap();
    let mut random = seed.wrapping_mul(1_000_003).wrapping_add(worker);
    let mut told = Vec::new();
    for step in 0.. {
        if Instant::now() >= deadline {
            break;
        }
        proxy.clear();
        if let Some(rule) = fault(next(&mut random)) {
            proxy.add(rule);
        }
        let id = i64::try_from(step * WORKERS + worker).unwrap();
        let policy = policy.clone().until(leasehold_core::Deadline::after(Duration::from_secs(3)));
        let written = run(&pool, WRITE, &policy, |tx| {
            Box::pin(async move {
                tx.execute("INSERT INTO written VALUES ($1)", &[&id]).await?;
                tx.execute("UPDATE counter SET value = value + 1 WHERE id = 0", &[]).await?;
                Ok::<_, leasehold_txn::Abort<std::convert::Infallible>>(())
            })
        });
        told.push((id, outcome(written.await)));
    }
    told
}

fn outcome(written: Result<(), Failure<std::convert::Infallible>>) -> Told {
    match written.map_err(Failure::into_error) {
        Ok(()) => Told::Committed,
        Err(Error::UnknownOutcome { .. }) => Told::Unknown,
        Err(error) => {
            assert_ne!(error.class(), Class::Indeterminate, "{error:?}");
            Told::NotCommitted
        }
    }
}

fn fault(number: u64) -> Option<Rule> {
    let commit = || Trigger::Request(b"COMMIT".to_vec());
    let rule = match number % 10 {
        0 => Rule::on(commit()).then(Action::Cut),
        1 => Rule::on(commit()).then(Action::CutAfterForward),
        2 => Rule::on(commit()).then(Action::DropReply),
        3 => Rule::on(Trigger::Request(b"BEGIN".to_vec())).then(Action::Cut),
        4 => Rule::on(Trigger::Reply(b"COMMIT".to_vec())).then(Action::Cut),
        5 => Rule::on(Trigger::Reply(b"INSERT".to_vec())).then(Action::Cut),
        6 => Rule::on(commit()).then(Action::Delay(Duration::from_millis(20))),
        _ => return None,
    };
    Some(rule)
}

/// Every row that was told committed is there, none that was told not to be, and each is counted once.
async fn judge(outside: &Client, seed: u64, told: &[(i64, Told)]) {
    let rows = outside.query("SELECT id FROM written", &[]).await.unwrap();
    let written: std::collections::HashSet<i64> = rows.iter().map(|row| row.get(0)).collect();
    let counted: i64 = outside.query_one("SELECT value FROM counter", &[]).await.unwrap().get(0);
    assert_eq!(
        usize::try_from(counted).unwrap(),
        written.len(),
        "seed {seed}: half of a transaction is there"
    );
    let mut counts = [0_usize; 3];
    for (id, told) in told {
        match told {
            Told::Committed => {
                assert!(written.contains(id), "seed {seed}: {id} was told committed and is lost");
            }
            Told::NotCommitted => {
                assert!(!written.contains(id), "seed {seed}: {id} was told undone and is there");
            }
            Told::Unknown => {}
        }
        counts[match told {
            Told::Committed => 0,
            Told::NotCommitted => 1,
            Told::Unknown => 2,
        }] += 1;
    }
    let [committed, undone, unknown] = counts;
    println!("seed {seed}: {committed} committed, {undone} not committed, {unknown} unknown, none untrue");
    assert!(committed > 0 && undone > 0 && unknown > 0, "seed {seed}: the faults did not bite");
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 31
}

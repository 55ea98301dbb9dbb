//! A service of durable timers, and what is done to it: its owner is killed, the next one is overtaken by a third, and in the
//! end every timer that was set has fired, none of them twice.
//!
//! `cargo run --package durable-timer`, on a PostgreSQL of its own and on the DSQL simulator.

mod story;
mod timers;

use std::error::Error;
use std::process::ExitCode;

use leasehold_core::{Clock, SystemClock};
use leasehold_dsql_sim::{Config as SimulatorConfig, Simulator};
use leasehold_persistence::{Config, Database, Error as StateError, Schema};
use leasehold_throwaway::postgres::{Cluster, Settings};
use leasehold_txn::Pool;

use crate::timers::Timers;

type Failed = Box<dyn Error + Send + Sync>;

/// How an owner ends that finds its shard taken over.
const FENCED: u8 = 3;
/// Between a timer and the next that is set, and from setting a timer to its time.
const APART_MS: i64 = 60;
const AHEAD_MS: i64 = 1_000;

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["own", url, count] => own(url, count.parse()?).await,
        _ => {
            let cluster = Cluster::start(Settings::fast())?;
            let database = cluster.database().await;
            println!("on PostgreSQL");
            tell(database.url()).await?;

            let behind = cluster.database().await;
            let simulator = Simulator::start(SimulatorConfig::new(behind.url().parse()?)).await?;
            println!("on DSQL, simulated");
            tell(&format!("dsql://admin:any@{}/postgres?sslmode=disable", simulator.address())).await?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn tell(url: &str) -> Result<(), Failed> {
    let pool = pool(url)?;
    Schema::of(pool.dialect()).apply(&pool).await?;
    story::run(url, &open(pool).await?).await
}

/// An owner: takes the shard over, sets some timers, and fires what is due until it is killed or overtaken.
async fn own(url: &str, count: i64) -> Result<ExitCode, Failed> {
    let mut timers = Timers::take_over(open(pool(url)?).await?).await?;
    println!("owns {}", timers.range_id());
    let first_at = SystemClock.now().as_millis() + AHEAD_MS;
    for number in 0..count {
        let name = format!("timer-{number}");
        timers.set(&name, leasehold_core::Timestamp::from_millis(first_at + number * APART_MS)).await?;
        println!("set {name}");
    }
    match timers.run(|name| println!("fired {name}"), || println!("idle")).await {
        StateError::ShardOwnershipLost { actual, .. } => {
            println!("fenced {actual}");
            Ok(ExitCode::from(FENCED))
        }
        error => Err(error.into()),
    }
}

fn pool(url: &str) -> Result<Pool, Failed> {
    Ok(Pool::new(leasehold_txn::Config::new(url.parse()?).size_max(4))?)
}

async fn open(pool: Pool) -> Result<Database, Failed> {
    let config = Config::new(pool.dialect());
    Ok(Database::open(pool, config).await?)
}

//! Prints what the testkit costs on this machine, in milliseconds: `cargo run -p leasehold-testkit --example timings`.

use std::{error::Error, time::Instant};

use leasehold_testkit::{postgres, redis};

const ROUNDS: usize = 7;

fn median(mut millis: Vec<f64>) -> f64 {
    millis.sort_by(f64::total_cmp);
    millis[millis.len() / 2]
}

fn report(what: &str, millis: Vec<f64>) {
    let most = millis.iter().copied().fold(0.0, f64::max);
    println!("{what:<34} median {:>7.1}   most {most:>7.1}", median(millis));
}

fn timed<T, E>(step: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let begun = Instant::now();
    let value = step()?;
    Ok((value, begun.elapsed().as_secs_f64() * 1_000.0))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    postgres().await?;
    redis()
}

async fn postgres() -> Result<(), Box<dyn Error>> {
    let start = || timed(|| postgres::Cluster::start(postgres::Settings::fast()));
    let (cluster, first) = start()?;
    report("postgres, first start", vec![first]);
    let (mut started, mut killed, mut restarted, mut dropped) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let (extra, millis) = start()?;
        started.push(millis);
        killed.push(timed(|| extra.kill())?.1);
        restarted.push(timed(|| extra.restart())?.1);
        let begun = Instant::now();
        drop(extra);
        dropped.push(begun.elapsed().as_secs_f64() * 1_000.0);
    }
    report("postgres, start", started);
    report("postgres, kill", killed);
    report("postgres, restart after kill", restarted);
    report("postgres, drop", dropped);
    let (mut databases, mut schemas) = (vec![], vec![]);
    let mut kept = Vec::new();
    for _ in 0..ROUNDS * 3 {
        let begun = Instant::now();
        kept.push(cluster.database().await);
        databases.push(begun.elapsed().as_secs_f64() * 1_000.0);
        let begun = Instant::now();
        cluster.schema().await;
        schemas.push(begun.elapsed().as_secs_f64() * 1_000.0);
    }
    report("postgres, database()", databases);
    report("postgres, schema()", schemas);
    Ok(())
}

fn redis() -> Result<(), Box<dyn Error>> {
    let (mut alone, mut clusters) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        alone.push(timed(|| redis::Server::start(redis::Settings::volatile()))?.1);
    }
    report("redis, start", alone);
    for _ in 0..ROUNDS {
        clusters.push(timed(|| redis::Cluster::start(redis::Settings::volatile()))?.1);
    }
    report("redis cluster 3+3, ready", clusters);
    Ok(())
}

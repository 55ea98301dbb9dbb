//! The long forms of what is tested shortly elsewhere.
//!
//! `cargo xtask soak queue --minutes 10 --seed 1`

use std::time::{Duration, Instant};

use leasehold_queue::conformance::engine::{Served, concurrency, crowds, model};
use leasehold_queue::conformance::{Harness, start, store};

use crate::crash;
use crate::embedded::fixture::Embedded;
use crate::postgres::fixture::Postgres;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes: cargo xtask soak queue"]
async fn embedded_store_survives_thousands_of_kills() {
    let seed = number("LEASEHOLD_SOAK_SEED", 1);
    let deadline = Instant::now() + Duration::from_secs(60 * number("LEASEHOLD_SOAK_MINUTES", 1));
    let goes_on = |kills| kills == 0 || Instant::now() < deadline;
    let (kills, acknowledged) = crash::kill_and_audit(seed, goes_on).await;
    println!("{kills} kills, {acknowledged} acknowledged steps, seed {seed}");
}

/// Steps of the model with one seed; then comes the next.
const STEPS: u64 = 5_000;
/// Histories over one engine.
const HISTORIES: u64 = 50;

/// Goes on with the next seed until the time of one test is over.
async fn soak(mut round: impl AsyncFnMut(u64)) -> u64 {
    let seed = number("LEASEHOLD_SOAK_SEED", 1) % 1_000_000_007;
    let deadline = Instant::now() + Duration::from_secs(60 * number("LEASEHOLD_SOAK_MINUTES", 1));
    let mut rounds = 0;
    while rounds == 0 || Instant::now() < deadline {
        round(seed + rounds).await;
        rounds += 1;
    }
    rounds
}

async fn model<H: Harness>() {
    let rounds = soak(async |seed| {
        let mut served = Served::start(start::<H>).await;
        model::requests_answer_as_the_reference(&mut served, seed, STEPS, seed % 2 == 0).await;
        served.stop().await;
    });
    println!("{} steps as the reference", rounds.await * STEPS);
}

async fn store_model<H: Harness>() {
    // Zero would stand still.
    let rounds = soak(async |seed| store::model::run_steps(start::<H>, seed.max(1), Some(STEPS)).await);
    println!("{} steps as the model", rounds.await * STEPS);
}

async fn histories<H: Harness>() {
    let mut calls = 0;
    let rounds = soak(async |seed| {
        let mut served = Served::start(start::<H>).await;
        let seeds = seed * HISTORIES..(seed + 1) * HISTORIES;
        calls += concurrency::histories_are_linearizable(&mut served, seeds, seed % 2 == 0).await;
        served.stop().await;
    });
    println!("{} histories are linearizable", rounds.await * HISTORIES);
    println!("{calls} calls");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes: cargo xtask soak queue"]
async fn engine_over_the_embedded_store_answers_as_the_reference() {
    model::<Embedded>().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak queue"]
async fn engine_over_postgres_answers_as_the_reference() {
    model::<Postgres>().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes: cargo xtask soak queue"]
async fn embedded_store_answers_as_the_model() {
    store_model::<Embedded>().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak queue"]
async fn postgres_answers_as_the_model() {
    store_model::<Postgres>().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes: cargo xtask soak queue"]
async fn histories_over_the_embedded_store_are_linearizable() {
    histories::<Embedded>().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak queue"]
async fn histories_over_postgres_are_linearizable() {
    histories::<Postgres>().await;
}

async fn thousand_queues<H: Harness>() {
    let mut served = Served::start(start::<H>).await;
    crowds::queues_are_served(&mut served, 1_000).await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes: cargo xtask soak queue"]
async fn embedded_store_serves_a_thousand_queues() {
    thousand_queues::<Embedded>().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs for minutes and needs PostgreSQL: cargo xtask soak queue"]
async fn postgres_serves_a_thousand_queues() {
    thousand_queues::<Postgres>().await;
}

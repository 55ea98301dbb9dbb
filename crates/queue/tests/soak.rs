//! The long forms of what is tested shortly elsewhere.
//!
//! `cargo xtask soak queue --minutes 10 --seed 1`

mod crash;

use std::time::{Duration, Instant};

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

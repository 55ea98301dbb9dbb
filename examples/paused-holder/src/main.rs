//! A worker is paused while it holds a lock. Its time runs out, another worker takes over and writes. Then the first one
//! wakes up, still believing in its lock, and writes too. The lock cannot stop it; its fence does.
//!
//! `cargo run --package paused-holder`

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use leasehold_core::{Key, ManualClock, Timestamp};
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::fence_guard::FenceGate;
use leasehold_locks::{AcquireOptions, ExtendOutcome, Locks};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000));
    let locks = Locks::new(MemoryBackend::with_clock(Arc::new(clock.clone())));
    let report = Key::parse("report")?;
    let gate = FenceGate::default(); // stands before the file, table or service that is written to

    let paused = locks.acquire(&report, &AcquireOptions::default()).await?;
    println!("first worker holds the lock with fence {}, and is paused", paused.fence());

    clock.advance(Duration::from_secs(60)); // longer than its ttl
    let second = locks.acquire(&report, &AcquireOptions::default()).await?;
    gate.write(&report, second.fence(), || println!("second worker writes with fence {}", second.fence()))?;

    let refused = gate.write(&report, paused.fence(), || println!("first worker writes")).err();
    let refused = refused.ok_or("the first worker wrote under a lock it had lost")?;
    println!("first worker wakes up and writes: refused, {refused}");

    let extended = paused.extend(leasehold_locks::Ttl::DEFAULT).await?;
    assert!(matches!(extended, ExtendOutcome::Refused(_)), "an ended hold came back");
    println!("first worker asks for its lock: it is gone");
    second.release().await?;
    Ok(())
}

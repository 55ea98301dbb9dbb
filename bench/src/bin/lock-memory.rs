//! What a held lock costs in memory, in the memory backend: resident bytes after so many were acquired, less before.

use std::error::Error;
use std::fs;

use clap::Parser;
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::{AcquireRequest, Key, LockBackend, LockId, Ttl};
use serde_json::json;

/// Measures the memory of held locks.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many locks are held.
    #[arg(long, default_value_t = 500_000)]
    locks: u32,
    /// Print JSON instead of a line.
    #[arg(long)]
    json: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let backend = MemoryBackend::default();
    let before = resident_bytes()?;
    for number in 0..arguments.locks {
        let key = Key::parse(&format!("customer:{number:08}:invoices"))?;
        let request = AcquireRequest { key, lock_id: LockId::generate()?, ttl: Ttl::MAX };
        backend.acquire(&request).await?.acquired().ok_or("a key of its own was held")?;
    }
    let per_lock = resident_bytes()?.saturating_sub(before) / u64::from(arguments.locks);
    match arguments.json {
        true => println!("{}", json!({ "locks": arguments.locks, "bytes_per_lock": per_lock })),
        false => println!("{per_lock} bytes per held lock ({} locks, keys of 26 bytes)", arguments.locks),
    }
    Ok(())
}

/// Of this process, by the kernel.
fn resident_bytes() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1024)
}

//! Writes good input for every target, for the fuzzer to begin with:
//! `cargo run --package leasehold-fuzz-entry --example seeds -- fuzz/corpus`.

use std::error::Error;
use std::path::PathBuf;

use leasehold_fuzz_entry::TARGETS;

fn main() -> Result<(), Box<dyn Error>> {
    let corpus = std::env::args_os().nth(1).map(PathBuf::from).ok_or("say which folder to write to")?;
    for target in TARGETS {
        let folder = corpus.join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

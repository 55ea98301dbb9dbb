//! The `leasehold` binary.

use std::process::ExitCode;

/// A request is many small allocations; the system's allocator took a fifth of a busy server's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    leasehold_cli::main()
}

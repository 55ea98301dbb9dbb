//! Queues on the store that lives in memory.

use crate::wire::cases::queue_cases;
use crate::wire::{Running, config};

async fn start() -> (Running, ()) {
    (Running::start(config("memory:")).await, ())
}

queue_cases!(start);

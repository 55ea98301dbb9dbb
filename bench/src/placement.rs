//! Which processor a process runs on: left to the scheduler, it decides more than what is measured.

use std::num::NonZero;

use rustix::io::Errno;
use rustix::thread::{CpuSet, Pid, sched_setaffinity};

/// The client on one processor, the server processes it talks to on another.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    client: usize,
    server: usize,
}

impl Placement {
    /// The first and the last processor; `None` on a machine with one.
    #[must_use]
    pub fn of_this_machine() -> Option<Self> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        (processors > 1).then(|| Self { client: 0, server: processors - 1 })
    }

    /// Places the calling thread, and every thread that it starts from here on.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn place_client(self) -> Result<(), Errno> {
        place(None, self.client)
    }

    /// Places a server process.
    ///
    /// # Errors
    /// The kernel's refusal: no such process here, or not ours.
    pub fn place_server(self, process: i32) -> Result<(), Errno> {
        place(Some(Pid::from_raw(process).ok_or(Errno::SRCH)?), self.server)
    }
}

fn place(process: Option<Pid>, processor: usize) -> Result<(), Errno> {
    let mut processors = CpuSet::new();
    processors.set(processor);
    sched_setaffinity(process, &processors)
}

use std::time::Duration;

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
};

/// How often processes that were told to stop are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The processes that end with a lock.
#[derive(Debug, Clone, Copy)]
pub(super) enum Members {
    /// The command and what it has started. The number is no other group's as long as a process is in it.
    Group(Pid),
    /// The command alone, at a terminal.
    Command(Pid),
}

impl Members {
    /// To those that are left.
    pub(super) fn signal(self, number: Signal) {
        let _ = match self {
            Members::Group(group) => kill_process_group(group, number),
            Members::Command(command) => kill_process(command, number),
        };
    }

    /// Ready once none is left.
    pub(super) async fn gone(self) {
        let is_left = || match self {
            Members::Group(group) => test_kill_process_group(group),
            Members::Command(command) => test_kill_process(command),
        };
        while is_left().is_ok() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

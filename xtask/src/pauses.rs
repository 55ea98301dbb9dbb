//! How long the machine stood still while tests ran. Tests of leases and deadlines live in real time: whoever reads of a
//! failed one must know whether the machine gave it any.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often the clock is looked at.
const TICK: Duration = Duration::from_millis(20);

/// Watches as long as it lives.
pub(crate) struct Pauses {
    longest_millis: Arc<AtomicU64>,
}

impl Pauses {
    pub(crate) fn watch() -> Self {
        let longest_millis = Arc::new(AtomicU64::new(0));
        let seen = Arc::downgrade(&longest_millis);
        thread::spawn(move || {
            let mut before = Instant::now();
            while let Some(longest) = seen.upgrade() {
                thread::sleep(TICK);
                let now = Instant::now();
                longest.fetch_max(over(now - before), Ordering::Relaxed);
                before = now;
            }
        });
        Pauses { longest_millis }
    }

    pub(crate) fn longest(&self) -> Duration {
        Duration::from_millis(self.longest_millis.load(Ordering::Relaxed))
    }
}

/// How much longer than a tick it was, in milliseconds.
fn over(waited: Duration) -> u64 {
    u64::try_from(waited.saturating_sub(TICK).as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_longer_than_a_tick_is_a_pause() {
        assert_eq!(over(TICK), 0);
        assert_eq!(over(TICK / 2), 0);
        assert_eq!(over(TICK + Duration::from_millis(700)), 700);
    }
}

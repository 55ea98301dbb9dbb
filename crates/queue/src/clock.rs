//! The engine's time, and how it waits for it.

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::{Clock, SystemClock, Timestamp};
use tokio::sync::watch;

/// Wall time may be stepped at any moment: no timer sleeps longer before it looks again.
const SLEEP_MAX: Duration = Duration::from_secs(10);
/// A clock that stands still must not be asked in a tight loop.
const SLEEP_MIN: Duration = Duration::from_millis(1);

/// What judges lease deadlines, schedules and expiry. Request timeouts do not follow it: a clock that stands still
/// must not hang a client.
#[derive(Clone, Debug)]
pub struct EngineClock {
    clock: Arc<dyn Clock>,
    moved: watch::Sender<()>,
}

impl EngineClock {
    /// Time from this clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        EngineClock { clock, moved: watch::Sender::new(()) }
    }

    /// What time it is.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Lets every timer look at the clock again; to be called after it was moved by hand.
    pub fn notify_moved(&self) {
        self.moved.send_replace(());
    }

    pub(crate) fn timer(&self) -> Timer {
        Timer { clock: self.clock.clone(), moved: self.moved.subscribe() }
    }
}

/// The system's.
impl Default for EngineClock {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

/// Waits for instants of an [`EngineClock`].
#[derive(Debug)]
pub(crate) struct Timer {
    clock: Arc<dyn Clock>,
    moved: watch::Receiver<()>,
}

impl Timer {
    /// Returns once the clock shows `at` or later.
    pub(crate) async fn sleep_until(&mut self, at: Timestamp) {
        loop {
            let left = at.saturating_since(self.clock.now());
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(left.clamp(SLEEP_MIN, SLEEP_MAX)) => {}
                Ok(()) = self.moved.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use leasehold_core::ManualClock;

    use super::*;

    #[tokio::test]
    async fn timer_wakes_when_the_clock_is_moved_past_its_instant() {
        let hands = ManualClock::default();
        let clock = EngineClock::new(Arc::new(hands.clone()));
        let mut timer = clock.timer();
        let at = clock.now().saturating_add(Duration::from_secs(3600));
        let sleeper = tokio::spawn(async move { timer.sleep_until(at).await });
        hands.advance(Duration::from_secs(3599));
        clock.notify_moved();
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished(), "a second is left");
        hands.advance(Duration::from_secs(1));
        clock.notify_moved();
        sleeper.await.expect("the sleeper wakes");
    }

    #[tokio::test(start_paused = true)]
    async fn timer_of_the_system_clock_needs_no_notice() {
        let clock = EngineClock::default();
        clock.timer().sleep_until(clock.now()).await;
    }
}

//! Where our own time comes from.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::Timestamp;

/// The source of all time that is not the store's. Code that asks a clock can be tested without sleeping.
pub trait Clock: Send + Sync + Debug {
    /// Wall-clock time. May jump, backwards too; for judging and reporting expiry.
    fn now(&self) -> Timestamp;
    /// Monotonic time. For deadlines and for measuring how long something took.
    fn instant(&self) -> Instant;
}

/// The clocks of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => Timestamp::EPOCH.saturating_add(since),
            Err(before) => Timestamp::EPOCH.saturating_sub(before.duration()),
        }
    }

    fn instant(&self) -> Instant {
        Instant::now()
    }
}

/// A clock that stands still until a test moves it. Clones are handles on the same clock.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Mutex<Hands>>);

#[derive(Debug)]
struct Hands {
    now: Timestamp,
    instant: Instant,
}

impl ManualClock {
    /// A clock whose wall time is `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(Hands { now, instant: Instant::now() })))
    }

    /// Lets time pass: wall and monotonic time move on together.
    pub fn advance(&self, duration: Duration) {
        self.hands().pass(duration);
    }

    /// Lets time pass until wall time is `now`. To an earlier time only wall time goes back, as monotonic
    /// time cannot.
    pub fn set(&self, now: Timestamp) {
        let mut hands = self.hands();
        let passed = now.saturating_since(hands.now);
        hands.pass(passed);
        hands.now = now;
    }

    /// Puts wall time to `now` while no time passes: what a step of the system's clock does.
    pub fn jump(&self, now: Timestamp) {
        self.hands().now = now;
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        // Every change is complete before the guard drops, so a panicking test leaves a usable clock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hands {
    fn pass(&mut self, duration: Duration) {
        self.now = self.now.saturating_add(duration);
        self.instant = self.instant.checked_add(duration).unwrap_or(self.instant);
    }
}

/// Starts in November 2023, a time that looks like one in test output.
impl Default for ManualClock {
    fn default() -> Self {
        Self::new(Timestamp::from_millis(1_700_000_000_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.hands().now
    }

    fn instant(&self) -> Instant {
        self.hands().instant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn advance_moves_both_clocks_of_every_handle() {
        let clock = ManualClock::default();
        let (now, instant) = (clock.now(), clock.instant());
        let handle = clock.clone();
        handle.advance(SECOND);
        assert_eq!(clock.now(), now.saturating_add(SECOND));
        assert_eq!(clock.instant(), instant + SECOND);
    }

    #[test]
    fn set_ahead_moves_both_clocks_and_set_back_only_wall_time() {
        let clock = ManualClock::default();
        let (now, instant) = (clock.now(), clock.instant());
        clock.set(now.saturating_add(SECOND));
        assert_eq!(clock.instant(), instant + SECOND);
        clock.set(now);
        assert_eq!((clock.now(), clock.instant()), (now, instant + SECOND));
    }

    #[test]
    fn jump_leaves_monotonic_time_alone() {
        let clock = ManualClock::default();
        let instant = clock.instant();
        for now in [clock.now().saturating_add(SECOND), Timestamp::EPOCH] {
            clock.jump(now);
            assert_eq!((clock.now(), clock.instant()), (now, instant));
        }
    }

    #[test]
    fn system_clock_agrees_with_the_system() {
        let before = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros();
        let now = SystemClock.now().as_micros();
        let after = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros();
        assert!((before..=after).contains(&u128::try_from(now).unwrap()), "{before} {now} {after}");
    }
}

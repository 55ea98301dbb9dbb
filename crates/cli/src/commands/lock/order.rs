//! What `lock run` tells the supervisor of its command: one line for each confirmed extension.

use std::time::Duration;

use leasehold_core::Ttl;
use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// The part of the ttl before its end at which the command gets SIGTERM from `lock run`: it has most of that time to end.
pub(super) const LOST_BEFORE: f64 = 0.4;
/// The part of the ttl between SIGTERM and SIGKILL. Less than the above: the command must have ended before another holder can
/// have the lock.
const STOP_WITHIN: f64 = 0.3;
/// The part of the ttl before its end at which the supervisor sends SIGTERM if `lock run` does not. A little less than
/// [`LOST_BEFORE`]: the command gets one SIGTERM.
const SUPERVISED_BEFORE: f64 = 0.35;

/// The time between SIGTERM and SIGKILL.
pub(super) fn grace(ttl: Ttl) -> Duration {
    ttl.as_duration().mul_f64(STOP_WITHIN)
}

/// When the command has to end, on the monotonic clock that all processes of a machine share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    /// The command, once it runs.
    pub(super) command: Option<Pid>,
    /// The instant of SIGTERM, unless a later order comes before.
    term_at: Monotonic,
    /// The latest instant of SIGKILL.
    kill_at: Monotonic,
}

/// Nanoseconds on the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Monotonic(u64);

impl Order {
    /// For a hold that was confirmed then.
    pub(super) fn new(command: Option<Pid>, confirmed_at: Instant, ttl: Ttl) -> Self {
        let until = |before: f64| Monotonic::of(confirmed_at, ttl.as_duration().mul_f64(1.0 - before));
        Order {
            command,
            term_at: until(SUPERVISED_BEFORE),
            // As `lock run` itself does.
            kill_at: until(LOST_BEFORE - STOP_WITHIN),
        }
    }

    /// The same where `lock run` sends SIGTERM itself.
    pub(super) fn without_term(self) -> Self {
        Order { term_at: self.kill_at, ..self }
    }

    /// The time until the next signal that is due without a further order.
    pub(super) fn term_in(self) -> Duration {
        self.term_at.min(self.kill_at).remaining()
    }

    pub(super) fn is_due(self) -> bool {
        self.term_in().is_zero()
    }

    /// The time from SIGTERM now to SIGKILL.
    pub(super) fn kill_in(self, grace: Duration) -> Duration {
        self.kill_at.remaining().min(grace)
    }

    /// Without the end of the line.
    pub(super) fn to_line(self) -> String {
        let command = Pid::as_raw(self.command);
        format!("{command} {} {}", self.term_at.0, self.kill_at.0)
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let command = Pid::from_raw(words.next()?.parse().ok()?);
        let mut instant = || words.next()?.parse().ok().map(Monotonic);
        Some(Order { command, term_at: instant()?, kill_at: instant()? })
    }
}

impl Monotonic {
    fn now() -> Self {
        let now = clock_gettime(ClockId::Monotonic);
        let nanos = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
        Monotonic(u64::try_from(nanos).unwrap_or(0))
    }

    /// The instant `after` another one; now if that is past.
    fn of(instant: Instant, after: Duration) -> Self {
        let nanos = after.saturating_sub(instant.elapsed()).as_nanos();
        Monotonic(Monotonic::now().0.saturating_add(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    fn remaining(self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(Monotonic::now().0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(1_000);

    fn order() -> Order {
        Order::new(Pid::from_raw(7), Instant::now(), Ttl::from_millis(1_000_000).unwrap())
    }

    #[test]
    fn order_survives_its_line() {
        for order in [order(), Order { command: None, ..order() }] {
            assert_eq!(Order::parse(&order.to_line()), Some(order));
        }
        for line in ["", "7", "7 1", "x 1 2", "7 1 x"] {
            assert_eq!(Order::parse(line), None, "{line}");
        }
    }

    #[test]
    fn command_has_ended_before_its_lease_whoever_stops_it() {
        let (order, lease) = (order(), TTL);
        let lost_in = lease.mul_f64(1.0 - LOST_BEFORE);
        let grace = grace(Ttl::from_millis(1_000_000).unwrap());
        assert!(lost_in + grace < lease.mul_f64(0.95), "lock run stops it");
        assert!(order.term_in() > lost_in, "lock run is first");
        assert!(order.term_in() + order.kill_in(grace) <= lease.mul_f64(0.95), "the supervisor stops it");
        assert!(order.kill_in(Duration::MAX) < lease.mul_f64(0.95));
        assert_eq!(order.kill_in(Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn order_of_a_past_hold_is_due_at_once() {
        let long_ago = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
        let order = Order::new(None, long_ago, Ttl::from_millis(1_000).unwrap());
        assert_eq!((order.term_in(), order.kill_in(Duration::MAX)), (Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn order_of_the_longest_hold_is_due_never() {
        assert!(Order::new(None, Instant::now(), Ttl::MAX).term_in() > Duration::from_secs(1 << 30));
    }
}

//! Timers for deadlines that hardly ever come.
//!
//! Setting a timer takes a lock of the runtime and, where none is due before it, wakes the thread that sleeps until the next
//! one: more than the rest of what a short statement costs its caller. Putting off one that is set costs nothing, so they
//! are kept.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use tokio::runtime::{Handle, Id};
use tokio::time::{Instant, Sleep, sleep_until};

/// Timers that nobody waits for now.
pub(crate) struct Timers {
    idle: Mutex<Vec<Timer>>,
    idle_max: usize,
}

/// A timer and the runtime that drives it: one whose runtime has ended would never come.
struct Timer {
    runtime: Id,
    sleep: Pin<Box<Sleep>>,
}

impl Timers {
    pub(crate) const fn new(idle_max: usize) -> Self {
        Self { idle: Mutex::new(Vec::new()), idle_max }
    }

    /// The work, unless the deadline comes first.
    pub(crate) async fn within<T>(&self, deadline: Instant, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let mut timer = None;
        let done = poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Some(done));
            }
            // Not before the work has to wait: much of it never does.
            let timer = timer.get_or_insert_with(|| self.set(deadline));
            timer.sleep.as_mut().poll(context).map(|()| None)
        })
        .await;
        if done.is_some() {
            timer.into_iter().for_each(|timer| self.keep(timer));
        }
        done
    }

    fn set(&self, deadline: Instant) -> Timer {
        let runtime = Handle::current().id();
        let idle = self.idle().pop();
        match idle.filter(|timer| timer.runtime == runtime) {
            Some(mut timer) => {
                timer.sleep.as_mut().reset(deadline);
                timer
            }
            None => Timer { runtime, sleep: Box::pin(sleep_until(deadline)) },
        }
    }

    fn keep(&self, timer: Timer) {
        let mut idle = self.idle();
        if idle.len() < self.idle_max {
            idle.push(timer);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Timer>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("idle", &self.idle().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{sleep, timeout};

    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    fn after(duration: Duration) -> Instant {
        Instant::now() + duration
    }

    #[tokio::test(start_paused = true)]
    async fn timer_that_was_put_off_comes_at_its_new_time() {
        let timers = Timers::new(1);
        for wait in [LONG, 2 * LONG, LONG] {
            let work = timers.within(after(wait), sleep(Duration::from_secs(1)));
            assert_eq!(work.await, Some(()), "done in time");
            let begun = Instant::now();
            assert_eq!(timers.within(after(wait), std::future::pending::<()>()).await, None);
            assert!(begun.elapsed() >= wait && begun.elapsed() < wait + LONG, "{:?}", begun.elapsed());
        }
    }

    /// Kept from a long deadline, needed for a short one.
    #[tokio::test(start_paused = true)]
    async fn kept_timer_comes_earlier_if_it_must() {
        let timers = Timers::new(1);
        assert_eq!(timers.within(after(LONG), sleep(Duration::from_secs(1))).await, Some(()));
        assert_eq!(timers.idle().len(), 1);
        let short = timers.within(after(Duration::from_secs(1)), std::future::pending::<()>());
        assert_eq!(timeout(Duration::from_secs(2), short).await, Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_are_kept_than_are_of_use() {
        let timers = Timers::new(2);
        let many = (0..8).map(|_| timers.within(after(LONG), sleep(Duration::from_secs(1))));
        assert_eq!(futures_util::future::join_all(many).await, [Some(()); 8]);
        assert_eq!(timers.idle().len(), 2);
        assert_eq!(timers.within(after(LONG), std::future::ready(7)).await, Some(7));
        assert_eq!(timers.idle().len(), 2, "work that does not wait needs none");
    }

    /// A pool may outlive the runtime that first used it.
    #[test]
    fn timer_of_a_runtime_that_ended_is_not_used() {
        let timers = Timers::new(1);
        for _ in 0..2 {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
            let slept =
                runtime.block_on(async { timers.within(after(LONG), sleep(Duration::from_millis(1))).await });
            assert_eq!(slept, Some(()));
        }
    }
}

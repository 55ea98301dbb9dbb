//! What a connection of HTTP/2 is at. The protocol keeps a connection open for as long as both sides like: nobody else
//! would tell those that are not used, and those whose client takes nothing, from those at work.

use std::collections::HashMap;
use std::future;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::TimeoutsConfig;

/// The requests of one connection.
pub(super) struct Activity {
    state: Mutex<State>,
    leave: Notify,
}

struct State {
    /// By number; with the instant since when nothing of the answer was taken, once there is one.
    in_flight: HashMap<u64, Option<Instant>>,
    next_number: u64,
    idle_since: Instant,
    /// The timeouts of HTTP/1 do without us.
    is_http1: bool,
}

/// Why a connection should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing was asked for too long.
    Idle,
    /// Nothing of an answer was taken for too long.
    Stalled,
}

impl Default for Activity {
    fn default() -> Self {
        let state =
            State { in_flight: HashMap::new(), next_number: 0, idle_since: Instant::now(), is_http1: false };
        Activity { state: Mutex::new(state), leave: Notify::new() }
    }
}

impl Activity {
    /// A request has come.
    pub(super) fn begin(self: &Arc<Self>) -> InFlight {
        let mut state = self.state();
        let number = state.next_number;
        state.next_number += 1;
        state.in_flight.insert(number, None);
        InFlight { activity: self.clone(), number }
    }

    /// The connection turned out to speak HTTP/1.
    pub(super) fn leave_to_http1(&self) {
        self.state().is_http1 = true;
    }

    /// It is to end once what is in flight is answered.
    pub(super) fn tell_to_leave(&self) {
        self.leave.notify_one();
    }

    pub(super) async fn told_to_leave(&self) {
        self.leave.notified().await;
    }

    /// Gives it the time anew to be used, or to end.
    pub(super) fn rest(&self) {
        self.state().idle_since = Instant::now();
    }

    /// Ready once the connection should end.
    pub(super) async fn verdict(&self, timeouts: &TimeoutsConfig) -> Verdict {
        loop {
            match self.judge(timeouts, Instant::now()) {
                Ok(verdict) => return verdict,
                Err(Some(look_again)) => sleep_until(look_again).await,
                Err(None) => future::pending().await,
            }
        }
    }

    /// The verdict, or when to look again.
    fn judge(&self, timeouts: &TimeoutsConfig, now: Instant) -> Result<Verdict, Option<Instant>> {
        let state = self.state();
        if state.is_http1 {
            return Err(None);
        }
        let (deadline, verdict) = match state.in_flight.is_empty() {
            true => (state.idle_since + timeouts.idle, Verdict::Idle),
            false => match state.in_flight.values().flatten().min() {
                Some(oldest) => (*oldest + timeouts.write, Verdict::Stalled),
                None => return Err(Some(now + timeouts.write.min(timeouts.idle))),
            },
        };
        match deadline <= now {
            true => Ok(verdict),
            // An answer that begins to stall meanwhile is due before an idle connection is.
            false => Err(Some(deadline.min(now + timeouts.write))),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding it")
    }
}

/// A request until its answer is taken.
pub(super) struct InFlight {
    activity: Arc<Activity>,
    number: u64,
}

impl InFlight {
    /// The client took a piece of the answer, or may begin to.
    pub(super) fn taken(&self) {
        self.activity.state().in_flight.insert(self.number, Some(Instant::now()));
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        state.in_flight.remove(&self.number);
        state.idle_since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn timeouts() -> TimeoutsConfig {
        TimeoutsConfig { idle: 4 * SECOND, write: 2 * SECOND, ..TimeoutsConfig::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn unused_connection_is_idle_after_its_timeout_and_not_before() {
        let began = Instant::now();
        let activity = Arc::new(Activity::default());
        assert_eq!(activity.verdict(&timeouts()).await, Verdict::Idle);
        assert_eq!(began.elapsed(), 4 * SECOND);
        activity.rest();
        assert_eq!(activity.verdict(&timeouts()).await, Verdict::Idle);
        assert_eq!(began.elapsed(), 8 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn request_that_is_served_is_neither_idle_nor_stalled() {
        let activity = Arc::new(Activity::default());
        let _served = activity.begin();
        tokio::time::timeout(100 * SECOND, activity.verdict(&timeouts())).await.expect_err("it is at work");
    }

    #[tokio::test(start_paused = true)]
    async fn answer_of_which_nothing_is_taken_stalls_beside_others_that_are() {
        let activity = Arc::new(Activity::default());
        let (stalled, polling, taken) = (activity.begin(), activity.begin(), activity.begin());
        stalled.taken();
        let began = Instant::now();
        let reader = async {
            loop {
                taken.taken();
                tokio::time::sleep(SECOND / 2).await;
            }
        };
        let timeouts = timeouts();
        tokio::select! {
            verdict = activity.verdict(&timeouts) => assert_eq!(verdict, Verdict::Stalled),
            () = reader => {}
        }
        assert_eq!(began.elapsed(), 2 * SECOND);
        drop((stalled, polling));
    }

    #[tokio::test(start_paused = true)]
    async fn answer_that_stalls_on_a_connection_that_was_idle_is_found_in_time() {
        let activity = Arc::new(Activity::default());
        let began = Instant::now();
        let timeouts = TimeoutsConfig { idle: 1_000 * SECOND, ..timeouts() };
        let asking = async {
            tokio::time::sleep(SECOND).await;
            let stalled = activity.begin();
            stalled.taken();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            verdict = activity.verdict(&timeouts) => assert_eq!(verdict, Verdict::Stalled),
            () = asking => {}
        }
        assert!(began.elapsed() <= 5 * SECOND, "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn connection_of_http1_is_not_judged() {
        let activity = Arc::new(Activity::default());
        activity.leave_to_http1();
        tokio::time::timeout(100 * SECOND, activity.verdict(&timeouts())).await.expect_err("not ours");
    }
}

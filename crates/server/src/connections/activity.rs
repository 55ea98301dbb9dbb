//! What a connection is at. HTTP keeps a connection open for as long as both sides like: nobody else would tell those
//! that are not used, and those whose client takes nothing, from those at work.

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
    /// Few: one over HTTP/1.
    in_flight: Vec<Request>,
    next_number: u64,
    idle_since: Instant,
    /// Its writes have a timeout of their own, and there is no way to tell its client to leave.
    is_http1: bool,
}

struct Request {
    number: u64,
    /// Since when nothing of the answer was taken, once there is one.
    untaken_since: Option<Instant>,
}

/// Why a connection should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing was asked for too long: its client is to be told.
    Idle,
    /// The head of the next request did not come in time, and nobody can be told.
    Silent,
    /// Nothing of an answer was taken for too long.
    Stalled,
}

impl Default for Activity {
    fn default() -> Self {
        let state =
            State { in_flight: Vec::new(), next_number: 0, idle_since: Instant::now(), is_http1: false };
        Activity { state: Mutex::new(state), leave: Notify::new() }
    }
}

impl Activity {
    /// A request has come.
    pub(super) fn begin(self: &Arc<Self>) -> InFlight {
        let mut state = self.state();
        let number = state.next_number;
        state.next_number += 1;
        state.in_flight.push(Request { number, untaken_since: None });
        InFlight { activity: self.clone(), number }
    }

    /// The connection turned out to speak HTTP/1.
    pub(super) fn leave_writes_to_http1(&self) {
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
                Err(look_again) => sleep_until(look_again).await,
            }
        }
    }

    /// The verdict, or when to look again.
    fn judge(&self, timeouts: &TimeoutsConfig, now: Instant) -> Result<Verdict, Instant> {
        let state = self.state();
        if state.is_http1 {
            let deadline = state.idle_since + timeouts.idle;
            return match (state.in_flight.is_empty(), deadline <= now) {
                (true, true) => Ok(Verdict::Silent),
                (true, false) => Err(deadline),
                (false, _) => Err(now + timeouts.idle),
            };
        }
        let (deadline, verdict) = match state.in_flight.is_empty() {
            true => (state.idle_since + timeouts.idle, Verdict::Idle),
            false => match state.in_flight.iter().filter_map(|request| request.untaken_since).min() {
                Some(oldest) => (oldest + timeouts.write, Verdict::Stalled),
                None => return Err(now + timeouts.write.min(timeouts.idle)),
            },
        };
        match deadline <= now {
            true => Ok(verdict),
            // An answer that begins to stall meanwhile is due before an idle connection is.
            false => Err(deadline.min(now + timeouts.write)),
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
        let mut state = self.activity.state();
        if let Some(request) = state.in_flight.iter_mut().find(|request| request.number == self.number) {
            request.untaken_since = Some(Instant::now());
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        state.in_flight.retain(|request| request.number != self.number);
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
    async fn connection_of_http1_is_cut_when_no_request_comes_and_not_while_one_is_served() {
        let activity = Arc::new(Activity::default());
        activity.leave_writes_to_http1();
        let served = activity.begin();
        served.taken();
        tokio::time::timeout(100 * SECOND, activity.verdict(&timeouts())).await.expect_err("it is at work");
        drop(served);
        let answered = Instant::now();
        assert_eq!(activity.verdict(&timeouts()).await, Verdict::Silent);
        assert_eq!(answered.elapsed(), 4 * SECOND);
    }
}

//! How often an operation is tried before its failure is the caller's.

use std::time::Duration;

use tokio::time::Instant;
use tonic::Status;

use super::errors::Failure;
use crate::retry::random;
use crate::{Backoff, Jitter, Result, Retry};

/// As many as Google's own clients make.
const ATTEMPTS_MAX: u32 = 5;
/// The store is in trouble, or we are asking too much of it.
const TROUBLE: Retry = Retry {
    retries_max: ATTEMPTS_MAX - 1,
    delay: Duration::from_millis(100),
    delay_max: Duration::MAX,
    backoff: Backoff::Exponential,
    jitter: Jitter::Equal,
};
/// Somebody else was quicker: all is well, and the next look will most likely find the key held.
const CONTENTION: Retry = Retry { delay: Duration::from_millis(5), jitter: Jitter::Full, ..TROUBLE };

/// The attempts of one operation: each reads, decides and writes afresh, so a repetition never acts on old news.
#[derive(Debug)]
pub(super) struct Attempts {
    operation: &'static str,
    made: u32,
    /// No attempt starts later.
    deadline: Instant,
    /// What came back for a write that may have been done.
    unknown: Option<Status>,
}

impl Attempts {
    pub(super) fn new(operation: &'static str, timeout: Duration) -> Self {
        Attempts { operation, made: 0, deadline: Instant::now() + timeout, unknown: None }
    }

    pub(super) fn is_first(&self) -> bool {
        self.made == 0
    }

    /// Whether an earlier attempt may have done its write.
    pub(super) fn is_unsure(&self) -> bool {
        self.unknown.is_some()
    }

    /// Waits for its turn before the first attempt, for no longer than attempts are made.
    pub(super) async fn before_deadline<T>(&self, turn: impl Future<Output = T>) -> Result<T> {
        let late = || Failure::NotDone(Status::resource_exhausted("too many ask for one key at once"));
        tokio::time::timeout_at(self.deadline, turn)
            .await
            .map_err(|_| late().into_error(self.operation, None))
    }

    /// Waits until the next attempt is due, or says why there is none.
    pub(super) async fn after(&mut self, failure: Failure) -> Result<()> {
        self.made += 1;
        let retry = if matches!(failure, Failure::Conflict(_)) { CONTENTION } else { TROUBLE };
        let due = Instant::now() + retry.delay_after(self.made, random());
        if !failure.is_worth_another() || self.made == ATTEMPTS_MAX || due > self.deadline {
            return Err(failure.into_error(self.operation, self.unknown.take()));
        }
        if let Failure::Unknown(status) = failure {
            self.unknown = Some(status);
        }
        tokio::time::sleep_until(due).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn unavailable() -> Failure {
        Failure::of_read(Status::unavailable("down"))
    }

    #[tokio::test(start_paused = true)]
    async fn fifth_failure_is_the_callers() {
        let mut attempts = Attempts::new("acquire", 60 * SECOND);
        for _ in 0..4 {
            attempts.after(unavailable()).await.unwrap();
        }
        assert_eq!(attempts.after(unavailable()).await.unwrap_err().code(), "lock.unavailable");
    }

    #[tokio::test(start_paused = true)]
    async fn waits_grow_and_are_shorter_after_a_conflict() {
        for (failure, most) in [
            (unavailable as fn() -> Failure, [100, 200, 400, 800]),
            (|| Failure::of_commit(Status::aborted("")), [5, 10, 20, 40]),
        ] {
            let mut attempts = Attempts::new("acquire", 60 * SECOND);
            for most in most {
                let before = Instant::now();
                attempts.after(failure()).await.unwrap();
                // The timer counts in whole milliseconds.
                assert!(before.elapsed() <= Duration::from_millis(most + 1), "{:?}", before.elapsed());
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_attempt_starts_after_the_timeout() {
        let mut attempts = Attempts::new("acquire", Duration::from_millis(10));
        assert_eq!(attempts.after(unavailable()).await.unwrap_err().code(), "lock.unavailable");
    }

    #[tokio::test(start_paused = true)]
    async fn turn_that_does_not_come_in_time_is_a_limit() {
        let attempts = Attempts::new("acquire", SECOND);
        assert_eq!(attempts.before_deadline(std::future::ready(7)).await.unwrap(), 7);
        let error = attempts.before_deadline(std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(error.code(), "lock.rate_limited");
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_write_is_remembered_to_the_end() {
        let mut attempts = Attempts::new("acquire", 60 * SECOND);
        attempts.after(Failure::of_commit(Status::unavailable("lost"))).await.unwrap();
        assert!(attempts.is_unsure());
        let denied = Failure::of_read(Status::permission_denied("now what"));
        assert_eq!(attempts.after(denied).await.unwrap_err().code(), "lock.unknown_outcome");
    }

    #[tokio::test(start_paused = true)]
    async fn answer_of_ours_is_never_repeated() {
        let mut attempts = Attempts::new("acquire", 60 * SECOND);
        let aborted = Failure::Final(crate::Error::not_sent("acquire"));
        assert_eq!(attempts.after(aborted).await.unwrap_err().code(), "lock.aborted");
    }
}

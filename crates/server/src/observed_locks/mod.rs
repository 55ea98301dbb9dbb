//! Locks, with figures of them: how often, how long, and which holds were lost. By backend, never by key: whoever may
//! acquire must not be able to grow the scrape.
//!
//! Measured here and not by [`Telemetry`](leasehold_locks::Telemetry), which tells of single questions to the store: it
//! knows no waits, no errors, and no ends that nobody asked for.

mod holds;

use std::ops::Deref;
use std::time::Instant;

use leasehold_core::{Key, LockId, Ttl};
use leasehold_locks::{AcquireOptions, Error, ExtendOutcome, Guard, Locks, ReleaseOutcome, Result};
use metrics::{counter, gauge, histogram};
use parking_lot::Mutex;

use self::holds::{Ended, Holds};

/// Where a lock is acquired, extended and released through a server. All else goes to the locks themselves.
pub(crate) struct ObservedLocks {
    locks: Locks,
    backend: &'static str,
    holds: Mutex<Holds>,
}

impl Deref for ObservedLocks {
    type Target = Locks;

    fn deref(&self) -> &Locks {
        &self.locks
    }
}

impl ObservedLocks {
    pub(crate) fn new(locks: Locks) -> Self {
        let capabilities = locks.capabilities();
        let observed = ObservedLocks {
            backend: capabilities.backend,
            holds: Mutex::new(Holds::new(capabilities.tolerance)),
            locks,
        };
        // From the start, as a counter that begins at its first loss hides it from whoever looks for an increase.
        observed.count_losses("refused", 0);
        observed.count_losses("expired", 0);
        observed
    }

    /// As [`Locks::acquire`].
    pub(crate) async fn acquire(&self, key: &Key, options: &AcquireOptions) -> Result<Guard> {
        let mut asked = Asked { backend: self.backend, asked_at: Instant::now(), answer: "aborted" };
        let outcome = self.locks.acquire(key, options).await;
        asked.answer = match &outcome {
            Ok(_) => "ok",
            Err(Error::AcquisitionTimeout { .. }) => "locked",
            Err(error) => error.code(),
        };
        drop(asked);
        if let Ok(guard) = &outcome {
            let mut holds = self.holds.lock();
            let displaced = holds.granted(guard.lock_id().lock_id_hash(), options.ttl, Instant::now());
            drop(holds);
            displaced.into_iter().for_each(|hold| self.lost(hold, "expired"));
        }
        outcome
    }

    /// As [`Locks::extend`].
    pub(crate) async fn extend(&self, lock_id: &LockId, ttl: Ttl) -> Result<ExtendOutcome> {
        let outcome = self.locks.extend(lock_id, ttl).await;
        match &outcome {
            Ok(ExtendOutcome::Extended { .. }) => {
                self.holds.lock().extended(lock_id.lock_id_hash(), ttl, Instant::now());
                self.count("extend", "ok");
            }
            Ok(ExtendOutcome::Refused(refusal)) => self.refused("extend", lock_id, refusal.as_str()),
            Err(error) => self.count("extend", error.code()),
        }
        outcome
    }

    /// As [`Locks::release`].
    pub(crate) async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        let outcome = self.locks.release(lock_id).await;
        match &outcome {
            Ok(ReleaseOutcome::Released) => {
                self.count("release", "ok");
                let hold = self.holds.lock().ended(lock_id.lock_id_hash(), Instant::now());
                hold.into_iter().for_each(|hold| self.time_hold(hold, "released"));
            }
            Ok(ReleaseOutcome::Refused(refusal)) => self.refused("release", lock_id, refusal.as_str()),
            Err(error) => self.count("release", error.code()),
        }
        outcome
    }

    /// Notes the holds whose time ran out since the last look, and how many are left.
    pub(crate) fn look(&self) {
        let mut holds = self.holds.lock();
        let expired = holds.expired(Instant::now());
        let held = holds.len();
        drop(holds);
        expired.into_iter().for_each(|hold| self.lost(hold, "expired"));
        gauge!("leasehold_lock_held", "backend" => self.backend).set(held as f64);
    }

    /// Somebody came with a hold of the past. If it was had from here, and not released, it was lost.
    fn refused(&self, operation: &'static str, lock_id: &LockId, reason: &'static str) {
        self.count(operation, reason);
        let hold = self.holds.lock().ended(lock_id.lock_id_hash(), Instant::now());
        hold.into_iter().for_each(|hold| self.lost(hold, "refused"));
    }

    fn lost(&self, hold: Ended, reason: &'static str) {
        self.count_losses(reason, 1);
        self.time_hold(hold, "lost");
    }

    fn count(&self, operation: &'static str, answer: &'static str) {
        count(self.backend, operation, answer);
    }

    fn count_losses(&self, reason: &'static str, losses: u64) {
        counter!("leasehold_lock_losses_total", "backend" => self.backend, "reason" => reason)
            .increment(losses);
    }

    fn time_hold(&self, hold: Ended, end: &'static str) {
        histogram!("leasehold_lock_hold_seconds", "backend" => self.backend, "end" => end)
            .record(hold.lasted.as_secs_f64());
    }
}

fn count(backend: &'static str, operation: &'static str, answer: &'static str) {
    counter!(
        "leasehold_lock_requests_total",
        "backend" => backend,
        "operation" => operation,
        "answer" => answer,
    )
    .increment(1);
}

/// An acquire under way. Dropped without an answer, whoever asked went away.
struct Asked {
    backend: &'static str,
    asked_at: Instant,
    answer: &'static str,
}

impl Drop for Asked {
    fn drop(&mut self) {
        count(self.backend, "acquire", self.answer);
        histogram!("leasehold_lock_wait_seconds", "backend" => self.backend, "answer" => self.answer)
            .record(self.asked_at.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use leasehold_core::{Clock, Timestamp};
    use leasehold_locks::backend::memory::MemoryBackend;
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    /// A clock that the test moves.
    #[derive(Debug)]
    struct Moved(Mutex<Timestamp>);

    impl Clock for Moved {
        fn now(&self) -> Timestamp {
            *self.0.lock()
        }

        fn instant(&self) -> Instant {
            Instant::now()
        }
    }

    fn options(ttl_millis: u64) -> AcquireOptions {
        let ttl = Ttl::from_millis(ttl_millis).expect("a ttl");
        AcquireOptions::default().ttl(ttl).timeout(Duration::ZERO)
    }

    #[tokio::test]
    async fn what_became_of_locks_is_counted_by_backend_and_answer() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let _here = metrics::set_default_local_recorder(&recorder);
        let clock = Arc::new(Moved(Mutex::new(Timestamp::EPOCH)));
        let locks = ObservedLocks::new(Locks::new(MemoryBackend::with_clock(clock.clone())));
        let (billing, ledger) = (Key::parse("billing").expect("a key"), Key::parse("ledger").expect("a key"));

        let released = locks.acquire(&billing, &options(60_000)).await.expect("is free").forget();
        assert!(locks.acquire(&billing, &options(60_000)).await.is_err(), "is held");
        locks.extend(&released.lock_id, Ttl::DEFAULT).await.expect("is held");
        locks.release(&released.lock_id).await.expect("is held");
        locks.release(&released.lock_id).await.expect("answers");
        let lost = locks.acquire(&ledger, &options(60_000)).await.expect("is free").forget();
        *clock.0.lock() = Timestamp::from_millis(600_000);
        locks.extend(&lost.lock_id, Ttl::DEFAULT).await.expect("answers");
        locks.look();

        let text = recorder.handle().render();
        for line in [
            r#"leasehold_lock_requests_total{backend="memory",operation="acquire",answer="ok"} 2"#,
            r#"leasehold_lock_requests_total{backend="memory",operation="acquire",answer="locked"} 1"#,
            r#"leasehold_lock_requests_total{backend="memory",operation="extend",answer="ok"} 1"#,
            r#"leasehold_lock_requests_total{backend="memory",operation="extend",answer="expired"} 1"#,
            r#"leasehold_lock_requests_total{backend="memory",operation="release",answer="ok"} 1"#,
            r#"leasehold_lock_requests_total{backend="memory",operation="release",answer="not-found"} 1"#,
            r#"leasehold_lock_wait_seconds_count{backend="memory",answer="ok"} 2"#,
            r#"leasehold_lock_wait_seconds_count{backend="memory",answer="locked"} 1"#,
            r#"leasehold_lock_hold_seconds_count{backend="memory",end="released"} 1"#,
            r#"leasehold_lock_hold_seconds_count{backend="memory",end="lost"} 1"#,
            // Releasing twice loses nothing.
            r#"leasehold_lock_losses_total{backend="memory",reason="refused"} 1"#,
            r#"leasehold_lock_losses_total{backend="memory",reason="expired"} 0"#,
            r#"leasehold_lock_held{backend="memory"} 0"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        for secret in ["billing", "ledger", released.lock_id.as_str(), lost.lock_id.as_str()] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }

    #[tokio::test]
    async fn who_goes_away_while_waiting_is_counted_as_aborted() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let _here = metrics::set_default_local_recorder(&recorder);
        let locks = ObservedLocks::new(Locks::new(MemoryBackend::default()));
        let key = Key::parse("held").expect("a key");
        let held = locks.acquire(&key, &options(60_000)).await.expect("is free");
        let patient = AcquireOptions::default().timeout(Duration::from_secs(60));
        {
            let waiting = std::pin::pin!(locks.acquire(&key, &patient));
            // Asked once, and waits.
            assert!(futures_util::poll!(waiting).is_pending());
        }
        let text = recorder.handle().render();
        let line =
            r#"leasehold_lock_requests_total{backend="memory",operation="acquire",answer="aborted"} 1"#;
        assert!(text.lines().any(|found| found == line), "{text}");
        held.release().await.expect("is held");
    }
}

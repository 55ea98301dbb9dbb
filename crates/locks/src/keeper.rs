//! A lock that extends itself, and tells its holder in time when it no longer can.

use std::future::Future;
use std::time::Duration;

use leasehold_core::{Fence, Key, LockId, Refusal, Ttl};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::retry::{fraction, random};
use crate::{Error, ExtendOutcome, Guard, Locks, ReleaseOutcome, Result};

/// How a lock extends itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeepOptions {
    /// The part of the ttl after which it is extended: a third, so that two extensions may fail.
    pub extend_after: f64,
    /// The part of the ttl before its end at which the lock counts as lost: time for the holder to stop, and room
    /// for clocks that run at different speeds.
    pub lost_before: f64,
    /// The longest time the lock is held in all, from the moment it was asked for: then it is lost, however much of its ttl
    /// is left. No limit if `None`. A worker that hangs for ever must not hold for ever.
    pub hold_max: Option<Duration>,
}

impl Default for KeepOptions {
    fn default() -> Self {
        KeepOptions { extend_after: 1.0 / 3.0, lost_before: 0.1, hold_max: None }
    }
}

/// Why a lock was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The store says that the hold has ended.
    Refused(Refusal),
    /// No extension was confirmed in time; the store may give the key to somebody else soon.
    Unconfirmed,
    /// The lock was held as long as it may be.
    HoldMax,
}

/// A guard that extends its lock until it is released, dropped or lost.
///
/// The loss is signalled before the store can grant the key to another: it counts the ttl from the moment *before*
/// the last confirmed extension was sent, on a clock that never steps, and subtracts a margin.
#[derive(Debug)]
#[must_use = "dropping a guard releases its lock"]
pub struct KeptGuard {
    guard: Guard,
    lost: CancellationToken,
    loss: watch::Receiver<Option<Loss>>,
    confirmed_at: watch::Receiver<Instant>,
    /// Ends with the guard: aborted when it is dropped.
    task: AbortOnDrop,
}

impl KeptGuard {
    pub(crate) async fn start(guard: Guard, options: KeepOptions) -> Result<Self> {
        let (locks, ttl, lock_id) = (guard.locks().clone(), guard.hold().ttl, *guard.lock_id());
        let confirmed_at = match guard.hold().confirmed_at {
            Some(instant) => instant,
            None => confirm(&guard, ttl).await?,
        };
        let lost = CancellationToken::new();
        let (losing, loss) = watch::channel(None);
        let ends_at = options.hold_max.map(|hold_max| add(guard.hold().acquired_at, hold_max));
        let (confirming, confirmed_at) = watch::channel(confirmed_at);
        let keeper = Keeper { locks, lock_id, ttl, options, confirmed_at: confirming, ends_at };
        // Cancelled however the task ends: a keeper that is gone extends nothing.
        let signal = lost.clone().drop_guard();
        let task = tokio::spawn(async move {
            let reason = keeper.run().await;
            // Before the signal: whoever gets that asks for the reason.
            let _ = losing.send(Some(reason));
            drop(signal);
        });
        Ok(KeptGuard { guard, lost, loss, confirmed_at, task: AbortOnDrop(task) })
    }

    /// The key that is held.
    pub fn key(&self) -> &Key {
        self.guard.key()
    }

    /// The right to this hold: whoever has it can end it.
    pub fn lock_id(&self) -> &LockId {
        self.guard.lock_id()
    }

    /// Send it along with every write made under this lock.
    pub fn fence(&self) -> Fence {
        self.guard.fence()
    }

    /// The instant before the last confirmed extension was sent, and later each new one. Until a ttl after it the store grants
    /// the key to no other holder.
    pub fn confirmed_at(&self) -> watch::Receiver<Instant> {
        self.confirmed_at.clone()
    }

    /// Cancelled when the lock is lost: for work that takes a token.
    pub fn lost_token(&self) -> CancellationToken {
        self.lost.clone()
    }

    /// Ready when the lock is lost. Dropping it midway loses nothing.
    pub async fn lost(&self) -> Loss {
        self.lost.cancelled().await;
        self.loss.borrow().unwrap_or(Loss::Unconfirmed)
    }

    /// Whether the lock was lost already.
    pub fn is_lost(&self) -> bool {
        self.lost.is_cancelled()
    }

    /// Runs the work and drops it at once when the lock is lost. Dropping the future drops the work.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Loss> {
        tokio::select! {
            biased;
            loss = self.lost() => Err(loss),
            value = work => Ok(value),
        }
    }

    /// Stops extending and ends the hold, as [`Guard::release`].
    pub async fn release(self) -> Result<ReleaseOutcome> {
        drop(self.task);
        self.guard.release().await
    }

    /// Stops extending and ends the hold, as [`Guard::dispose`].
    pub async fn dispose(self) {
        drop(self.task);
        self.guard.dispose().await;
    }
}

/// Learns how old a hold can be at most, by extending it.
async fn confirm(guard: &Guard, ttl: Ttl) -> Result<Instant> {
    let sent_at = Instant::now();
    match guard.extend(ttl).await? {
        ExtendOutcome::Extended { .. } => Ok(sent_at),
        ExtendOutcome::Refused(refusal) => Err(Error::Ended { key_hash: guard.key().key_hash(), refusal }),
    }
}

/// Number of attempts without an answer that fit between the first one and the loss. Each waits for its share of the time that
/// is left.
const SILENT_ATTEMPTS_MAX: u32 = 3;

struct Keeper {
    locks: Locks,
    lock_id: LockId,
    ttl: Ttl,
    options: KeepOptions,
    /// Before the store counted the ttl that holds now.
    confirmed_at: watch::Sender<Instant>,
    /// When it was held as long as it may be.
    ends_at: Option<Instant>,
}

impl Keeper {
    async fn run(self) -> Loss {
        loop {
            let unconfirmed_at = self.unconfirmed_at();
            let extend_at = self.extend_at().min(unconfirmed_at);
            if let Some(ends_at) = self.ends_at.filter(|ends_at| *ends_at <= extend_at) {
                tokio::time::sleep_until(ends_at).await;
                return Loss::HoldMax;
            }
            tokio::time::sleep_until(extend_at).await;
            let (lost_at, loss) = match self.ends_at.filter(|ends_at| *ends_at <= unconfirmed_at) {
                Some(ends_at) => (ends_at, Loss::HoldMax),
                None => (unconfirmed_at, Loss::Unconfirmed),
            };
            if let Err(refusal) = self.extend_until(lost_at).await {
                return refusal.map_or(loss, Loss::Refused);
            }
        }
    }

    /// Tries until an extension is confirmed, refused, or, which is `None`, too late.
    ///
    /// An attempt that gets no answer ends early enough for the others. A backend whose extension is dropped midway makes the
    /// next one over another connection, so one silent connection costs one attempt and not the lock.
    async fn extend_until(&self, lost_at: Instant) -> Result<(), Option<Refusal>> {
        let mut unanswered = 0;
        loop {
            let sent_at = Instant::now();
            let attempts_left = SILENT_ATTEMPTS_MAX.saturating_sub(unanswered).max(1);
            let given_up_at = sent_at + lost_at.saturating_duration_since(sent_at) / attempts_left;
            let extending = self.locks.extend(&self.lock_id, self.ttl);
            match tokio::time::timeout_at(given_up_at, extending).await {
                Ok(Ok(ExtendOutcome::Extended { .. })) => {
                    self.confirmed_at.send_replace(sent_at);
                    return Ok(());
                }
                Ok(Ok(ExtendOutcome::Refused(refusal))) => return Err(Some(refusal)),
                Ok(Err(error)) => tracing::debug!(code = error.code(), "extending failed; trying again"),
                Err(_silence) if Instant::now() >= lost_at => return Err(None),
                Err(_silence) => {
                    tracing::debug!("extending got no answer; trying over another connection");
                    unanswered += 1;
                    // The wait was the pause.
                    continue;
                }
            }
            let pause = fraction(self.ttl.as_duration(), 0.05 + 0.05 * random());
            tokio::time::sleep_until((Instant::now() + pause).min(lost_at)).await;
            if Instant::now() >= lost_at {
                return Err(None);
            }
        }
    }

    /// When the store may soon give the key to somebody else, unless an extension is confirmed before.
    fn unconfirmed_at(&self) -> Instant {
        let ttl = self.ttl.as_duration();
        add(*self.confirmed_at.borrow(), ttl.saturating_sub(fraction(ttl, self.options.lost_before)))
    }

    /// When to extend next, a little early at random so that many locks do not extend together.
    fn extend_at(&self) -> Instant {
        let part = self.options.extend_after * (0.9 + 0.1 * random());
        add(*self.confirmed_at.borrow(), fraction(self.ttl.as_duration(), part))
    }
}

/// A ttl may be longer than the clock can tell; such a lock is lost in a century.
fn add(instant: Instant, duration: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    instant + duration.min(CENTURY)
}

#[derive(Debug)]
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

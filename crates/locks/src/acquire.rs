//! Getting a key: one try, or tries until a deadline.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use leasehold_core::{Deadline, Fence, Key, LockId, Ttl};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::guard::Hold;
use crate::ticket::Ticket;
use crate::{
    AcquireOptions, AcquireOutcome, AcquireRequest, Error, Guard, Locks, Result, Retry, Watch, retry,
};

/// The shortest wait for a hold that is about to end: two clocks never agree better than this.
const WAIT_MIN: Duration = Duration::from_millis(2);

/// Asks once.
pub(crate) async fn once(locks: &Locks, key: &Key, ttl: Ttl) -> Result<Option<Guard>> {
    let request = AcquireRequest { key: key.clone(), lock_id: LockId::generate()?, ttl };
    match attempt(locks, &request, LockIdFrom::Us).await? {
        Attempt::Acquired(guard) => Ok(Some(guard)),
        Attempt::Held { .. } => Ok(None),
    }
}

/// Asks until the key is the caller's, the timeout has passed, or the retries are used up.
pub(crate) async fn wait_for(locks: &Locks, key: &Key, options: &AcquireOptions) -> Result<Guard> {
    let (lock_id, from) = match options.lock_id {
        Some(lock_id) => (lock_id, LockIdFrom::Caller),
        None => (LockId::generate()?, LockIdFrom::Us),
    };
    let request = AcquireRequest { key: key.clone(), lock_id, ttl: options.ttl };
    let mut patience = Patience::new(options.timeout, options.retry);
    if options.timeout.is_zero() {
        patience.attempts = 1;
        return match attempt(locks, &request, from).await? {
            Attempt::Acquired(guard) => Ok(guard),
            Attempt::Held { .. } => Err(patience.timeout(key)),
        };
    }

    let in_line = locks.turns().wait(key);
    let Ok(_turn) = tokio::time::timeout_at(patience.deadline.instant().into(), in_line).await else {
        return Err(patience.timeout(key));
    };
    let mut watch = None;
    loop {
        patience.attempts += 1;
        let free_in = match attempt(locks, &request, from).await? {
            Attempt::Acquired(guard) => return Ok(guard),
            Attempt::Held { free_in } => free_in,
        };
        match &watch {
            // The first watch comes after the first refusal, so that a free key costs nothing extra; asking once
            // more, which is a retry too, closes the gap between the two.
            None => {
                patience.use_retry(key)?;
                watch = Some(locks.backend().watch(key).await);
            }
            Some(watch) => patience.wait(key, watch, free_in).await?,
        }
    }
}

/// How long somebody goes on asking.
struct Patience {
    started: Instant,
    deadline: Deadline,
    retry: Retry,
    attempts: u32,
    retries: u32,
    /// The full waits among them: the next one is the longer for each.
    waits: u32,
}

impl Patience {
    fn new(timeout: Duration, retry: Retry) -> Self {
        let started = Instant::now();
        Patience {
            started,
            deadline: Deadline::starting(started.into_std(), timeout),
            retry,
            attempts: 0,
            retries: 0,
            waits: 0,
        }
    }

    fn use_retry(&mut self, key: &Key) -> Result<()> {
        if self.retries >= self.retry.retries_max {
            return Err(self.timeout(key));
        }
        self.retries += 1;
        Ok(())
    }

    /// Waits for news, for the holder's end or for the next retry, whichever comes first. Only a full wait uses up
    /// a retry: the others had a reason to ask.
    async fn wait(&mut self, key: &Key, watch: &Watch, free_in: Option<Duration>) -> Result<()> {
        if self.retries >= self.retry.retries_max {
            return Err(self.timeout(key));
        }
        let remaining = self.deadline.remaining(Instant::now().into_std());
        let delay = self.retry.delay_after(self.waits.saturating_add(1), retry::random()).min(remaining);
        let holder_ends = free_in.map_or(Duration::MAX, |free_in| free_in.max(WAIT_MIN));
        tokio::select! {
            () = watch.freed() => {}
            () = tokio::time::sleep(delay.min(holder_ends)) => {
                if delay <= holder_ends {
                    self.waits = self.waits.saturating_add(1);
                    self.use_retry(key)?;
                }
            }
        }
        match self.deadline.is_past(Instant::now().into_std()) {
            true => Err(self.timeout(key)),
            false => Ok(()),
        }
    }

    fn timeout(&self, key: &Key) -> Error {
        Error::AcquisitionTimeout {
            key_hash: key.key_hash(),
            attempts: self.attempts,
            waited: self.started.elapsed(),
        }
    }
}

/// Who made the lock id decides who resolves an unknown outcome.
#[derive(Clone, Copy, PartialEq)]
enum LockIdFrom {
    /// Nobody else knows it: give it back.
    Us,
    /// The caller may repeat the request with it.
    Caller,
}

enum Attempt {
    Acquired(Guard),
    Held { free_in: Option<Duration> },
}

async fn attempt(locks: &Locks, request: &AcquireRequest, from: LockIdFrom) -> Result<Attempt> {
    let sent_at = Instant::now();
    let answer = match from {
        LockIdFrom::Us => Sent::start(locks, request).await,
        LockIdFrom::Caller => locks.backend().acquire(request).await,
    };
    match answer? {
        AcquireOutcome::Held { free_in } => Ok(Attempt::Held { free_in }),
        AcquireOutcome::Acquired(grant) => {
            if grant.fence.is_near_limit() {
                let key_hash = request.key.key_hash();
                tracing::warn!(%key_hash, fence = %grant.fence, maximum = %Fence::MAX, "fence is near its maximum");
            }
            // A hold taken under a repeated id may be older than this request, so its age is not known.
            let confirmed_at = (from == LockIdFrom::Us).then_some(sent_at);
            let hold = Hold {
                key: request.key.clone(),
                ttl: request.ttl,
                grant,
                acquired_at: sent_at,
                confirmed_at,
            };
            Ok(Attempt::Acquired(Guard::new(locks.clone(), hold)))
        }
    }
}

/// A request on its way, under an id that nobody else knows: what it may have taken is given back if its answer is not read, or
/// does not tell.
struct Sent {
    locks: Locks,
    lock_id: LockId,
    ticket: Ticket,
    /// `None` once it has been read.
    answer: Option<Pin<Box<dyn Future<Output = Result<AcquireOutcome>> + Send>>>,
}

impl Sent {
    fn start(locks: &Locks, request: &AcquireRequest) -> Self {
        let (asked, request) = (locks.clone(), request.clone());
        let lock_id = request.lock_id;
        let ticket = Ticket::default();
        let asking = async move { asked.backend().acquire(&request).await };
        let answer = Box::pin(ticket.clone().hold(asking));
        Sent { locks: locks.clone(), lock_id, ticket, answer: Some(answer) }
    }

    /// Best effort: the ttl ends the hold at the latest.
    async fn give_back(locks: Locks, lock_id: LockId) {
        let _ = locks.backend().release(&lock_id).await;
    }
}

impl Future for Sent {
    type Output = Result<AcquireOutcome>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = self.answer.as_mut().expect("polled until it is ready and no longer");
        let answer = ready!(answer.as_mut().poll(context));
        self.answer = None;
        if matches!(answer, Err(Error::Indeterminate { .. })) {
            tokio::spawn(Sent::give_back(self.locks.clone(), self.lock_id));
        }
        Poll::Ready(answer)
    }
}

impl Drop for Sent {
    /// What is not sent yet never is. Else the request goes on until it is answered: a release that is sent now might reach
    /// the store before it.
    fn drop(&mut self) {
        let Some(answer) = self.answer.take() else { return };
        self.ticket.leave();
        let Ok(runtime) = Handle::try_current() else { return };
        let (locks, lock_id) = (self.locks.clone(), self.lock_id);
        runtime.spawn(async move {
            if let Ok(AcquireOutcome::Acquired(_)) | Err(Error::Indeterminate { .. }) = answer.await {
                Sent::give_back(locks, lock_id).await;
            }
        });
    }
}

//! The one thread that writes.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use leasehold_core::{Clock, LockCode, LockId, LockRecord, Timestamp};
use leasehold_embedded::Store;
use tokio::sync::{mpsc, oneshot};

use super::tables::Tables;
use super::{failed, now};
use crate::backend::rules::{self, Decision};
use crate::{
    AcquireOutcome, AcquireRequest, Error, ExtendOutcome, ExtendRequest, ReleaseOutcome, Result, WatchHub,
};

/// Commands that may wait for the writer; one more waits before the mailbox.
const WAITING_MAX: usize = 1_024;
/// Commands committed together.
const BATCH_LEN_MAX: usize = 256;

pub(super) enum Command {
    Acquire(AcquireRequest, Answer<AcquireOutcome>),
    Extend(ExtendRequest, Answer<ExtendOutcome>),
    Release(LockId, Answer<ReleaseOutcome>),
}

type Answer<T> = oneshot::Sender<Result<T>>;

/// The writer's mailbox and its thread. Dropping it lets the writer finish what it has taken, and waits for it, so
/// that the folder is free afterwards.
#[derive(Debug)]
pub(super) struct Writer {
    mailbox: Option<mpsc::Sender<Command>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(store: Store, clock: Arc<dyn Clock>, hub: Arc<WatchHub>) -> Self {
        let (mailbox, commands) = mpsc::channel(WAITING_MAX);
        let work = move || Work { store, clock, hub }.run(commands);
        let thread = thread::Builder::new().name("leasehold-locks".to_owned()).spawn(work);
        Writer { mailbox: Some(mailbox), thread: Some(thread.expect("the system gives one more thread")) }
    }

    pub(super) async fn send(&self, operation: &'static str, command: Command) -> Result<()> {
        let mailbox = self.mailbox.as_ref().expect("only drop takes the mailbox");
        mailbox.send(command).await.map_err(|_| Error::Store {
            operation,
            lock_code: LockCode::ServiceUnavailable,
            source: "the writer of the embedded store has ended".into(),
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.mailbox.take());
        // A panic of the writer was told to whoever waited for it.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Work {
    store: Store,
    clock: Arc<dyn Clock>,
    hub: Arc<WatchHub>,
}

impl Work {
    fn run(self, mut commands: mpsc::Receiver<Command>) {
        let mut batch = Vec::new();
        while let Some(first) = commands.blocking_recv() {
            batch.push(first);
            while batch.len() < BATCH_LEN_MAX
                && let Ok(next) = commands.try_recv()
            {
                batch.push(next);
            }
            self.commit(batch.drain(..).filter(|command| !command.is_abandoned()));
        }
    }

    /// Decides all, makes them durable at once, then answers each.
    fn commit(&self, mut batch: impl Iterator<Item = Command>) {
        let mut decided = Vec::new();
        let outcome = self.write(&mut batch, &mut decided);
        for command in decided {
            match &outcome {
                Ok(()) => command.tell(&self.hub),
                Err(unwritten) => command.tell_of(unwritten),
            }
        }
        if let Err(unwritten) = outcome {
            batch.for_each(|command| command.undecided().tell_of(&unwritten));
        }
    }

    fn write(
        &self,
        batch: &mut impl Iterator<Item = Command>,
        decided: &mut Vec<Decided>,
    ) -> Result<(), Unwritten> {
        let write = self.store.database().begin_write().map_err(Unwritten::nothing)?;
        {
            let mut tables = Tables::open(&write).map_err(Unwritten::nothing)?;
            let now = now(&*self.clock);
            for command in batch {
                decided.push(command.decide(&mut tables, now));
            }
        }
        if decided.iter().any(Decided::is_broken) {
            // The broken one may have left half of its writes behind: none of the batch may be kept.
            write.abort().map_err(Unwritten::nothing)?;
            return Err(Unwritten::Nothing("another write of the batch failed".to_owned()));
        }
        match decided.iter().any(|decided| decided.writes) {
            true => write.commit().map_err(|error| Unwritten::Unknown(error.to_string())),
            false => write.abort().map_err(Unwritten::nothing),
        }
    }
}

/// Why a batch was not written.
enum Unwritten {
    /// It surely was not.
    Nothing(String),
    /// The commit itself failed: it may be on the disk or not.
    Unknown(String),
}

impl Unwritten {
    fn nothing(error: impl std::fmt::Display) -> Self {
        Unwritten::Nothing(error.to_string())
    }

    fn error(&self, operation: &'static str) -> Error {
        match self {
            Unwritten::Nothing(why) => {
                Error::Store { operation, lock_code: LockCode::Internal, source: why.clone().into() }
            }
            Unwritten::Unknown(why) => Error::Indeterminate { operation, source: why.clone().into() },
        }
    }
}

/// A command with its answer, held back until the batch is durable.
struct Decided {
    answer: Settled,
    /// Whether the answer is true only once the batch is committed.
    writes: bool,
    /// The hold this ends, for those who wait for its key.
    freed: Option<LockRecord>,
}

enum Settled {
    Acquire(Result<AcquireOutcome>, Answer<AcquireOutcome>),
    Extend(Result<ExtendOutcome>, Answer<ExtendOutcome>),
    Release(Result<ReleaseOutcome>, Answer<ReleaseOutcome>),
}

impl Command {
    /// Whoever asked is gone: a grant would be nobody's.
    fn is_abandoned(&self) -> bool {
        match self {
            Command::Acquire(_, answer) => answer.is_closed(),
            Command::Extend(..) | Command::Release(..) => false,
        }
    }

    /// For a command that the batch never came to: whatever it asks for would have had to be written.
    fn undecided(self) -> Decided {
        let never = |operation| Unwritten::Nothing("the batch was given up".to_owned()).error(operation);
        let answer = match self {
            Command::Acquire(_, answer) => Settled::Acquire(Err(never("acquire")), answer),
            Command::Extend(_, answer) => Settled::Extend(Err(never("extend")), answer),
            Command::Release(_, answer) => Settled::Release(Err(never("release")), answer),
        };
        Decided { answer, writes: true, freed: None }
    }

    fn decide(self, tables: &mut Tables<'_>, now: Timestamp) -> Decided {
        match self {
            Command::Acquire(request, answer) => {
                let outcome = acquire(tables, &request, now);
                let writes = matches!(outcome, Ok(AcquireOutcome::Acquired(_)));
                Decided { answer: Settled::Acquire(outcome, answer), writes, freed: None }
            }
            Command::Extend(request, answer) => {
                let outcome = extend(tables, &request, now);
                let writes = matches!(outcome, Ok(ExtendOutcome::Extended { .. }));
                Decided { answer: Settled::Extend(outcome, answer), writes, freed: None }
            }
            Command::Release(lock_id, answer) => {
                let (outcome, freed) = match release(tables, &lock_id, now) {
                    Ok((outcome, freed)) => (Ok(outcome), freed),
                    Err(error) => (Err(error), None),
                };
                Decided { answer: Settled::Release(outcome, answer), writes: freed.is_some(), freed }
            }
        }
    }
}

impl Decided {
    fn is_broken(&self) -> bool {
        match &self.answer {
            Settled::Acquire(outcome, _) => matches!(outcome, Err(Error::Store { .. })),
            Settled::Extend(outcome, _) => matches!(outcome, Err(Error::Store { .. })),
            Settled::Release(outcome, _) => matches!(outcome, Err(Error::Store { .. })),
        }
    }

    /// A receiver that is gone does not want to know.
    fn tell(self, hub: &WatchHub) {
        match self.answer {
            Settled::Acquire(outcome, answer) => drop(answer.send(outcome)),
            Settled::Extend(outcome, answer) => drop(answer.send(outcome)),
            Settled::Release(outcome, answer) => drop(answer.send(outcome)),
        }
        if let Some(freed) = self.freed {
            hub.freed(freed.key.key_hash());
        }
    }

    /// The batch was not written: what needed the write fails, what did not is still true.
    fn tell_of(self, unwritten: &Unwritten) {
        let writes = self.writes;
        match self.answer {
            Settled::Acquire(outcome, answer) => {
                drop(answer.send(if writes { Err(unwritten.error("acquire")) } else { outcome }));
            }
            Settled::Extend(outcome, answer) => {
                drop(answer.send(if writes { Err(unwritten.error("extend")) } else { outcome }));
            }
            Settled::Release(outcome, answer) => {
                drop(answer.send(if writes { Err(unwritten.error("release")) } else { outcome }));
            }
        }
    }
}

fn acquire(tables: &mut Tables<'_>, request: &AcquireRequest, now: Timestamp) -> Result<AcquireOutcome> {
    let failed = |error| failed("acquire", error);
    let found = tables.of_key(request.key.as_str()).map_err(failed)?;
    let last_fence = tables.last_fence(&request.key).map_err(failed)?;
    match rules::acquire(request, found.as_ref(), last_fence, now)? {
        Decision::Answer(outcome) => Ok(outcome),
        Decision::Write(record) => {
            tables.put(&record).map_err(failed)?;
            Ok(AcquireOutcome::Acquired(rules::grant(&record)))
        }
    }
}

fn extend(tables: &mut Tables<'_>, request: &ExtendRequest, now: Timestamp) -> Result<ExtendOutcome> {
    let failed = |error| failed("extend", error);
    let found = tables.of_lock_id(&request.lock_id).map_err(failed)?;
    if let Some(refusal) = rules::refusal(&request.lock_id, found.as_ref(), now) {
        return Ok(ExtendOutcome::Refused(refusal));
    }
    let expires_at = now.saturating_add(request.ttl.as_duration());
    let held = found.expect("what is not refused was found");
    tables.put(&LockRecord { expires_at, ..held }).map_err(failed)?;
    Ok(ExtendOutcome::Extended { expires_at })
}

fn release(
    tables: &mut Tables<'_>,
    lock_id: &LockId,
    now: Timestamp,
) -> Result<(ReleaseOutcome, Option<LockRecord>)> {
    let failed = |error| failed("release", error);
    let found = tables.of_lock_id(lock_id).map_err(failed)?;
    if let Some(refusal) = rules::refusal(lock_id, found.as_ref(), now) {
        return Ok((ReleaseOutcome::Refused(refusal), None));
    }
    let held = found.expect("what is not refused was found");
    tables.remove(&held).map_err(failed)?;
    Ok((ReleaseOutcome::Released, Some(held)))
}

//! The one thread that writes: it takes all jobs that wait, runs each on the state the one before it left, commits
//! them together with one wait for the disk, and only then answers.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use redb::CommitError;
use tokio::sync::mpsc;

use crate::error::Cause;
use crate::file::{File, is_lasting};
use crate::job::{Effect, Job};
use crate::{Error, Result};

/// Jobs that may wait for the writer; one more waits before the mailbox.
const WAITING_MAX: usize = 1_024;
/// Jobs committed together.
const BATCH_LEN_MAX: usize = 256;
/// How long to leave the file alone after it could not be opened, or failed again: opening walks over all of it.
const REOPEN_PAUSE_MIN: Duration = Duration::from_millis(50);
const REOPEN_PAUSE_MAX: Duration = Duration::from_secs(5);

/// The writer's mailbox and its thread. Dropping it lets the writer finish what it has taken, and waits for it, so
/// that the folder is free afterwards.
#[derive(Debug)]
pub(crate) struct Writer {
    mailbox: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(file: Arc<File>) -> Self {
        let (mailbox, jobs) = mpsc::channel(WAITING_MAX);
        let work = move || Work { file, repair: Repair::default() }.run(jobs);
        let thread = thread::Builder::new().name("leasehold-writer".to_owned()).spawn(work);
        Writer { mailbox: Some(mailbox), thread: Some(thread.expect("the system gives one more thread")) }
    }

    /// The mailbox; only the writer's own panic closes it.
    pub(crate) fn mailbox(&self) -> &mpsc::Sender<Box<dyn Job>> {
        self.mailbox.as_ref().expect("only drop takes the mailbox")
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
    file: Arc<File>,
    repair: Repair,
}

impl Work {
    fn run(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut batch = Vec::new();
        while jobs.blocking_recv_many(&mut batch, BATCH_LEN_MAX) > 0 {
            batch.retain(|job| !job.is_abandoned());
            self.carry_out(std::mem::take(&mut batch));
        }
    }

    /// Settles every job. One that fails or takes its writes back does so alone: the others run again without it.
    fn carry_out(&mut self, mut batch: Vec<Box<dyn Job>>) {
        if !self.repair.try_open(&self.file) {
            return fail(batch, || Error::Closed { path: self.file.folder().to_owned() });
        }
        // One look for the batch: an outcome that is clear costs less than one that is unknown.
        if let Err(lost) = self.file.check_in_place() {
            let cause: Cause = Arc::new(lost);
            return fail(batch, || Error::NotWritten(cause.clone()));
        }
        while !batch.is_empty() {
            match self.attempt(&mut batch) {
                Attempt::Durable => {
                    self.repair.succeeded();
                    return batch.into_iter().for_each(|job| job.settle(Ok(())));
                }
                Attempt::Without(at, outcome) => batch.remove(at).settle(outcome),
                Attempt::Lost(cause) => return fail(batch, || Error::Indeterminate(cause.clone())),
                Attempt::Failed(failure) => {
                    self.repair.failed(&self.file);
                    return fail(batch, || failure.error());
                }
            }
        }
    }

    fn attempt(&self, batch: &mut [Box<dyn Job>]) -> Attempt {
        let write = match self.file.begin_write() {
            Ok(write) => write,
            Err(error) => return Attempt::Failed(Failure::Before(Arc::new(error))),
        };
        let mut changed = false;
        for (at, job) in batch.iter_mut().enumerate() {
            let failed = match job.run(&write) {
                Ok(Effect::Changed) => {
                    changed = true;
                    continue;
                }
                Ok(Effect::Nothing) => continue,
                Ok(Effect::Undo | Effect::Panicked) => Ok(()),
                Err(error) if is_lasting(&error) => return Attempt::Failed(Failure::Before(Arc::new(error))),
                Err(error) => Err(Error::NotWritten(Arc::new(error))),
            };
            return match write.abort() {
                Ok(()) => Attempt::Without(at, failed),
                Err(error) => Attempt::Failed(Failure::Before(Arc::new(error))),
            };
        }
        if !changed {
            return match write.abort() {
                Ok(()) => Attempt::Durable,
                Err(error) => Attempt::Failed(Failure::Before(Arc::new(error))),
            };
        }
        match write.commit() {
            Ok(()) => match self.file.check_in_place() {
                Ok(()) => Attempt::Durable,
                Err(lost) => Attempt::Lost(Arc::new(lost)),
            },
            Err(error @ CommitError::TransactionPoisoned) => {
                Attempt::Failed(Failure::Before(Arc::new(error)))
            }
            Err(error) => Attempt::Failed(Failure::Commit(Arc::new(error))),
        }
    }
}

/// What came of a transaction over a batch.
enum Attempt {
    /// All of it is on the disk.
    Durable,
    /// The job at this place spoiled it.
    Without(usize, Result<()>),
    /// All of it is on the disk, in a file that its folder may no longer name.
    Lost(Cause),
    /// The file is to be opened again.
    Failed(Failure),
}

enum Failure {
    /// Before the commit: nothing was written.
    Before(Cause),
    /// The commit itself: it is on the disk, or not.
    Commit(Cause),
}

impl Failure {
    fn error(&self) -> Error {
        match self {
            Failure::Before(cause) => Error::NotWritten(cause.clone()),
            Failure::Commit(cause) => Error::Indeterminate(cause.clone()),
        }
    }
}

fn fail(batch: Vec<Box<dyn Job>>, error: impl Fn() -> Error) {
    batch.into_iter().for_each(|job| job.settle(Err(error())));
}

/// Opens the file again after a failure, at once the first time, then with growing pauses until a commit succeeds.
#[derive(Debug, Default)]
struct Repair {
    is_broken: bool,
    pause: Duration,
    not_before: Option<Instant>,
}

impl Repair {
    fn failed(&mut self, file: &File) {
        self.is_broken = true;
        self.try_open(file);
    }

    fn succeeded(&mut self) {
        self.pause = Duration::ZERO;
    }

    /// Whether the file is open.
    fn try_open(&mut self, file: &File) -> bool {
        if !self.is_broken {
            return true;
        }
        if self.not_before.is_some_and(|instant| Instant::now() < instant) {
            return false;
        }
        match file.reopen() {
            Ok(()) => {
                self.is_broken = false;
                tracing::info!("the embedded store was opened again after a failure of the disk");
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the embedded store cannot be opened again yet"
                );
            }
        }
        self.pause = (self.pause * 2).clamp(REOPEN_PAUSE_MIN, REOPEN_PAUSE_MAX);
        self.not_before = Some(Instant::now() + self.pause);
        !self.is_broken
    }
}

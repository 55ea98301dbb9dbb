//! An open queue: a handle on its router and its partitions.

mod choice;
mod figures;
pub(crate) mod message;
mod record;
mod router;

use std::cmp;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use leasehold_core::Deadline;
use parking_lot::Mutex;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::{JoinHandle, JoinSet};

use crate::call::{Call, Pending, Slot};
use crate::engine::{Config, Gate};
use crate::partition::Partition;
use crate::request::NewItem;
use crate::undertaker::UndertakerHandle;
use crate::{Error, PartitionStore, QueueInfo, QueueName, Refusal, Result, StoreError};
use choice::Choice;
use message::{Cold, PartitionMessage, RouterMessage, Waiting};
use router::{Busy, Line, Router};

pub(crate) use choice::Told;
pub(crate) use figures::Figures;
pub(crate) use record::Record;

/// A partition's store, and what it passes before it asks more of it than its writes.
pub(crate) type GatedStore = (Box<dyn PartitionStore>, Gate);

/// Cold requests of one queue that are served at once.
const COLD_MAX: usize = 64;

/// A queue that is served. Dropping the last handle stops it.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) name: QueueName,
    record: Arc<Record>,
    router: UnboundedSender<RouterMessage>,
    partitions: Vec<UnboundedSender<PartitionMessage>>,
    numbers: Vec<u32>,
    figures: Vec<Arc<Figures>>,
    /// Cold requests wait for one another beyond so many.
    cold: Semaphore,
    /// How long the figures of a partition are waited for.
    figures_timeout: Duration,
    /// Requests that nobody has taken yet.
    requests: Arc<AtomicUsize>,
    requests_max: usize,
    /// Of items that are not stored yet.
    bytes: Arc<AtomicUsize>,
    bytes_max: usize,
    calls: AtomicUsize,
    number: AtomicU64,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Queue {
    /// Starts the tasks of a queue; `stores` are its partitions', in order.
    pub(crate) fn start(
        record: Record,
        stores: Vec<GatedStore>,
        config: &Arc<Config>,
        undertaker: &UndertakerHandle,
        answers: &Arc<AtomicUsize>,
    ) -> Arc<Self> {
        let (router, mailbox) = mpsc::unbounded_channel();
        let record = Arc::new(record);
        let info = record.info();
        let choice = Choice::new(info.partitions.iter().map(|partition| partition.read_only));
        let mut tasks = JoinSet::new();
        let mut partitions = Vec::with_capacity(stores.len());
        let numbers: Vec<u32> = info.partitions.iter().map(|partition| partition.number).collect();
        let figures: Vec<Arc<Figures>> = numbers.iter().map(|number| Figures::of(*number)).collect();
        for (index, store) in stores.into_iter().enumerate() {
            let (sender, mailbox) = mpsc::unbounded_channel();
            // Weak: partitions alone do not keep a queue alive that nobody can reach.
            let links = crate::partition::Links {
                mailbox,
                myself: sender.downgrade(),
                router: router.downgrade(),
                undertaker: undertaker.clone(),
                figures: figures[index].clone(),
                answers: answers.clone(),
                record: record.clone(),
            };
            tasks.spawn(Partition::new(index, store, links, config.clone()).run());
            partitions.push(sender);
        }
        let waiting_max = config.waiting_max;
        let line = Line::default();
        let router_task = Router {
            mailbox,
            partitions: partitions.clone(),
            numbers: numbers.clone(),
            tasks,
            choice,
            waiting_max,
            line,
            busy: vec![Busy::default(); info.partitions.len()],
        };
        Arc::new(Queue {
            name: info.name.clone(),
            record,
            router,
            partitions,
            numbers,
            figures,
            cold: Semaphore::new(COLD_MAX),
            figures_timeout: config.storage_timeout,
            requests: Arc::default(),
            requests_max: config.requests_max,
            bytes: Arc::default(),
            bytes_max: config.waiting_bytes_max,
            calls: AtomicUsize::new(0),
            number: AtomicU64::new(0),
            task: Mutex::new(Some(tokio::spawn(router_task.run()))),
        })
    }

    /// The record it runs with.
    pub(crate) fn info(&self) -> Arc<QueueInfo> {
        self.record.info()
    }

    pub(crate) fn partitions_len(&self) -> usize {
        self.partitions.len()
    }

    pub(crate) fn number(&self, partition: usize) -> u32 {
        self.numbers[partition]
    }

    /// The index of a partition that a client named.
    pub(crate) fn partition(&self, given: i64) -> Result<usize> {
        let index = self.numbers.iter().position(|number| i64::from(*number) == given);
        index.ok_or_else(|| Refusal::PartitionUnknown { partition: given }.into())
    }

    /// Whether any partition is open and its store works: only then is an empty queue known to be empty.
    pub(crate) fn has_well_partition(&self) -> bool {
        self.figures.iter().any(|partition| partition.is_well())
    }

    /// A request with its place in line, or none if too many wait.
    pub(crate) fn call<T>(self: &Arc<Self>, deadline: Deadline) -> Result<(Call<T>, InFlight<T>)> {
        let slot = Slot::of(&self.requests, 1, self.requests_max).ok_or(Error::Overloaded)?;
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let (call, pending) = Call::new(number, deadline, slot);
        self.calls.fetch_add(1, Ordering::Relaxed);
        let in_flight = InFlight { queue: self.clone(), number, client_id: None, pending, answered: false };
        Ok((call, in_flight))
    }

    /// Room for items that are not stored yet.
    pub(crate) fn room(&self, items: &[NewItem]) -> Result<Slot> {
        Slot::of(&self.bytes, items.iter().map(NewItem::bytes).sum(), self.bytes_max).ok_or(Error::Overloaded)
    }

    pub(crate) fn send(&self, message: RouterMessage) -> Result<()> {
        self.router.send(message).map_err(|_| self.stopped())
    }

    /// Whether it was deleted, as far as this server knows.
    pub(crate) fn is_gone(&self) -> bool {
        self.record.is_gone()
    }

    /// Whether its record is still there; if not, it is not used any more.
    pub(crate) async fn is_there(&self) -> Result<bool> {
        match self.record.read_again().await {
            Ok(_) => Ok(true),
            Err(StoreError::QueueGone { .. }) => {
                self.end();
                Ok(false)
            }
            Err(error) => Err(Error::Storage(error)),
        }
    }

    /// Stops a deleted queue: waiting callers get an error that says so.
    fn end(&self) {
        self.record.end();
        drop(self.router.send(RouterMessage::Stop));
    }

    /// Why it serves no caller.
    fn stopped(&self) -> Error {
        match self.is_gone() {
            true => Error::QueueNotFound { name: self.name.clone() },
            false => Error::QueueStopping,
        }
    }

    /// Asks one partition something.
    pub(crate) async fn ask<T>(
        &self,
        partition: usize,
        question: impl FnOnce(oneshot::Sender<T>) -> Cold,
    ) -> Result<T> {
        let _room = self.cold.acquire().await;
        self.question(partition, question)?.await.map_err(|_| self.stopped())
    }

    /// Asks all partitions at once; their answers in order.
    pub(crate) async fn ask_all<T>(&self, question: impl Fn(oneshot::Sender<T>) -> Cold) -> Result<Vec<T>> {
        let _room = self.cold.acquire().await;
        let asked: Result<Vec<_>> =
            (0..self.partitions.len()).map(|partition| self.question(partition, &question)).collect();
        let mut answers = Vec::with_capacity(self.partitions.len());
        for answer in asked? {
            answers.push(answer.await.map_err(|_| self.stopped())?);
        }
        Ok(answers)
    }

    /// The figures of all partitions; of one that does not answer in time, what it last told.
    pub(crate) async fn figures<T>(
        &self,
        question: impl Fn(oneshot::Sender<T>) -> Cold,
        last_told: impl Fn(&Figures) -> T,
    ) -> Result<Vec<T>> {
        let _room = self.cold.acquire().await;
        let deadline = tokio::time::Instant::now() + self.figures_timeout;
        let asked: Result<Vec<_>> =
            (0..self.partitions.len()).map(|partition| self.question(partition, &question)).collect();
        let mut answers = Vec::with_capacity(self.partitions.len());
        for (answer, figures) in asked?.into_iter().zip(&self.figures) {
            answers.push(match tokio::time::timeout_at(deadline, answer).await {
                Ok(answer) => answer.map_err(|_| self.stopped())?,
                Err(_) => last_told(figures),
            });
        }
        Ok(answers)
    }

    fn question<T>(
        &self,
        partition: usize,
        question: impl FnOnce(oneshot::Sender<T>) -> Cold,
    ) -> Result<oneshot::Receiver<T>> {
        let (reply, answer) = oneshot::channel();
        let sent = self.partitions[partition].send(PartitionMessage::Cold(question(reply)));
        sent.map_err(|_| self.stopped())?;
        Ok(answer)
    }

    pub(crate) async fn waiting(&self) -> Result<(Waiting, usize)> {
        let (reply, answer) = oneshot::channel();
        self.send(RouterMessage::Waiting(reply))?;
        let waiting = answer.await.map_err(|_| self.stopped())?;
        Ok((waiting, self.calls.load(Ordering::Relaxed)))
    }

    pub(crate) async fn pause(&self, paused: bool) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        self.send(RouterMessage::Pause(paused, reply))?;
        answer.await.map_err(|_| self.stopped())
    }

    /// Goes on with another record: it is in force for all that a partition begins from now on.
    pub(crate) fn update(&self, info: QueueInfo) {
        match info.created_at.cmp(&self.info().created_at) {
            // Read before this queue was created.
            cmp::Ordering::Less => return,
            cmp::Ordering::Greater => return self.end(),
            cmp::Ordering::Equal => {}
        }
        self.record.set(Arc::new(info));
        for partition in &self.partitions {
            // One that has ended goes on with nothing.
            drop(partition.send(PartitionMessage::Cold(Cold::Updated)));
        }
    }

    /// Answers whoever waits and ends the tasks; what is not done after `grace` is cut. A second stop does nothing.
    pub(crate) async fn stop(&self, grace: Duration) {
        drop(self.router.send(RouterMessage::Stop));
        let task = self.task.lock().take();
        if let Some(mut task) = task
            && tokio::time::timeout(grace, &mut task).await.is_err()
        {
            tracing::warn!(queue = %self.name, "the queue did not stop in time and was cut");
            task.abort();
            drop(task.await);
        }
    }
}

/// A caller who waits. Dropped before the answer, it takes its request back if nobody has begun it.
#[derive(Debug)]
pub(crate) struct InFlight<T> {
    queue: Arc<Queue>,
    number: u64,
    /// Of a lease: it is free again when the caller is gone.
    pub(crate) client_id: Option<Arc<str>>,
    pending: Pending<T>,
    answered: bool,
}

impl<T> InFlight<T> {
    /// As [`Pending::answer`].
    pub(crate) async fn answer(
        mut self,
        operation: &'static str,
        grace: Duration,
        late: impl FnOnce() -> Error,
    ) -> Result<T> {
        let answer = self.pending.answer(operation, grace, late).await;
        self.answered = answer.is_ok();
        answer.map_err(|error| match error {
            Error::QueueStopping => self.queue.stopped(),
            error => error,
        })
    }
}

impl<T> Drop for InFlight<T> {
    fn drop(&mut self) {
        self.queue.calls.fetch_sub(1, Ordering::Relaxed);
        if !self.answered {
            // If it is in a write already, it is forgotten all the same: the client may ask again.
            self.pending.leave();
            let client_id = self.client_id.take();
            drop(self.queue.send(RouterMessage::Gone { number: self.number, client_id }));
        }
    }
}

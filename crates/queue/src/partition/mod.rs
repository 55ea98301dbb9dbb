//! The loop that owns a partition: the only one that writes its items.
//!
//! Each turn takes everything that waits, writes once per kind, tells the router, and answers each request.

mod change;
mod clear;
mod cold;
mod dying;
mod health;
mod held;
mod inbox;
mod lease;
mod lifecycle;
mod list;
mod produce;
mod recover;
mod rotation;
mod stats;
mod timed_store;
mod write_limit;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use leasehold_core::Timestamp;
use tokio::sync::mpsc::{UnboundedReceiver, WeakUnboundedSender};
use tokio::time::Instant;

use crate::clock::Timer;
use crate::engine::Config;
use crate::queue::message::{PartitionMessage, Report, RouterMessage, Work};
use crate::queue::{Figures, GatedStore, Record};
use crate::reply::{LastError, Totals};
use crate::store::{Counts, Deadlines, PartitionId};
use crate::undertaker::UndertakerHandle;
use crate::{Error, ItemIds, QueueInfo, StoreError};
use dying::Dying;
use health::{Health, chain};
use held::Held;
use inbox::Inbox;
use list::Reads;
use recover::Unsettled;
use stats::Asked;
use timed_store::TimedStore;
use write_limit::WriteLimits;

pub(crate) use list::Listing;
pub(crate) use produce::ready_len;

/// A request with its answer, which is given after the router was told.
type Answers<T> = Vec<(crate::call::Call<T>, crate::Result<T>)>;

/// How a partition is connected.
pub(crate) struct Links {
    pub(crate) mailbox: UnboundedReceiver<PartitionMessage>,
    /// Where moves to the dead queue are reported to.
    pub(crate) myself: WeakUnboundedSender<PartitionMessage>,
    pub(crate) router: WeakUnboundedSender<RouterMessage>,
    pub(crate) undertaker: UndertakerHandle,
    pub(crate) figures: Arc<Figures>,
    /// Bytes of answers to leases, of the whole engine, that nobody has let go of yet.
    pub(crate) answers: Arc<AtomicUsize>,
    pub(crate) record: Arc<Record>,
}

/// The owner of one partition.
pub(crate) struct Partition {
    index: usize,
    id: PartitionId,
    /// The record that is in force, for as long as something is being done.
    info: Arc<QueueInfo>,
    store: TimedStore,
    links: Links,
    config: Arc<Config>,
    timer: Timer,
    inbox: Inbox,
    limits: WriteLimits,
    stopping: bool,
    health: Health,
    /// How often the store failed since it last wrote anything: a store that can be opened and not written is not
    /// tried again at once for ever.
    strikes: u32,
    /// The record is to be read before anything is served: others came between, perhaps because the queue was deleted.
    is_record_due: bool,
    /// How many writes were among them.
    writes_failed: u32,
    /// Of this owner: above every id that is stored. It gives none out before the partition is open.
    ids: ItemIds,
    counts: Counts,
    /// Ready items that are past their expire deadline and so cannot be leased, as far as they were seen.
    expired_ready: u64,
    deadlines: Deadlines,
    /// No lifecycle pass before this.
    rest_until: Option<Instant>,
    dying: Dying,
    held: Held,
    /// Writes whose outcome is unknown, each with how often it could not be settled.
    unsettled: Vec<(Unsettled, u32)>,
    totals: Totals,
    asked: Asked,
    reads: Reads,
}

impl Partition {
    pub(crate) fn new(index: usize, store: GatedStore, links: Links, config: Arc<Config>) -> Self {
        let info = links.record.info();
        let number = info.partitions[index].number;
        Partition {
            index,
            id: PartitionId { queue: info.name.clone(), number },
            info,
            store: TimedStore::new(store, config.storage_timeout, config.open_timeout),
            links,
            timer: config.clock.timer(),
            inbox: Inbox::default(),
            limits: WriteLimits::default(),
            stopping: false,
            strikes: 0,
            is_record_due: true,
            writes_failed: 0,
            health: Health::Failing { failures: 0, retry_at: Instant::now() },
            ids: ItemIds::default(),
            counts: Counts::default(),
            expired_ready: 0,
            deadlines: Deadlines::default(),
            rest_until: None,
            dying: Dying::default(),
            held: Held::default(),
            unsettled: Vec::new(),
            totals: Totals::default(),
            asked: Asked::default(),
            reads: Reads::new(),
            config,
        }
    }

    /// Runs until it is told to stop, or the queue is gone.
    pub(crate) async fn run(mut self) {
        self.recover().await;
        loop {
            while let Ok(message) = self.links.mailbox.try_recv() {
                self.take(message);
            }
            if self.stopping {
                return self.stop().await;
            }
            if !self.act().await {
                self.wait().await;
            }
        }
    }

    fn take(&mut self, message: PartitionMessage) {
        match message {
            PartitionMessage::Work(work) => self.inbox.add(work),
            PartitionMessage::Cold(cold) => self.inbox.cold.push_back(cold),
            PartitionMessage::Moved(moved) => self.inbox.moved.push_back(moved),
            PartitionMessage::Counted(counted) => self.counted(counted),
            PartitionMessage::Listing(listing) => self.inbox.lists.push_back(listing),
            PartitionMessage::Stop => self.stopping = true,
        }
    }

    /// Does what is to be done now; false if that was nothing.
    async fn act(&mut self) -> bool {
        self.info = self.links.record.info();
        let mut acted = false;
        if self.health == Health::Fenced && std::mem::take(&mut self.is_record_due) {
            // If it cannot be read, a reload does it again.
            drop(self.links.record.read_again().await);
            acted = true;
        }
        if self.links.record.is_gone()
            && let Some(router) = self.links.router.upgrade()
        {
            drop(router.send(RouterMessage::Stop));
        }
        if let Health::Failing { retry_at, .. } = self.health
            && retry_at <= Instant::now()
        {
            self.recover().await;
            acted = true;
        }
        if !self.inbox.is_quiet() {
            self.turn().await;
            acted = true;
        }
        if let Some(cold) = self.inbox.cold.pop_front() {
            self.cold(cold).await;
            acted = true;
        }
        if let Some(listing) = self.inbox.lists.pop_front() {
            self.list_on(listing);
            acted = true;
        }
        if let Some(clearing) = self.inbox.clears.pop_front() {
            self.clear_on(clearing).await;
            acted = true;
        }
        if let Some(moved) = self.inbox.moved.pop_front() {
            self.moved(moved).await;
            acted = true;
        }
        if self.health.is_well() {
            if !self.is_resting() && self.next_pass().is_some_and(|at| at <= self.now()) {
                self.pass().await;
                acted = true;
            }
            if self.dying.retry_at.is_some_and(|at| at <= Instant::now()) {
                self.move_dying().await;
                acted = true;
            }
        }
        acted
    }

    /// Waits for a message or for a deadline.
    async fn wait(&mut self) {
        let next_pass = self.next_pass().filter(|_| self.health.is_well());
        let rest_until = self.rest_until.filter(|_| next_pass.is_some() && self.is_resting());
        let pass_at = next_pass.filter(|_| rest_until.is_none());
        let retry_at = match self.health {
            Health::Well => [self.dying.retry_at, rest_until].into_iter().flatten().min(),
            Health::Failing { retry_at, .. } => Some(retry_at),
            Health::Fenced => None,
        };
        let message = tokio::select! {
            message = self.links.mailbox.recv() => Some(message.unwrap_or(PartitionMessage::Stop)),
            () = self.timer.sleep_until(pass_at.unwrap_or(Timestamp::MAX)), if pass_at.is_some() => None,
            () = tokio::time::sleep_until(retry_at.unwrap_or_else(Instant::now)), if retry_at.is_some() => None,
        };
        if let Some(message) = message {
            self.take(message);
        }
    }

    /// Produces, leases and changes of items, in this order: a lease that came with a produce sees its items.
    async fn turn(&mut self) {
        let Work { produces, leases, changes } =
            self.inbox.take_turn(&self.limits, &self.store.write_max(), self.config.write_bytes_max);
        let leases = self.produce(produces, leases).await;
        self.lease(leases).await;
        self.change(changes).await;
    }

    async fn stop(mut self) {
        let Work { produces, leases, changes } = self.inbox.take_all();
        for produce in produces {
            produce.call.answer(Err(Error::QueueStopping));
        }
        for lease in leases {
            lease.call.answer(Err(Error::QueueStopping));
        }
        for change in changes {
            change.call.answer(Err(Error::QueueStopping));
        }
        for clearing in std::mem::take(&mut self.inbox.clears) {
            clearing.give_up();
        }
        // Dropping the senders of cold requests refuses those; dropping what is unsettled says that it is unknown.
        self.store.close().await;
    }

    fn now(&self) -> Timestamp {
        self.config.clock.now()
    }

    /// How many items a lease would find.
    fn leasable(&self) -> u64 {
        if self.health.is_well() { self.counts.ready.saturating_sub(self.expired_ready) } else { 0 }
    }

    /// Failures in a row, as operators see them. A store that is full can be opened all the same, so the partition is well
    /// until the next write; one write alone may have met a moment that is over.
    fn failures(&self) -> u32 {
        let unwritten = if self.strikes > 0 && self.writes_failed > 1 { self.writes_failed } else { 0 };
        self.health.failures().max(unwritten)
    }

    /// Tells the router the truth about this partition.
    fn report(&mut self, mut report: Report) {
        report.partition = self.index;
        report.told.ready = self.leasable();
        report.told.failures = self.health.failures();
        let (is_well, failures) = (self.health.is_well(), self.failures());
        self.links.figures.tell(is_well, self.counts, self.totals, failures, self.dying.len());
        let refused = match self.links.router.upgrade() {
            Some(router) => router.send(RouterMessage::Report(Box::new(report))).err().map(|error| error.0),
            None => Some(RouterMessage::Report(Box::new(report))),
        };
        // The queue is being stopped: nobody else will try what came back.
        if let Some(RouterMessage::Report(report)) = refused {
            for produce in report.produces_back {
                produce.call.answer(Err(Error::QueueStopping));
            }
            for lease in report.leases_back {
                lease.call.answer(Err(Error::QueueStopping));
            }
        }
    }

    /// The store failed: from here on nothing is written until it was opened anew.
    fn mark_failed(&mut self, error: &StoreError) {
        self.strikes = self.strikes.saturating_add(1);
        self.health = Health::after(error, self.strikes, self.config.backoff);
        match error {
            StoreError::QueueGone { .. } => self.links.record.end(),
            StoreError::Fenced { .. } => self.is_record_due = true,
            _ => {}
        }
        let message = chain(error);
        tracing::warn!(queue = %self.id.queue, partition = self.id.number, error = %message, "partition is failing");
        self.remember_error(message);
    }

    /// A read that only serves a caller failed: that says nothing about what can be written.
    fn read_failed(&mut self, error: &StoreError) {
        if matches!(error, StoreError::Fenced { .. }) {
            self.mark_failed(error);
            return self.report(Report::default());
        }
        let error: &dyn std::error::Error = error;
        tracing::warn!(queue = %self.id.queue, partition = self.id.number, error, "a partition could not be read");
    }

    fn remember_error(&mut self, message: String) {
        self.links.figures.remember(LastError { at: self.now(), message });
    }

    /// For cold requests that only look.
    fn require_well(&self) -> crate::Result<()> {
        if self.health.is_well() {
            Ok(())
        } else {
            Err(Error::PartitionFailing { partition: self.id.number })
        }
    }
}

fn answer_all<T>(answers: Answers<T>) {
    for (call, answer) in answers {
        call.answer(answer);
    }
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Splits requests by whether they were taken.
fn split<T>(requests: Vec<T>, mut take: impl FnMut(&mut T) -> bool) -> (Vec<T>, Vec<T>) {
    let (mut taken, mut left) = (Vec::with_capacity(requests.len()), Vec::new());
    for mut request in requests {
        if take(&mut request) {
            taken.push(request);
        } else {
            left.push(request);
        }
    }
    (taken, left)
}

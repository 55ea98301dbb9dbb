//! The task that sends the requests of one queue to its partitions.
//!
//! It decides where a request goes and holds those that cannot go anywhere yet: leases while nothing is ready, produces
//! while no partition works. It never waits for a partition, so a slow one does not hold up its neighbours.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;

use super::choice::{Choice, Told};
use super::message::{Change, Lease, PartitionMessage, Produce, Report, RouterMessage, Waiting, Work, tell};
use crate::{Error, Refusal};

/// A partition that has answered nothing for so long is passed over while others can serve.
const SLOW: Duration = Duration::from_millis(250);
/// Messages taken at once, so that what arrived together is sent together.
const BATCH_LEN: usize = 1_024;

pub(super) struct Router {
    pub(super) mailbox: UnboundedReceiver<RouterMessage>,
    pub(super) partitions: Vec<UnboundedSender<PartitionMessage>>,
    /// Their numbers.
    pub(super) numbers: Vec<u32>,
    /// The owners of the partitions.
    pub(super) tasks: JoinSet<()>,
    pub(super) choice: Choice,
    /// How many leases may wait, and how many produces.
    pub(super) waiting_max: usize,
    pub(super) line: Line,
    /// Per partition, how many requests it has, and since when it has answered none of them.
    pub(super) busy: Vec<Busy>,
}

/// What a partition has been sent and not answered.
#[derive(Clone, Copy, Default)]
pub(super) struct Busy {
    requests: usize,
    since: Option<Instant>,
}

impl Busy {
    fn add(&mut self, requests: usize) {
        self.requests += requests;
        if requests > 0 && self.since.is_none() {
            self.since = Some(Instant::now());
        }
    }

    fn remove(&mut self, requests: usize) {
        self.requests = self.requests.saturating_sub(requests);
        self.since = (self.requests > 0).then(Instant::now);
    }
}

/// The requests of a queue that are not answered yet, as far as the router knows.
#[derive(Default)]
pub(super) struct Line {
    /// By number: in the order of their arrival, also those that came back from a partition.
    produces: BTreeMap<u64, Produce>,
    leases: BTreeMap<u64, Lease>,
    changes: VecDeque<Change>,
    /// Who waits for a lease, here or in a partition, by the number of the request.
    clients: HashMap<Arc<str>, u64>,
    /// Requests that are with partitions.
    produces_out: usize,
    changes_out: usize,
    paused: bool,
}

impl Router {
    /// Runs until it is told to stop, or nobody can send any more; ends when all partitions are closed.
    pub(super) async fn run(mut self) {
        let mut messages = Vec::with_capacity(BATCH_LEN);
        while self.mailbox.recv_many(&mut messages, BATCH_LEN).await > 0 {
            for message in messages.drain(..) {
                if matches!(message, RouterMessage::Stop) {
                    return self.stop().await;
                }
                self.take(message);
            }
            if !self.line.paused {
                self.send();
            }
        }
        self.stop().await;
    }

    fn take(&mut self, message: RouterMessage) {
        match message {
            RouterMessage::Produce(produce) => self.wait_produce(produce),
            RouterMessage::Lease(lease) => self.wait_lease(lease),
            RouterMessage::Change(change) => self.line.changes.push_back(change),
            RouterMessage::Gone { number, client_id } => self.forget(number, client_id.as_ref()),
            RouterMessage::Report(report) => self.hear(*report),
            RouterMessage::Waiting(reply) => tell(reply, self.waiting()),
            RouterMessage::Pause(paused, reply) => {
                self.line.paused = paused;
                tell(reply, ());
            }
            RouterMessage::Stop => unreachable!("the loop ends before"),
        }
    }

    fn wait_produce(&mut self, mut produce: Produce) {
        if self.line.produces.len() >= self.waiting_max {
            return produce.call.answer(Err(Error::Overloaded));
        }
        produce.call.free_slot();
        self.line.produces.insert(produce.call.number, produce);
    }

    fn wait_lease(&mut self, mut lease: Lease) {
        if self.line.clients.contains_key(&lease.client_id) {
            return lease.call.answer(Err(Refusal::ClientIdDuplicate.into()));
        }
        if self.line.clients.len() >= self.waiting_max {
            return lease.call.answer(Err(Error::Overloaded));
        }
        lease.call.free_slot();
        self.line.clients.insert(lease.client_id.clone(), lease.call.number);
        self.line.leases.insert(lease.call.number, lease);
    }

    fn forget(&mut self, number: u64, client_id: Option<&Arc<str>>) {
        self.line.produces.remove(&number);
        self.line.leases.remove(&number);
        if let Some(client_id) = client_id {
            self.line.release(client_id, number);
        }
    }

    fn hear(&mut self, report: Report) {
        self.choice.tell(report.partition, report.told);
        let leases = report.released.len() + report.leases_back.len();
        let produces = report.produces_done + report.produces_back.len();
        if leases + produces + report.changes_done > 0 {
            self.busy[report.partition].remove(leases + produces + report.changes_done);
        }
        self.line.produces_out -= report.produces_done + report.produces_back.len();
        self.line.changes_out -= report.changes_done;
        for (client_id, number) in &report.released {
            self.line.release(client_id, *number);
        }
        for mut produce in report.produces_back {
            if produce.call.put_back() {
                self.line.produces.insert(produce.call.number, produce);
            } else {
                produce.call.answer(Err(Error::ProduceTimeout));
            }
        }
        for mut lease in report.leases_back {
            if lease.call.put_back() {
                self.line.leases.insert(lease.call.number, lease);
            } else {
                self.line.release(&lease.client_id, lease.call.number);
                lease.call.answer(Err(Error::LeaseTimeout));
            }
        }
    }

    fn waiting(&self) -> Waiting {
        Waiting {
            produces: self.line.produces.len() + self.line.produces_out,
            leases: self.line.clients.len(),
            changes: self.line.changes.len() + self.line.changes_out,
        }
    }

    /// Sends all that can go somewhere, one message to each partition.
    fn send(&mut self) {
        let mut work: BTreeMap<usize, Work> = BTreeMap::new();
        self.choice.begin_round();
        self.look_for_slow();
        self.send_produces(&mut work);
        self.send_leases(&mut work);
        while let Some(change) = self.line.changes.pop_front() {
            if self.choice.is_failing(change.partition) {
                let partition = self.numbers[change.partition];
                change.call.answer(Err(Error::PartitionFailing { partition }));
            } else {
                self.line.changes_out += 1;
                work.entry(change.partition).or_default().changes.push(change);
            }
        }
        for (partition, work) in work {
            self.busy[partition].add(work.produces.len() + work.leases.len() + work.changes.len());
            let sent = self.partitions[partition].send(PartitionMessage::Work(work));
            if let Err(SendError(PartitionMessage::Work(work))) = sent {
                self.bury_partition(partition, work);
            }
        }
    }

    /// The owner of a partition is gone, which only a bug can do: nothing more is sent there.
    fn bury_partition(&mut self, partition: usize, work: Work) {
        tracing::error!(partition = self.numbers[partition], "the owner of a partition is gone");
        let told = Told { failures: u32::MAX, ..Told::default() };
        self.choice.tell(partition, told);
        self.line.produces_out -= work.produces.len();
        self.line.changes_out -= work.changes.len();
        self.line.produces.extend(work.produces.into_iter().map(|produce| (produce.call.number, produce)));
        self.line.leases.extend(work.leases.into_iter().map(|lease| (lease.call.number, lease)));
        for change in work.changes {
            change.call.answer(Err(Error::PartitionFailing { partition: self.numbers[partition] }));
        }
    }

    fn look_for_slow(&mut self) {
        if self.busy.len() > 1 {
            for (partition, busy) in self.busy.iter().enumerate() {
                let is_slow = busy.since.is_some_and(|since| since.elapsed() > SLOW);
                self.choice.set_slow(partition, is_slow);
            }
        }
    }

    fn send_produces(&mut self, work: &mut BTreeMap<usize, Work>) {
        while let Some(next) = self.line.produces.first_entry() {
            if next.get().call.is_abandoned() {
                next.remove();
                continue;
            }
            let charged = next.get().charged;
            let Some(partition) = self.choice.produce(charged) else {
                return;
            };
            self.line.produces_out += 1;
            work.entry(partition).or_default().produces.push(next.remove());
        }
    }

    fn send_leases(&mut self, work: &mut BTreeMap<usize, Work>) {
        while let Some(next) = self.line.leases.first_entry() {
            if next.get().call.is_abandoned() {
                let lease = next.remove();
                self.line.release(&lease.client_id, lease.call.number);
                continue;
            }
            let batch_size = u64::try_from(next.get().batch_size).unwrap_or(u64::MAX);
            let Some((partition, charged)) = self.choice.lease(batch_size) else {
                return;
            };
            let lease = Lease { charged, ..next.remove() };
            work.entry(partition).or_default().leases.push(lease);
        }
    }

    /// Answers all that wait, lets the partitions finish what they are writing, and closes them.
    async fn stop(mut self) {
        self.mailbox.close();
        for partition in &self.partitions {
            drop(partition.send(PartitionMessage::Stop));
        }
        self.line.refuse_all();
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the owner of a partition ended badly");
            }
        }
        while let Some(message) = self.mailbox.recv().await {
            refuse(message);
        }
    }
}

impl Line {
    /// The client may ask again; unless it has done so already.
    fn release(&mut self, client_id: &Arc<str>, number: u64) {
        if self.clients.get(client_id) == Some(&number) {
            self.clients.remove(client_id);
        }
    }

    fn refuse_all(&mut self) {
        for (_, produce) in std::mem::take(&mut self.produces) {
            produce.call.answer(Err(Error::QueueStopping));
        }
        for (_, lease) in std::mem::take(&mut self.leases) {
            lease.call.answer(Err(Error::QueueStopping));
        }
        for change in self.changes.drain(..) {
            change.call.answer(Err(Error::QueueStopping));
        }
    }
}

/// Dropping the sender of a cold reply refuses it.
fn refuse(message: RouterMessage) {
    match message {
        RouterMessage::Produce(produce) => produce.call.answer(Err(Error::QueueStopping)),
        RouterMessage::Lease(lease) => lease.call.answer(Err(Error::QueueStopping)),
        RouterMessage::Change(change) => change.call.answer(Err(Error::QueueStopping)),
        RouterMessage::Report(report) => {
            for produce in report.produces_back {
                produce.call.answer(Err(Error::QueueStopping));
            }
            for lease in report.leases_back {
                lease.call.answer(Err(Error::QueueStopping));
            }
        }
        RouterMessage::Gone { .. }
        | RouterMessage::Waiting(_)
        | RouterMessage::Pause(..)
        | RouterMessage::Stop => {}
    }
}

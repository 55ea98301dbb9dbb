//! A loop that takes everything that waits, does it in one turn, and answers each.

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::LockId;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::FusedConfig;
use super::batch::Batch;
use super::under_way::UnderWay;
use crate::backend::postgres::PostgresBackend;
use crate::ticket::Ticket;
use crate::{AcquireOutcome, AcquireRequest, ReleaseOutcome, Result};

/// A turn that lasts longer waits for somebody, not for the processor: the next one begins beside it.
const SLOW_AFTER: Duration = Duration::from_millis(20);

/// So often others are let run without anything new coming in before a turn begins.
const QUIET_YIELDS: usize = 2;

/// A request, whether it is still wanted, and where its answer goes.
#[derive(Debug)]
pub(super) enum Job {
    Acquire { request: AcquireRequest, ticket: Ticket, answer: oneshot::Sender<Result<AcquireOutcome>> },
    Release { lock_id: LockId, ticket: Ticket, answer: oneshot::Sender<Result<ReleaseOutcome>> },
}

pub(super) struct Worker {
    backend: Arc<PostgresBackend>,
    mailbox: mpsc::Receiver<Job>,
    config: FusedConfig,
    /// Taken from the mailbox and not sent yet.
    waiting: Vec<Job>,
    under_way: UnderWay,
    /// Whether something under way has ended since the last turn began.
    has_ended: bool,
    /// The turns that are slow. Each ends with what it tried to acquire.
    slow: JoinSet<Vec<AcquireRequest>>,
}

impl Worker {
    pub(super) fn new(
        backend: Arc<PostgresBackend>,
        mailbox: mpsc::Receiver<Job>,
        config: FusedConfig,
    ) -> Self {
        Worker {
            backend,
            mailbox,
            config,
            waiting: Vec::new(),
            under_way: UnderWay::default(),
            has_ended: false,
            slow: JoinSet::new(),
        }
    }

    /// Ends when the mailbox is closed and empty, and all is answered.
    pub(super) async fn run(mut self) {
        while self.has_work().await {
            self.gather().await;
            let (batch, deferred) = Batch::of(std::mem::take(&mut self.waiting), &mut self.under_way);
            self.waiting = deferred;
            self.has_ended = false;
            if !batch.is_empty() {
                self.take_turn(batch).await;
            }
        }
    }

    /// Waits for something that can be done; false when there never will be.
    async fn has_work(&mut self) -> bool {
        loop {
            while let Some(ended) = self.slow.try_join_next() {
                self.forget(ended.unwrap_or_default());
            }
            let can_go_on = self.has_ended || self.slow.is_empty();
            if can_go_on && !self.waiting.is_empty() {
                return true;
            }
            let may_begin = self.slow.len() < self.config.turns_max.max(1);
            let has_room = self.waiting.len() < self.config.waiting_len_max.max(1);
            tokio::select! {
                biased;
                Some(ended) = self.slow.join_next() => self.forget(ended.unwrap_or_default()),
                job = self.mailbox.recv(), if may_begin && has_room => match job {
                    Some(job) => {
                        self.waiting.push(job);
                        return true;
                    }
                    None if self.slow.is_empty() => return false,
                    // Nobody asks any more; the last slow turns decide what is left.
                    None => {
                        let ended = self.slow.join_next().await;
                        self.forget(ended.and_then(|ended| ended.ok()).unwrap_or_default());
                    }
                },
            }
        }
    }

    /// Takes what waits. Those who were answered a moment ago may be about to ask again: left out, they would wait for the
    /// whole turn, and callers would fall into two groups that take turns with half of them each.
    async fn gather(&mut self) {
        // The one that woke us is here already.
        let more_max = self.config.batch_len_max.saturating_sub(1);
        let (mut came, mut quiet) = (self.mailbox.len(), 0);
        while quiet < QUIET_YIELDS && came < more_max {
            tokio::task::yield_now().await;
            let now = self.mailbox.len();
            quiet = if now == came { quiet + 1 } else { 0 };
            came = now;
        }
        for _ in 0..more_max {
            let Ok(job) = self.mailbox.try_recv() else { break };
            self.waiting.push(job);
        }
    }

    async fn take_turn(&mut self, batch: Batch) {
        let backend = self.backend.clone();
        let mut turn = Box::pin(async move { batch.run(&backend).await });
        match tokio::time::timeout(SLOW_AFTER, &mut turn).await {
            Ok(acquires) => self.forget(acquires),
            Err(_slow) => {
                self.slow.spawn(turn);
            }
        }
    }

    fn forget(&mut self, acquires: Vec<AcquireRequest>) {
        for request in &acquires {
            self.under_way.end(request);
        }
        if self.slow.is_empty() {
            // A turn that was lost could not say what it tried.
            self.under_way.clear();
        }
        self.has_ended = true;
    }
}

//! A loop that takes everything that waits, does it in two statements, and answers each.

use std::sync::Arc;

use leasehold_core::LockId;
use tokio::sync::{mpsc, oneshot};

use super::batch::Batch;
use crate::backend::postgres::PostgresBackend;
use crate::{AcquireOutcome, AcquireRequest, ReleaseOutcome, Result};

/// A request and where its answer goes.
#[derive(Debug)]
pub(super) enum Job {
    Acquire { request: AcquireRequest, answer: oneshot::Sender<Result<AcquireOutcome>> },
    Release { lock_id: LockId, answer: oneshot::Sender<Result<ReleaseOutcome>> },
}

pub(super) struct Worker {
    pub(super) backend: Arc<PostgresBackend>,
    pub(super) mailbox: mpsc::Receiver<Job>,
    pub(super) batch_len_max: usize,
}

impl Worker {
    /// Ends when the mailbox is closed and empty.
    pub(super) async fn run(mut self) {
        let mut jobs = Vec::new();
        loop {
            // With jobs left over from the last turn there is something to do already.
            if jobs.is_empty() && self.mailbox.recv_many(&mut jobs, self.batch_len_max).await == 0 {
                return;
            }
            while jobs.len() < self.batch_len_max
                && let Ok(job) = self.mailbox.try_recv()
            {
                jobs.push(job);
            }
            let (batch, deferred) = Batch::of(std::mem::take(&mut jobs));
            jobs = deferred;
            batch.run(&self.backend).await;
        }
    }
}

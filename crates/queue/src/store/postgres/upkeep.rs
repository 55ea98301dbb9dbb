//! What the owner has done to its table in the background: vacuum, and fresh statistics while it grows.

use std::sync::Arc;

use leasehold_txn::{Pipeline, Step};
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

use super::operations::UPKEEP;
use super::place::Place;
use crate::store::Counts;

/// A vacuum of a large table takes its time; nobody waits for it.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(3_600);
/// A table below this size needs no statistics: any plan is fast.
const GROWN_MIN: u64 = 1_000;

/// Counts what makes a table worse, and has it made better before it matters.
///
/// A long transaction elsewhere keeps dead rows alive: leasing does not mind (see `window.rs`), the disk does. And the
/// server keeps the plan of a prepared statement until statistics change: one that was right for a handful of rows is
/// wrong for many, and autovacuum looks once a minute.
#[derive(Debug)]
pub(super) struct Upkeep {
    place: Arc<Place>,
    permits: Arc<Semaphore>,
    /// Rows that died since the last vacuum.
    worn: u64,
    rows: u64,
    /// Rows there were when statistics were last taken.
    rows_known: u64,
    running: Option<AbortOnDropHandle<()>>,
}

impl Upkeep {
    pub(super) fn new(place: Arc<Place>, permits: Arc<Semaphore>) -> Self {
        Upkeep { place, permits, worn: 0, rows: 0, rows_known: 0, running: None }
    }

    /// So much is there. How old the server's statistics are is not known: a table of some size gets new ones soon.
    pub(super) fn opened(&mut self, counts: &Counts) {
        self.rows = counts.ready + counts.leased + counts.scheduled;
        self.rows_known = 0;
        self.look();
    }

    /// Rows came.
    pub(super) fn added(&mut self, rows: usize) {
        self.rows += u64::try_from(rows).unwrap_or(0);
        self.look();
    }

    /// Rows were deleted.
    pub(super) fn removed(&mut self, rows: usize) {
        self.rows = self.rows.saturating_sub(u64::try_from(rows).unwrap_or(u64::MAX));
        self.wore(rows);
    }

    /// Rows were changed, which leaves as many dead ones.
    pub(super) fn wore(&mut self, rows: usize) {
        self.worn = self.worn.saturating_add(u64::try_from(rows).unwrap_or(u64::MAX));
        self.look();
    }

    /// Ends what is running.
    pub(super) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.abort();
            let _ = running.await;
        }
    }

    fn look(&mut self) {
        let vacuum_after = self.place.config.vacuum_after;
        let vacuum = vacuum_after > 0 && self.worn >= vacuum_after;
        let analyze = self.rows >= GROWN_MIN && self.rows >= self.rows_known.saturating_mul(4);
        if self.place.statements.upkeep.is_none()
            || !(vacuum || analyze)
            || self.running.as_ref().is_some_and(|running| !running.is_finished())
        {
            return;
        }
        // A pooler's sessions have a transaction around everything; a lone connection is for the queue.
        if self.place.pool.behind_pooler() || self.place.pool.size_max() < 2 {
            return;
        }
        let Ok(permit) = self.permits.clone().try_acquire_owned() else { return };
        self.rows_known = self.rows;
        if vacuum {
            self.worn = 0;
        }
        let place = self.place.clone();
        self.running = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            let Some(statements) = &place.statements.upkeep else { return };
            let sql = if vacuum { &statements.vacuum } else { &statements.analyze };
            let step = [Step::new(sql, &[])];
            if let Err(error) =
                Pipeline::write(UPKEEP, &step).query(&place.pool, &place.policy(TIMEOUT)).await
            {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(
                    queue = place.queue(),
                    partition = place.number,
                    error,
                    "upkeep of a queue's table failed"
                );
            }
            drop(permit);
        })));
    }
}

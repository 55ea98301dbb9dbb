//! Nobody waits for a transaction that is merely open: it gives way, keeps its snapshot, and does its writes again
//! later.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::time::sleep;

use super::{Count, Mode, Seat, Shared};
use crate::backend::Reply;

/// A statement that takes this long may be waiting for a row.
const FIRST_LOOK: Duration = Duration::from_millis(2);
/// And this long between further looks.
const NEXT_LOOK: Duration = Duration::from_millis(3);

/// A table nobody fought for this long is written as usual again.
const COOLS_AFTER: Duration = Duration::from_millis(500);

/// How far others must give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Push {
    /// They give up their row locks.
    Rows,
    /// They lose their snapshot too: the tables they have read are about to change.
    Tables,
}

impl Shared {
    /// Awaits `work`, which runs at `seat`; whoever idly stands in its way meanwhile is pushed aside.
    pub(crate) async fn push_through<T>(
        &self,
        seat: &Seat,
        push: Push,
        tables: &[u32],
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        let mut pause = FIRST_LOOK;
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = sleep(pause) => {
                    if self.push_aside(seat, push).await {
                        self.heat.warm(tables);
                    }
                }
            }
            pause = NEXT_LOOK;
        }
    }

    /// Whether anybody gave way.
    async fn push_aside(&self, seat: &Seat, push: Push) -> bool {
        let sql = format!("SELECT unnest(pg_blocking_pids({}))", seat.pid);
        let answer = self.monitor.lock().await.simple(&sql).await;
        // Without an answer the waiting goes on until PostgreSQL's own limit.
        let Ok(Ok(outcome)) = answer.map(Reply::one) else { return false };
        let mut given = false;
        for row in outcome.text_rows() {
            let pid = row.into_iter().flatten().next().and_then(|text| text.parse().ok());
            if let Some(blocker) = pid.and_then(|pid| self.seat_of(pid)) {
                given |= self.make_give_way(&blocker, push).await;
            }
        }
        given
    }

    async fn make_give_way(&self, blocker: &Seat, push: Push) -> bool {
        // Busy: it will be done soon, and is looked at again if not.
        let Ok(mut worker) = blocker.worker.try_lock() else { return false };
        let given = match (push, worker.mode) {
            (Push::Rows, Mode::Live) if worker.has_base => worker.undo().await,
            (Push::Tables, Mode::Live | Mode::Deferred) => {
                let ended = worker.roll_back().await;
                worker.mode = Mode::Lost;
                ended
            }
            _ => return false,
        };
        match &given {
            Ok(()) => self.counters.add(Count::GivenWay),
            Err(failure) => tracing::warn!(%failure, "a session could not give way"),
        }
        given.is_ok()
    }
}

/// Tables on which somebody had to give way a moment ago. Transactions that write them do so from the log at once: to
/// do a write twice is cheaper than to be waited for.
#[derive(Default)]
pub(super) struct Heat {
    warm_since: Mutex<HashMap<u32, Instant>>,
}

impl Heat {
    fn warm(&self, tables: &[u32]) {
        let now = Instant::now();
        self.warm_since.lock().extend(tables.iter().map(|table| (*table, now)));
    }

    pub(super) fn is_warm(&self, tables: &[u32]) -> bool {
        let warm_since = self.warm_since.lock();
        let is_warm =
            |table| warm_since.get(table).is_some_and(|since: &Instant| since.elapsed() < COOLS_AFTER);
        tables.iter().any(is_warm)
    }
}

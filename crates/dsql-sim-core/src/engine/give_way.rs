//! Nobody waits for a transaction that is merely open: it gives way, keeps its snapshot, and does its writes again
//! later.

use std::time::Duration;

use tokio::time::sleep;

use super::{Count, Mode, Seat, Shared};
use crate::backend::Reply;

/// A statement that takes this long may be waiting for a row.
const FIRST_LOOK: Duration = Duration::from_millis(2);
/// And this long between further looks.
const NEXT_LOOK: Duration = Duration::from_millis(3);

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
    pub(crate) async fn push_through<T>(&self, seat: &Seat, push: Push, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        let mut pause = FIRST_LOOK;
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = sleep(pause) => self.push_aside(seat, push).await,
            }
            pause = NEXT_LOOK;
        }
    }

    async fn push_aside(&self, seat: &Seat, push: Push) {
        let sql = format!("SELECT unnest(pg_blocking_pids({}))", seat.pid);
        let answer = self.monitor.lock().await.simple(&sql).await;
        // Without an answer the waiting goes on until PostgreSQL's own limit.
        let Ok(Ok(outcome)) = answer.map(Reply::one) else { return };
        for row in outcome.text_rows() {
            let pid = row.into_iter().flatten().next().and_then(|text| text.parse().ok());
            if let Some(blocker) = pid.and_then(|pid| self.seat_of(pid)) {
                self.make_give_way(&blocker, push).await;
            }
        }
    }

    async fn make_give_way(&self, blocker: &Seat, push: Push) {
        // Busy: it will be done soon, and is looked at again if not.
        let Ok(mut worker) = blocker.worker.try_lock() else { return };
        let given = match (push, worker.mode) {
            (Push::Rows, Mode::Live) if worker.has_base => worker.undo().await,
            (Push::Tables, Mode::Live | Mode::Deferred) => {
                let ended = worker.roll_back().await;
                worker.mode = Mode::Lost;
                ended
            }
            _ => return,
        };
        match given {
            Ok(()) => self.counters.add(Count::GivenWay),
            Err(failure) => tracing::warn!(%failure, "a session could not give way"),
        }
    }
}

//! Ids that follow the last stored one: who loses the race for an id takes the next.

use leasehold_txn::{Operation, Running, Transaction};

use crate::{Database, Error, Result};

/// Each further run means that somebody else was given an id, so this is how many may come first.
const RUNS_MAX: u32 = 100;

impl Database {
    /// [`run`](Self::run) for a body that locks the row that all writers of a queue meet on and inserts the message after the
    /// last one. Where that lock does not stop two from choosing the same id, because a snapshot is from before the wait
    /// for it or because the other is Temporal, which locks otherwise, the key does; the one that it refuses runs again, as a
    /// transaction of its own.
    pub(crate) async fn allocate<'a, T, F>(&self, operation: Operation, body: F) -> Result<T>
    where
        F: for<'t> Fn(&'t Transaction<'a>) -> Running<'t, T, Error>,
    {
        // One for all runs: its deadline is that of the operation.
        let policy = self.takeover_policy();
        let mut runs = 1;
        loop {
            match self.run_with(operation, &policy, &body).await {
                Err(error) if error.is_duplicate() && runs < RUNS_MAX => runs += 1,
                Err(Error::Refused { operation, source })
                    if source.sqlstate() == Some(Error::UNIQUE_VIOLATION) =>
                {
                    return Err(Error::OccExhausted { operation, attempts: runs, source });
                }
                answer => return answer,
            }
        }
    }
}

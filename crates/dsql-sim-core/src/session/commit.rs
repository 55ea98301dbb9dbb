//! COMMIT: the one place where a transaction wins or loses.

use super::{Session, statement::pause, transaction::Transaction};
use crate::{
    backend::Outcome,
    engine::{Count, Mode, Push, Work, Worker},
    failure::{Answered, Failure},
    faults::Point,
};

/// Replays that collided with statements in flight, before it is called a conflict.
const ATTEMPTS_MAX: u32 = 20;
/// Who is idle is pushed aside long before this.
const REPLAY_PATIENCE: &str = "SET LOCAL lock_timeout = '200ms'";
/// A committer outwaits every statement: their own limit is far shorter.
pub(super) const PATIENCE: &str = "SET LOCAL lock_timeout = '5s'";

impl Session {
    pub(super) async fn commit(&mut self) -> Answered<Outcome> {
        let Some(transaction) = self.transaction.take() else { return Ok(Outcome::tagged("COMMIT")) };
        if transaction.has_failed {
            self.release().await?;
            return Ok(Outcome::tagged("ROLLBACK"));
        }
        let seat = self.seat.clone();
        let mut worker = seat.worker.lock().await;
        self.commit_transaction(&mut worker, transaction).await?;
        Ok(Outcome::tagged("COMMIT"))
    }

    /// On failure the caller ends what is left at PostgreSQL.
    pub(super) async fn commit_transaction(
        &self,
        worker: &mut Worker,
        transaction: Transaction,
    ) -> Answered<()> {
        self.check_commit(worker, &transaction).await?;
        let ddl = transaction.changes.is_some();
        let mut is_late = worker.mode == Mode::Deferred && !worker.log.is_empty();
        let has_writes = !worker.log.is_empty() || !transaction.intents.is_empty() || transaction.rows > 0;
        let mut passage = match self.shared().try_passage(&transaction.intents, is_late || ddl) {
            Some(passage) => passage,
            None => {
                // Whoever is ahead may wait for rows that were written here, and can push nobody aside who stands in
                // line: a transaction that can do its writes again gives them back before it waits.
                if worker.mode == Mode::Live && worker.has_base && !ddl {
                    worker.undo().await?;
                    self.shared().counters.add(Count::GivenWay);
                    is_late = !worker.log.is_empty();
                }
                self.shared().passage(&transaction.intents, is_late || ddl).await
            }
        };
        let snapshot = transaction.snapshot.unwrap_or_default();
        let push = if ddl { Push::Tables } else { Push::Rows };
        let mut attempt = 0;
        loop {
            if self.shared().intents.conflict(&transaction.intents, snapshot) {
                return Err(Failure::data_conflict().into());
            }
            if !is_late || self.replay(worker, push, &transaction.tables).await? {
                break;
            }
            // Left are those who cannot give their rows back: a statement under way, and DDL, which may be waiting for
            // this very passage. They go first.
            drop(passage);
            worker.undo().await?;
            attempt += 1;
            if attempt >= ATTEMPTS_MAX {
                return Err(Failure::data_conflict().into());
            }
            pause(attempt).await;
            passage = self.shared().passage(&transaction.intents, is_late || ddl).await;
        }
        let rules =
            if has_writes { self.shared().rules_of(worker, &transaction.tables).await? } else { None };
        if worker.mode != Mode::Idle {
            let outcome = worker.connection.simple("COMMIT").await?.one().map_err(told_at_commit)?;
            if outcome.tag.as_deref() != Some("COMMIT") {
                return Err(Failure::data_conflict().into());
            }
        }
        worker.forget();
        self.shared().remember(&transaction.intents);
        if let Some(changes) = &transaction.changes {
            self.shared().catalogue.changed(changes.as_deref());
        }
        if let Some(rules) = rules {
            self.shared().follow(rules);
        }
        drop(passage);
        self.seat.set_snapshot(None);
        if has_writes {
            self.shared().counters.add(Count::Commits);
        }
        self.after_commit(&transaction).await
    }

    async fn check_commit(&self, worker: &Worker, transaction: &Transaction) -> Answered<()> {
        if !transaction.footprints.is_empty() {
            self.inject(Point::BeforeCommit, &transaction.footprints).await?;
        }
        if transaction.is_doomed {
            return Err(Failure::data_conflict().into());
        }
        let catalogue = &self.shared().catalogue;
        let is_stale = transaction.tables.iter().any(|table| catalogue.is_newer(*table, transaction.version));
        if worker.mode == Mode::Lost || is_stale {
            return Err(Failure::schema_conflict().into());
        }
        let limits = &self.engine.config().limits;
        transaction.check_age(limits)?;
        transaction.check_bytes(limits)?;
        Ok(())
    }

    async fn after_commit(&self, transaction: &Transaction) -> Answered<()> {
        if transaction.footprints.is_empty() {
            return Ok(());
        }
        self.inject(Point::AfterCommit, &transaction.footprints).await
    }

    /// Does the whole log again, on the snapshot it was made for. What worked then and does not now was overtaken. Not
    /// done where somebody who is busy has the rows.
    async fn replay(&self, worker: &mut Worker, push: Push, tables: &[u32]) -> Result<bool, Failure> {
        self.shared().counters.add(Count::Replays);
        let work = Work { prelude: REPLAY_PATIENCE, replays: true, ..Work::default() };
        let performed = self.shared().push_through(&self.seat, push, tables, worker.perform(work)).await?;
        match performed.failure {
            None => Ok(true),
            Some(failure) if failure.is_collision() => Ok(false),
            Some(failure) => Err(overtaken(failure)),
        }
    }
}

/// Constraints that held before and are broken now were broken by another's commit.
fn overtaken(failure: Failure) -> Failure {
    match failure.sqlstate() {
        "40001" | "23505" | "23503" | "55P03" | "40P01" => Failure::data_conflict(),
        _ => failure,
    }
}

fn told_at_commit(failure: Failure) -> Failure {
    if failure.is_conflict() || failure.is_collision() { Failure::data_conflict() } else { failure }
}

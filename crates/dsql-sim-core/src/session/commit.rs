//! COMMIT: the one place where a transaction wins or loses.

use std::time::Duration;

use super::{Session, statement::pause, transaction::Transaction};
use crate::{
    backend::Outcome,
    engine::{Count, Mode, Push, Work, Worker},
    failure::{Answered, Failure},
    faults::Point,
    intents::{Intent, Rivals, Xid},
};

/// Replays that collided with statements in flight, before it is called a conflict.
const ATTEMPTS_MAX: u32 = 20;
/// The commit of another is a round trip to PostgreSQL.
const NEXT_LOOK: Duration = Duration::from_micros(200);
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
            if self.is_overtaken(worker, &transaction.intents, snapshot).await? {
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
        let under_way = self.shared().intents.under_way(&transaction.intents);
        let xid = end(worker, !transaction.intents.is_empty()).await?;
        worker.forget();
        self.shared().remember(&transaction.intents, xid);
        drop(under_way);
        if let Some(changes) = &transaction.changes {
            self.shared().catalogue.changed(changes.as_deref());
        }
        if let Some(build) = &transaction.build {
            self.shared().begin_build(build.clone()).await;
        }
        if let Some(rules) = rules {
            self.shared().follow(rules);
        }
        drop(passage);
        self.seat.set_snapshot(None);
        if has_writes {
            self.shared().counters.add(Count::Commits);
        }
        self.strike(Point::AfterCommit, &transaction).await
    }

    /// Whether somebody committed since the snapshot what these intents exclude. The number of the snapshot is older than
    /// the snapshot itself, so PostgreSQL is asked which of the rivals it has not seen.
    async fn is_overtaken(
        &self,
        worker: &mut Worker,
        intents: &[Intent],
        snapshot: u64,
    ) -> Result<bool, Failure> {
        while self.shared().intents.must_wait(intents) {
            tokio::time::sleep(NEXT_LOOK).await;
        }
        let Rivals { is_certain, xids } = self.shared().intents.rivals(intents, snapshot);
        if is_certain || xids.is_empty() {
            return Ok(is_certain);
        }
        let xids: Vec<String> = xids.iter().map(|xid| format!("'{xid}'")).collect();
        let sql = format!(
            "SELECT bool_and(pg_visible_in_snapshot(xid, pg_current_snapshot())) FROM unnest(ARRAY[{}]::xid8[]) xid",
            xids.join(", ")
        );
        let outcome = worker.connection.simple(&sql).await?.one()?;
        let has_seen_all = outcome.text_rows().pop().and_then(|mut row| row.pop().flatten());
        Ok(has_seen_all.as_deref() != Some("t"))
    }

    async fn check_commit(&self, worker: &Worker, transaction: &Transaction) -> Answered<()> {
        self.strike(Point::BeforeCommit, transaction).await?;
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

    /// Asks the fault rules about what the transaction did; of what it did on the control tables they know nothing.
    pub(super) async fn strike(&self, point: Point, transaction: &Transaction) -> Answered<()> {
        if transaction.footprints.is_empty() {
            return Ok(());
        }
        self.inject(point, &transaction.footprints).await
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

/// Commits at PostgreSQL. Where it is asked for, tells the number of the transaction there: what brings intents has
/// written or locked a row, and so has one.
async fn end(worker: &mut Worker, is_numbered: bool) -> Result<Xid, Failure> {
    if worker.mode == Mode::Idle {
        return Ok(0);
    }
    let sql = if is_numbered { "SELECT pg_current_xact_id(); COMMIT" } else { "COMMIT" };
    let outcomes = worker.connection.simple(sql).await?.all().map_err(told_at_commit)?;
    if outcomes.last().and_then(|outcome| outcome.tag.as_deref()) != Some("COMMIT") {
        return Err(Failure::data_conflict());
    }
    let xid = outcomes.first().and_then(|outcome| outcome.text_rows().pop()?.pop()?);
    Ok(xid.and_then(|xid| xid.parse().ok()).unwrap_or(0))
}

/// Constraints that held before and are broken now were broken by another's commit.
fn overtaken(failure: Failure) -> Failure {
    match failure.sqlstate() {
        "40001" | "23505" | "23503" | "55P03" | "40P01" => Failure::data_conflict(),
        _ => failure,
    }
}

fn told_at_commit(failure: Failure) -> Failure {
    let is_over = failure.sqlstate() == "25P02";
    if is_over || failure.is_conflict() || failure.is_collision() {
        Failure::data_conflict()
    } else {
        failure
    }
}

//! A statement that is a transaction by itself.

use super::{
    Bound, Prepared, Session,
    statement::{ATTEMPTS_MAX, pause},
    transaction::Transaction,
};
use crate::{
    backend::Outcome,
    engine::{Mode, Push, Work},
    failure::{Answered, Failure},
    faults::{Footprint, Point},
    plan::{Action, Plan, Write},
};

impl Session {
    pub(super) async fn run_alone(
        &mut self,
        plan: &Plan,
        prepared: &Prepared,
        bound: &Bound,
        footprint: Option<Footprint>,
    ) -> Answered<Outcome> {
        let mut transaction = Transaction::new(true, false, self.shared().catalogue.version());
        transaction.footprints.extend(footprint);
        transaction.tables.extend(&plan.tables);
        match &plan.action {
            Action::Write(write) => self.write_alone(write, prepared, bound, transaction).await,
            Action::Locking(_) => {
                self.transaction = Some(transaction);
                let outcome = self.run_in_transaction(plan, prepared, bound).await?;
                self.commit().await?;
                Ok(outcome)
            }
            Action::Ddl { .. } => self.ddl_alone(plan, transaction).await,
            _ => self.read_alone(plan, prepared, bound, &transaction).await,
        }
    }

    /// PostgreSQL commits it with the statement, so a fault at COMMIT can only take its answer away. A SET is spared: it
    /// would have to be taken back.
    async fn read_alone(
        &mut self,
        plan: &Plan,
        prepared: &Prepared,
        bound: &Bound,
        transaction: &Transaction,
    ) -> Answered<Outcome> {
        let call = prepared.call(&plan.parsed.sql, bound);
        let performed = {
            let mut worker = self.seat.worker.lock().await;
            worker.perform(Work { calls: &[call], ..Work::default() }).await?
        };
        self.asides.extend(performed.asides);
        if let Some(failure) = performed.failure {
            return Err(failure.into());
        }
        if matches!(plan.action, Action::Set) {
            self.learn_schemas().await?;
        } else {
            self.strike(Point::BeforeCommit, transaction).await?;
            self.strike(Point::AfterCommit, transaction).await?;
        }
        Ok(performed.outcomes.into_iter().next_back().unwrap_or_default())
    }

    /// Its snapshot is as old as the statement, so PostgreSQL's own judgement is DSQL's: who was committed in between
    /// wins.
    async fn write_alone(
        &mut self,
        write: &Write,
        prepared: &Prepared,
        bound: &Bound,
        mut transaction: Transaction,
    ) -> Answered<Outcome> {
        let calls = write.calls(prepared, bound);
        let seat = self.seat.clone();
        let mut worker = seat.worker.lock().await;
        let mut attempt = 0;
        let mut outcomes = loop {
            let snapshot = self.shared().intents.now();
            transaction.snapshot = Some(snapshot);
            seat.set_snapshot(Some(snapshot));
            worker.mode = Mode::Live;
            let work = Work { prelude: transaction.begin_sql(), calls: &calls, ..Work::default() };
            let mut performed = self
                .shared()
                .push_through(&seat, Push::Rows, &transaction.tables, worker.perform(work))
                .await?;
            self.asides.append(&mut performed.asides);
            let Some(failure) = performed.failure else {
                break performed.outcomes;
            };
            worker.roll_back().await?;
            attempt += 1;
            // A key that was taken while the statement ran may be there for all to see the second time.
            let is_taken = failure.sqlstate() == "23505" && attempt == 1;
            let collides = failure.is_collision() && !self.is_native() && attempt <= ATTEMPTS_MAX;
            if !is_taken && !collides {
                let is_conflict = failure.is_conflict() || failure.is_collision();
                return Err(if is_conflict { Failure::data_conflict() } else { failure }.into());
            }
            pause(attempt).await;
        };
        let mut outcome = outcomes.pop().unwrap_or_default();
        let former =
            write.former.iter().zip(&mut outcomes).map(|(former, outcome)| (&former.capture, outcome));
        for ((capture, outcome), call) in former.chain([(&write.capture, &mut outcome)]).zip(&calls) {
            let captured = capture.take(outcome, &call.formats);
            transaction.bytes += captured.bytes;
            transaction.intents.extend(captured.intents);
        }
        transaction.add_rows(outcome.affected(), &self.engine.config().limits)?;
        self.commit_transaction(&mut worker, transaction).await?;
        Ok(outcome)
    }
}

//! A statement inside a transaction: done at once in its snapshot, and once more at COMMIT if the transaction had to
//! give way in between.

use std::time::Duration;

use super::{Bound, Prepared, Session, concurrent::Breach, transaction::Transaction};
use crate::{
    backend::{Call, Outcome},
    config::Mode as Config,
    engine::{Entry, Mode, Performed, Push, UNDO, Work, Worker},
    failure::{Answered, Failure},
    plan::{Action, Capture, Locking, Plan, Shadow, Write},
};

/// Collisions of statements that were running at the same time, before it is called a conflict.
pub(super) const ATTEMPTS_MAX: u32 = 20;

/// How often a write is done that met a key which was gone when it was looked for.
const TRIES_MAX: u32 = 4;

/// Steps of one statement that go to PostgreSQL together.
struct Steps<'a> {
    calls: Vec<Call>,
    /// From this call on they belong into the log.
    logged_from: usize,
    captures: Vec<Option<&'a Capture>>,
    /// Takes row locks.
    locks: bool,
}

/// Why steps were not done, and what was done of them.
pub(super) struct Missed {
    pub(super) failure: Failure,
    outcomes: Vec<Outcome>,
    is_replay: bool,
}

impl Session {
    pub(super) async fn run_in_transaction(
        &mut self,
        plan: &Plan,
        prepared: &Prepared,
        bound: &Bound,
    ) -> Answered<Outcome> {
        let seat = self.seat.clone();
        let mut worker = seat.worker.lock().await;
        let Some(mut transaction) = self.transaction.take() else {
            return Err(Failure::new("XX000", "no transaction is open").into());
        };
        let ran = match self.enter(&mut transaction, &worker, plan) {
            Ok(()) => match &plan.action {
                Action::Write(write) => {
                    self.write(&mut worker, &mut transaction, write, prepared, bound).await
                }
                Action::Locking(locking) => {
                    let steps = if self.is_native() {
                        Steps::of_lock(&plan.parsed.sql, prepared, bound)
                    } else {
                        Steps::of_locking(locking, prepared, bound)
                    };
                    self.lock(&mut worker, &mut transaction, steps).await
                }
                Action::Ddl { .. } => self.ddl(&mut worker, &mut transaction, plan).await,
                _ => self.read(&mut worker, &mut transaction, plan, prepared, bound).await,
            },
            Err(failure) => Err(failure),
        };
        self.transaction = Some(transaction);
        drop(worker);
        if matches!(plan.action, Action::Set) && ran.is_ok() {
            self.learn_schemas().await?;
        }
        Ok(ran?)
    }

    pub(super) fn is_native(&self) -> bool {
        self.engine.config().mode == Config::Native
    }

    /// The transaction goes on to one more statement.
    fn enter(&self, transaction: &mut Transaction, worker: &Worker, plan: &Plan) -> Result<(), Failure> {
        transaction.check_age(&self.engine.config().limits)?;
        let catalogue = &self.shared().catalogue;
        let is_stale = plan.tables.iter().any(|table| catalogue.is_newer(*table, transaction.version));
        if worker.mode == Mode::Lost || is_stale {
            return Err(Failure::schema_conflict());
        }
        transaction.tables.extend(&plan.tables);
        if transaction.snapshot.is_none() {
            let now = self.shared().intents.now();
            transaction.snapshot = Some(now);
            self.seat.set_snapshot(Some(now));
        }
        Ok(())
    }

    async fn read(
        &mut self,
        worker: &mut Worker,
        transaction: &mut Transaction,
        plan: &Plan,
        prepared: &Prepared,
        bound: &Bound,
    ) -> Result<Outcome, Failure> {
        let is_set = matches!(plan.action, Action::Set);
        let steps = Steps {
            calls: vec![prepared.call(&plan.parsed.sql, bound)],
            logged_from: usize::from(!is_set),
            captures: vec![None],
            locks: false,
        };
        let mut done = self.steps(worker, transaction, &steps).await;
        if let Err(missed) = &done
            && missed.is_replay
        {
            // What it wrote cannot be shown any more; the snapshot can.
            doom(worker, transaction);
            done = self.steps(worker, transaction, &steps).await;
        }
        done.map(|mut outcomes| outcomes.pop().unwrap_or_default()).map_err(|missed| missed.failure)
    }

    async fn write(
        &mut self,
        worker: &mut Worker,
        transaction: &mut Transaction,
        write: &Write,
        prepared: &Prepared,
        bound: &Bound,
    ) -> Result<Outcome, Failure> {
        transaction.place.dml_done = true;
        let steps = Steps::of_write(write, prepared, bound);
        let mut tries = 0;
        let outcome = loop {
            let missed = match self.steps(worker, transaction, &steps).await {
                Ok(mut outcomes) => break outcomes.pop().unwrap_or_default(),
                Err(missed) => missed,
            };
            tries += 1;
            match self.blame(worker, transaction, &missed).await? {
                Breach::Others => {
                    break lost(worker, transaction, &write.shadow, prepared, bound).await?;
                }
                Breach::Nobody if tries < TRIES_MAX => {}
                Breach::Own | Breach::Nobody => return Err(missed.failure),
            }
        };
        transaction.add_rows(outcome.affected(), &self.engine.config().limits)?;
        Ok(outcome)
    }

    async fn lock(
        &mut self,
        worker: &mut Worker,
        transaction: &mut Transaction,
        steps: Steps<'_>,
    ) -> Result<Outcome, Failure> {
        transaction.place.dml_done = true;
        match self.steps(worker, transaction, &steps).await {
            Ok(outcomes) => Ok(outcomes.into_iter().next().unwrap_or_default()),
            Err(missed) if missed.is_replay => {
                doom(worker, transaction);
                let read = Steps {
                    calls: steps.calls[..1].to_vec(),
                    logged_from: 1,
                    captures: vec![None],
                    locks: false,
                };
                let done = self.steps(worker, transaction, &read).await.map_err(|missed| missed.failure)?;
                Ok(done.into_iter().next().unwrap_or_default())
            }
            Err(mut missed) => {
                // The read was done before the lock was missed.
                let read = (!missed.outcomes.is_empty()).then(|| missed.outcomes.remove(0));
                match self.blame(worker, transaction, &missed).await? {
                    Breach::Others => {
                        doom(worker, transaction);
                        read.ok_or_else(Failure::data_conflict)
                    }
                    Breach::Own | Breach::Nobody => Err(missed.failure),
                }
            }
        }
    }

    /// Because of whom PostgreSQL has refused a write.
    async fn blame(
        &self,
        worker: &mut Worker,
        transaction: &Transaction,
        missed: &Missed,
    ) -> Result<Breach, Failure> {
        let failure = &missed.failure;
        let is_conflict = failure.is_conflict() || failure.is_collision();
        match self.is_native() {
            true if is_conflict => Err(Failure::data_conflict()),
            true => Ok(Breach::Own),
            false if is_conflict || missed.is_replay => Ok(Breach::Others),
            false => self.breach(worker, &transaction.tables, failure).await,
        }
    }

    /// Does the steps in the transaction's snapshot, after all it wrote before.
    async fn steps(
        &mut self,
        worker: &mut Worker,
        transaction: &mut Transaction,
        steps: &Steps<'_>,
    ) -> Result<Vec<Outcome>, Missed> {
        let mut attempt = 0;
        loop {
            let performed = self.try_steps(worker, transaction, steps).await.map_err(Missed::lost)?;
            self.asides.extend(performed.asides);
            let Some(failure) = performed.failure else {
                return Ok(finish(worker, transaction, steps, performed.outcomes));
            };
            attempt += 1;
            let is_over = self.is_native() || !steps.locks && worker.log.is_empty() || attempt > ATTEMPTS_MAX;
            if is_over || !failure.is_collision() {
                return Err(Missed {
                    failure,
                    outcomes: performed.outcomes,
                    is_replay: performed.is_replay_failure,
                });
            }
            pause(attempt).await;
        }
    }

    async fn try_steps(
        &self,
        worker: &mut Worker,
        transaction: &Transaction,
        steps: &Steps<'_>,
    ) -> Result<Performed, Failure> {
        let needs_base = steps.locks && !worker.has_base && !self.is_native();
        // Before the first write, nothing stands in the way of writing from the log.
        let is_yielding = needs_base && self.shared().is_contended(&transaction.tables);
        let begin = if worker.mode == Mode::Idle { transaction.begin_sql() } else { "" };
        let base = if needs_base { "SAVEPOINT base" } else { "" };
        let prelude = [begin, base].into_iter().filter(|sql| !sql.is_empty()).collect::<Vec<_>>().join("; ");
        let replays = worker.mode == Mode::Deferred && !worker.log.is_empty();
        let undoes = is_yielding || worker.mode == Mode::Deferred && (replays || steps.locks);
        let work = Work {
            prelude: &prelude,
            replays,
            calls: &steps.calls,
            epilogue: if undoes { UNDO } else { "" },
        };
        let performed = if steps.locks || replays {
            self.shared()
                .push_through(&self.seat, Push::Rows, &transaction.tables, worker.perform(work))
                .await?
        } else {
            worker.perform(work).await?
        };
        if is_yielding {
            worker.mode = Mode::Deferred;
        } else if worker.mode == Mode::Idle {
            worker.mode = Mode::Live;
        }
        worker.has_base |= needs_base;
        if performed.failure.is_some() && worker.mode == Mode::Live && worker.has_base {
            // Row locks go, the snapshot stays: the rest of the transaction is done from the log.
            worker.undo().await?;
        }
        Ok(performed)
    }
}

impl Write {
    /// The statement itself is the last.
    pub(super) fn calls(&self, prepared: &Prepared, bound: &Bound) -> Vec<Call> {
        let former = self.former.iter();
        let former = former.map(|former| Call { formats: Vec::new(), ..prepared.call(&former.sql, bound) });
        let formats = self.capture.formats(&bound.formats);
        former.chain([Call { formats, ..prepared.call(&self.sql, bound) }]).collect()
    }
}

impl Missed {
    /// The connection to PostgreSQL is gone, or its transaction is.
    fn lost(failure: Failure) -> Missed {
        Missed { failure, outcomes: Vec::new(), is_replay: false }
    }
}

impl<'a> Steps<'a> {
    fn of_write(write: &'a Write, prepared: &Prepared, bound: &Bound) -> Steps<'a> {
        let former = write.former.iter();
        Steps {
            calls: write.calls(prepared, bound),
            logged_from: former.len(),
            captures: former.map(|former| Some(&former.capture)).chain([Some(&write.capture)]).collect(),
            locks: true,
        }
    }

    fn of_locking(locking: &'a Locking, prepared: &Prepared, bound: &Bound) -> Steps<'a> {
        let read = prepared.call(&locking.read, bound);
        let touches = locking.touches.iter();
        let calls =
            touches.clone().map(|touch| Call { formats: Vec::new(), ..prepared.call(&touch.sql, bound) });
        Steps {
            calls: std::iter::once(read).chain(calls).collect(),
            logged_from: 1,
            captures: std::iter::once(None).chain(touches.map(|touch| Some(&touch.capture))).collect(),
            locks: true,
        }
    }

    /// As the client wrote it, for the mode in which PostgreSQL's own locks decide.
    fn of_lock(sql: &str, prepared: &Prepared, bound: &Bound) -> Steps<'a> {
        Steps {
            calls: vec![prepared.call(&sql.into(), bound)],
            logged_from: 1,
            captures: vec![None],
            locks: true,
        }
    }
}

/// The transaction has lost to somebody who committed since the snapshot, and COMMIT will say so; a write answers what it
/// would have done.
async fn lost(
    worker: &mut Worker,
    transaction: &mut Transaction,
    shadow: &Shadow,
    prepared: &Prepared,
    bound: &Bound,
) -> Result<Outcome, Failure> {
    doom(worker, transaction);
    match shadow {
        Shadow::Inserted(rows) => Ok(Outcome::tagged(format!("INSERT 0 {rows}"))),
        Shadow::Count(verb, sql) => {
            let call = Call { formats: Vec::new(), ..prepared.call(sql, bound) };
            let work = Work { calls: &[call], ..Work::default() };
            let mut performed = worker.perform(work).await?;
            if let Some(failure) = performed.failure {
                tracing::debug!(%failure, "no count for a statement that lost");
                return Err(Failure::data_conflict());
            }
            let count = performed.outcomes.pop().and_then(|outcome| outcome.text_rows().pop()?.pop()?);
            Ok(Outcome::tagged(format!("{verb} {}", count.unwrap_or_else(|| "0".into()))))
        }
        Shadow::None => Err(Failure::data_conflict()),
    }
}

/// Takes what was captured out of the outcomes and writes the log.
fn finish(
    worker: &mut Worker,
    transaction: &mut Transaction,
    steps: &Steps<'_>,
    mut outcomes: Vec<Outcome>,
) -> Vec<Outcome> {
    for (index, outcome) in outcomes.iter_mut().enumerate() {
        let Some(call) = steps.calls.get(index) else { break };
        if let Some(Some(capture)) = steps.captures.get(index) {
            let captured = capture.take(outcome, &call.formats);
            transaction.bytes += captured.bytes;
            transaction.intents.extend(captured.intents);
        }
        if index >= steps.logged_from && !transaction.is_doomed {
            worker.log.push(Entry { call: call.clone(), tag: outcome.tag.clone() });
        }
    }
    outcomes
}

fn doom(worker: &mut Worker, transaction: &mut Transaction) {
    worker.log.clear();
    transaction.doom();
}

/// Short, longer each time, and different for each who collided.
pub(super) async fn pause(attempt: u32) {
    let mut bytes = [0];
    let _ = getrandom::fill(&mut bytes);
    let micros = u64::from(bytes[0]) * 20 * u64::from(attempt.min(10));
    tokio::time::sleep(Duration::from_micros(micros)).await;
}

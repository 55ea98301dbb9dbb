//! One connection to the simulated cluster.

mod commit;
mod concurrent;
mod ddl;
mod implicit;
mod job;
mod prepare;
mod statement;
mod transaction;

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;

pub use prepare::{Bound, Prepared};
use transaction::Transaction;

use crate::{
    backend::{CancelKey, Connection, DEALLOCATE_ALL, Outcome},
    engine::{Count, Engine, Seat, Shared, Worker},
    failure::{Answered, Failure, Stop},
    faults::{Footprint, Point, Verdict},
    plan::{Action, Plan},
    rules::{self, Kind, Parsed, Place},
};

/// What the client may do next, as the protocol tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// No transaction is open.
    Idle,
    /// A transaction is open.
    Open,
    /// A transaction has failed and waits for its end.
    Failed,
}

/// One connection to the simulated cluster. Calls run one after the other; dropping one midway may leave its statement
/// running at PostgreSQL, and the next call waits for that.
pub struct Session {
    engine: Engine,
    seat: Arc<Seat>,
    transaction: Option<Transaction>,
    /// Where unqualified names are looked for.
    schemas: Vec<String>,
    prepared: HashMap<(String, Vec<u32>), Arc<Prepared>>,
    /// Notices and changed parameters to be sent to the client.
    asides: Vec<(u8, Bytes)>,
    parameters: Vec<(String, String)>,
}

/// Cancels what a session is doing.
#[derive(Clone, Debug)]
pub struct Canceller {
    key: CancelKey,
}

impl Canceller {
    /// Asks PostgreSQL to cancel; what the session was doing fails with `57014`, if it was doing anything.
    pub async fn cancel(&self) {
        if let Err(error) = self.key.cancel().await {
            tracing::warn!(%error, "a cancel request did not reach the database behind the simulator");
        }
    }
}

/// Every session at PostgreSQL has these: snapshots as DSQL has them, and a bound for waits that nobody's giving way
/// ends.
const SETTINGS: &str =
    r"-c default_transaction_isolation=repeatable\ read -c lock_timeout=150 -c lc_messages=C";

impl Engine {
    /// Opens a session. `settings` are what a client asked for at its start, as words of a command line
    /// (`-c search_path=app`).
    ///
    /// # Errors
    /// What PostgreSQL answers, or that it cannot be reached.
    pub async fn session(&self, settings: &str) -> Result<Session, Failure> {
        let connection = Connection::open(&self.config().backing, &format!("{SETTINGS} {settings}")).await?;
        let parameters = connection.parameters.clone();
        let seat = self.shared.take_seat(Worker::new(connection));
        let mut session = Session {
            engine: self.clone(),
            seat,
            transaction: None,
            schemas: Vec::new(),
            prepared: HashMap::new(),
            asides: Vec::new(),
            parameters,
        };
        session.learn_schemas().await?;
        Ok(session)
    }
}

impl Session {
    /// What the client may do next.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.transaction {
            None => Status::Idle,
            Some(transaction) if transaction.has_failed => Status::Failed,
            Some(_) => Status::Open,
        }
    }

    /// What PostgreSQL said of itself at the start.
    #[must_use]
    pub fn parameters(&self) -> &[(String, String)] {
        &self.parameters
    }

    /// Notices and changed parameters since the last call: type and body of messages.
    pub fn take_asides(&mut self) -> Vec<(u8, Bytes)> {
        std::mem::take(&mut self.asides)
    }

    /// Cancels what this session is doing, from elsewhere.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        Canceller { key: self.seat.cancel_key.clone() }
    }

    /// Runs a query text of one or more statements, which are one transaction unless they say otherwise. What was
    /// answered before a failure is given with it.
    ///
    /// Dropping it midway may leave any part of it done.
    pub async fn query(&mut self, sql: &str) -> (Vec<Outcome>, Option<Stop>) {
        let mut outcomes = Vec::new();
        let stop = self.query_into(sql, &mut outcomes).await.err();
        (outcomes, stop)
    }

    async fn query_into(&mut self, sql: &str, outcomes: &mut Vec<Outcome>) -> Answered<()> {
        let statements = match rules::statements(sql) {
            Ok(statements) => statements,
            Err(refusal) => return Err(self.refused(refusal).await),
        };
        if statements.is_empty() {
            outcomes.push(Outcome::default());
        }
        let is_alone = statements.len() == 1;
        for parsed in statements.iter() {
            if !is_alone && self.transaction.is_none() && !ends_or_begins(parsed) {
                self.begin_implicit();
            }
            let prepared = self.unprepared(parsed.clone()).await?;
            outcomes.push(self.run(&prepared, &Bound::default()).await?);
        }
        self.end_implicit().await
    }

    /// Statements from here to [`Session::end_implicit`] are one transaction, unless one is open already.
    pub fn begin_implicit(&mut self) {
        if self.transaction.is_none() {
            self.transaction = Some(Transaction::new(true, false, self.shared().catalogue.version()));
        }
    }

    /// Commits what [`Session::begin_implicit`] began.
    ///
    /// # Errors
    /// As COMMIT.
    pub async fn end_implicit(&mut self) -> Answered<()> {
        match &self.transaction {
            Some(transaction) if transaction.is_implicit && transaction.has_failed => {
                self.transaction = None;
                Ok(())
            }
            Some(transaction) if transaction.is_implicit => self.commit().await.map(drop),
            _ => Ok(()),
        }
    }

    /// Runs one statement.
    ///
    /// Dropping it midway may leave it done or not, as losing the connection would.
    ///
    /// # Errors
    /// What the client is to be told.
    pub async fn run(&mut self, prepared: &Prepared, bound: &Bound) -> Answered<Outcome> {
        let plan = self.current(prepared).await?;
        let ran = self.run_plan(&plan, prepared, bound).await;
        match ran {
            Err(Stop::Failed(failure)) => Err(self.failed(failure).await),
            other => other,
        }
    }

    async fn run_plan(&mut self, plan: &Plan, prepared: &Prepared, bound: &Bound) -> Answered<Outcome> {
        self.shared().counters.add(Count::Statements);
        if self.status() == Status::Failed && !matches!(plan.action, Action::Commit | Action::Rollback) {
            return Err(Failure::aborted().into());
        }
        self.check_rules(&plan.parsed)?;
        self.check_tables(plan)?;
        self.shared().end_builds().await?;
        if plan.parsed.waits_for_job() {
            self.wait_for_builds().await?;
        }
        match plan.action {
            Action::Begin => return Ok(self.begin(&plan.parsed)),
            Action::Commit => return self.commit().await,
            Action::Rollback => return self.roll_back().await,
            Action::DeallocateAll => return Ok(Outcome::tagged(DEALLOCATE_ALL)),
            _ => {}
        }
        let footprint = if self.shared().is_control(plan) {
            self.shared().show_counts().await?;
            None
        } else {
            Some(Footprint::of(&plan.parsed))
        };
        self.inject(Point::Statement, footprint.as_slice()).await?;
        if let Some(transaction) = &mut self.transaction {
            transaction.footprints.extend(footprint);
            self.run_in_transaction(plan, prepared, bound).await
        } else {
            self.run_alone(plan, prepared, bound, footprint).await
        }
    }

    fn check_rules(&self, parsed: &Parsed) -> Result<(), Failure> {
        let config = self.engine.config();
        let place = self.place();
        rules::check(parsed, config.level, config.is_strict, place).map_err(|refusal| self.refusal(refusal))
    }

    /// The rules that need to know the tables.
    fn check_tables(&self, plan: &Plan) -> Result<(), Failure> {
        let judged = match &plan.action {
            Action::Locking(locking) => vec![
                (locking.is_stored, &rules::LOCKING_TABLE, ""),
                (locking.is_keyed, &rules::LOCKING_KEY, ""),
            ],
            Action::Ddl { unfit_type: Some(data_type), .. } => {
                vec![(false, &rules::KEY_TYPE, data_type.as_str())]
            }
            _ => return Ok(()),
        };
        let config = self.engine.config();
        let mut broken = judged.iter().filter(|(is_kept, _, _)| !is_kept);
        match broken.find(|(_, rule, _)| rule.holds(config.level, config.is_strict)) {
            Some((_, rule, detail)) => Err(self.refusal(rule.refusal(detail))),
            None => Ok(()),
        }
    }

    fn refusal(&self, refusal: rules::Refusal) -> Failure {
        self.shared().counters.add(Count::Refusals);
        tracing::info!(rule = refusal.rule, sqlstate = refusal.sqlstate, "refused: {}", refusal.message);
        refusal.into()
    }

    fn place(&self) -> Place {
        self.transaction.as_ref().map(|transaction| transaction.place).unwrap_or_default()
    }

    fn begin(&mut self, parsed: &Parsed) -> Outcome {
        let is_read_only = prepare::is_read_only(&parsed.statement);
        match &mut self.transaction {
            // Inside a query text of several statements, BEGIN makes the open transaction one that stays.
            Some(transaction) => transaction.is_implicit = false,
            None => {
                let version = self.shared().catalogue.version();
                self.transaction = Some(Transaction::new(false, is_read_only, version));
            }
        }
        Outcome::tagged("BEGIN")
    }

    async fn roll_back(&mut self) -> Answered<Outcome> {
        self.transaction = None;
        self.release().await?;
        Ok(Outcome::tagged("ROLLBACK"))
    }

    /// Nothing of the transaction stays at PostgreSQL.
    async fn release(&mut self) -> Result<(), Failure> {
        self.seat.set_snapshot(None);
        self.seat.worker.lock().await.roll_back().await
    }

    /// Counts a failure, and lets it end the transaction as far as failures do.
    async fn failed(&mut self, failure: Failure) -> Stop {
        // Writers that collide are told so elsewhere; what holds up a reader is DDL.
        let is_ddl = failure.is_stale_plan() || failure.is_collision();
        let failure = if is_ddl { Failure::schema_conflict() } else { failure };
        let counters = &self.shared().counters;
        match failure.sqlstate() {
            "40001" if failure.message().contains("OC001") => counters.add(Count::SchemaConflicts),
            "40001" => counters.add(Count::Conflicts),
            "54000" => counters.add(Count::Limits),
            _ => {}
        }
        if let Some(transaction) = &mut self.transaction {
            transaction.has_failed = true;
            if transaction.is_implicit {
                self.transaction = None;
            }
        }
        match self.release().await {
            Ok(()) => failure.into(),
            Err(lost) => Stop::Closed(lost),
        }
    }

    /// A refusal by the parser or by a rule.
    pub(super) async fn refused(&mut self, refusal: rules::Refusal) -> Stop {
        if self.status() == Status::Failed {
            return Failure::aborted().into();
        }
        let failure = self.refusal(refusal);
        self.failed(failure).await
    }

    /// Asks the fault rules.
    async fn inject(&self, point: Point, footprints: &[Footprint]) -> Answered<()> {
        match self.shared().faults.decide(point, footprints) {
            None => Ok(()),
            Some(Verdict::Delay(delay)) => {
                tokio::time::sleep(delay).await;
                Ok(())
            }
            Some(Verdict::Fail(failure)) => Err(failure.into()),
            Some(Verdict::Close(failure)) => Err(Stop::Closed(failure)),
            Some(Verdict::Cut) => Err(Stop::Cut),
            // Asked for where an index is built.
            Some(Verdict::FailBuild | Verdict::SlowBuild { .. }) => Ok(()),
        }
    }

    /// Where unqualified names are looked for may have changed.
    async fn learn_schemas(&mut self) -> Result<(), Failure> {
        let sql = "SELECT unnest(current_schemas(false))";
        let outcome = self.seat.worker.lock().await.connection.simple(sql).await?.one()?;
        self.schemas = outcome.text_rows().into_iter().filter_map(|mut row| row.pop().flatten()).collect();
        Ok(())
    }

    fn shared(&self) -> &Shared {
        &self.engine.shared
    }
}

impl Drop for Session {
    /// PostgreSQL ends what is open when its connection goes with the seat.
    fn drop(&mut self) {
        self.engine.shared.leave_seat(self.seat.id);
    }
}

fn ends_or_begins(parsed: &Parsed) -> bool {
    matches!(parsed.kind, Kind::Begin | Kind::Commit | Kind::Rollback)
}

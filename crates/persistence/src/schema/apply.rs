//! Makes what is missing.

use std::time::Duration;

use leasehold_core::{Class, Deadline};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{Operation, Parameters, Policy, Pool, Statement, is_made_by_another, make_dsql_indexes};

use super::catalogue::Found;
use super::step::Kind;
use super::version::{self, VERSION, is_new_enough};
use super::{Difference, Schema, Step, shape};
use crate::{Error, Result};

pub(super) const APPLY: Operation = Operation::new("state.apply_schema");
/// How long one statement may take, an index over a filled table included.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(600);
/// Every change of a catalogue on DSQL is a conflict for all others at work on it, so that many who apply the schema at
/// once lose many times.
const ATTEMPTS_MAX: u32 = 60;
/// How often a step is taken again whose answer was lost, or that somebody else took at the same moment.
const TRIES_MAX: usize = 5;

/// A step that is about to be taken.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// The step.
    pub step: &'a Step,
    /// Its number among those to take, from 1.
    pub number: usize,
    /// How many there are to take.
    pub total: usize,
}

impl Schema {
    /// Makes what is missing, and records the version where none is. Several may do so at once, and one that was killed may
    /// be followed by another: what is there is left as it is.
    ///
    /// Dropping the call leaves the rest unmade.
    ///
    /// # Errors
    /// [`Error::BadSchema`] when the database has Temporal's tables in an older version, which Temporal's own tool must
    /// bring forward, or tables of these names that are other than wanted; else what the database refuses.
    pub async fn apply(&self, pool: &Pool) -> Result<()> {
        self.apply_with(pool, |_| {}).await
    }

    /// [`apply`](Self::apply), told of each step before it is taken.
    ///
    /// # Errors
    /// As `apply`.
    pub async fn apply_with(&self, pool: &Pool, mut progress: impl FnMut(Progress<'_>) + Send) -> Result<()> {
        let steps = self.missing(&self.look(pool, &policy()).await?)?;
        for (at, step) in steps.iter().enumerate() {
            progress(Progress { step, number: at + 1, total: steps.len() });
            match step.kind {
                Kind::Index if self.is_dsql => {
                    again(|| async { make_dsql_indexes(pool, APPLY, &policy(), &[step.sql()]).await })
                        .await?;
                }
                Kind::Table | Kind::Index | Kind::Seed => {
                    make(pool, step.sql(), &[]).await?;
                }
                Kind::Version => {
                    self.refuse_others(pool).await?;
                    self.record_version(pool).await?;
                }
            }
        }
        match steps.is_empty() {
            true => Ok(()),
            false => self.refuse_others(pool).await,
        }
    }

    /// The steps that are not taken yet.
    pub(super) fn missing(&self, found: &Found) -> Result<Vec<Step>> {
        if let Some(version) = found.version.as_deref().filter(|version| !is_new_enough(version)) {
            let reason = format!(
                "this database has Temporal's schema in version {version}: bring it to {VERSION} with Temporal's own tool"
            );
            return Err(Error::BadSchema { reason });
        }
        let is_missing = |step: &Step| match step.kind {
            Kind::Table => !found.tables.contains_key(step.name()),
            Kind::Index => {
                let (table, index) = shape::index(step.sql());
                found.tables.get(table).is_none_or(|table| !table.has(&index))
            }
            Kind::Seed => !found.has_seed,
            Kind::Version => found.version.is_none(),
        };
        Ok(self.steps().into_iter().filter(is_missing).collect())
    }

    /// A version must not be recorded, and an apply not be called done, over tables that are somebody else's.
    async fn refuse_others(&self, pool: &Pool) -> Result<()> {
        let differences = self.compare(&self.look(pool, &policy()).await?).differences;
        let others: Vec<String> = differences
            .iter()
            .filter(|difference| !matches!(difference, Difference::OtherVersion { found: None, .. }))
            .map(Difference::to_string)
            .collect();
        match others.is_empty() {
            true => Ok(()),
            false => Err(Error::BadSchema { reason: others.join("; ") }),
        }
    }

    async fn record_version(&self, pool: &Pool) -> Result<()> {
        match version::record(pool, &policy()).await {
            // Recorded or not: a second time records it at most once.
            Err(error) if error.may_have_been_committed() => version::record(pool, &policy()).await,
            recorded => recorded,
        }
    }
}

/// Runs an idempotent statement.
async fn make(pool: &Pool, sql: &str, values: Parameters<'_>) -> Result<Vec<Row>> {
    again(|| async { Statement::write(APPLY, sql).query(pool, &policy(), values).await }).await
}

/// Once more where it may have happened, or somebody else did it at the same moment.
async fn again<T, F>(make: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = leasehold_txn::Result<T>>,
{
    let mut tries = 1;
    loop {
        match make().await {
            Err(error)
                if tries < TRIES_MAX
                    && (error.class() == Class::Indeterminate || is_made_by_another(&error)) =>
            {
                tries += 1;
            }
            answer => break answer.map_err(|error| Error::of(APPLY, error)),
        }
    }
}

pub(super) fn policy() -> Policy {
    let policy = Policy::new(ATTEMPTS_MAX, Duration::from_millis(20), Duration::from_secs(1));
    policy.expect("within the limits of a policy").until(Deadline::after(STATEMENT_TIMEOUT))
}

//! One partition's place in the database, and the two ways to talk to it.

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::{Deadline, Timestamp};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::{ToSql, Type};
use leasehold_txn::{Operation, Pipeline, Policy, Pool, Step, Values};

use super::Config;
use super::dialect::Dialect;
use super::errors::{UNDEFINED_TABLE, column, error_of, partition_error};
use super::operations::SETUP;
use super::script::Script;
use super::statements::{LAST_OWNER, OWNS, Statements};
use super::values::Instant;
use crate::store::{LastOwner, PartitionId, Result, StoreError, WriteMax};

/// A value of a statement.
pub(in crate::store) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

#[derive(Debug)]
pub(in crate::store) struct Place {
    pub(in crate::store) pool: Pool,
    /// For opening and dropping partitions, which takes long and waits for locks: the other connections are for items.
    pub(in crate::store) set_up: Pool,
    pub(in crate::store) config: Config,
    pub(in crate::store) partition: PartitionId,
    pub(in crate::store) number: i64,
    /// When the queue was created, if its record is in the same database.
    pub(in crate::store) created_at: Option<Instant>,
    pub(in crate::store) statements: Statements,
    pub(in crate::store) dialect: Arc<dyn Dialect>,
}

impl Place {
    pub(in crate::store) fn new(
        [pool, set_up]: [Pool; 2],
        config: Config,
        partition: PartitionId,
        statements: Statements,
        dialect: Arc<dyn Dialect>,
    ) -> Self {
        let number = partition.number.into();
        Place { pool, set_up, config, number, partition, created_at: None, statements, dialect }
    }

    /// Of the queue that was created then.
    pub(in crate::store) fn of(self, created_at: Option<Timestamp>) -> Self {
        Place { created_at: created_at.map(Instant), ..self }
    }

    pub(in crate::store) fn queue_gone(&self) -> StoreError {
        StoreError::QueueGone { queue: self.partition.queue.clone() }
    }

    pub(in crate::store) fn queue(&self) -> &str {
        self.partition.queue.as_str()
    }

    pub(in crate::store) fn fenced(&self) -> StoreError {
        StoreError::Fenced { partition: self.partition.clone() }
    }

    pub(in crate::store) fn write_max(&self) -> WriteMax {
        self.dialect.write_max(&self.partition)
    }

    /// Runs a script that changes something only while the epoch is the partition's; one round trip.
    pub(in crate::store) async fn write(
        &self,
        operation: Operation,
        epoch: i64,
        script: &Script,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>> {
        let queue = self.queue();
        let all = [&self.owner_values(&queue, &epoch), values].concat();
        let steps = script.steps(&all);
        let answers = self.run(Pipeline::write(operation, &steps), operation).await?;
        if script.is_fenced && !told_epoch(&answers, epoch)? {
            return Err(self.fenced());
        }
        Ok(script.answer(answers))
    }

    /// Runs a script that changes nothing.
    pub(in crate::store) async fn read(
        &self,
        operation: Operation,
        script: &Script,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>> {
        let queue = self.queue();
        let all = [&*self.values_to_read(&queue), values].concat();
        let steps = script.steps(&all);
        Ok(script.answer(self.run(Pipeline::read(operation, &steps), operation).await?))
    }

    /// The same, and whether the epoch was still the partition's afterwards; one round trip. Epochs never come back.
    pub(in crate::store) async fn read_owned(
        &self,
        operation: Operation,
        epoch: i64,
        script: &Script,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>> {
        let queue = self.queue();
        let all = [&*self.values_to_read(&queue), values].concat();
        let mut steps = script.steps(&all);
        let owner = self.owner_values(&queue, &epoch);
        steps.push(Step::new(OWNS, &owner));
        let mut answers = self.run(Pipeline::read(operation, &steps), operation).await?;
        match answers.pop().is_none_or(|rows| rows.is_empty()) {
            true => Err(self.fenced()),
            false => Ok(script.answer(answers)),
        }
    }

    /// The first values of what only the owner may do.
    fn owner_values<'a>(&'a self, queue: &'a &'a str, epoch: &'a i64) -> [Value<'a>; 3] {
        [(queue as _, Type::TEXT), (&self.number as _, Type::INT8), (epoch as _, Type::INT8)]
    }

    /// The first values of every read.
    pub(in crate::store) fn values_to_read<'a>(&'a self, queue: &'a &'a str) -> Vec<Value<'a>> {
        match self.dialect.shares_tables() {
            true => vec![(queue as _, Type::TEXT), (&self.number as _, Type::INT8)],
            false => Vec::new(),
        }
    }

    /// Whether a write that touched nothing found nothing, or was not the owner's.
    pub(in crate::store) async fn assert_owned(&self, operation: Operation, epoch: i64) -> Result<()> {
        let queue = self.queue();
        let values = self.owner_values(&queue, &epoch);
        let steps = [Step::new(OWNS, &values)];
        let answers = self.run(Pipeline::read(operation, &steps), operation).await?;
        match answers.iter().all(Vec::is_empty) {
            true => Err(self.fenced()),
            false => Ok(()),
        }
    }

    /// Who took the partition over last.
    pub(in crate::store) async fn last_owner(&self) -> Result<LastOwner> {
        let queue = self.queue();
        let values: Values<'_> = &[(&queue, Type::TEXT), (&self.number, Type::INT8)];
        let steps = [Step::new(LAST_OWNER, values)];
        match Pipeline::read(SETUP, &steps).query(&self.set_up, &self.policy(self.config.timeout)).await {
            Err(error) if error.sqlstate() == Some(UNDEFINED_TABLE) => Ok(LastOwner(None)),
            Err(error) => Err(error_of(SETUP, error)),
            Ok(answers) => last_owner(answers.first().and_then(|rows| rows.first())),
        }
    }

    pub(in crate::store) async fn run(
        &self,
        pipeline: Pipeline<'_>,
        operation: Operation,
    ) -> Result<Vec<Vec<Row>>> {
        let answers = pipeline.query(&self.pool, &self.policy(self.config.timeout)).await;
        answers.map_err(|error| partition_error(operation, &self.partition, error))
    }

    pub(in crate::store) fn policy(&self, timeout: Duration) -> Policy {
        self.dialect.retries().until(Deadline::after(timeout))
    }
}

/// Of the row of a partition's owner.
pub(in crate::store) fn last_owner(row: Option<&Row>) -> Result<LastOwner> {
    let epoch = row.map(|row| column::<i64>(row, "epoch")).transpose()?;
    Ok(LastOwner(epoch.map(|epoch| u128::from(epoch.unsigned_abs()))))
}

/// Whether the fence of a script found the epoch.
fn told_epoch(answers: &[Vec<Row>], epoch: i64) -> Result<bool> {
    let fence = answers.first().and_then(|rows| rows.first());
    Ok(fence.map(|row| column::<i64>(row, "epoch")).transpose()? == Some(epoch))
}

//! One partition's place in the database, and the two ways to talk to it.

use std::time::Duration;

use leasehold_core::Deadline;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::{ToSql, Type};
use leasehold_txn::{Operation, Pipeline, Policy, Pool, Step, Values};

use super::Config;
use super::errors::partition_error;
use super::statements::{OWNS, Statements};
use super::table::Table;
use crate::store::{PartitionId, Result, StoreError};

/// A value of a statement.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

#[derive(Debug)]
pub(super) struct Place {
    pub(super) pool: Pool,
    pub(super) config: Config,
    pub(super) partition: PartitionId,
    pub(super) number: i64,
    pub(super) table: Table,
    pub(super) statements: Statements,
}

impl Place {
    pub(super) fn new(pool: Pool, config: Config, partition: PartitionId) -> Self {
        let table = Table::of(&partition);
        let statements = Statements::new(&table);
        Place { pool, config, number: partition.number.into(), partition, table, statements }
    }

    pub(super) fn queue(&self) -> &str {
        self.partition.queue.as_str()
    }

    pub(super) fn fenced(&self) -> StoreError {
        StoreError::Fenced { partition: self.partition.clone() }
    }

    /// Runs a statement that changes something only while the epoch is the partition's; one round trip.
    pub(super) async fn write(
        &self,
        operation: Operation,
        epoch: i64,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>> {
        let queue = self.queue();
        let mut all: Vec<Value<'_>> = Vec::with_capacity(3 + values.len());
        all.extend([(&queue as _, Type::TEXT), (&self.number as _, Type::INT8), (&epoch as _, Type::INT8)]);
        all.extend(values.iter().cloned());
        self.one(Pipeline::write(operation, &[Step::new(sql, &all)]), operation).await
    }

    /// Runs a statement that changes nothing.
    pub(super) async fn read(&self, operation: Operation, sql: &str, values: Values<'_>) -> Result<Vec<Row>> {
        self.one(Pipeline::read(operation, &[Step::new(sql, values)]), operation).await
    }

    /// Whether a write that touched nothing found nothing, or was not the owner's.
    pub(super) async fn assert_owned(&self, operation: Operation, epoch: i64) -> Result<()> {
        let queue = self.queue();
        let values: Values<'_> = &[(&queue, Type::TEXT), (&self.number, Type::INT8), (&epoch, Type::INT8)];
        match self.read(operation, OWNS, values).await?.is_empty() {
            true => Err(self.fenced()),
            false => Ok(()),
        }
    }

    async fn one(&self, pipeline: Pipeline<'_>, operation: Operation) -> Result<Vec<Row>> {
        let answers = pipeline.query(&self.pool, &policy(self.config.timeout)).await;
        let answers = answers.map_err(|error| partition_error(operation, &self.partition, error))?;
        Ok(answers.into_iter().next_back().unwrap_or_default())
    }
}

pub(super) fn policy(timeout: Duration) -> Policy {
    Policy::none().until(Deadline::after(timeout))
}

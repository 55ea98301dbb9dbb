//! A pool, the statements of a dialect, and how they are run.

use std::time::Duration;

use leasehold_core::Deadline;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{Operation, Pipeline, Policy, Pool, Result, Step};

use super::news::News;
use super::statements::Statements;

/// What PostgreSQL and DSQL share: the operations take one of these and differ by its statements only.
#[derive(Debug)]
pub(in crate::backend) struct Store {
    pub(in crate::backend) pool: Pool,
    pub(in crate::backend) statements: Statements,
    /// How conflicts are tried again, where the dialect has any.
    pub(in crate::backend) retries: Policy,
    /// How long one operation may take, waiting for a connection included.
    pub(in crate::backend) timeout: Duration,
    pub(in crate::backend) news: News,
}

impl Store {
    pub(in crate::backend) fn policy(&self) -> Policy {
        self.retries.clone().until(Deadline::after(self.timeout))
    }

    /// Runs statements that change something, in one round trip; the rows of the last.
    pub(in crate::backend) async fn write(
        &self,
        operation: Operation,
        steps: &[Step<'_>],
    ) -> Result<Vec<Row>> {
        let answers = Pipeline::write(operation, steps).query(&self.pool, &self.policy()).await?;
        Ok(answers.into_iter().next_back().unwrap_or_default())
    }

    /// Runs statements that change nothing; the rows of the last.
    pub(in crate::backend) async fn read(
        &self,
        operation: Operation,
        steps: &[Step<'_>],
    ) -> Result<Vec<Row>> {
        let answers = Pipeline::read(operation, steps).query(&self.pool, &self.policy()).await?;
        Ok(answers.into_iter().next_back().unwrap_or_default())
    }
}

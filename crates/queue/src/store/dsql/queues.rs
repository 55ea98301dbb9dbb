//! The records of queues: PostgreSQL's, but for a column without a type of its own.

use async_trait::async_trait;
use leasehold_txn::Pool;

use super::super::postgres::queues::{ADD, GET, PostgresQueues, REPLACE, Statements, fill};
use super::Config;
use crate::store::{QueueStore, Result};
use crate::{Namespace, QueueInfo, QueueName};

const COLUMNS: &str = include_str!("sql/queues/columns.sql");
const PARTITION_INFO: &str = include_str!("sql/queues/partition_info.sql");

/// The records of queues in one DSQL cluster. Clones are handles on the same ones.
#[derive(Clone, Debug)]
pub struct DsqlQueues(PostgresQueues);

impl DsqlQueues {
    /// Over a pool that may be shared with others. Touches nothing: the table is made when it is first used.
    #[must_use]
    pub fn new(pool: Pool, config: &Config) -> Self {
        DsqlQueues(PostgresQueues::with(pool, config.timeout, config.retries.clone(), statements()))
    }
}

pub(super) fn statements() -> Statements {
    let fill = |template: &str| fill(template, COLUMNS, PARTITION_INFO);
    Statements {
        exists: include_str!("sql/queues/exists.sql"),
        schema: vec![include_str!("sql/queues/schema.sql")],
        get: fill(GET),
        list: fill(include_str!("sql/queues/list.sql")),
        add: fill(ADD),
        replace: fill(REPLACE),
        drop_owners: include_str!("sql/queues/drop_owners.sql"),
    }
}

#[async_trait]
impl QueueStore for DsqlQueues {
    async fn get(&self, name: &QueueName) -> Result<Option<QueueInfo>> {
        self.0.get(name).await
    }

    /// Dropped midway, the record is there or is not.
    async fn add(&self, info: &QueueInfo) -> Result<bool> {
        self.0.add(info).await
    }

    /// Dropped midway, the record is the old one or the new one.
    async fn replace(&self, info: &QueueInfo) -> Result<bool> {
        self.0.replace(info).await
    }

    async fn list(&self, namespace: Option<&Namespace>, pivot: &str, limit: usize) -> Result<Vec<QueueInfo>> {
        self.0.list(namespace, pivot, limit).await
    }

    /// Dropped midway, the record is gone or is not.
    async fn delete(&self, info: &QueueInfo) -> Result<bool> {
        self.0.delete(info).await
    }
}

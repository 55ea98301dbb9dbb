//! The records of queues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::Deadline;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{
    Abort, Failure, Operation, Pipeline, Policy, Pool, Result as TxnResult, Step, Values, is_made_by_another,
};

use super::Config;
use super::errors::{UNDEFINED_TABLE, admit, as_unavailable, column, error_of, unusable};
use super::operations::{QUEUE_ADD, QUEUE_DELETE, QUEUE_GET, QUEUE_LIST, QUEUE_REPLACE, SETUP};
use super::statements::SCHEMA_LOCK;
use super::values::{Instant, count};
use crate::store::{QueueStore, Result, StoreError};
use crate::{Namespace, PartitionInfo, QueueInfo, QueueName, QueueOptions};

const COLUMNS: &str = include_str!("sql/queues/columns.sql");
const PARTITION_INFO: &str = include_str!("sql/queues/partition_info.sql");
pub(in crate::store) const EXISTS: &str = include_str!("sql/queues/exists.sql");
pub(in crate::store) const GET: &str = include_str!("sql/queues/get.sql");
pub(in crate::store) const ADD: &str = include_str!("sql/queues/add.sql");
pub(in crate::store) const REPLACE: &str = include_str!("sql/queues/replace.sql");

/// The records of queues in one PostgreSQL database, in Querator's table. Clones are handles on the same ones.
#[derive(Clone, Debug)]
pub struct PostgresQueues {
    pool: Pool,
    timeout: Duration,
    retries: Policy,
    statements: Arc<Statements>,
    /// Whether the table was seen. A failure is not remembered.
    is_made: Arc<AtomicBool>,
}

#[derive(Debug)]
pub(in crate::store) struct Statements {
    pub(in crate::store) exists: &'static str,
    /// One transaction.
    pub(in crate::store) schema: Vec<&'static str>,
    pub(in crate::store) get: String,
    pub(in crate::store) list: String,
    pub(in crate::store) add: String,
    pub(in crate::store) replace: String,
    /// Behind the removal of a record.
    pub(in crate::store) drop_owners: &'static str,
}

/// Owners that go in one transaction with the record: on DSQL it may change 3,000 rows.
const OWNERS_MAX: usize = 1_000;

/// A statement with the pieces that it shares with others.
pub(in crate::store) fn fill(template: &str, columns: &str, partition_info: &str) -> String {
    template.replace("{columns}", columns.trim_end()).replace("{partition_info}", partition_info.trim_end())
}

impl PostgresQueues {
    /// Over a pool that may be shared with others. Touches nothing: the table is made when it is first used.
    #[must_use]
    pub fn new(pool: Pool, config: &Config) -> Self {
        let fill = |template: &str| fill(template, COLUMNS, PARTITION_INFO);
        let statements = Statements {
            exists: EXISTS,
            schema: vec![SCHEMA_LOCK, include_str!("sql/queues/schema.sql")],
            get: fill(GET),
            list: fill(include_str!("sql/queues/list.sql")),
            add: fill(ADD),
            replace: fill(REPLACE),
            drop_owners: include_str!("sql/queues/drop_owners.sql"),
        };
        PostgresQueues::with(pool, config.timeout, Policy::none(), statements)
    }

    /// In another dialect.
    pub(in crate::store) fn with(
        pool: Pool,
        timeout: Duration,
        retries: Policy,
        statements: Statements,
    ) -> Self {
        PostgresQueues { pool, timeout, retries, statements: Arc::new(statements), is_made: Arc::default() }
    }

    fn policy(&self) -> Policy {
        self.retries.clone().until(Deadline::after(self.timeout))
    }

    /// Runs a statement; once more if the table was dropped since it was seen, which is known to have had no effect.
    async fn run(
        &self,
        operation: Operation,
        write: bool,
        sql: &str,
        values: Values<'_>,
    ) -> Result<Vec<Row>> {
        let steps = [Step::new(sql, values)];
        let pipeline = match write {
            true => Pipeline::write(operation, &steps),
            false => Pipeline::read(operation, &steps),
        };
        self.ensure().await?;
        let mut answer = pipeline.query(&self.pool, &self.policy()).await;
        if answer.as_ref().is_err_and(|error| error.sqlstate() == Some(UNDEFINED_TABLE)) {
            self.is_made.store(false, Ordering::Release);
            self.ensure().await?;
            answer = pipeline.query(&self.pool, &self.policy()).await;
        }
        let mut answers = answer.map_err(|error| error_of(operation, error))?;
        Ok(answers.pop().unwrap_or_default())
    }

    async fn ensure(&self) -> Result<()> {
        if !self.is_made.load(Ordering::Acquire) {
            let made = match self.make().await {
                Err(error) if is_made_by_another(&error) => self.make().await,
                made => made,
            };
            made.map_err(|error| as_unavailable(error_of(SETUP, error)))?;
            self.is_made.store(true, Ordering::Release);
        }
        Ok(())
    }

    async fn make(&self) -> TxnResult<()> {
        let policy = self.policy();
        let exists = [Step::new(self.statements.exists, &[])];
        let rows = Pipeline::read(SETUP, &exists).query(&self.pool, &policy).await?;
        let exists = rows.first().and_then(|rows| rows.first()).and_then(|row| row.try_get(0).ok());
        if exists != Some(true) {
            let steps: Vec<_> = self.statements.schema.iter().map(|sql| Step::new(sql, &[])).collect();
            Pipeline::write(SETUP, &steps).query(&self.pool, &policy).await?;
        }
        Ok(())
    }

    /// Removes a record, and behind it the owners of the partitions.
    async fn delete_with(&self, info: &QueueInfo, drop_owners: Option<&str>) -> Result<(), Failure<()>> {
        let (name, created_at) = (info.name.as_str(), Instant(info.created_at));
        let partitions = info.partitions.iter().take(OWNERS_MAX);
        let numbers: Vec<_> = partitions.map(|partition| i64::from(partition.number)).collect();
        leasehold_txn::run(&self.pool, QUEUE_DELETE, &self.policy(), |transaction| {
            let (created_at, numbers) = (&created_at, &numbers);
            Box::pin(async move {
                let delete = include_str!("sql/queues/delete.sql");
                if transaction.execute(delete, &[&name, created_at]).await? == 0 {
                    return Err(Abort::Condition(()));
                }
                if let Some(drop_owners) = drop_owners {
                    transaction.execute(drop_owners, &[&name, numbers]).await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// Writes a record by one of the two statements that have one; whether it took effect.
    async fn put(&self, operation: Operation, sql: &str, info: &QueueInfo) -> Result<bool> {
        let QueueInfo { name, namespace, options, partitions, created_at, updated_at } = info;
        let what = || format!("queue {name}");
        let dead_queue = options.dead_queue.as_ref().map_or("", QueueName::as_str);
        admit(what, "reference", &options.reference)?;
        partitions.iter().try_for_each(|partition| admit(what, "store", &partition.store))?;
        let (name, namespace) = (name.as_str(), namespace.as_str());
        let (lease_timeout, expire_timeout) = (nanos(options.lease_timeout), nanos(options.expire_timeout));
        let max_attempts = i32::try_from(options.max_attempts).unwrap_or(i32::MAX);
        let requested = i32::try_from(options.requested_partitions).unwrap_or(i32::MAX);
        let numbers: Vec<_> = partitions.iter().map(|partition| i64::from(partition.number)).collect();
        let stores: Vec<_> = partitions.iter().map(|partition| partition.store.as_str()).collect();
        let read_only: Vec<_> = partitions.iter().map(|partition| partition.read_only).collect();
        let (created_at, updated_at) = (Instant(*created_at), Instant(*updated_at));
        let values: Values<'_> = &[
            (&name, Type::TEXT),
            (&namespace, Type::TEXT),
            (&lease_timeout, Type::INT8),
            (&expire_timeout, Type::INT8),
            (&dead_queue, Type::TEXT),
            (&max_attempts, Type::INT4),
            (&options.reference, Type::TEXT),
            (&requested, Type::INT4),
            (&numbers, Type::INT8_ARRAY),
            (&stores, Type::TEXT_ARRAY),
            (&read_only, Type::BOOL_ARRAY),
            (&created_at, Type::TIMESTAMPTZ),
            (&updated_at, Type::TIMESTAMPTZ),
        ];
        Ok(!self.run(operation, true, sql, values).await?.is_empty())
    }
}

#[async_trait]
impl QueueStore for PostgresQueues {
    async fn get(&self, name: &QueueName) -> Result<Option<QueueInfo>> {
        let name = name.as_str();
        let rows = self.run(QUEUE_GET, false, &self.statements.get, &[(&name, Type::TEXT)]).await?;
        rows.first().map(record).transpose()
    }

    /// Dropped midway, the record is there or is not.
    async fn add(&self, info: &QueueInfo) -> Result<bool> {
        self.put(QUEUE_ADD, &self.statements.add, info).await
    }

    /// Dropped midway, the record is the old one or the new one.
    async fn replace(&self, info: &QueueInfo) -> Result<bool> {
        self.put(QUEUE_REPLACE, &self.statements.replace, info).await
    }

    async fn list(&self, namespace: Option<&Namespace>, pivot: &str, limit: usize) -> Result<Vec<QueueInfo>> {
        let (namespace, limit) = (namespace.map(Namespace::as_str), count(limit));
        // Nothing stored has a zero byte, and all that sorts before one sorts before what comes ahead of it or equals it.
        let pivot = pivot.split('\0').next().unwrap_or_default();
        let values: Values<'_> = &[(&pivot, Type::TEXT), (&namespace, Type::TEXT), (&limit, Type::INT8)];
        self.run(QUEUE_LIST, false, &self.statements.list, values).await?.iter().map(record).collect()
    }

    /// Dropped midway, the record is gone or is not.
    async fn delete(&self, info: &QueueInfo) -> Result<bool> {
        self.ensure().await?;
        let deleted = match self.delete_with(info, Some(self.statements.drop_owners)).await {
            // No partition was ever opened here.
            Err(Failure::Transaction(error)) if error.sqlstate() == Some(UNDEFINED_TABLE) => {
                self.delete_with(info, None).await
            }
            deleted => deleted,
        };
        match deleted {
            Ok(()) => Ok(true),
            Err(Failure::Condition(())) => Ok(false),
            Err(Failure::Transaction(error)) => Err(error_of(QUEUE_DELETE, error)),
        }
    }
}

fn record(row: &Row) -> Result<QueueInfo> {
    let name: &str = column(row, "name")?;
    let what = || format!("the record of queue {name}");
    let refused = |refusal: crate::Refusal| unusable(what(), &refusal);
    let negative =
        |field: &str| StoreError::Unusable { what: what(), reason: format!("{field} is negative") };
    let unsigned =
        |field: &'static str| u32::try_from(column::<i32>(row, field)?).map_err(|_| negative(field));
    let timeout = |field: &'static str| {
        u64::try_from(column::<i64>(row, field)?).map(Duration::from_nanos).map_err(|_| negative(field))
    };
    let namespace: &str = column(row, "namespace")?;
    Ok(QueueInfo {
        name: name.parse().map_err(refused)?,
        namespace: match namespace {
            "" => Namespace::default(),
            namespace => namespace.parse().map_err(refused)?,
        },
        options: QueueOptions {
            lease_timeout: timeout("lease_timeout_ns")?,
            expire_timeout: timeout("expire_timeout_ns")?,
            max_attempts: unsigned("max_attempts")?,
            dead_queue: QueueName::parse_dead(column(row, "dead_queue")?).map_err(refused)?,
            reference: column(row, "reference")?,
            requested_partitions: unsigned("requested_partitions")?,
        },
        partitions: partitions(row)?,
        created_at: column::<Instant>(row, "created_at")?.0,
        updated_at: column::<Instant>(row, "updated_at")?.0,
    })
}

fn partitions(row: &Row) -> Result<Vec<PartitionInfo>> {
    let numbers: Vec<i64> = column(row, "partition_numbers")?;
    let stores: Vec<String> = column(row, "partition_stores")?;
    let read_only: Vec<bool> = column(row, "partition_read_only")?;
    let parts = numbers.into_iter().zip(stores).zip(read_only);
    parts
        .map(|((number, store), read_only)| {
            let number = u32::try_from(number).map_err(|_| StoreError::Unusable {
                what: "partition_info".to_owned(),
                reason: format!("{number} is no number of a partition"),
            })?;
            Ok(PartitionInfo { number, store, read_only })
        })
        .collect()
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

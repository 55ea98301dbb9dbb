//! Makes what is missing, and drops what is not wanted any more.

use async_trait::async_trait;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Abort, Failure, Operation, Pipeline, Policy, Result as TxnResult, Step, Values};

use super::dialect::Dialect;
use super::errors::{UNDEFINED_TABLE, column, error_of};
use super::operations::{DROP, SETUP};
use super::place::{Place, last_owner};
use super::statements::{
    DROP_OWNER, FORMER, RECORD, SCHEMA_LOCK, SCHEMA_PARTITIONS, SCHEMA_QUEUE, SCHEMA_STATE, TableStatements,
};
use super::table::Table;
use crate::store::{Dropped, LastOwner, PartitionId, Result, StoreError, WriteMax};

/// Before the queue's name in the comment of its table, so that a comment of somebody else is told apart.
const COMMENT_PREFIX: &str = "items of queue ";

/// One table of items per partition, as Querator has them.
#[derive(Debug)]
pub(super) struct Postgres {
    table: Table,
    statements: TableStatements,
}

/// What is there.
struct State {
    has_items: bool,
    has_partitions: bool,
    comment: Option<String>,
}

impl State {
    /// Whether the table is that of another queue, whose name has the same hash.
    fn is_foreign(&self, queue: &str) -> bool {
        self.comment.as_ref().is_some_and(|comment| {
            comment.starts_with(COMMENT_PREFIX) && *comment != format!("{COMMENT_PREFIX}{queue}")
        })
    }
}

impl Postgres {
    pub(super) fn new(table: Table) -> Self {
        Postgres { statements: TableStatements::new(&table), table }
    }
}

#[async_trait]
impl Dialect for Postgres {
    /// Writes wait for each other, so none is lost.
    fn retries(&self) -> Policy {
        Policy::none()
    }

    fn shares_tables(&self) -> bool {
        false
    }

    fn write_max(&self, _: &PartitionId) -> WriteMax {
        WriteMax::NONE
    }

    async fn ensure(&self, place: &Place) -> Result<()> {
        ensure(self, place).await
    }

    /// Nothing was remembered.
    fn forget(&self) {}

    async fn drop_partition(&self, place: &Place) -> Result<Dropped> {
        drop_partition(self, place).await
    }

    async fn drop_leftover(&self, place: &Place, last_owner: LastOwner) -> Result<Dropped> {
        drop_leftover(self, place, last_owner).await
    }
}

/// Makes sure that the tables are there and that the items are those of this queue.
async fn ensure(postgres: &Postgres, place: &Place) -> Result<()> {
    let wanted = format!("{COMMENT_PREFIX}{}", place.queue());
    let mut state = state(postgres, place).await?;
    if !(state.has_items && state.has_partitions) {
        make(postgres, place, &wanted).await?;
        state = self::state(postgres, place).await?;
    } else if state.comment.is_none() {
        // Only the table's owner may comment on it; whoever may not can use it all the same.
        match make_comment(postgres, place, &wanted).await {
            Ok(()) => state = self::state(postgres, place).await?,
            Err(leasehold_txn::Error::Database { source, .. }) => {
                tracing::warn!(table = postgres.table.items(), error = %source, "the table cannot be marked as the queue's");
            }
            Err(error) => return Err(error_of(SETUP, error)),
        }
    }
    match state.comment {
        Some(comment) if comment != wanted && comment.starts_with(COMMENT_PREFIX) => {
            Err(StoreError::Unusable {
                what: format!("table {} for queue {}", postgres.table.items(), place.queue()),
                reason: format!(
                    "it holds the {comment}, whose name has the same hash; one of the two needs another name"
                ),
            })
        }
        _ => Ok(()),
    }
}

async fn state(postgres: &Postgres, place: &Place) -> Result<State> {
    let items = postgres.table.items();
    let values: Values<'_> = &[(&items, Type::TEXT)];
    let steps = [Step::new(SCHEMA_STATE, values)];
    let read = Pipeline::read(SETUP, &steps).query(&place.set_up, &place.policy(place.config.timeout)).await;
    let answers = read.map_err(|error| error_of(SETUP, error))?;
    let row = answers.first().and_then(|rows| rows.first()).ok_or_else(|| place.fenced())?;
    Ok(State {
        has_items: column(row, "has_items")?,
        has_partitions: column(row, "has_partitions")?,
        comment: column(row, "comment")?,
    })
}

/// Nothing is made for a queue that was deleted.
async fn make(postgres: &Postgres, place: &Place, comment: &str) -> Result<()> {
    let queue = place.queue();
    let policy = place.policy(place.config.open_timeout);
    let made = leasehold_txn::run(&place.set_up, SETUP, &policy, |transaction| {
        let statements = &postgres.statements;
        Box::pin(async move {
            transaction.batch_execute(SCHEMA_LOCK).await?;
            if let Some(created_at) = &place.created_at
                && transaction.query_opt(RECORD, &[&queue, created_at]).await?.is_none()
            {
                return Err(Abort::Condition(()));
            }
            transaction.batch_execute(SCHEMA_PARTITIONS).await?;
            transaction.batch_execute(&statements.schema_items).await?;
            transaction.query(SCHEMA_QUEUE, &[&comment]).await?;
            transaction.batch_execute(&statements.schema_comment).await?;
            Ok(())
        })
    });
    made.await.map_err(|failed| match failed {
        Failure::Condition(()) => place.queue_gone(),
        // No record was ever there.
        Failure::Transaction(error)
            if place.created_at.is_some() && error.sqlstate() == Some(UNDEFINED_TABLE) =>
        {
            place.queue_gone()
        }
        Failure::Transaction(error) => error_of(SETUP, error),
    })
}

async fn make_comment(postgres: &Postgres, place: &Place, comment: &str) -> TxnResult<()> {
    let value = [(&comment as _, Type::TEXT)];
    let steps = [
        Step::new(SCHEMA_LOCK, &[]),
        Step::new(SCHEMA_QUEUE, &value),
        Step::new(&postgres.statements.schema_comment, &[]),
    ];
    run(place, SETUP, &steps).await
}

/// Drops the table of a partition and forgets its owner, who is fenced by that.
async fn drop_partition(postgres: &Postgres, place: &Place) -> Result<Dropped> {
    let queue = place.queue();
    let owner = [(&queue as _, Type::TEXT), (&place.number as _, Type::INT8)];
    let state = state(postgres, place).await?;
    let mut steps = vec![Step::new(SCHEMA_LOCK, &[])];
    if !state.is_foreign(queue) {
        steps.push(Step::new(&postgres.statements.drop_items, &[]));
    }
    if state.has_partitions {
        steps.push(Step::new(DROP_OWNER, &owner));
    }
    match run(place, DROP, &steps).await {
        Err(error) if error.sqlstate() == Some(UNDEFINED_TABLE) => Ok(Dropped::Whole),
        dropped => dropped.map(|()| Dropped::Whole).map_err(|error| error_of(DROP, error)),
    }
}

/// The owner is fenced first: the table may have to wait for a reader, such as a backup, for longer than the caller does.
/// Then the table is locked before the look at its owner, so that no take-over comes between the look and the drop.
async fn drop_leftover(postgres: &Postgres, place: &Place, expected: LastOwner) -> Result<Dropped> {
    let queue = place.queue();
    let state = state(postgres, place).await?;
    let has_items = state.has_items && !state.is_foreign(queue);
    if !has_items && expected == LastOwner(None) {
        return Ok(Dropped::Whole);
    }
    if expected != LastOwner(None) && !fence(place, expected).await? {
        return Ok(Dropped::Taken);
    }
    let policy = place.policy(place.config.open_timeout);
    let dropped = leasehold_txn::run(&place.set_up, DROP, &policy, |transaction| {
        let statements = &postgres.statements;
        Box::pin(async move {
            transaction.batch_execute(SCHEMA_LOCK).await?;
            if !state.has_partitions {
                transaction.batch_execute(SCHEMA_PARTITIONS).await?;
            }
            if has_items {
                transaction.batch_execute(&statements.lock_items).await?;
            }
            if transaction.query_opt(FORMER, &[&queue, &place.number]).await?.is_some() {
                return Err(Abort::Condition(()));
            }
            if has_items {
                transaction.batch_execute(&statements.drop_items).await?;
            }
            Ok(())
        })
    });
    match dropped.await {
        Ok(()) => Ok(Dropped::Whole),
        Err(Failure::Condition(())) => Ok(Dropped::Taken),
        // Somebody else dropped it meanwhile.
        Err(Failure::Transaction(error)) if error.sqlstate() == Some(UNDEFINED_TABLE) => Ok(Dropped::Taken),
        Err(Failure::Transaction(error)) => Err(error_of(DROP, error)),
    }
}

/// Forgets an owner, if it is still this one.
async fn fence(place: &Place, expected: LastOwner) -> Result<bool> {
    let queue = place.queue();
    let policy = place.policy(place.config.timeout);
    let fenced = leasehold_txn::run(&place.set_up, DROP, &policy, |transaction| {
        Box::pin(async move {
            let former = transaction.query_opt(FORMER, &[&queue, &place.number]).await?;
            if last_owner(former.as_ref()).map_err(|_| Abort::Condition(()))? != expected {
                return Err(Abort::Condition(()));
            }
            transaction.execute(DROP_OWNER, &[&queue, &place.number]).await?;
            Ok(())
        })
    });
    match fenced.await {
        Ok(()) => Ok(true),
        Err(Failure::Condition(())) => Ok(false),
        Err(Failure::Transaction(error)) => Err(error_of(DROP, error)),
    }
}

async fn run(place: &Place, operation: Operation, steps: &[Step<'_>]) -> TxnResult<()> {
    Pipeline::write(operation, steps)
        .query(&place.set_up, &place.policy(place.config.open_timeout))
        .await
        .map(drop)
}

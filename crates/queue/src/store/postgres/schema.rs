//! Makes what is missing, and drops what is not wanted any more.

use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Operation, Pipeline, Result as TxnResult, Step};

use super::errors::{UNDEFINED_TABLE, admit, column, error_of};
use super::operations::{DROP, SETUP};
use super::place::{Place, policy};
use super::statements::{DROP_OWNER, SCHEMA_LOCK, SCHEMA_PARTITIONS, SCHEMA_QUEUE, SCHEMA_STATE};
use crate::store::{Result, StoreError};

/// Before the queue's name in the comment of its table, so that a comment of somebody else is told apart.
const COMMENT_PREFIX: &str = "items of queue ";

/// What is there.
struct State {
    has_items: bool,
    has_partitions: bool,
    comment: Option<String>,
}

/// Makes sure that the tables are there and that the items are those of this queue. A failure is not remembered: the next
/// call tries again.
pub(super) async fn ensure(place: &Place) -> Result<()> {
    admit(|| "the queue".to_owned(), "name", place.queue())?;
    let wanted = format!("{COMMENT_PREFIX}{}", place.queue());
    let mut state = state(place).await?;
    if !(state.has_items && state.has_partitions) {
        make(place, &wanted).await.map_err(|error| error_of(SETUP, error))?;
        state = self::state(place).await?;
    } else if state.comment.is_none() {
        // Only the table's owner may comment on it; whoever may not can use it all the same.
        match make_comment(place, &wanted).await {
            Ok(()) => state = self::state(place).await?,
            Err(leasehold_txn::Error::Database { source, .. }) => {
                tracing::warn!(table = place.table.items(), error = %source, "the table cannot be marked as the queue's");
            }
            Err(error) => return Err(error_of(SETUP, error)),
        }
    }
    match state.comment {
        Some(comment) if comment != wanted && comment.starts_with(COMMENT_PREFIX) => {
            Err(StoreError::Unusable {
                what: format!("table {} for queue {}", place.table.items(), place.queue()),
                reason: format!(
                    "it holds the {comment}, whose name has the same hash; one of the two needs another name"
                ),
            })
        }
        _ => Ok(()),
    }
}

async fn state(place: &Place) -> Result<State> {
    let items = place.table.items();
    let rows = place.read(SETUP, SCHEMA_STATE, &[(&items, Type::TEXT)]).await?;
    let row = rows.first().ok_or_else(|| place.fenced())?;
    Ok(State {
        has_items: column(row, "has_items")?,
        has_partitions: column(row, "has_partitions")?,
        comment: column(row, "comment")?,
    })
}

async fn make(place: &Place, comment: &str) -> TxnResult<()> {
    let value = [(&comment as _, Type::TEXT)];
    let steps = [
        Step::new(SCHEMA_LOCK, &[]),
        Step::new(SCHEMA_PARTITIONS, &[]),
        Step::new(&place.statements.schema_items, &[]),
        Step::new(SCHEMA_QUEUE, &value),
        Step::new(&place.statements.schema_comment, &[]),
    ];
    run(place, SETUP, &steps).await
}

async fn make_comment(place: &Place, comment: &str) -> TxnResult<()> {
    let value = [(&comment as _, Type::TEXT)];
    let steps = [
        Step::new(SCHEMA_LOCK, &[]),
        Step::new(SCHEMA_QUEUE, &value),
        Step::new(&place.statements.schema_comment, &[]),
    ];
    run(place, SETUP, &steps).await
}

/// Drops the table of a partition and forgets its owner, who is fenced by that.
pub(super) async fn drop_partition(place: &Place) -> Result<()> {
    admit(|| "the queue".to_owned(), "name", place.queue())?;
    let queue = place.queue();
    let owner = [(&queue as _, Type::TEXT), (&place.number as _, Type::INT8)];
    let state = state(place).await?;
    let foreign = state.comment.is_some_and(|comment| {
        comment.starts_with(COMMENT_PREFIX) && comment != format!("{COMMENT_PREFIX}{queue}")
    });
    let mut steps = vec![Step::new(SCHEMA_LOCK, &[])];
    if !foreign {
        steps.push(Step::new(&place.statements.drop_items, &[]));
    }
    if state.has_partitions {
        steps.push(Step::new(DROP_OWNER, &owner));
    }
    match run(place, DROP, &steps).await {
        Err(error) if error.sqlstate() == Some(UNDEFINED_TABLE) => Ok(()),
        dropped => dropped.map_err(|error| error_of(DROP, error)),
    }
}

async fn run(place: &Place, operation: Operation, steps: &[Step<'_>]) -> TxnResult<()> {
    Pipeline::write(operation, steps).query(&place.pool, &policy(place.config.open_timeout)).await.map(drop)
}

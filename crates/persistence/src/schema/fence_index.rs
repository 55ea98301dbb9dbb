//! The index that makes a shard's range part of a key on PostgreSQL, built beside owners that go on writing.

use std::time::Duration;

use leasehold_txn::{Abort, Failure, Operation, Policy, Pool, run};

use super::apply::{make as make_one, policy};
use super::{Schema, Step, shape};
use crate::sql::column;
use crate::{Error, Result};

const TAKE_TURN: Operation = Operation::new("state.build_fence_index");
const TURN: &str = include_str!("sql/fence_turn.sql");
const DROP: &str = include_str!("sql/drop_fence.sql");
/// The answer to a prepared statement keeps its snapshot until the next statement, and the build would wait for it for ever.
/// A statement that is sent as text leaves nothing open.
const CLOSE_PORTAL: &str = "SELECT 1";
/// Between two looks at what another builds.
const PAUSE: Duration = Duration::from_millis(100);

enum Turn {
    /// Another builds.
    Taken,
    Failed(Error),
}

/// Builds it, or waits until another has. A build that was killed leaves an index that is not valid; whoever has the turn
/// drops it first.
pub(super) async fn make(schema: &Schema, pool: &Pool, step: &Step) -> Result<()> {
    if pool.size_max() < 2 {
        let reason = "must have two connections: one keeps the turn, the other builds".to_owned();
        return Err(Error::invalid("pool", reason));
    }
    let once = Policy::none();
    loop {
        // The transaction keeps the turn, and no snapshot for which the build would have to wait.
        let turn = run(pool, TAKE_TURN, &once, |tx| {
            Box::pin(async move {
                let row = tx.query_one(TURN, &[]).await?;
                tx.batch_execute(CLOSE_PORTAL).await?;
                match column::<bool>(&row, "is_mine") {
                    Ok(true) => {
                        build(schema, pool, step).await.map_err(|error| Abort::Condition(Turn::Failed(error)))
                    }
                    Ok(false) => Err(Abort::Condition(Turn::Taken)),
                    Err(error) => Err(Abort::Condition(Turn::Failed(error))),
                }
            })
        });
        match turn.await {
            Ok(()) => return Ok(()),
            Err(Failure::Condition(Turn::Taken)) => tokio::time::sleep(PAUSE).await,
            Err(Failure::Condition(Turn::Failed(error))) => return Err(error),
            Err(Failure::Transaction(error)) => return Err(Error::of(TAKE_TURN, error)),
        }
    }
}

async fn build(schema: &Schema, pool: &Pool, step: &Step) -> Result<()> {
    let found = schema.look(pool, &policy()).await?;
    let (table, wanted) = shape::index(step.sql());
    let Some(table) = found.tables.get(table) else {
        return Err(Error::Missing { what: "the table `shards`" });
    };
    if table.has(&wanted) {
        return Ok(());
    }
    if table.indexes.iter().any(|index| index.name == step.name()) {
        make_one(pool, DROP, &[]).await?;
    }
    make_one(pool, step.sql(), &[]).await.map(drop)
}

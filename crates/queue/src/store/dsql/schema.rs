//! Makes the tables that are missing, each in a transaction of its own as DSQL wants it, and empties partitions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{
    Pipeline, Policy, Result as TxnResult, Step, Values, make_dsql_indexes, make_dsql_tables,
};
use tokio::sync::Mutex;

use super::super::postgres::dialect::Dialect;
use super::super::postgres::errors::{UNDEFINED_TABLE, column, error_of, in_part};
use super::super::postgres::operations::{DROP, SETUP};
use super::super::postgres::place::Place;
use super::super::postgres::remove::last_looked_at;
use super::statements::{DROP_LEFTOVER, DROP_OWNER, SCHEMA_INDEXES, SCHEMA_STATE, SCHEMA_TABLES};
use crate::ItemId;
use crate::store::postgres::values::{IdText, count};
use crate::store::{Dropped, LastOwner, PartitionId, Result, StoreError, WriteMax};

/// A transaction may change 3,000 rows, and an item has two.
const ITEMS_MAX: usize = 1_000;
/// A transaction may write 10 MiB, with what keys and indexes add: with the longest names of queues that is 3.4 MiB for as
/// many items as fit.
const BYTES_MAX: usize = 6 << 20;
/// A value may have 1 MiB; an item's largest is its payload.
const ITEM_BYTES_MAX: usize = 1 << 20;
/// A key may have 1 KiB; beside the queue and the source id there is a number.
const KEY_BYTES_MAX: usize = 1_000;

/// How long one call drops items; the next goes on.
const DROP_TIME: Duration = Duration::from_millis(500);

/// All partitions in the same tables.
#[derive(Debug)]
pub(super) struct Dsql {
    retries: Policy,
    /// Whether the tables were seen.
    is_made: AtomicBool,
    /// One at a time looks and makes.
    making: Mutex<()>,
}

impl Dsql {
    pub(super) fn new(retries: Policy) -> Self {
        Dsql { retries, is_made: AtomicBool::new(false), making: Mutex::new(()) }
    }
}

#[async_trait]
impl Dialect for Dsql {
    fn retries(&self) -> Policy {
        self.retries.clone()
    }

    fn shares_tables(&self) -> bool {
        true
    }

    fn write_max(&self, partition: &PartitionId) -> WriteMax {
        WriteMax {
            items: ITEMS_MAX,
            bytes: BYTES_MAX,
            item_bytes: ITEM_BYTES_MAX,
            source_id_bytes: KEY_BYTES_MAX.saturating_sub(partition.queue.as_str().len()),
        }
    }

    async fn ensure(&self, place: &Place) -> Result<()> {
        if self.is_made.load(Ordering::Acquire) {
            return Ok(());
        }
        let _making = self.making.lock().await;
        if !self.is_made.load(Ordering::Acquire) {
            make(place).await.map_err(|error| error_of(SETUP, error))?;
            self.is_made.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn forget(&self) {
        self.is_made.store(false, Ordering::Release);
    }

    /// Fences the owner, then deletes the items in as many transactions as there is time for, as the owner that came after. Whoever
    /// opens the partition meanwhile fences this, and finds what is left.
    async fn drop_partition(&self, place: &Place) -> Result<Dropped> {
        let queue = place.queue();
        let values: Values<'_> = &[(&queue, Type::TEXT), (&place.number, Type::INT8)];
        match fence(place, Step::new(DROP_OWNER, values)).await? {
            Some(epoch) => empty(place, epoch).await,
            // Nobody ever opened it.
            None => Ok(Dropped::Whole),
        }
    }

    async fn drop_leftover(&self, place: &Place, last_owner: LastOwner) -> Result<Dropped> {
        let Some(epoch) = last_owner.0.and_then(|epoch| i64::try_from(epoch).ok()) else {
            // Nobody ever opened it, so there is nothing; unless somebody has since.
            let is_same = place.last_owner().await? == last_owner;
            return Ok(if is_same { Dropped::Whole } else { Dropped::Taken });
        };
        let queue = place.queue();
        let values: Values<'_> = &[(&queue, Type::TEXT), (&place.number, Type::INT8), (&epoch, Type::INT8)];
        let Some(epoch) = fence(place, Step::new(DROP_LEFTOVER, values)).await? else {
            return Ok(Dropped::Taken);
        };
        match empty(place, epoch).await {
            Err(StoreError::Fenced { .. }) => Ok(Dropped::Taken),
            emptied => emptied,
        }
    }
}

async fn make(place: &Place) -> TxnResult<()> {
    let state = run(place, Pipeline::read(SETUP, &[Step::new(SCHEMA_STATE, &[])])).await?;
    let made = |name: &str| state.first().and_then(|row| row.try_get::<_, i64>(name).ok());
    let policy = place.policy(place.config.open_timeout);
    if made("tables") != Some(count(SCHEMA_TABLES.len())) {
        make_dsql_tables(&place.set_up, SETUP, &policy, &SCHEMA_TABLES).await?;
    }
    if made("indexes") != Some(count(SCHEMA_INDEXES.len())) {
        make_dsql_indexes(&place.set_up, SETUP, &policy, &SCHEMA_INDEXES).await?;
    }
    Ok(())
}

/// Fences the owner; the epoch of the one who is to empty the partition, if it has a row.
async fn fence(place: &Place, step: Step<'_>) -> Result<Option<i64>> {
    match run(place, Pipeline::write(DROP, &[step])).await {
        Err(error) if error.sqlstate() == Some(UNDEFINED_TABLE) => Ok(None),
        Err(error) => Err(error_of(DROP, error)),
        Ok(rows) => rows.first().map(|row| column(row, "epoch")).transpose(),
    }
}

/// In as many transactions as there is time for.
async fn empty(place: &Place, epoch: i64) -> Result<Dropped> {
    let started = Instant::now();
    let mut behind = ItemId::MIN;
    let mut is_first = true;
    loop {
        let (id, all, len) = (IdText(behind), true, count(ITEMS_MAX));
        let values = [
            (&id as _, Type::TEXT),
            (&all as _, Type::BOOL),
            (&all as _, Type::BOOL),
            (&all as _, Type::BOOL),
            (&len as _, Type::INT8),
        ];
        let rows = place.write(DROP, epoch, &place.statements.clear, &values).await;
        let rows = rows.map_err(|error| in_part(is_first, error))?;
        match last_looked_at(&rows)? {
            Some((last, looked_at)) if looked_at == len => behind = last,
            _ => return Ok(Dropped::Whole),
        }
        if started.elapsed() > DROP_TIME {
            return Ok(Dropped::InPart);
        }
        is_first = false;
    }
}

async fn run(place: &Place, pipeline: Pipeline<'_>) -> TxnResult<Vec<Row>> {
    let answers = pipeline.query(&place.set_up, &place.policy(place.config.open_timeout)).await?;
    Ok(answers.into_iter().next_back().unwrap_or_default())
}

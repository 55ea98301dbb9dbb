//! Adding, leasing and changing in one statement.

use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::change::{self, FateColumns};
use super::errors::column;
use super::fates::Fates;
use super::lease::PickColumns;
use super::operations::TURN;
use super::partition::PostgresPartition;
use super::place::Value;
use super::script::Script;
use super::statements::Statements;
use super::values::{IdText, Instant};
use super::{lease, produce};
use crate::store::turn::one_by_one;
use crate::store::{Placement, Result, Turn, Turned};
use crate::{Item, ItemId};

pub(super) async fn turn(partition: &mut PostgresPartition, turn: &Turn<'_>) -> Turned {
    if partition.place.statements.turn.is_none() || !turn.items.iter().all(is_from_here) {
        return one_by_one(partition, turn).await;
    }
    let fates = Fates::if_all_are_leased(turn.requests);
    let (leased, are_changed) = match write(partition, turn, &fates).await {
        Ok(written) => written,
        Err(error) => return Turned::failed(error),
    };
    // Of requests that do not stand nothing was done: they are looked at, and the others carried out after all.
    let verdicts = match are_changed {
        true => Ok(fates.verdicts),
        false => change::change_by_states(partition, turn.requests).await,
    };
    let placements = Some(vec![Placement::Placed; turn.items.len()]);
    let (verdicts, error) = match verdicts {
        Ok(verdicts) => (Some(verdicts), None),
        Err(error) => (None, Some(error)),
    };
    Turned { placements, leased: Some(leased), verdicts, error }
}

/// Whether it came from no other queue: such items have no source id that could be known.
fn is_from_here(item: &Item) -> bool {
    item.source_id.is_none() && item.max_attempts == 0
}

/// The leased items, and whether the changes were carried out.
async fn write(
    partition: &mut PostgresPartition,
    turn: &Turn<'_>,
    fates: &Fates,
) -> Result<(Vec<Item>, bool)> {
    produce::admit_all(partition, turn.items)?;
    let items = produce::Columns(turn.items);
    let placed: [Value<'_>; 11] = [
        (&items.of(|item| IdText(item.id)) as _, Type::TEXT_ARRAY),
        (&items.of(|item| item.is_leased) as _, Type::BOOL_ARRAY),
        (&items.of(|item| item.lease_deadline.map(Instant)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&items.of(|item| Instant(item.expire_deadline)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&items.of(|item| item.enqueue_at.map(Instant)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&items.of(|item| Instant(item.created_at)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&items.of(|item| item.attempts) as _, Type::INT4_ARRAY),
        (&items.of(|item| item.reference.as_str()) as _, Type::TEXT_ARRAY),
        (&items.of(|item| item.encoding.as_str()) as _, Type::TEXT_ARRAY),
        (&items.of(|item| item.kind.as_str()) as _, Type::TEXT_ARRAY),
        (&items.of(|item| &item.payload[..]) as _, Type::BYTEA_ARRAY),
    ];
    let (picked, changed) = (PickColumns::of(turn.picks), FateColumns::of(fates));
    let values: Vec<Value<'_>> = placed.into_iter().chain(picked.values()).chain(changed.values()).collect();
    let (told, leased) = split(partition.write(TURN, together, &values).await?)?;
    if column::<i64>(&told, "owned")? != 1 {
        return Err(partition.place.fenced());
    }
    produce::note(partition, turn.items);
    let leased = lease::note(partition, turn.picks, &leased)?;
    let are_changed = column::<i64>(&told, "held")? == changed.len;
    if are_changed {
        change::note(partition, fates, &ready(&told)?);
    }
    Ok((leased, are_changed))
}

fn together(statements: &Statements) -> &Script {
    statements.turn.as_ref().expect("where there is none the parts are written one by one")
}

/// The row that tells how it went, and those of leased items.
fn split(mut rows: Vec<Row>) -> Result<(Row, Vec<Row>)> {
    let mut told = None;
    for (at, row) in rows.iter().enumerate() {
        if column::<Option<i64>>(row, "owned")?.is_some() {
            told = Some(at);
        }
    }
    let told = told.expect("the statement answers with one row more than it leased");
    Ok((rows.swap_remove(told), rows))
}

/// What became ready, with its expire deadline.
fn ready(told: &Row) -> Result<Vec<(ItemId, Timestamp)>> {
    let ids: Vec<IdText> = column(told, "ready_ids")?;
    let deadlines: Vec<Instant> = column(told, "ready_expire_deadlines")?;
    Ok(ids.iter().map(|id| id.0).zip(deadlines.iter().map(|at| at.0)).collect())
}

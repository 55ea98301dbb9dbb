//! Becoming the owner.

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Pipeline, Result as TxnResult, Step};

use super::due::{deadlines_of, floor_values};
use super::errors::{UNDEFINED_TABLE, as_unavailable, column, error_of};
use super::floors::Floors;
use super::operations::OPEN;
use super::place::{Place, Value};
use super::values::IdText;
use crate::store::{Counts, Opened, Result, Takeover};

/// How often tables are made again that somebody dropped in between.
const TRIES: u32 = 3;

/// What a takeover changed.
pub(super) struct Taken {
    pub(super) epoch: i64,
    /// The epoch of the owner before, if that is known.
    pub(super) replaced: Option<i64>,
}

/// Takes the partition over and reads what is there: a new epoch and the counts.
pub(super) async fn open(place: &Place) -> Result<(Taken, Opened)> {
    let mut tries = 1;
    loop {
        place.dialect.ensure(place).await.map_err(as_unavailable)?;
        match take_over(place).await {
            Err(error) if error.sqlstate() == Some(UNDEFINED_TABLE) && tries < TRIES => {
                place.dialect.forget();
                tries += 1;
            }
            // An epoch that nobody knows of owns nothing.
            Err(error) => return Err(as_unavailable(error_of(OPEN, error))),
            Ok(answers) => return read(place, answers),
        }
    }
}

/// One transaction: the counts are read while no write of the former owner can be under way, and none comes after.
async fn take_over(place: &Place) -> TxnResult<Vec<Vec<Row>>> {
    let (queue, statements, floors) = (place.queue(), &place.statements, Floors::none());
    let owner = place.config.owner.replace('\0', "");
    let created_at: Value<'_> = (&place.created_at, Type::TIMESTAMPTZ);
    let record: [Value<'_>; 2] = [(&queue, Type::TEXT), created_at.clone()];
    let take_over: [Value<'_>; 4] =
        [(&queue, Type::TEXT), (&place.number, Type::INT8), (&owner, Type::TEXT), created_at];
    let former = &take_over[..2];
    let (take_over_sql, takes) = match place.created_at {
        Some(_) => (&statements.take_over_of, 4),
        None => (&statements.take_over, 3),
    };
    let (lease, expire, enqueue, may_lack) = floor_values(&floors);
    let opened = place.values_to_read(&queue);
    let mut deadlines = opened.clone();
    deadlines.extend([
        (&lease as _, Type::TIMESTAMPTZ),
        (&expire as _, Type::TIMESTAMPTZ),
        (&enqueue as _, Type::TIMESTAMPTZ),
        (&may_lack as _, Type::BOOL),
    ]);
    let mut steps: Vec<Step<'_>> = statements.touch.iter().map(|touch| Step::new(touch, &[])).collect();
    let lock_record = statements.record.filter(|_| place.created_at.is_some());
    steps.extend(lock_record.map(|sql| Step::new(sql, &record)));
    steps.push(Step::new(&statements.former, former));
    steps.push(Step::new(take_over_sql, &take_over[..takes]));
    steps.extend(statements.opened.steps(&opened));
    steps.extend(statements.deadlines.steps(&deadlines));
    Pipeline::write(OPEN, &steps).query(&place.set_up, &place.policy(place.config.open_timeout)).await
}

fn read(place: &Place, mut answers: Vec<Vec<Row>>) -> Result<(Taken, Opened)> {
    // In the order of sending; what came before has nothing to tell.
    let mut last = || answers.pop().and_then(|rows| rows.into_iter().next());
    let [deadlines, opened] = [last(), last()].map(|row| row.expect("each of the two has a row"));
    let (taken, former) = (last().ok_or_else(|| place.queue_gone())?, last());
    let id_max: Option<IdText> = column(&opened, "id_max")?;
    let epoch: i64 = column(&taken, "epoch")?;
    let opened = Opened {
        takeover: Takeover::draw(u64::try_from(epoch).unwrap_or(u64::MAX)),
        counts: counts(&opened)?,
        id_max: id_max.map(|id| id.0),
        deadlines: deadlines_of(&deadlines)?,
        is_unbroken: false,
    };
    let replaced = former.map(|row| column(&row, "epoch")).transpose()?;
    Ok((Taken { epoch, replaced }, opened))
}

/// The counts in a row.
pub(super) fn counts(row: &Row) -> Result<Counts> {
    let count = |name| column::<i64>(row, name).map(|count| u64::try_from(count).unwrap_or(0));
    Ok(Counts { ready: count("ready")?, leased: count("leased")?, scheduled: count("scheduled")? })
}

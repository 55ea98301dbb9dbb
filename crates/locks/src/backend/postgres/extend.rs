//! Making a hold last.

use leasehold_core::{Refusal, Timestamp};
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Step, Values};

use super::acquire::millis;
use super::errors::{column, error_of, unexpected};
use super::operations;
use super::store::Store;
use crate::{ExtendOutcome, ExtendRequest, Result};

const OPERATION: &str = "extend";

pub(in crate::backend) async fn extend(store: &Store, request: &ExtendRequest) -> Result<ExtendOutcome> {
    let (lock_id, ttl_ms) = (request.lock_id.as_str(), millis(request.ttl));
    let values: Values<'_> = &[(&lock_id, Type::TEXT), (&ttl_ms, Type::INT8)];
    let steps = [Step::new(&store.statements.extend, values)];
    let rows = store.write(operations::EXTEND, &steps).await.map_err(|error| error_of(OPERATION, error))?;
    let Some(row) = rows.first() else { return Ok(ExtendOutcome::Refused(Refusal::NotFound)) };
    match column(OPERATION, row, "outcome")? {
        "extended" => {
            let expires_at = Timestamp::from_millis(column(OPERATION, row, "expires_at_ms")?);
            Ok(ExtendOutcome::Extended { expires_at })
        }
        "expired" => Ok(ExtendOutcome::Refused(Refusal::Expired)),
        other => Err(unexpected(OPERATION, format!("the statement ended as {other}"))),
    }
}

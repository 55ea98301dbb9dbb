//! What a lock id stands for that was used before: a live hold of another key, or one that has ended and is in the way.

use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Step, Values};

use super::acquire::OPERATION;
use super::errors::{column, error_of, is_taken};
use super::operations;
use super::store::Store;
use crate::{AcquireRequest, Error, Result};

/// The one acquire whose lock id may have been used before. Asked only when the table refused it: ids are fresh as a rule.
pub(in crate::backend) struct UsedId<'a> {
    store: &'a Store,
    request: &'a AcquireRequest,
    key: &'a str,
    is_free: bool,
}

impl<'a> UsedId<'a> {
    /// `key` is the one under which the hold is stored.
    pub(in crate::backend) fn new(store: &'a Store, request: &'a AcquireRequest, key: &'a str) -> Self {
        UsedId { store, request, key, is_free: false }
    }

    /// Makes way for another try if an ended hold was the reason of the failure, which else is the caller's.
    pub(in crate::backend) async fn after(&mut self, error: Error) -> Result<()> {
        if !is_taken(&error) || self.is_free {
            return Err(error);
        }
        let lock_id = self.request.lock_id.as_str();
        let values: Values<'_> = &[(&lock_id, Type::TEXT), (&self.key, Type::TEXT)];
        let steps = [Step::new(&self.store.statements.forget_ended, values)];
        let rows = self.store.write(operations::ACQUIRE, &steps).await;
        for row in rows.map_err(|error| error_of(OPERATION, error))? {
            if column(OPERATION, &row, "is_live")? {
                return Err(Error::LockIdInUse { lock_id_hash: self.request.lock_id.lock_id_hash() });
            }
        }
        self.is_free = true;
        Ok(())
    }
}

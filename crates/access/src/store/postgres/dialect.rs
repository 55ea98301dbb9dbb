//! Where PostgreSQL and DSQL differ in more than the words of a statement.

use std::fmt::Debug;

use async_trait::async_trait;
use leasehold_txn::{Error as TxnError, Policy};

use super::PostgresStore;
use crate::store::Change;

#[async_trait]
pub(in crate::store) trait Dialect: Debug + Send + Sync + 'static {
    /// How a transaction that lost to another is tried again.
    fn retries(&self) -> Policy;

    /// Makes the tables that are not there.
    async fn make_tables(&self, store: &PostgresStore) -> Result<(), TxnError>;

    /// Tells of what others change until it is dropped, as [`ChangeFeed::run`](crate::store::ChangeFeed::run) promises.
    async fn hear(&self, store: &PostgresStore, told: &(dyn Fn(Change) + Send + Sync));
}

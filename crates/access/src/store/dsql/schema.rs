//! DSQL: its tables, each made in a transaction of its own, and what it has in place of what others have.

use std::time::Duration;

use async_trait::async_trait;
use leasehold_txn::{Error as TxnError, Pipeline, Policy, Step, make_dsql_indexes, make_dsql_tables};

use super::super::postgres::dialect::Dialect;
use super::super::postgres::schema::SETUP;
use super::super::postgres::{PostgresStore, rows};
use super::changes;
use super::statements::{SCHEMA_INDEXES, SCHEMA_STATE, SCHEMA_TABLES};
use crate::store::Change;

/// How long the tables may take to be made, and their indexes to be built.
const SETUP_TIMEOUT: Duration = Duration::from_secs(60);

/// Nothing waits, and nobody tells.
#[derive(Debug)]
pub(super) struct Dsql {
    pub(super) retries: Policy,
    pub(super) look_every: Duration,
}

#[async_trait]
impl Dialect for Dsql {
    fn retries(&self) -> Policy {
        self.retries.clone()
    }

    async fn make_tables(&self, store: &PostgresStore) -> Result<(), TxnError> {
        let (pool, policy) = (&store.pool, store.policy_of(SETUP_TIMEOUT));
        let ask = [Step::new(SCHEMA_STATE, &[])];
        let state = rows(Pipeline::read(SETUP, &ask).query(pool, &policy).await?);
        let made = |name: &str| {
            let count = state.first().and_then(|row| row.try_get::<_, i64>(name).ok());
            count.and_then(|count| usize::try_from(count).ok())
        };
        if made("tables") != Some(SCHEMA_TABLES.len()) {
            make_dsql_tables(pool, SETUP, &policy, &SCHEMA_TABLES).await?;
        }
        if made("indexes") != Some(SCHEMA_INDEXES.len()) {
            make_dsql_indexes(pool, SETUP, &policy, &SCHEMA_INDEXES).await?;
        }
        Ok(())
    }

    async fn hear(&self, store: &PostgresStore, told: &(dyn Fn(Change) + Send + Sync)) {
        changes::hear(store, self.look_every, told).await;
    }
}

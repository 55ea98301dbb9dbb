//! PostgreSQL: its tables, and what it has that others have not.

use async_trait::async_trait;
use leasehold_txn::{Error as TxnError, Operation, Pipeline, Policy, Step};

use super::dialect::Dialect;
use super::{PostgresStore, changes, rows};
use crate::store::Change;

pub(in crate::store) const SETUP: Operation = Operation::new("access.setup");

/// In an order in which each finds those it names.
const STATEMENTS: [&str; 11] = [
    include_str!("sql/setup_lock.sql"),
    include_str!("sql/schema_namespaces.sql"),
    include_str!("sql/schema_users.sql"),
    include_str!("sql/schema_api_keys.sql"),
    include_str!("sql/schema_api_keys_user.sql"),
    include_str!("sql/schema_roles.sql"),
    include_str!("sql/schema_role_bindings.sql"),
    include_str!("sql/schema_role_bindings_namespace.sql"),
    include_str!("sql/schema_role_bindings_role.sql"),
    include_str!("sql/schema_access_marks.sql"),
    include_str!("sql/schema_dead_queues.sql"),
];

/// Constraints refuse, advisory locks order, and `NOTIFY` tells.
#[derive(Debug)]
pub(super) struct Postgres;

#[async_trait]
impl Dialect for Postgres {
    fn retries(&self) -> Policy {
        Policy::none()
    }

    async fn make_tables(&self, store: &PostgresStore) -> Result<(), TxnError> {
        let policy = store.policy();
        let ask = [Step::new(include_str!("sql/schema_exists.sql"), &[])];
        let answer = Pipeline::read(SETUP, &ask).query(&store.pool, &policy).await?;
        if rows(answer).first().is_some_and(|row| row.try_get(0).unwrap_or(false)) {
            return Ok(());
        }
        // One by one, because a statement can only be prepared when the tables it names are there.
        let made = leasehold_txn::run(&store.pool, SETUP, &policy, |transaction| {
            Box::pin(async move {
                for statement in STATEMENTS {
                    transaction.batch_execute(statement).await?;
                }
                Ok(())
            })
        });
        made.await.map_err(leasehold_txn::Failure::<std::convert::Infallible>::into_error)
    }

    async fn hear(&self, store: &PostgresStore, told: &(dyn Fn(Change) + Send + Sync)) {
        changes::hear(store, told).await;
    }
}

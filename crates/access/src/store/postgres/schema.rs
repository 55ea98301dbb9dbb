//! The tables.

use std::sync::atomic::Ordering;

use leasehold_txn::{Error as TxnError, Operation, Pipeline, Step};

use super::{PostgresStore, rows};

const SETUP: Operation = Operation::new("access.setup");

/// In an order in which each finds those it names.
const STATEMENTS: [&str; 10] = [
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
];

impl PostgresStore {
    /// Makes the tables if they are not there. A failure is not remembered: the next call tries again.
    pub(super) async fn ensure_tables(&self) -> Result<(), TxnError> {
        if self.has_tables.load(Ordering::Acquire) {
            return Ok(());
        }
        let ask = [Step::new(include_str!("sql/schema_exists.sql"), &[])];
        let answer = Pipeline::read(SETUP, &ask).query(&self.pool, &self.policy()).await?;
        let exist = rows(answer).first().is_some_and(|row| row.try_get(0).unwrap_or(false));
        if !exist {
            // One by one, because a statement can only be prepared when the tables it names are there.
            let policy = self.policy();
            let made = leasehold_txn::run(&self.pool, SETUP, &policy, |transaction| {
                Box::pin(async move {
                    for statement in STATEMENTS {
                        transaction.batch_execute(statement).await?;
                    }
                    Ok(())
                })
            });
            made.await.map_err(leasehold_txn::Failure::<std::convert::Infallible>::into_error)?;
        }
        self.has_tables.store(true, Ordering::Release);
        Ok(())
    }
}

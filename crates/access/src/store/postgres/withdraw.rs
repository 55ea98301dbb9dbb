//! Taking rights away, unless no administrator would be left to give them back.

use leasehold_core::Timestamp;
use leasehold_queue::DEFAULT_NAMESPACE;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Abort, Failure, Operation, Transaction, Values, parameters_in};

use super::errors::error_of;
use super::roles::permissions;
use super::script::Script;
use super::time::from_postgres;
use super::{PostgresStore, column};
use crate::store::administration::{SystemRole, administrators, is_administered};
use crate::store::{Result, StoreError, Withdrawn};

/// Why nothing was withdrawn.
enum Kept {
    Because(Withdrawn),
    /// A row is not what it should be.
    Unreadable(StoreError),
}

impl From<StoreError> for Abort<Kept> {
    fn from(error: StoreError) -> Self {
        Abort::Condition(Kept::Unreadable(error))
    }
}

impl PostgresStore {
    /// Runs a script that answers with a row if it found what it takes away; and that row.
    pub(super) async fn withdraw(
        &self,
        operation: Operation,
        script: &Script,
        values: Values<'_>,
        now: Timestamp,
    ) -> Result<(Withdrawn, Option<Row>)> {
        self.ensure_tables().await.map_err(|error| error_of(operation, error))?;
        let policy = self.policy();
        let withdrawn = leasehold_txn::run(&self.pool, operation, &policy, |transaction| {
            Box::pin(async move {
                transaction.batch_execute(self.statements.withdraw).await?;
                let was_administered = self.is_administered(transaction, now).await?;
                let mut answers = Vec::with_capacity(script.statements.len());
                for sql in script.statements {
                    let taken = &values[..parameters_in(sql).min(values.len())];
                    answers.push(transaction.query_typed(sql, taken).await?);
                }
                let Some(row) = script.answer(answers).into_iter().next() else {
                    return Err(Abort::Condition(Kept::Because(Withdrawn::Missing)));
                };
                if was_administered && !self.is_administered(transaction, now).await? {
                    return Err(Abort::Condition(Kept::Because(Withdrawn::LastAdministrator)));
                }
                Ok(row)
            })
        });
        match withdrawn.await {
            Ok(row) => Ok((Withdrawn::Done, Some(row))),
            Err(Failure::Condition(Kept::Because(kept))) => Ok((kept, None)),
            Err(Failure::Condition(Kept::Unreadable(error))) => Err(error),
            Err(Failure::Transaction(error)) => Err(error_of(operation, error)),
        }
    }

    async fn is_administered(
        &self,
        transaction: &Transaction<'_>,
        now: Timestamp,
    ) -> Result<bool, Abort<Kept>> {
        let system: Values<'_> = &[(&DEFAULT_NAMESPACE, Type::TEXT)];
        let bound = transaction.query_typed(self.statements.system_roles, system).await?;
        let roles = bound.iter().map(system_role).collect::<Result<Vec<_>>>()?;
        let administrators = administrators(roles);
        let users: Vec<&str> = administrators.iter().map(String::as_str).collect();
        let of_users: Values<'_> = &[(&users, Type::TEXT_ARRAY)];
        let keys = transaction.query_typed(include_str!("sql/api_key_expiries.sql"), of_users).await?;
        let expiry = |row: &Row| Ok(column::<Option<_>>(row, "expires_at")?.map(from_postgres));
        let expiries = keys.iter().map(expiry).collect::<Result<Vec<_>>>()?;
        Ok(is_administered(&administrators, expiries, now))
    }
}

fn system_role(row: &Row) -> Result<SystemRole> {
    Ok(SystemRole {
        binding_id: column(row, "id")?,
        user_id: column(row, "user_id")?,
        permissions: permissions(row)?.iter().collect(),
    })
}

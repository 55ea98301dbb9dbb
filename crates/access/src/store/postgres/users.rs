use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::in_part;
use super::time::{from_postgres, to_postgres};
use super::{PostgresStore, column, is_nowhere, limit, pivot};
use crate::User;
use crate::store::{Result, UserAdded, UserStore, Withdrawn};

const GET: Operation = Operation::new("access.user.get");
const ADD: Operation = Operation::new("access.user.add");
const LIST: Operation = Operation::new("access.user.list");
const DELETE: Operation = Operation::new("access.user.delete");

fn decode(row: &Row) -> Result<User> {
    Ok(User {
        id: column(row, "id")?,
        username: column(row, "username")?,
        external_id: column(row, "external_id")?,
        email: column(row, "email")?,
        created_at: from_postgres(column(row, "created_at")?),
        updated_at: from_postgres(column(row, "updated_at")?),
    })
}

#[async_trait]
impl UserStore for PostgresStore {
    async fn get(&self, id: &str) -> Result<Option<User>> {
        if is_nowhere(id) {
            return Ok(None);
        }
        let rows = self.read(GET, include_str!("sql/user_get.sql"), &[(&id, Type::TEXT)]).await?;
        rows.first().map(decode).transpose()
    }

    async fn add(&self, user: &User) -> Result<UserAdded> {
        let added = self
            .write(
                ADD,
                &self.statements.user_add,
                &[
                    (&user.id, Type::TEXT),
                    (&user.username, Type::TEXT),
                    (&user.external_id, Type::TEXT),
                    (&user.email, Type::TEXT),
                    (&to_postgres(user.created_at), Type::TIMESTAMPTZ),
                    (&to_postgres(user.updated_at), Type::TIMESTAMPTZ),
                ],
            )
            .await;
        match added {
            Ok(_) => Ok(UserAdded::Added),
            Err(error) => match error.violated() {
                Some("leasehold_users_pkey") => Ok(UserAdded::IdExists),
                Some("leasehold_users_username_key") => Ok(UserAdded::UsernameTaken),
                _ => Err(error.into_error(ADD)),
            },
        }
    }

    async fn list(&self, from: &str, at_most: usize) -> Result<Vec<User>> {
        let (pivot, limit) = (pivot(from), limit(at_most));
        let sql = include_str!("sql/user_list.sql");
        let rows = self.read(LIST, sql, &[(&pivot, Type::TEXT), (&limit, Type::INT8)]).await?;
        rows.iter().map(decode).collect()
    }

    async fn delete(&self, id: &str, now: Timestamp) -> Result<Withdrawn> {
        if is_nowhere(id) {
            return Ok(Withdrawn::Missing);
        }
        let mut is_first = true;
        loop {
            let script = &self.statements.user_delete;
            let deleted = self.withdraw(DELETE, script, &[(&id, Type::TEXT)], now).await;
            let (withdrawn, row) = deleted.map_err(|error| in_part(is_first, error))?;
            match row {
                Some(row) if column(&row, "is_partial")? => is_first = false,
                _ => return Ok(withdrawn),
            }
        }
    }
}

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::script::Script;
use super::time::{from_postgres, to_postgres};
use super::{PostgresStore, column, is_nowhere, limit, pivot, unusable};
use crate::store::{ApiKeyAdded, ApiKeyStore, Result, Withdrawn};
use crate::{ApiKey, ApiKeyHash};

const GET: Operation = Operation::new("access.api_key.get");
const ADD: Operation = Operation::new("access.api_key.add");
const LIST: Operation = Operation::new("access.api_key.list");
const DELETE: Operation = Operation::new("access.api_key.delete");
const UPDATE_LAST_USED: Operation = Operation::new("access.api_key.update_last_used");

fn decode(row: &Row) -> Result<ApiKey> {
    let hash = ApiKeyHash::from_text(column(row, "hash")?);
    Ok(ApiKey {
        id: column(row, "id")?,
        user_id: column(row, "user_id")?,
        namespace_scope: column(row, "namespace_scope")?,
        name: column(row, "name")?,
        prefix: column(row, "prefix")?,
        hash: hash.ok_or_else(|| unusable("the record of a key has no hash".to_owned()))?,
        expires_at: column::<Option<_>>(row, "expires_at")?.map(from_postgres),
        last_used_at: column::<Option<_>>(row, "last_used_at")?.map(from_postgres),
        created_at: from_postgres(column(row, "created_at")?),
    })
}

#[async_trait]
impl ApiKeyStore for PostgresStore {
    async fn get_by_hash(&self, hash: &ApiKeyHash) -> Result<Option<ApiKey>> {
        let sql = include_str!("sql/api_key_get.sql");
        let rows = self.read(GET, sql, &[(&hash.to_text(), Type::TEXT)]).await?;
        rows.first().map(decode).transpose()
    }

    async fn add(&self, key: &ApiKey) -> Result<ApiKeyAdded> {
        let added = self
            .write(
                ADD,
                &self.statements.api_key_add,
                &[
                    (&key.id, Type::TEXT),
                    (&key.hash.to_text(), Type::TEXT),
                    (&key.user_id, Type::TEXT),
                    (&key.namespace_scope, Type::TEXT),
                    (&key.name, Type::TEXT),
                    (&key.prefix, Type::TEXT),
                    (&key.expires_at.map(to_postgres), Type::TIMESTAMPTZ),
                    (&key.last_used_at.map(to_postgres), Type::TIMESTAMPTZ),
                    (&to_postgres(key.created_at), Type::TIMESTAMPTZ),
                ],
            )
            .await;
        match added {
            Ok(_) => Ok(ApiKeyAdded::Added),
            Err(error) => match error.violated() {
                Some("leasehold_api_keys_pkey") => Ok(ApiKeyAdded::IdExists),
                Some("leasehold_api_keys_hash_key") => Ok(ApiKeyAdded::HashExists),
                Some("leasehold_api_keys_user_fkey") => Ok(ApiKeyAdded::UserMissing),
                _ => Err(error.into_error(ADD)),
            },
        }
    }

    async fn list(&self, user_id: Option<&str>, from: &str, at_most: usize) -> Result<Vec<ApiKey>> {
        if user_id.is_some_and(is_nowhere) {
            return Ok(Vec::new());
        }
        let (pivot, limit) = (pivot(from), limit(at_most));
        let sql = include_str!("sql/api_key_list.sql");
        let rows =
            self.read(LIST, sql, &[(&pivot, Type::TEXT), (&limit, Type::INT8), (&user_id, Type::TEXT)]).await;
        rows?.iter().map(decode).collect()
    }

    async fn delete(&self, id: &str, now: Timestamp) -> Result<Withdrawn> {
        if is_nowhere(id) {
            return Ok(Withdrawn::Missing);
        }
        let script = &self.statements.api_key_delete;
        let (withdrawn, _) = self.withdraw(DELETE, script, &[(&id, Type::TEXT)], now).await?;
        Ok(withdrawn)
    }

    async fn update_last_used(&self, id: &str, used_at: Timestamp) -> Result<()> {
        let script = Script::one(&[include_str!("sql/api_key_update_last_used.sql")]);
        let updated = self
            .write(
                UPDATE_LAST_USED,
                &script,
                &[(&id, Type::TEXT), (&to_postgres(used_at), Type::TIMESTAMPTZ)],
            )
            .await;
        updated.map(drop).map_err(|error| error.into_error(UPDATE_LAST_USED))
    }
}

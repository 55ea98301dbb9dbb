use async_trait::async_trait;
use leasehold_queue::Namespace;
use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::script::Script;
use super::time::{from_postgres, to_postgres};
use super::{PostgresStore, column, is_nowhere, limit, pivot, unusable};
use crate::store::{Deleted, NamespaceStore, Result};
use crate::{NamespaceInfo, Tag};

const GET: Operation = Operation::new("access.namespace.get");
const ADD: Operation = Operation::new("access.namespace.add");
const UPDATE: Operation = Operation::new("access.namespace.update");
const LIST: Operation = Operation::new("access.namespace.list");
const DELETE: Operation = Operation::new("access.namespace.delete");

pub(super) fn name(row: &Row, name: &str) -> Result<Namespace> {
    column::<&str>(row, name)?.parse().map_err(|refusal| unusable(format!("a namespace: {refusal}")))
}

fn decode(row: &Row) -> Result<NamespaceInfo> {
    let tag: Option<&str> = column(row, "api_key_tag")?;
    Ok(NamespaceInfo {
        name: name(row, "name")?,
        description: column(row, "description")?,
        api_key_tag: Tag::parse("api_key_tag", tag.unwrap_or_default())
            .map_err(|refusal| unusable(refusal.to_string()))?,
        created_at: from_postgres(column(row, "created_at")?),
    })
}

#[async_trait]
impl NamespaceStore for PostgresStore {
    async fn get(&self, name: &Namespace) -> Result<Option<NamespaceInfo>> {
        if is_nowhere(name.as_str()) {
            return Ok(None);
        }
        let sql = include_str!("sql/namespace_get.sql");
        let rows = self.read(GET, sql, &[(&name.as_str(), Type::TEXT)]).await?;
        rows.first().map(decode).transpose()
    }

    async fn add(&self, info: &NamespaceInfo) -> Result<bool> {
        let tag = info.api_key_tag.as_ref().map(Tag::as_str);
        let added = self
            .write(
                ADD,
                &Script::one(&[include_str!("sql/namespace_add.sql")]),
                &[
                    (&info.name.as_str(), Type::TEXT),
                    (&info.description, Type::TEXT),
                    (&tag, Type::TEXT),
                    (&to_postgres(info.created_at), Type::TIMESTAMPTZ),
                ],
            )
            .await;
        Ok(!added.map_err(|error| error.into_error(ADD))?.is_empty())
    }

    async fn update(&self, name: &Namespace, description: &str, api_key_tag: Option<&Tag>) -> Result<bool> {
        let tag = api_key_tag.map(Tag::as_str);
        let updated = self
            .write(
                UPDATE,
                &Script::one(&[include_str!("sql/namespace_update.sql")]),
                &[(&name.as_str(), Type::TEXT), (&description, Type::TEXT), (&tag, Type::TEXT)],
            )
            .await;
        Ok(!updated.map_err(|error| error.into_error(UPDATE))?.is_empty())
    }

    async fn list(&self, from: &str, at_most: usize) -> Result<Vec<NamespaceInfo>> {
        let (pivot, limit) = (pivot(from), limit(at_most));
        let sql = include_str!("sql/namespace_list.sql");
        let rows = self.read(LIST, sql, &[(&pivot, Type::TEXT), (&limit, Type::INT8)]).await?;
        rows.iter().map(decode).collect()
    }

    async fn delete(&self, name: &Namespace) -> Result<Deleted> {
        if is_nowhere(name.as_str()) {
            return Ok(Deleted::Missing);
        }
        let script = &self.statements.namespace_delete;
        match self.write(DELETE, script, &[(&name.as_str(), Type::TEXT)]).await {
            Ok(rows) if rows.is_empty() => Ok(Deleted::Missing),
            Ok(_) => Ok(Deleted::Deleted),
            Err(error) if error.violated() == Some("leasehold_roles_namespace_fkey") => Ok(Deleted::InUse),
            Err(error) => Err(error.into_error(DELETE)),
        }
    }
}

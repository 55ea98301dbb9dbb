//! The record of which run is the current one: of a workflow, or of anything else.

use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::ToSql;
use leasehold_txn::{Abort, Transaction};

use super::conflict::{CurrentConflict, Told};
use super::key::CurrentKey;
use super::state::{ExecutionState, ExecutionStatus};
use crate::sql::{Sql, column};
use crate::time::Stored;
use crate::{Blob, Database, Error, Result, RunId};

const LOCK_LAST_WRITE_VERSION: &str = include_str!("sql/lock_last_write_version.sql");

/// The statements on the records of an archetype. Workflows have a table of their own.
#[derive(Clone, Copy)]
pub(super) struct CurrentSql {
    pub(super) insert: Sql,
    pub(super) update: Sql,
    pub(super) delete: Sql,
    pub(super) select: Sql,
    lock: Sql,
    lock_with_execution: &'static str,
}

const WORKFLOW: CurrentSql = CurrentSql {
    insert: Sql::same(include_str!("sql/insert_current.sql")),
    update: Sql::same(include_str!("sql/update_current.sql")),
    delete: Sql::same(include_str!("sql/delete_current.sql")),
    select: Sql::same(include_str!("sql/select_current.sql")),
    lock: Sql::same(include_str!("sql/lock_current.sql")),
    lock_with_execution: include_str!("sql/lock_current_with_execution.sql"),
};

const CHASM: CurrentSql = CurrentSql {
    insert: Sql::same(include_str!("sql/insert_current_chasm.sql")),
    update: Sql::same(include_str!("sql/update_current_chasm.sql")),
    delete: Sql::same(include_str!("sql/delete_current_chasm.sql")),
    select: Sql::same(include_str!("sql/select_current_chasm.sql")),
    lock: Sql::same(include_str!("sql/lock_current_chasm.sql")),
    lock_with_execution: include_str!("sql/lock_current_chasm_with_execution.sql"),
};

impl CurrentSql {
    pub(super) const fn of(key: &CurrentKey) -> Self {
        if key.archetype.other_id().is_some() { CHASM } else { WORKFLOW }
    }
}

/// The record as it is stored.
pub(super) struct Current {
    pub(super) run_id: RunId,
    pub(super) create_request_id: String,
    pub(super) state: ExecutionState,
    pub(super) status: ExecutionStatus,
    pub(super) last_write_version: i64,
    start_time: Option<Timestamp>,
    blob: Option<Blob>,
}

impl Current {
    pub(super) fn of(row: &Row) -> Result<Self> {
        let is_there = |bytes: &[u8]| !bytes.is_empty();
        let has_state = column::<Option<&[u8]>>(row, "data")?.is_some_and(is_there)
            && column::<Option<&str>>(row, "data_encoding")?
                .is_some_and(|encoding| is_there(encoding.as_bytes()));
        Ok(Self {
            run_id: column(row, "run_id")?,
            create_request_id: column(row, "create_request_id")?,
            state: ExecutionState::of(column(row, "state")?)?,
            status: ExecutionStatus::of(column(row, "status")?)?,
            last_write_version: column(row, "last_write_version")?,
            start_time: column::<Option<Stored>>(row, "start_time")?.map(|stored| stored.0),
            blob: if has_state { Some(Blob::of(row)?) } else { None },
        })
    }

    /// The error that tells a writer of it.
    pub(super) fn conflict(self) -> Error {
        let told = match &self.blob {
            Some(state) => Told::by(state),
            None => Ok(Told::without_state(&self.create_request_id)),
        };
        match told {
            Ok(told) => Error::from(CurrentConflict {
                run_id: Some(self.run_id),
                first_execution_run_id: told.first_execution_run_id,
                request_ids: told.request_ids,
                state: Some(self.state),
                status: Some(self.status),
                last_write_version: self.last_write_version,
                start_time: self.start_time,
                blob: self.blob,
            }),
            Err(error) => error,
        }
    }
}

async fn query(tx: &Transaction<'_>, sql: &str, key: &CurrentKey) -> Result<Option<Current>, Abort<Error>> {
    let values = key.values();
    let values: Vec<_> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
    let row = tx.query_opt(sql, &values).await?;
    row.map(|row| Current::of(&row).map_err(Abort::Condition)).transpose()
}

/// The record, which nobody else changes until the transaction ends.
pub(super) async fn lock(tx: &Transaction<'_>, key: &CurrentKey) -> Result<Option<Current>, Abort<Error>> {
    query(tx, CurrentSql::of(key).lock.postgres, key).await
}

/// [`lock`] together with its run, whose version it then has. A record whose run is gone counts as none.
pub(super) async fn lock_with_execution(
    tx: &Transaction<'_>,
    database: &Database,
    key: &CurrentKey,
) -> Result<Option<Current>, Abort<Error>> {
    if !database.is_dsql() {
        return query(tx, CurrentSql::of(key).lock_with_execution, key).await;
    }
    let Some(current) = lock(tx, key).await? else { return Ok(None) };
    let run = key.execution(current.run_id);
    let Some(row) = tx.query_opt(LOCK_LAST_WRITE_VERSION, &run.columns()).await? else { return Ok(None) };
    let last_write_version = column(&row, "last_write_version").map_err(Abort::Condition)?;
    Ok(Some(Current { last_write_version, ..current }))
}

/// The error for a writer whose record turned out to be there already, or to be another.
pub(super) async fn conflict_as_stored(tx: &Transaction<'_>, key: &CurrentKey) -> Abort<Error> {
    match query(tx, CurrentSql::of(key).select.postgres, key).await {
        Ok(current) => {
            Abort::Condition(current.map_or_else(|| CurrentConflict::none().into(), Current::conflict))
        }
        Err(abort) => abort,
    }
}

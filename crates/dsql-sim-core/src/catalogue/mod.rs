//! What tables there are, and which of them changed when.

mod table;

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

pub(crate) use table::{RowName, Table, literal, quoted};

use crate::{backend::Connection, failure::Failure};

const TABLE: &str = include_str!("table.sql");

/// A name of a table as a statement has it: with its schema or without, folded as PostgreSQL does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TableName {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
}

/// Tables by name, forgotten at every DDL, and the number of the DDL that last changed each.
pub(crate) struct Catalogue {
    connection: tokio::sync::Mutex<Connection>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many DDL statements were committed.
    version: u64,
    tables: HashMap<(Vec<String>, String), Option<Arc<Table>>>,
    changed: HashMap<u32, u64>,
    /// The last change that may concern any table.
    all_changed: u64,
}

impl Catalogue {
    pub(crate) fn new(connection: Connection) -> Catalogue {
        Catalogue { connection: tokio::sync::Mutex::new(connection), state: Mutex::default() }
    }

    /// How many DDL statements were committed so far.
    pub(crate) fn version(&self) -> u64 {
        self.state.lock().version
    }

    /// The table of this name, looked for in `schemas` in order.
    pub(crate) async fn table(
        &self,
        name: &TableName,
        schemas: &[String],
    ) -> Result<Option<Arc<Table>>, Failure> {
        let schemas = name.schema.as_ref().map_or_else(|| schemas.to_vec(), |schema| vec![schema.clone()]);
        let key = (schemas, name.name.clone());
        let version = {
            let state = self.state.lock();
            if let Some(found) = state.tables.get(&key) {
                return Ok(found.clone());
            }
            state.version
        };
        let list = key.0.iter().map(|schema| literal(schema)).collect::<Vec<_>>().join(", ");
        let sql = TABLE
            .replace("{schemas}", &format!("ARRAY[{list}]::text[]"))
            .replace("{name}", &literal(&name.name));
        let outcome = self.connection.lock().await.simple(&sql).await?.one()?;
        let text = outcome.text_rows().pop().and_then(|mut row| row.pop().flatten());
        let table = text.and_then(|text| serde_json::from_str(&text).ok()).map(Arc::new);
        let mut state = self.state.lock();
        // A table read before a change must not stand for it afterwards.
        if state.version == version {
            state.tables.insert(key, table.clone());
        }
        Ok(table)
    }

    /// A DDL was committed that changed these tables; none given: perhaps any.
    pub(crate) fn changed(&self, tables: Option<&[u32]>) {
        let mut state = self.state.lock();
        state.version += 1;
        let version = state.version;
        match tables {
            Some(tables) => state.changed.extend(tables.iter().map(|table| (*table, version))),
            None => state.all_changed = version,
        }
        state.tables.clear();
    }

    /// Whether a table was changed after `version`.
    pub(crate) fn is_newer(&self, table: u32, version: u64) -> bool {
        let state = self.state.lock();
        state.all_changed > version || state.changed.get(&table).is_some_and(|changed| *changed > version)
    }

    /// A question to the catalogue or about what is committed now.
    pub(crate) async fn ask(&self, sql: &str) -> Result<Option<String>, Failure> {
        let outcome = self.connection.lock().await.simple(sql).await?.one()?;
        Ok(outcome.text_rows().pop().and_then(|mut row| row.pop().flatten()))
    }
}

//! What the engine does with a statement, worked out once from its parse tree and the tables it names.

mod capture;
mod locking;
mod names;
mod write;

use std::sync::Arc;

use sqlparser::ast::{AlterTable, AlterTableOperation, CreateIndex, Query, Statement};

pub(crate) use capture::Capture;
pub(crate) use locking::Locking;
pub(crate) use write::{Shadow, Write};

use crate::{
    catalogue::{Catalogue, Table},
    failure::Failure,
    rules::{self, Kind, Parsed},
};

/// One statement, ready to be run any number of times.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) parsed: Arc<Parsed>,
    /// The version of the catalogue it was made for.
    pub(crate) version: u64,
    /// Every table it touches.
    pub(crate) tables: Vec<u32>,
    pub(crate) action: Action,
}

/// How a statement is run.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Begin,
    Commit,
    Rollback,
    /// Answered, and not passed on: what is prepared at PostgreSQL is the simulator's own.
    DeallocateAll,
    /// As it is, in the snapshot of its transaction.
    Read,
    Locking(Locking),
    Write(Write),
    /// As it is; a change of the session that a transaction may take back.
    Set,
    /// Changes the catalogue: these tables, or perhaps any.
    Ddl {
        /// As PostgreSQL has it; none where it has nothing of the kind.
        sql: Option<Arc<str>>,
        changes: Option<Vec<u32>>,
        makes_job: bool,
        /// The type of a column to be indexed that cannot be part of a key.
        unfit_type: Option<String>,
    },
}

impl Plan {
    /// Looks up the tables of a statement and decides how to run it.
    pub(crate) async fn new(
        parsed: Arc<Parsed>,
        catalogue: &Catalogue,
        schemas: &[String],
    ) -> Result<Plan, Failure> {
        let version = catalogue.version();
        let mut tables: Vec<Arc<Table>> = Vec::new();
        for name in names::tables(&parsed) {
            tables.extend(catalogue.table(&name, schemas).await?);
        }
        let oids: Vec<u32> = tables.iter().map(|table| table.oid).collect();
        let action = match parsed.kind {
            Kind::Begin => Action::Begin,
            Kind::Commit => Action::Commit,
            Kind::Rollback => Action::Rollback,
            Kind::DeallocateAll => Action::DeallocateAll,
            Kind::Insert | Kind::Update | Kind::Delete | Kind::WritingWith => {
                Action::Write(write(&parsed, catalogue, schemas).await?)
            }
            Kind::Select => match locking::query(&parsed.statement) {
                Some(query) => Action::Locking(lock(&parsed, query, catalogue, schemas).await?),
                None => Action::Read,
            },
            Kind::CreateIndex | Kind::Ddl => ddl(&parsed, &tables),
            Kind::Set => Action::Set,
            Kind::Show | Kind::Explain | Kind::Call | Kind::Other => Action::Read,
        };
        Ok(Plan { parsed, version, tables: oids, action })
    }

    /// The text that PostgreSQL is asked about when the client asks what the statement takes and gives.
    pub(crate) fn described_sql(&self) -> Option<Arc<str>> {
        match &self.action {
            Action::Begin
            | Action::Commit
            | Action::Rollback
            | Action::DeallocateAll
            | Action::Ddl { makes_job: true, .. } => None,
            Action::Locking(locking) => Some(locking.read.clone()),
            Action::Ddl { sql, .. } => sql.clone(),
            _ => Some(self.parsed.sql.clone()),
        }
    }
}

async fn write(parsed: &Parsed, catalogue: &Catalogue, schemas: &[String]) -> Result<Write, Failure> {
    let target = write::target(&parsed.statement);
    let table = match target.as_ref().and_then(|source| names::table_name(&source.name)) {
        Some(name) => catalogue.table(&name, schemas).await?.filter(|table| table.is_stored()),
        None => None,
    };
    Ok(Write::new(&parsed.sql, &parsed.statement, target.as_ref().zip(table.as_deref())))
}

async fn lock(
    parsed: &Parsed,
    query: &Query,
    catalogue: &Catalogue,
    schemas: &[String],
) -> Result<Locking, Failure> {
    let locked = locking::locked(query);
    let mut is_stored = locked.is_some();
    let mut tables = Vec::new();
    for (source, strength) in locked.unwrap_or_default() {
        let Some(name) = names::table_name(&source.name) else { continue };
        match catalogue.table(&name, schemas).await? {
            Some(table) if table.is_stored() => tables.push((source, strength, table)),
            Some(_) => is_stored = false,
            // That there is no such table, PostgreSQL says itself.
            None => {}
        }
    }
    let fixed: Vec<String> =
        rules::locking_reads(parsed).into_iter().flat_map(|read| read.fixed_columns).collect();
    Ok(Locking::new(query, &tables, is_stored, &fixed))
}

fn ddl(parsed: &Parsed, tables: &[Arc<Table>]) -> Action {
    let creates = matches!(
        parsed.statement,
        Statement::CreateTable(_)
            | Statement::CreateView { .. }
            | Statement::CreateSchema { .. }
            | Statement::CreateRole { .. }
            | Statement::CreateSequence { .. }
            | Statement::CreateFunction(_)
            | Statement::CreateDomain(_)
    );
    // What names no table may still change how tables look: a role's rights, a schema that goes.
    let changes = (creates || !tables.is_empty()).then(|| tables.iter().map(|table| table.oid).collect());
    let unfit_type = match (&parsed.statement, tables.first()) {
        (Statement::CreateIndex(index), Some(table)) => {
            rules::unfit_type(index, |column| table.type_of(column)).map(str::to_owned)
        }
        _ => None,
    };
    let (sql, makes_job) = match &parsed.statement {
        Statement::CreateIndex(index) if index.r#async => {
            // A method of its own is there only by DSQL's name for it, which the rules have let pass.
            let index = CreateIndex { r#async: false, using: None, ..index.clone() };
            (Some(index.to_string().into()), true)
        }
        Statement::AlterTable(table) if table.r#async && is_validation(table) => {
            (Some(AlterTable { r#async: false, ..table.clone() }.to_string().into()), true)
        }
        Statement::AwsIamGrant { .. } | Statement::AwsIamRevoke { .. } => (None, false),
        _ => (Some(parsed.sql.clone()), false),
    };
    Action::Ddl { sql, changes, makes_job, unfit_type }
}

/// All that `ALTER TABLE ASYNC` does.
fn is_validation(table: &AlterTable) -> bool {
    table
        .operations
        .iter()
        .all(|operation| matches!(operation, AlterTableOperation::ValidateConstraint { .. }))
}

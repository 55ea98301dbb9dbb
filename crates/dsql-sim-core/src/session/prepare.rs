//! From a text to something that can be run.

use std::sync::Arc;

use bytes::Bytes;
use sqlparser::ast::{Statement, TransactionAccessMode, TransactionMode};

use super::{Session, Status};
use crate::{
    backend::{Call, NO_PARAMETERS},
    failure::{Answered, Failure},
    plan::{Action, Plan},
    rules::{self, Kind, Parsed},
};

/// A statement that PostgreSQL was asked about.
#[derive(Debug)]
pub struct Prepared {
    /// None for an empty text.
    plan: Option<Arc<Plan>>,
    /// The types of its parameters, as PostgreSQL resolved them.
    pub(super) types: Arc<[u32]>,
    /// The body of ParameterDescription.
    pub parameters: Bytes,
    /// The body of RowDescription, all formats text; none when it gives no rows.
    pub description: Option<Bytes>,
    pub(super) is_kept: bool,
}

/// Values for one run of a statement.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The part of a Bind message between the names and the result formats.
    pub parameters: Bytes,
    /// The result formats of a Bind message.
    pub formats: Vec<i16>,
}

impl Default for Bound {
    /// No parameters, rows in text.
    fn default() -> Bound {
        Bound { parameters: Bytes::from_static(NO_PARAMETERS), formats: Vec::new() }
    }
}

impl Prepared {
    /// Whether the text held no statement.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.plan.is_none()
    }

    pub(super) fn call(&self, sql: &Arc<str>, bound: &Bound) -> Call {
        Call {
            sql: sql.clone(),
            types: self.types.clone(),
            parameters: bound.parameters.clone(),
            formats: bound.formats.clone(),
            is_kept: self.is_kept,
        }
    }
}

impl Session {
    /// Prepares a statement and learns what it takes and gives. `types` are those the client declared.
    ///
    /// Dropping it midway changes nothing.
    ///
    /// # Errors
    /// What the client is to be told; an open transaction has failed then.
    pub async fn prepare(&mut self, sql: &str, types: &[u32]) -> Answered<Arc<Prepared>> {
        let key = (sql.to_owned(), types.to_vec());
        let version = self.shared().catalogue.version();
        if let Some(prepared) = self.prepared.get(&key) {
            let is_current = prepared.plan.as_ref().is_none_or(|plan| plan.version == version);
            if is_current && self.status() != Status::Failed {
                return Ok(prepared.clone());
            }
        }
        let statements = match rules::statements(sql) {
            Ok(statements) => statements,
            Err(refusal) => return Err(self.refused(refusal).await),
        };
        if statements.len() > 1 {
            let failure = Failure::new("42601", "cannot insert multiple commands into a prepared statement");
            return Err(self.failed(failure).await);
        }
        let prepared = match statements.first() {
            Some(parsed) => match self.describe(parsed.clone(), types).await {
                Ok(prepared) => prepared,
                Err(failure) => return Err(self.failed(failure).await),
            },
            None => Prepared {
                plan: None,
                types: Arc::default(),
                parameters: Bytes::from_static(&[0, 0]),
                description: None,
                is_kept: false,
            },
        };
        let prepared = Arc::new(prepared);
        if self.prepared.len() >= PREPARED_MAX {
            self.prepared.clear();
        }
        self.prepared.insert(key, prepared.clone());
        Ok(prepared)
    }

    async fn describe(&mut self, parsed: Arc<Parsed>, types: &[u32]) -> Result<Prepared, Failure> {
        let ends = matches!(parsed.kind, Kind::Commit | Kind::Rollback);
        if self.status() == Status::Failed && !ends {
            return Err(Failure::aborted());
        }
        self.check_rules(&parsed)?;
        let plan = Plan::new(parsed, &self.shared().catalogue, &self.schemas).await?;
        let job = matches!(plan.action, Action::Ddl { makes_job: true, .. });
        let mut prepared = Prepared {
            types: types.into(),
            parameters: Bytes::from_static(&[0, 0]),
            description: job.then(super::ddl::job_description),
            is_kept: true,
            plan: None,
        };
        if let Some(sql) = plan.described_sql() {
            let call = Call { is_kept: true, ..prepared.call(&sql, &Bound::default()) };
            let reply = self.seat.worker.lock().await.describe(&call, plan.version).await?;
            prepared.description = reply.described;
            if let Some(parameters) = reply.parameters {
                prepared.types = oids(&parameters);
                prepared.parameters = parameters;
            }
        }
        prepared.plan = Some(Arc::new(plan));
        Ok(prepared)
    }

    /// A statement that is run once, and so need not be asked about before.
    pub(super) async fn unprepared(&mut self, parsed: Arc<Parsed>) -> Answered<Prepared> {
        let plan = match Plan::new(parsed, &self.shared().catalogue, &self.schemas).await {
            Ok(plan) => Arc::new(plan),
            Err(failure) => return Err(self.failed(failure).await),
        };
        Ok(Prepared {
            plan: Some(plan),
            types: Arc::default(),
            parameters: Bytes::from_static(&[0, 0]),
            description: None,
            is_kept: false,
        })
    }

    /// The plan as of now: DDL since it was made may have changed what its tables look like.
    pub(super) async fn current(&mut self, prepared: &Prepared) -> Answered<Arc<Plan>> {
        let Some(plan) = &prepared.plan else {
            return Err(Failure::new("XX000", "an empty statement cannot be run").into());
        };
        if plan.version == self.shared().catalogue.version() {
            return Ok(plan.clone());
        }
        match Plan::new(plan.parsed.clone(), &self.shared().catalogue, &self.schemas).await {
            Ok(plan) => Ok(Arc::new(plan)),
            Err(failure) => Err(self.failed(failure).await),
        }
    }
}

/// Prepared statements a session remembers by their text.
const PREPARED_MAX: usize = 200;

fn oids(description: &Bytes) -> Arc<[u32]> {
    let types = description.get(2..).unwrap_or_default().chunks_exact(4);
    types.map(|oid| u32::from_be_bytes([oid[0], oid[1], oid[2], oid[3]])).collect()
}

pub(super) fn is_read_only(statement: &Statement) -> bool {
    let Statement::StartTransaction { modes, .. } = statement else { return false };
    modes.contains(&TransactionMode::AccessMode(TransactionAccessMode::ReadOnly))
}

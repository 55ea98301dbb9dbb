use clap::Args;
use leasehold_locks::backend::dsql::{self, DsqlBackend};
use leasehold_locks::backend::postgres::{Config, PostgresBackend};
use leasehold_persistence::{Schema, Step};
use leasehold_txn::{Dialect, Pool};
use serde_json::{Value, json};

use super::Face;
use super::database::Database;
use super::print::Tables;
use crate::failure::Failure;
use crate::output::{Done, print};

/// Set the tables up in a database. What is there already is left as it is, so it can be repeated, also by several at once.
///
/// State: a database that Temporal made is left as it is. One with an older version of Temporal's tables is refused:
/// Temporal's own tool brings it forward.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Apply {
    /// What the tables are for
    #[arg(long, value_enum, default_value_t = Face::Locks)]
    face: Face,

    /// Say what is missing, and make nothing (state)
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    database: Database,

    #[command(flatten)]
    tables: Tables,
}

const HELP: &str = "\
Exit codes:
  0 the tables are there, or the dry run is done · 2 the tables that are there are others · 4 the database is unavailable ·
  5 outcome unknown: repeat it

Examples:
  leasehold schema apply --store postgres://app:secret@db/app
  leasehold schema apply --face state --store postgres://temporal:secret@db/temporal --dry-run
  leasehold schema apply --face state --store dsql://CLUSTER.dsql.eu-west-1.on.aws --json";

impl Apply {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let pool = self.database.pool()?;
        match self.face {
            Face::Locks => self.apply_locks(pool).await,
            Face::State => self.apply_state(&pool).await,
        }
    }

    async fn apply_locks(self, pool: Pool) -> Result<Done, Failure> {
        if self.dry_run {
            return Err(Failure::input("--dry-run is only for --face state"));
        }
        let tables = self.tables.names()?;
        let what = match pool.dialect() {
            Dialect::Dsql { .. } => {
                self.tables.no_columns()?;
                let backend = DsqlBackend::new(pool, dsql::Config { tables, ..dsql::Config::default() });
                backend.setup_schema().await?;
                "the table of locks is there"
            }
            Dialect::Postgres { .. } => {
                let backend = PostgresBackend::new(pool, Config { tables, ..Config::default() });
                backend.setup_schema(self.tables.columns()).await?;
                "the tables of locks are there"
            }
        };
        match self.json {
            true => print(true, &json!({ "applied": true }), String::new)?,
            false => eprintln!("{what}"),
        }
        Ok(Done::Yes)
    }

    async fn apply_state(self, pool: &Pool) -> Result<Done, Failure> {
        self.tables.only_for_locks()?;
        let schema = Schema::of(pool.dialect());
        if self.dry_run {
            let missing = schema.plan(pool).await?;
            print(self.json, &json!({ "missing": shown(&missing, true) }), || match missing.as_slice() {
                [] => "nothing is missing".to_owned(),
                missing => {
                    missing.iter().map(|step| format!("missing: {step}")).collect::<Vec<_>>().join("\n")
                }
            })?;
            return Ok(Done::Yes);
        }
        let mut taken = Vec::new();
        let applied = schema.apply_with(pool, |progress| {
            if !self.json {
                eprintln!("[{}/{}] {}", progress.number, progress.total, progress.step);
            }
            taken.push(progress.step.clone());
        });
        applied.await?;
        match self.json {
            true => print(true, &json!({ "applied": shown(&taken, false) }), String::new)?,
            false => eprintln!("the tables of state are there; {} step(s) were missing", taken.len()),
        }
        Ok(Done::Yes)
    }
}

fn shown(steps: &[Step], with_sql: bool) -> Vec<Value> {
    let shown = |step: &Step| match with_sql {
        true => json!({ "kind": step.kind(), "name": step.name(), "sql": step.sql() }),
        false => json!({ "kind": step.kind(), "name": step.name() }),
    };
    steps.iter().map(shown).collect()
}

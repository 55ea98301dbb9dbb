use clap::Args;
use leasehold_persistence::Schema;
use serde_json::{Value, json};

use super::Face;
use super::database::Database;
use crate::failure::Failure;
use crate::output::{Done, print};

/// Compare tables, columns, types, keys and indexes with what is wanted. Changes nothing.
///
/// For state. The tables of locks and queues are looked at by 'leasehold doctor'.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Check {
    /// What the tables are for
    #[arg(long, value_enum, default_value_t = Face::State)]
    face: Face,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    database: Database,
}

const HELP: &str = "\
Exit codes:
  0 all is as wanted · 3 something differs · 4 the database is unavailable

Example:
  leasehold schema check --face state --store postgres://temporal:secret@db/temporal --json | jq '.differences[].message'";

impl Check {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        if self.face != Face::State {
            return Err(Failure::input("the tables of locks are looked at by 'leasehold doctor --store'"));
        }
        let pool = self.database.pool()?;
        let report = Schema::of(pool.dialect()).check(&pool).await?;
        let differences: Vec<Value> = report
            .differences
            .iter()
            .map(|difference| {
                let message = difference.to_string();
                json!({ "kind": difference.kind(), "table": difference.table(), "message": message })
            })
            .collect();
        let is_as_wanted = report.differences.is_empty();
        let answer = json!({
            "as_wanted": is_as_wanted,
            "version": report.version,
            "differences": differences,
            "notes": report.notes,
        });
        print(self.json, &answer, || {
            let differences = report.differences.iter().map(|difference| format!("differs: {difference}"));
            let notes = report.notes.iter().map(|note| format!("harmless: {note}"));
            let mut lines: Vec<String> = differences.chain(notes).collect();
            if is_as_wanted {
                let version = report.version.as_deref().unwrap_or_default();
                lines.push(format!("all is as wanted, version {version}"));
            }
            lines.join("\n")
        })?;
        Ok(Done::from(is_as_wanted))
    }
}

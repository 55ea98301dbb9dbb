use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use leasehold_dsql_sim_core::rules::{Finding, Level, lint};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Done, print};

/// Check SQL files for what Aurora DSQL refuses.
///
/// Looks at each statement as 'dsql-sim' does, without a database. Statements count as run one by one, but for those
/// between BEGIN and COMMIT.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes:\n  0 nothing found · 2 a file cannot be read · 3 something was found\n\n\
                        Example:\n  leasehold dsql-lint migrations/*.sql --level 2025.05"
)]
pub(crate) struct DsqlLint {
    /// Files with SQL; - is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// What the cluster can: 2025.05, 2026.09
    #[arg(long, default_value_t = Level::default())]
    level: Level,

    /// Pass over what clusters were seen to take although their documentation does not offer it
    #[arg(long)]
    lenient: bool,

    /// Each file is run in one transaction, as some migration tools do
    #[arg(long)]
    single_transaction: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A finding as JSON.
#[derive(Debug, Serialize)]
struct Shown {
    file: String,
    line: u64,
    column: u64,
    rule: &'static str,
    sqlstate: &'static str,
    message: String,
    advice: &'static str,
}

impl DsqlLint {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        let mut found = Vec::new();
        for file in &self.files {
            let (name, sql) = read(file)?;
            let findings = lint(&sql, self.level, !self.lenient, self.single_transaction);
            found.extend(findings.into_iter().map(|finding| Shown::new(&name, finding)));
        }
        if self.json || !found.is_empty() {
            print(self.json, &found, || found.iter().map(Shown::line).collect::<Vec<_>>().join("\n"))?;
        }
        eprintln!("{} finding(s) in {} file(s) at level {}", found.len(), self.files.len(), self.level);
        Ok(Done::from(found.is_empty()))
    }
}

fn read(file: &Path) -> Result<(String, String), Failure> {
    let (name, bytes) = if file == Path::new("-") {
        let mut bytes = Vec::new();
        ("<stdin>".to_owned(), io::stdin().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (file.display().to_string(), fs::read(file))
    };
    let text = bytes.and_then(|bytes| {
        String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
    });
    match text {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(Failure::file(&name, error)),
    }
}

impl Shown {
    fn new(file: &str, finding: Finding) -> Self {
        let Finding { line, column, rule, message } = finding;
        Shown {
            file: file.to_owned(),
            line,
            column,
            rule: rule.id,
            sqlstate: rule.sqlstate,
            message,
            advice: rule.advice,
        }
    }

    /// As compilers write it, so that editors find the place.
    fn line(&self) -> String {
        let Shown { file, line, column, rule, sqlstate, message, advice } = self;
        let shown: String = message.chars().flat_map(visible).collect();
        format!("{file}:{line}:{column}: {sqlstate} {shown} [{rule}]\n    {advice}")
    }
}

/// Messages quote the file: what would move the cursor is shown, not obeyed.
fn visible(symbol: char) -> Vec<char> {
    if symbol.is_control() { symbol.escape_debug().collect() } else { vec![symbol] }
}

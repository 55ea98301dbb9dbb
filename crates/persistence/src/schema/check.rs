//! Whether a database is as wanted.

use leasehold_txn::Pool;

use super::apply::policy;
use super::catalogue::{Found, FoundTable};
use super::difference::Difference;
use super::shape::{Column, Table};
use super::version::{VERSION, is_new_enough};
use super::{Schema, Step};
use crate::Result;

/// What a database is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// All that would make the stores fail or unsafe; none when the database can be used as it is.
    pub differences: Vec<Difference>,
    /// What differs and does no harm, such as a column that holds longer names than needed.
    pub notes: Vec<String>,
    /// The version that is recorded.
    pub version: Option<String>,
}

impl Schema {
    /// Compares every table, column, type, key and index that is wanted with the catalogue. Changes nothing. Other tables,
    /// other indexes and columns that may be left out are nobody's concern here.
    ///
    /// # Errors
    /// As every read.
    pub async fn check(&self, pool: &Pool) -> Result<Report> {
        Ok(self.compare(&self.look(pool, &policy()).await?))
    }

    /// The steps that [`apply`](Self::apply) would take. Changes nothing.
    ///
    /// # Errors
    /// [`Error::BadSchema`](crate::Error::BadSchema) as `apply` would.
    pub async fn plan(&self, pool: &Pool) -> Result<Vec<Step>> {
        let found = self.look(pool, &policy()).await?;
        self.missing(&found)
    }

    pub(super) fn compare(&self, found: &Found) -> Report {
        let mut report =
            Report { differences: Vec::new(), notes: Vec::new(), version: found.version.clone() };
        for wanted in self.tables() {
            match found.tables.get(wanted.name) {
                Some(table) => self.compare_table(&wanted, table, &mut report),
                None => report.differences.push(Difference::MissingTable { table: wanted.name.to_owned() }),
            }
        }
        if !found.has_seed {
            report.differences.push(Difference::MissingSeed);
        }
        match found.version.as_deref() {
            Some(VERSION) => {}
            Some(version) if is_new_enough(version) => {
                report.notes.push(format!("the recorded version is {version}, later than {VERSION}"));
            }
            found => report
                .differences
                .push(Difference::OtherVersion { wanted: VERSION, found: found.map(str::to_owned) }),
        }
        report
    }

    fn compare_table(&self, wanted: &Table, found: &FoundTable, report: &mut Report) {
        let table = || wanted.name.to_owned();
        for column in &wanted.columns {
            match found.columns.iter().find(|there| there.name == column.name) {
                Some(there) => compare_column(wanted.name, column, there, report),
                None => report.differences.push(Difference::MissingColumn {
                    table: table(),
                    column: column.name.clone(),
                    wanted: column.kind.clone(),
                }),
            }
        }
        for column in &found.columns {
            if wanted.columns.iter().any(|known| known.name == column.name) {
                continue;
            }
            let name = column.name.clone();
            match column.is_nullable || column.has_default {
                true => report.notes.push(format!("table {} has a column {name} more", wanted.name)),
                false => {
                    report.differences.push(Difference::UnknownColumn { table: table(), column: name });
                }
            }
        }
        let primary_key = found.indexes.iter().find(|index| index.is_primary);
        let columns = primary_key.map(|index| index.columns.clone()).unwrap_or_default();
        if columns != wanted.primary_key {
            let wanted = wanted.primary_key.clone();
            report.differences.push(Difference::OtherPrimaryKey { table: table(), wanted, found: columns });
        }
        for index in wanted.indexes.iter().filter(|index| !found.has(index)) {
            let (columns, is_unique) = (index.columns.clone(), index.is_unique);
            report.differences.push(Difference::MissingIndex { table: table(), columns, is_unique });
        }
        for index in found.indexes.iter().filter(|index| !index.is_valid) {
            // On DSQL it is the trace of a job that failed; on PostgreSQL it may be one that is being built.
            match self.is_dsql {
                true => report
                    .differences
                    .push(Difference::InvalidIndex { table: table(), index: index.name.clone() }),
                false => {
                    report.notes.push(format!("index {} of table {} is not valid", index.name, wanted.name));
                }
            }
        }
    }
}

fn compare_column(table: &str, wanted: &Column, found: &Column, report: &mut Report) {
    let (table, column) = (table.to_owned(), wanted.name.clone());
    match (varchar_len(&wanted.kind), varchar_len(&found.kind)) {
        _ if wanted.kind == found.kind => {}
        // Temporal widens columns from version to version; what is written here fits.
        (Some(needed), Some(len)) if len >= needed => {
            report.notes.push(format!("column {column} of table {table} is {}", found.kind));
        }
        _ => report.differences.push(Difference::OtherType {
            table: table.clone(),
            column: column.clone(),
            wanted: wanted.kind.clone(),
            found: found.kind.clone(),
        }),
    }
    if wanted.has_default && !found.has_default && !found.is_nullable {
        report.differences.push(Difference::NoDefault { table: table.clone(), column: column.clone() });
    }
    match (wanted.is_nullable, found.is_nullable) {
        (true, false) => report.differences.push(Difference::NotNull { table, column }),
        (false, true) => report.notes.push(format!("column {column} of table {table} may be null")),
        _ => {}
    }
}

/// How many characters fit, if it is a type of that kind.
fn varchar_len(kind: &str) -> Option<u32> {
    kind.strip_prefix("character varying(")?.strip_suffix(')')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: &str, is_nullable: bool, has_default: bool) -> Column {
        Column { name: "c".to_owned(), kind: kind.to_owned(), is_nullable, has_default }
    }

    fn compared(wanted: &Column, found: &Column) -> (Vec<&'static str>, usize) {
        let mut report = Report { differences: Vec::new(), notes: Vec::new(), version: None };
        compare_column("t", wanted, found, &mut report);
        (report.differences.iter().map(Difference::kind).collect(), report.notes.len())
    }

    #[test]
    fn looser_columns_are_notes_and_tighter_ones_differences() {
        let name = column("character varying(255)", false, false);
        assert_eq!(compared(&name, &name), (vec![], 0));
        assert_eq!(compared(&name, &column("character varying(1000)", false, false)), (vec![], 1));
        assert_eq!(compared(&name, &column("character varying(64)", false, false)), (vec!["other_type"], 0));
        assert_eq!(compared(&name, &column("text", false, false)), (vec!["other_type"], 0));
        assert_eq!(compared(&name, &column("character varying(255)", true, false)), (vec![], 1));
        let may_be_null = column("bytea", true, false);
        assert_eq!(compared(&may_be_null, &column("bytea", false, false)), (vec!["not_null"], 0));
        let numbered = column("bigint", false, true);
        assert_eq!(compared(&numbered, &column("bigint", false, false)), (vec!["no_default"], 0));
    }
}

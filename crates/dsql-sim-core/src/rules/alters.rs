//! What ALTER TABLE cannot do to a table that exists.

use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnOption, Statement, TableConstraint,
};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording};
use super::subject::{Found, Subject};

fn operations<'a>(subject: &Subject<'a>) -> &'a [AlterTableOperation] {
    match subject.statement() {
        Statement::AlterTable(AlterTable { operations, .. }) => operations,
        _ => &[],
    }
}

pub(super) static DROP_COLUMN: Rule = Rule {
    id: "drop-column",
    sqlstate: "0A000",
    text: "unsupported ALTER TABLE DROP COLUMN statement",
    wording: Wording::Ours,
    levels: &[Level::L2025_05],
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::ReleaseNotes],
    confidence: Confidence::High,
    matches: "ALTER TABLE … DROP COLUMN",
    advice: "leave the column unused, or copy the table",
    find: |subject| {
        let dropped = operations(subject).iter().filter_map(|operation| match operation {
            AlterTableOperation::DropColumn { column_names, .. } => column_names.first(),
            _ => None,
        });
        dropped.map(|name| Found::span("", name.span)).collect()
    },
};

pub(super) static ADD_CONSTRAINT: Rule = Rule {
    id: "add-constraint",
    text: "unsupported ALTER TABLE ADD CONSTRAINT statement",
    wording: Wording::Reported,
    levels: &[Level::L2026_09],
    sources: &[Source::ReleaseNotes, Source::Measurement],
    matches: "ALTER TABLE … ADD CONSTRAINT without NOT VALID; UNIQUE USING INDEX is taken",
    advice: "state keys in CREATE TABLE; add CHECK and FOREIGN KEY as NOT VALID and then ALTER TABLE ASYNC … VALIDATE \
             CONSTRAINT; for UNIQUE use CREATE UNIQUE INDEX ASYNC",
    find: |subject| added_constraints(subject, |not_valid| !not_valid),
    ..DROP_COLUMN
};

pub(super) static ADD_ANY_CONSTRAINT: Rule = Rule {
    id: "add-any-constraint",
    levels: &[Level::L2025_05],
    matches: "ALTER TABLE … ADD CONSTRAINT, NOT VALID included; UNIQUE USING INDEX is taken",
    advice: "state constraints in CREATE TABLE; for UNIQUE use CREATE UNIQUE INDEX ASYNC",
    find: |subject| added_constraints(subject, |_| true),
    ..ADD_CONSTRAINT
};

fn added_constraints(subject: &Subject<'_>, refused: impl Fn(bool) -> bool) -> Vec<Found> {
    let adopts_index = |constraint: &TableConstraint| {
        matches!(constraint, TableConstraint::UniqueUsingIndex(_) | TableConstraint::PrimaryKeyUsingIndex(_))
    };
    let added = operations(subject).iter().filter(|operation| match operation {
        AlterTableOperation::AddConstraint { constraint, not_valid } => {
            refused(*not_valid) && !adopts_index(constraint)
        }
        _ => false,
    });
    added.map(|_| Found::words("", &["ADD"])).collect()
}

pub(super) static ADD_COLUMN: Rule = Rule {
    id: "add-column",
    text: "ALTER TABLE ADD COLUMN with constraint not supported",
    levels: Level::ALL,
    sources: &[Source::Measurement],
    matches: "ALTER TABLE … ADD COLUMN with NOT NULL, DEFAULT, CHECK, UNIQUE, PRIMARY KEY, REFERENCES or IDENTITY",
    advice: "add the column alone, then fill it",
    find: |subject| {
        let constrains = |option: &ColumnOption| {
            matches!(
                option,
                ColumnOption::NotNull
                    | ColumnOption::Default(_)
                    | ColumnOption::PrimaryKey(_)
                    | ColumnOption::Unique(_)
                    | ColumnOption::ForeignKey(_)
                    | ColumnOption::Check(_)
                    | ColumnOption::Generated { .. }
            )
        };
        let added = operations(subject).iter().filter_map(|operation| match operation {
            AlterTableOperation::AddColumn { column_def, .. } => Some(column_def),
            _ => None,
        });
        let constrained =
            added.filter(|column| column.options.iter().any(|option| constrains(&option.option)));
        constrained.map(|column| Found::span("", column.name.span)).collect()
    },
    ..ADD_CONSTRAINT
};

pub(super) static COLUMN_TYPE: Rule = Rule {
    id: "alter-column-type",
    text: "unsupported ALTER TABLE ALTER COLUMN ... SET DATA TYPE statement",
    matches: "ALTER TABLE … ALTER COLUMN … TYPE",
    advice: "add a column of the new type, fill it and use it",
    find: |subject| {
        let changed = operations(subject).iter().filter_map(|operation| match operation {
            AlterTableOperation::AlterColumn {
                column_name,
                op: AlterColumnOperation::SetDataType { .. },
            } => Some(column_name),
            _ => None,
        });
        changed.map(|name| Found::span("", name.span)).collect()
    },
    ..ADD_COLUMN
};

pub(super) static VALIDATE: Rule = Rule {
    id: "validate-constraint",
    text: "unsupported ALTER TABLE VALIDATE CONSTRAINT statement",
    matches: "ALTER TABLE … VALIDATE CONSTRAINT without ASYNC",
    advice: "write ALTER TABLE ASYNC … VALIDATE CONSTRAINT",
    find: |subject| match subject.statement() {
        Statement::AlterTable(table) if !table.r#async => {
            let named = table.operations.iter().filter_map(|operation| match operation {
                AlterTableOperation::ValidateConstraint { name } => Some(name),
                _ => None,
            });
            named.map(|name| Found::span("", name.span)).collect()
        }
        _ => Vec::new(),
    },
    ..ADD_COLUMN
};

pub(super) static ROW_SECURITY: Rule = Rule {
    id: "row-security",
    text: "unsupported ALTER TABLE ENABLE ROW SECURITY",
    matches: "ALTER TABLE … ENABLE or FORCE ROW LEVEL SECURITY",
    advice: "grant to roles, and name the tenant in every condition",
    find: |subject| {
        let enabled = operations(subject).iter().filter(|operation| {
            matches!(
                operation,
                AlterTableOperation::EnableRowLevelSecurity | AlterTableOperation::ForceRowLevelSecurity
            )
        });
        enabled.map(|_| Found::words("", &["ROW", "LEVEL", "SECURITY"])).collect()
    },
    ..ADD_COLUMN
};

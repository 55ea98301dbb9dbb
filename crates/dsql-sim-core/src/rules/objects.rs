//! Statements that DSQL does not have at all.

use sqlparser::ast::{Ident, ObjectType, Statement, UserDefinedTypeRepresentation};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording};
use super::subject::Found;

/// As DSQL names them: PostgreSQL's name for the parse node.
pub(super) static TRUNCATE: Rule = Rule {
    id: "truncate",
    sqlstate: "0A000",
    text: "unsupported statement: Truncate",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Measurement],
    confidence: Confidence::High,
    matches: "TRUNCATE",
    advice: "DELETE in batches of at most 3,000 rows, or drop the table and create it",
    find: |subject| Found::when(matches!(subject.statement(), Statement::Truncate(_))),
};

pub(super) static TRIGGER: Rule = Rule {
    id: "trigger",
    text: "CREATE TRIGGER not supported",
    matches: "CREATE TRIGGER",
    advice: "write both rows in the same transaction",
    find: |subject| Found::when(matches!(subject.statement(), Statement::CreateTrigger(_))),
    ..TRUNCATE
};

pub(super) static LANGUAGE: Rule = Rule {
    id: "function-language",
    text: "CREATE FUNCTION with language {} not supported",
    matches: "CREATE FUNCTION in a language other than SQL, PL/pgSQL among them",
    advice: "write it in LANGUAGE sql, or in the application",
    find: |subject| match subject.statement() {
        Statement::CreateFunction(function) => match &function.language {
            Some(language) if !language.value.eq_ignore_ascii_case("sql") => {
                vec![Found::span(language.value.to_lowercase(), language.span)]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    },
    ..TRUNCATE
};

pub(super) static EXTENSION: Rule = Rule {
    id: "extension",
    text: "unsupported statement: CreateExtension",
    matches: "CREATE EXTENSION",
    advice: "do without; gen_random_uuid() is there",
    find: |subject| Found::when(matches!(subject.statement(), Statement::CreateExtension(_))),
    ..TRUNCATE
};

pub(super) static DATABASE: Rule = Rule {
    id: "database",
    text: "unsupported statement: {}",
    matches: "CREATE DATABASE and DROP DATABASE",
    advice: "use a schema; a cluster has one database",
    find: |subject| match subject.statement() {
        Statement::CreateDatabase { .. } => vec![Found::whole("Createdb")],
        Statement::Drop { object_type: ObjectType::Database, .. } => vec![Found::whole("Dropdb")],
        _ => Vec::new(),
    },
    ..TRUNCATE
};

pub(super) static ENUM_TYPE: Rule = Rule {
    id: "type-enum",
    text: "CREATE TYPE not supported",
    matches: "CREATE TYPE … AS ENUM, and CREATE TYPE of a base type",
    advice: "use text with CHECK, or a domain",
    find: |subject| match subject.statement() {
        Statement::CreateType { representation, .. } => {
            let other = matches!(
                representation,
                Some(
                    UserDefinedTypeRepresentation::Composite { .. }
                        | UserDefinedTypeRepresentation::Range { .. }
                )
            );
            Found::when(!other)
        }
        _ => Vec::new(),
    },
    ..TRUNCATE
};

pub(super) static OTHER_TYPE: Rule = Rule {
    id: "type",
    text: "unsupported statement: {}",
    matches: "CREATE TYPE of a composite or a range",
    advice: "use columns",
    find: |subject| match subject.statement() {
        Statement::CreateType {
            representation: Some(UserDefinedTypeRepresentation::Composite { .. }),
            ..
        } => {
            vec![Found::whole("CompositeType")]
        }
        Statement::CreateType {
            representation: Some(UserDefinedTypeRepresentation::Range { .. }), ..
        } => {
            vec![Found::whole("CreateRange")]
        }
        _ => Vec::new(),
    },
    ..TRUNCATE
};

pub(super) static LISTEN: Rule = Rule {
    id: "listen-notify",
    text: "unsupported statement: {}",
    matches: "LISTEN, NOTIFY and UNLISTEN",
    advice: "poll, or tell the other side by other means",
    find: |subject| match subject.statement() {
        Statement::LISTEN { .. } => vec![Found::whole("Listen")],
        Statement::NOTIFY { .. } => vec![Found::whole("Notify")],
        Statement::UNLISTEN { .. } => vec![Found::whole("Unlisten")],
        _ => Vec::new(),
    },
    ..TRUNCATE
};

pub(super) static VACUUM: Rule = Rule {
    id: "vacuum",
    text: "unsupported VACUUM statement",
    matches: "VACUUM",
    advice: "leave it out",
    find: |subject| Found::when(matches!(subject.statement(), Statement::Vacuum(_))),
    ..TRUNCATE
};

/// Those that the facts name without DSQL's words for them.
pub(super) static UNSUPPORTED: Rule = Rule {
    id: "unsupported-statement",
    text: "unsupported statement: {}",
    wording: Wording::Ours,
    sources: &[Source::Documentation, Source::Linter],
    matches: "LOCK TABLE, DECLARE … CURSOR, PREPARE, EXECUTE, DEALLOCATE of one name, MERGE, DO, CREATE POLICY, CREATE RULE, CREATE TABLESPACE, CREATE \
              FOREIGN TABLE, ALTER SYSTEM, CLUSTER, REINDEX, CREATE PUBLICATION or SUBSCRIPTION and the like",
    advice: "there is no such statement on DSQL",
    find: |subject| {
        let node = match subject.statement() {
            Statement::Lock(_) | Statement::LockTables { .. } => "Lock",
            Statement::Declare { .. } => "DeclareCursor",
            Statement::Prepare { .. } => "Prepare",
            Statement::Execute { .. } => "Execute",
            Statement::Deallocate { name, .. } if !is_all(name) => "Deallocate",
            Statement::Merge(_) => "Merge",
            Statement::CreatePolicy(_) => "CreatePolicy",
            Statement::CreateServer(_) => "CreateForeignServer",
            Statement::CreateCollation(_) => "Define",
            Statement::CreateOperator(_) => "Define",
            Statement::CreateOperatorClass(_) => "CreateOpClass",
            Statement::CreateOperatorFamily(_) => "CreateOpFamily",
            Statement::CreateStatistics(_) => "CreateStats",
            _ => return Vec::new(),
        };
        vec![Found::whole(node)]
    },
    ..TRUNCATE
};

/// The facts say nothing of it; passed on, it would end what the simulator has prepared at PostgreSQL.
pub(super) static DISCARD: Rule = Rule {
    id: "discard",
    text: "unsupported statement: Discard",
    sources: &[Source::Inference],
    confidence: Confidence::Low,
    matches: "DISCARD",
    advice: "use RESET ALL and DEALLOCATE ALL; tell a pool to reset its connections so, or not at all",
    find: |subject| Found::when(matches!(subject.statement(), Statement::Discard { .. })),
    ..UNSUPPORTED
};

/// Whether a DEALLOCATE means all statements: `"all"` would be the name of one.
pub(super) fn is_all(name: &Ident) -> bool {
    name.quote_style.is_none() && name.value.eq_ignore_ascii_case("all")
}

//! From a query text to its statements.

use sqlparser::{
    ast::{CreateIndex, Query, SetExpr, Statement},
    dialect::PostgreSqlDialect,
    parser::Parser,
    tokenizer::{Location, Token, Tokenizer},
};

use super::{Kind, Parsed, Refusal};

/// Splits a query text into its statements.
///
/// # Errors
/// `42601` when the text is not SQL.
pub fn parse(sql: &str) -> Result<Vec<Parsed>, Refusal> {
    split(sql)?.into_iter().filter_map(|text| one(text).transpose()).collect()
}

fn one(text: &str) -> Result<Option<Parsed>, Refusal> {
    let mut statements =
        Parser::parse_sql(&PostgreSqlDialect {}, text).map_err(|error| syntax(&error.to_string()))?;
    let Some(statement) = statements.pop() else { return Ok(None) };
    let kind = kind(&statement);
    Ok(Some(Parsed { sql: text.trim().to_owned(), statement, kind }))
}

fn split(sql: &str) -> Result<Vec<&str>, Refusal> {
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, sql)
        .tokenize_with_location()
        .map_err(|error| syntax(&error.to_string()))?;
    let mut texts = Vec::new();
    let mut from = 0;
    for token in tokens.iter().filter(|token| token.token == Token::SemiColon) {
        let at = byte_of(sql, token.span.start);
        texts.push(&sql[from..at]);
        from = at + 1;
    }
    texts.push(&sql[from..]);
    Ok(texts)
}

fn byte_of(sql: &str, at: Location) -> usize {
    let (mut line, mut column) = (1, 1);
    for (index, letter) in sql.char_indices() {
        if (line, column) == (at.line, at.column) {
            return index;
        }
        if letter == '\n' {
            line += 1;
            column = 1;
        } else {
            column += 1;
        }
    }
    sql.len()
}

fn syntax(message: &str) -> Refusal {
    Refusal { sqlstate: "42601".into(), message: message.to_owned(), rule: "syntax".into() }
}

fn kind(statement: &Statement) -> Kind {
    match statement {
        Statement::StartTransaction { .. } => Kind::Begin,
        Statement::Commit { .. } => Kind::Commit,
        Statement::Rollback { .. } => Kind::Rollback,
        Statement::Query(query) if writes(query) => Kind::WritingWith,
        Statement::Query(_) => Kind::Select,
        Statement::Insert(_) => Kind::Insert,
        Statement::Update(_) => Kind::Update,
        Statement::Delete(_) => Kind::Delete,
        Statement::CreateIndex(CreateIndex { r#async: true, .. }) => Kind::CreateIndex,
        Statement::Set(_) | Statement::Reset(_) => Kind::Set,
        Statement::ShowVariable { .. } => Kind::Show,
        Statement::Explain { .. } | Statement::ExplainTable { .. } => Kind::Explain,
        Statement::Call(_) => Kind::Call,
        Statement::CreateTable(_)
        | Statement::CreateView { .. }
        | Statement::CreateIndex(_)
        | Statement::CreateSchema { .. }
        | Statement::CreateFunction(_)
        | Statement::CreateRole { .. }
        | Statement::CreateSequence { .. }
        | Statement::CreateDomain(_)
        | Statement::AlterTable { .. }
        | Statement::AlterIndex { .. }
        | Statement::AlterRole { .. }
        | Statement::Drop { .. }
        | Statement::DropFunction { .. }
        | Statement::Grant { .. }
        | Statement::Revoke { .. }
        | Statement::Comment { .. } => Kind::Ddl,
        _ => Kind::Other,
    }
}

fn writes(query: &Query) -> bool {
    let in_body = matches!(&*query.body, SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_));
    in_body || query.with.iter().flat_map(|with| &with.cte_tables).any(|table| writes(&table.query))
}

//! From a query text to its statements.

use sqlparser::ast::Statement;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

use super::dialect::PostgreSql;
use super::{Parsed, Refusal, guard, unreadable};

/// Splits a query text into its statements. As PostgreSQL does, it refuses the whole text for one that cannot be read.
///
/// # Errors
/// `42601` when the text is not SQL; `54001` when it is nested too deep; the code of DSQL's own refusal for what the
/// parser cannot read but DSQL is known to refuse, such as `FOR NO KEY UPDATE`.
pub fn parse(sql: &str) -> Result<Vec<Parsed>, Refusal> {
    pieces(sql).into_iter().map(|piece| piece.outcome).collect()
}

/// A statement of a text, or what stands in its place.
pub(super) struct Piece {
    /// Where its first token is; where it cannot be read, the token at which that shows.
    pub(super) at: Location,
    pub(super) outcome: Result<Parsed, Refusal>,
}

pub(super) fn pieces(sql: &str) -> Vec<Piece> {
    let (tokens, broken) = tokens(sql);
    let mut texts = Texts { sql, at: Location::new(1, 1), byte: 0 };
    let mut pieces = Vec::new();
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        let end = statement_end(rest);
        let (statement, after) = rest.split_at(end);
        let text = texts.up_to(after.first().map(|semicolon| semicolon.span.start));
        rest = after.get(1..).unwrap_or_default();
        if broken.is_some() && rest.is_empty() && after.is_empty() {
            break;
        }
        pieces.extend(piece(statement, text));
    }
    pieces.extend(broken);
    pieces
}

/// The tokens of a text, up to where it stops to be readable.
pub(super) fn tokens(sql: &str) -> (Vec<TokenWithSpan>, Option<Piece>) {
    let mut tokens = Vec::new();
    let read = Tokenizer::new(&PostgreSql, sql).tokenize_with_location_into_buf(&mut tokens);
    let broken = read.err().map(|error| {
        let mut refusal = unreadable::SYNTAX.refusal("");
        refusal.message = error.message.to_lowercase();
        Piece { at: error.location, outcome: Err(refusal) }
    });
    (tokens, broken)
}

fn piece(tokens: &[TokenWithSpan], text: &str) -> Option<Piece> {
    let first = tokens.iter().find(|token| !matches!(token.token, Token::Whitespace(_)))?;
    if let Some(token) = guard::too_deep(tokens) {
        return Some(Piece { at: token.span.start, outcome: Err(guard::TOO_DEEP.refusal("")) });
    }
    let (read, next) = guard::with_room(tokens.len(), || read(tokens));
    let gave_up_at = match read {
        Ok(statement) if next.token == Token::EOF => {
            let parsed = Parsed::new(text.trim(), statement);
            return Some(Piece { at: first.span.start, outcome: Ok(parsed) });
        }
        Ok(_) => Some(next.span.start),
        Err(ParserError::RecursionLimitExceeded) => {
            return Some(Piece { at: first.span.start, outcome: Err(guard::TOO_DEEP.refusal("")) });
        }
        Err(ParserError::ParserError(message) | ParserError::TokenizerError(message)) => place_in(&message),
    };
    let gave_up_at = gave_up_at.and_then(|at| tokens.iter().find(|token| token.span.start == at));
    let (refusal, at) = unreadable::refusal(tokens, gave_up_at);
    let end = tokens.last().unwrap_or(first);
    Some(Piece { at: at.unwrap_or(end).span.start, outcome: Err(refusal) })
}

/// The first statement, and the token after it.
fn read(tokens: &[TokenWithSpan]) -> (Result<Statement, ParserError>, TokenWithSpan) {
    let mut tokens = tokens.to_vec();
    let first = tokens.iter_mut().find_map(|token| match &mut token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word),
        _ => None,
    });
    let mut is_table = false;
    if let Some(word) = first {
        is_table = word.keyword == Keyword::TABLE;
        // Two words for one thing, of which the parser knows one.
        if word.value.eq_ignore_ascii_case("ABORT") {
            word.keyword = Keyword::ROLLBACK;
        }
    }
    let mut parser = Parser::new(&PostgreSql)
        .with_recursion_limit(guard::PARSER_DEPTH_MAX)
        .with_tokens_with_locations(tokens);
    // `TABLE t` is a query, but the parser does not look for it where a statement begins.
    let read = if is_table { parser.parse_query().map(Statement::Query) } else { parser.parse_statement() };
    let next = parser.peek_token();
    (read, next)
}

/// The parser tells the place of an error only at the end of its message: `… at Line: 1, Column: 8`.
fn place_in(message: &str) -> Option<Location> {
    let (_, place) = message.rsplit_once(" at Line: ")?;
    let (line, column) = place.split_once(", Column: ")?;
    Some(Location::new(line.parse().ok()?, column.trim().parse().ok()?))
}

/// The index of the semicolon that ends the first statement. Those in the body of a function written as
/// `BEGIN ATOMIC … END` do not.
fn statement_end(tokens: &[TokenWithSpan]) -> usize {
    let words = tokens.iter().filter_map(|token| match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_lowercase()),
        _ => None,
    });
    let head: Vec<String> = words.take(4).collect();
    let makes_routine = head.first().is_some_and(|word| word == "create")
        && head.iter().any(|word| word == "function" || word == "procedure");
    let mut blocks = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::SemiColon if blocks == 0 => return index,
            Token::Word(word) if makes_routine && word.quote_style.is_none() => {
                match word.value.to_lowercase().as_str() {
                    "begin" => blocks += 1,
                    "case" if blocks > 0 => blocks += 1,
                    "end" => blocks = blocks.saturating_sub(1),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// Cuts a text at places that only go forward, so that the whole costs one pass.
struct Texts<'a> {
    sql: &'a str,
    at: Location,
    byte: usize,
}

impl<'a> Texts<'a> {
    /// The text up to a semicolon, which is left out, or up to the end.
    fn up_to(&mut self, semicolon: Option<Location>) -> &'a str {
        let from = self.byte;
        let mut to = self.sql.len();
        self.byte = to;
        let Some(semicolon) = semicolon else { return &self.sql[from..to] };
        for (offset, letter) in self.sql[from..].char_indices() {
            if self.at == semicolon {
                to = from + offset;
                self.byte = to + letter.len_utf8();
                self.at.column += 1;
                break;
            }
            if letter == '\n' {
                self.at = Location::new(self.at.line + 1, 1);
            } else {
                self.at.column += 1;
            }
        }
        &self.sql[from..to]
    }
}

//! Texts whose parse tree would be too deep to walk, and to drop, on the stack of a thread.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording, nothing};

/// Brackets within brackets.
pub(super) const NESTING_MAX: usize = 60;

/// Tokens between two commas, or between brackets: each may make the tree one level deeper, as in `1 + 1 + 1 …`.
pub(super) const CHAIN_MAX: usize = 4_000;

pub(super) static TOO_DEEP: Rule = Rule {
    id: "too-deep",
    sqlstate: "54001",
    text: "stack depth limit exceeded",
    wording: Wording::Ours,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Text,
    sources: &[Source::Inference],
    confidence: Confidence::Low,
    matches: "a statement nested deeper than 60 brackets or 12 queries, or an expression of more than 4,000 tokens without \
              a comma",
    advice: "split the statement; pass long lists as one array: = ANY($1)",
    find: nothing,
};

/// Queries within queries. The parser takes twice as long with every level where brackets around them may be those of a
/// join.
const QUERIES_MAX: usize = 12;

/// The same word in a row: some words lead the parser down without its counting.
const REPEATS_MAX: usize = 50;

/// How deep the parser may go; some of what it reads takes it several steps down.
pub(super) const PARSER_DEPTH_MAX: usize = 3 * NESTING_MAX;

/// What one step of the parser may need, in a build that is not optimised.
const STEP_BYTES: usize = 96 << 10;

/// Runs the parser with room for as deep as so many tokens can lead it: not all of its steps look after the stack.
pub(super) fn with_room<T>(tokens: usize, parser: impl FnOnce() -> T) -> T {
    let room = tokens.min(PARSER_DEPTH_MAX) * STEP_BYTES;
    stacker::maybe_grow(room, room + STEP_BYTES, parser)
}

/// The token at which a statement gets too deep.
pub(super) fn too_deep(tokens: &[TokenWithSpan]) -> Option<&TokenWithSpan> {
    let mut levels = vec![Nesting::default()];
    let (mut queries, mut repeats) = (0, 0);
    let mut before = &Token::EOF;
    for token in tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))) {
        let begins_query = *before == Token::LParen && is_query(&token.token);
        repeats = if *before == token.token && matches!(before, Token::Word(_)) { repeats + 1 } else { 0 };
        before = &token.token;
        match before {
            Token::LParen | Token::LBracket | Token::LBrace => levels.push(Nesting::default()),
            Token::RParen | Token::RBracket | Token::RBrace if levels.len() > 1 => {
                queries -= levels.pop().map_or(0, |level| usize::from(level.is_query));
            }
            _ => {}
        }
        let level = levels.last_mut()?;
        level.chain = if *before == Token::Comma { 0 } else { level.chain + 1 };
        if begins_query {
            level.is_query = true;
            queries += 1;
        }
        let chain = level.chain;
        if chain > CHAIN_MAX || levels.len() > NESTING_MAX || queries > QUERIES_MAX || repeats > REPEATS_MAX {
            return Some(token);
        }
    }
    None
}

/// What is open between a bracket and its end.
#[derive(Default)]
struct Nesting {
    chain: usize,
    is_query: bool,
}

fn is_query(token: &Token) -> bool {
    matches!(token, Token::Word(word) if matches!(word.keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES))
}

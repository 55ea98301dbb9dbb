//! Texts whose parse tree would be too deep to walk, and to drop, on the stack of a thread.

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
    matches: "a statement nested deeper than 60 brackets, or an expression of more than 4,000 tokens without a comma",
    advice: "split the statement; pass long lists as one array: = ANY($1)",
    find: nothing,
};

/// How deep the parser may go; some of what it reads takes it several steps down.
pub(super) const PARSER_DEPTH_MAX: usize = 4 * NESTING_MAX;

/// What one step of the parser may need, in a build that is not optimised.
const STEP_BYTES: usize = 32 << 10;

/// Runs the parser with room for as deep as so many tokens can lead it: not all of its steps look after the stack.
pub(super) fn with_room<T>(tokens: usize, parser: impl FnOnce() -> T) -> T {
    let room = tokens.min(PARSER_DEPTH_MAX) * STEP_BYTES;
    stacker::maybe_grow(room, 2 * room, parser)
}

/// The token at which a statement gets too deep.
pub(super) fn too_deep(tokens: &[TokenWithSpan]) -> Option<&TokenWithSpan> {
    let mut chains = vec![0_usize];
    for token in tokens {
        match &token.token {
            Token::Whitespace(_) => continue,
            Token::LParen | Token::LBracket | Token::LBrace => chains.push(0),
            Token::RParen | Token::RBracket | Token::RBrace if chains.len() > 1 => {
                chains.pop();
            }
            Token::Comma => {
                if let Some(chain) = chains.last_mut() {
                    *chain = 0;
                }
            }
            _ => {}
        }
        let chain = chains.last_mut()?;
        *chain += 1;
        if *chain > CHAIN_MAX || chains.len() > NESTING_MAX {
            return Some(token);
        }
    }
    None
}

//! Texts whose parse tree would be too deep to walk, and to drop, on the stack of a thread.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording, nothing};

/// Brackets within brackets.
pub(super) const NESTING_MAX: usize = 100;

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
    matches: "a statement nested deeper than 100 brackets, or an expression of more than 4,000 tokens without a comma",
    advice: "split the statement; pass long lists as one array: = ANY($1)",
    find: nothing,
};

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

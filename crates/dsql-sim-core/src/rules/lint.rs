//! All that the rules find in a text, and where.

use sqlparser::tokenizer::{Location, Token};

use super::parse::{pieces, tokens};
use super::subject::{At, Known, Subject};
use super::table::{RULES, rule};
use super::{Kind, Level, Parsed, Place, Refusal, Rule, unreadable};

/// Something in a text that DSQL would refuse.
#[derive(Clone, Debug)]
pub struct Finding {
    /// From 1.
    pub line: u64,
    /// From 1, in characters.
    pub column: u64,
    /// The rule that refuses it.
    pub rule: &'static Rule,
    /// The refusal, as a client would see it.
    pub message: String,
}

/// Checks a text against all rules. Statements run one by one, each in a transaction of its own, but for those between
/// `BEGIN` and its end; with `one_transaction` all of them run in one, as migration tools may run a file.
pub fn lint(sql: &str, level: Level, strict: bool, one_transaction: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut known = Known::default();
    let open = Place { in_transaction: one_transaction, ..Place::default() };
    let mut place = open;
    for piece in pieces(sql) {
        match piece.outcome {
            Ok(parsed) => {
                let subject = Subject::new(&parsed, place, &known);
                for rule in RULES.iter().filter(|rule| rule.holds(level, strict)) {
                    findings.extend(rule.find(&subject).into_iter().map(|found| {
                        let at = locate(&parsed, piece.at, &found.at);
                        let message = rule.refusal(&found.detail).message;
                        Finding { line: at.line, column: at.column, rule, message }
                    }));
                }
                known.learn(&parsed.statement);
                place = after(&parsed, place, open);
            }
            Err(refusal) => findings.push(unread(piece.at, refusal)),
        }
    }
    findings.sort_by_key(|finding| (finding.line, finding.column));
    findings
}

fn unread(at: Location, refusal: Refusal) -> Finding {
    let rule = rule(&refusal.rule).unwrap_or(&unreadable::SYNTAX);
    Finding { line: at.line, column: at.column, rule, message: refusal.message }
}

fn after(parsed: &Parsed, place: Place, open: Place) -> Place {
    match parsed.kind {
        Kind::Begin => Place { in_transaction: true, ..open },
        Kind::Commit | Kind::Rollback => open,
        kind => Place {
            ddl_done: place.ddl_done || kind.is_ddl() && place.in_transaction,
            dml_done: place.dml_done || kind.is_dml() && place.in_transaction,
            ..place
        },
    }
}

fn locate(parsed: &Parsed, start: Location, at: &At) -> Location {
    match at {
        At::Span(span) if span.start.line > 0 => span.start,
        At::Words(words) => place_of(parsed, words).map_or(start, |inner| moved(parsed, start, inner)),
        At::Span(_) | At::Statement => start,
    }
}

/// Where in the statement's own text the words first follow each other.
fn place_of(parsed: &Parsed, words: &[&str]) -> Option<Location> {
    let (tokens, _) = tokens(&parsed.sql);
    let named = tokens.iter().filter_map(|token| match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some((word.value.as_str(), token.span.start)),
        _ => None,
    });
    let named: Vec<_> = named.collect();
    let mut places = named.windows(words.len());
    let matches = |place: &&[(&str, Location)]| {
        place.iter().zip(words).all(|((word, _), wanted)| word.eq_ignore_ascii_case(wanted))
    };
    places.find(matches).and_then(|place| place.first()).map(|(_, at)| *at)
}

/// From a place in the statement's text to one in the whole text. The statement's text may begin with comments.
fn moved(parsed: &Parsed, start: Location, inner: Location) -> Location {
    let (tokens, _) = tokens(&parsed.sql);
    let first = tokens.iter().find(|token| !matches!(token.token, Token::Whitespace(_)));
    let own = first.map_or(Location::new(1, 1), |token| token.span.start);
    if inner.line == own.line {
        Location::new(start.line, start.column + inner.column - own.column)
    } else {
        Location::new(start.line + inner.line - own.line, inner.column)
    }
}

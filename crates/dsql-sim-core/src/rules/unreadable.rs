//! Texts that the parser cannot read. Some are SQL that DSQL is known to refuse with a code of its own; the rest is
//! answered as PostgreSQL answers a syntax error, although a PostgreSQL may read what our parser does not.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::rule::{Confidence, Judged, Rule, Source, Wording, nothing};
use super::{Level, Refusal, locking, objects, tables, transactions};

pub(super) static SYNTAX: Rule = Rule {
    id: "syntax",
    sqlstate: "42601",
    text: "syntax error {}",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Text,
    sources: &[Source::Inference],
    confidence: Confidence::Low,
    matches: "a text that the parser of this simulator cannot read; PostgreSQL and DSQL may read it",
    advice: "check the statement against a PostgreSQL; if it is right there, the parser here falls short",
    find: nothing,
};

/// A statement that begins so, or has these words in a row, and what it is refused with.
struct Form {
    words: &'static [&'static str],
    anywhere: bool,
    rule: &'static Rule,
    detail: &'static str,
}

const fn begins(words: &'static [&'static str], rule: &'static Rule, detail: &'static str) -> Form {
    Form { words, anywhere: false, rule, detail }
}

/// Told by their words: the words are tokens of the tokenizer, so those in strings and comments are not seen.
static FORMS: &[Form] = &[
    Form { words: &["FOR", "NO", "KEY", "UPDATE"], anywhere: true, rule: &locking::OTHER_CLAUSE, detail: "" },
    begins(&["CREATE", "UNLOGGED", "TABLE"], &tables::UNLOGGED, ""),
    begins(&["PREPARE", "TRANSACTION"], &transactions::SAVEPOINT, "PREPARE TRANSACTION"),
    begins(&["COMMIT", "PREPARED"], &transactions::SAVEPOINT, "COMMIT PREPARED"),
    begins(&["ROLLBACK", "PREPARED"], &transactions::SAVEPOINT, "ROLLBACK PREPARED"),
    begins(&["CREATE", "TRIGGER"], &objects::TRIGGER, ""),
    begins(&["CREATE", "CONSTRAINT", "TRIGGER"], &objects::TRIGGER, ""),
    begins(&["CREATE", "EXTENSION"], &objects::EXTENSION, ""),
    begins(&["CREATE", "TYPE"], &objects::ENUM_TYPE, ""),
    begins(&["CREATE", "DATABASE"], &objects::DATABASE, "Createdb"),
    begins(&["CREATE", "EVENT", "TRIGGER"], &objects::UNSUPPORTED, "CreateEventTrig"),
    begins(&["CREATE", "RULE"], &objects::UNSUPPORTED, "Rule"),
    begins(&["CREATE", "OR", "REPLACE", "RULE"], &objects::UNSUPPORTED, "Rule"),
    begins(&["CREATE", "TABLESPACE"], &objects::UNSUPPORTED, "CreateTableSpace"),
    begins(&["CREATE", "FOREIGN", "TABLE"], &objects::UNSUPPORTED, "CreateForeignTable"),
    begins(&["CREATE", "FOREIGN", "DATA", "WRAPPER"], &objects::UNSUPPORTED, "CreateFdw"),
    begins(&["CREATE", "PUBLICATION"], &objects::UNSUPPORTED, "CreatePublication"),
    begins(&["CREATE", "SUBSCRIPTION"], &objects::UNSUPPORTED, "CreateSubscription"),
    begins(&["CREATE", "TEXT", "SEARCH"], &objects::UNSUPPORTED, "Define"),
    begins(&["CREATE", "AGGREGATE"], &objects::UNSUPPORTED, "Define"),
    begins(&["CREATE", "CAST"], &objects::UNSUPPORTED, "CreateCast"),
    begins(&["CREATE", "LANGUAGE"], &objects::UNSUPPORTED, "CreatePLang"),
    begins(&["REFRESH", "MATERIALIZED", "VIEW"], &objects::UNSUPPORTED, "RefreshMatView"),
    begins(&["ALTER", "SYSTEM"], &objects::UNSUPPORTED, "AlterSystem"),
    begins(&["DO"], &objects::UNSUPPORTED, "Do"),
    begins(&["CLUSTER"], &objects::UNSUPPORTED, "Cluster"),
    begins(&["REINDEX"], &objects::UNSUPPORTED, "Reindex"),
    begins(&["CHECKPOINT"], &objects::UNSUPPORTED, "CheckPoint"),
    begins(&["LOCK"], &objects::UNSUPPORTED, "Lock"),
    begins(&["MERGE"], &objects::UNSUPPORTED, "Merge"),
    begins(&["DECLARE"], &objects::UNSUPPORTED, "DeclareCursor"),
    begins(&["PREPARE"], &objects::UNSUPPORTED, "Prepare"),
    begins(&["VACUUM"], &objects::VACUUM, ""),
];

/// What a statement that the parser gave up on is refused with, and where.
pub(super) fn refusal<'t>(
    tokens: &'t [TokenWithSpan],
    gave_up_at: Option<&'t TokenWithSpan>,
) -> (Refusal, Option<&'t TokenWithSpan>) {
    let words: Vec<(&str, &TokenWithSpan)> =
        tokens.iter().filter_map(|token| Some((word(token)?, token))).collect();
    for form in FORMS {
        let reach = if form.anywhere { words.len() } else { 1 };
        let starts = words.windows(form.words.len()).take(reach);
        for start in starts {
            let matches =
                start.iter().zip(form.words).all(|((word, _), form)| word.eq_ignore_ascii_case(form));
            if matches {
                return (form.rule.refusal(form.detail), start.first().map(|(_, token)| *token));
            }
        }
    }
    let found = match gave_up_at {
        Some(token) => format!("at or near \"{}\"", token.token),
        None => "at end of input".to_owned(),
    };
    (SYNTAX.refusal(&found), gave_up_at)
}

/// The word of a token that is one and is not quoted; of any other that matters, something that matches no word.
fn word(token: &TokenWithSpan) -> Option<&str> {
    match &token.token {
        Token::Whitespace(_) => None,
        Token::Word(word) if word.quote_style.is_none() => Some(&word.value),
        _ => Some(""),
    }
}

//! What a rule can know of a statement.

use crate::rules::{Kind, Parsed};

/// Tag, tables and kind of one statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    pub(super) op: Option<String>,
    pub(super) tables: Vec<String>,
    pub(super) kind: &'static str,
}

impl Footprint {
    pub(crate) fn of(parsed: &Parsed) -> Footprint {
        let names = parsed.seen.relations.iter().filter_map(|name| name.0.last()?.as_ident());
        let tables = names.map(|ident| ident.value.to_lowercase()).collect();
        Footprint { op: op(&parsed.sql), tables, kind: kind(parsed.kind) }
    }
}

/// The `X` of a comment `/* op=X */`.
fn op(sql: &str) -> Option<String> {
    let mut rest = sql;
    while let Some((_, comment)) = rest.split_once("/*") {
        let (inside, after) = comment.split_once("*/")?;
        if let Some(op) = inside.trim().strip_prefix("op=") {
            return Some(op.trim().to_owned());
        }
        rest = after;
    }
    None
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Select => "select",
        Kind::Insert => "insert",
        Kind::Update => "update",
        Kind::Delete => "delete",
        Kind::WritingWith => "with",
        Kind::Ddl | Kind::CreateIndex => "ddl",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::op;

    #[test]
    fn tag_is_read_from_any_comment() {
        assert_eq!(op("/* op=Save */ SELECT 1"), Some("Save".into()));
        assert_eq!(op("SELECT /* why */ 1 /*op=Load*/"), Some("Load".into()));
        assert_eq!(op("SELECT '/* op=Save"), None);
        assert_eq!(op("SELECT 1"), None);
    }
}

//! What a mistyped key was meant to be.

/// The reason why a file was refused, with the nearest known key if the reason is an unknown one.
pub(super) fn with_suggestion(reason: String) -> String {
    match suggestion(&reason) {
        Some(meant) => format!("{}; did you mean `{meant}`?", reason.trim_end_matches('.')),
        None => reason,
    }
}

/// The parser says "unknown field `adress`, expected one of address, store".
fn suggestion(reason: &str) -> Option<&str> {
    let (_, told) = reason.split_once("unknown field")?;
    let (given, known) = told.split_once("expected ")?;
    let given = given.trim_matches([' ', ',', '`']);
    let known = known.trim_start_matches("one of ").split(", ").map(|known| known.trim_matches('`'));
    let near = known.map(|known| (distance(given, known), known)).min()?;
    // Beyond a third of the letters it is another word.
    (near.0 <= given.len().div_ceil(3)).then_some(near.1)
}

/// How many letters must be put in, taken out or changed; `_` for `-` is none.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.replace('_', "-"), other.replace('_', "-"));
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, known) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(letter != known);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_changes() {
        for (one, other, changes) in
            [("adress", "address", 1), ("table_name", "table-name", 0), ("", "abc", 3), ("store", "stroe", 2)]
        {
            assert_eq!(distance(one, other), changes, "{one} {other}");
            assert_eq!(distance(other, one), changes, "{other} {one}");
        }
    }

    #[test]
    fn only_near_words_are_suggested() {
        let unknown = |key: &str| {
            suggestion(&format!("unknown field `{key}`, expected one of address, store, locks"))
                .map(str::to_owned)
        };
        assert_eq!(unknown("adress").as_deref(), Some("address"));
        assert_eq!(unknown("lock").as_deref(), Some("locks"));
        assert_eq!(unknown("colour"), None);
        assert_eq!(suggestion("line 1: tabs are not allowed"), None);
    }
}

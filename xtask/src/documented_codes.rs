//! Clients match on error codes, so each one has an entry in `docs/errors.md`, and each entry a code that exists.

use std::collections::BTreeMap;

use crate::source;

const DOCUMENT: &str = "docs/errors.md";

pub(crate) fn findings() -> Vec<String> {
    let mut in_source: BTreeMap<String, String> = BTreeMap::new();
    for folder in source::crates() {
        for path in source::files(&folder.join("src"), &[".rs"]) {
            for code in codes_in_source(&source::text(&path)) {
                in_source.insert(code, source::shown(&path));
            }
        }
    }
    let documented = codes_in_document(&source::text(&source::root().join(DOCUMENT)));
    let missing = in_source
        .iter()
        .filter(|(code, _)| !documented.contains(code))
        .map(|(code, path)| format!("{path}: code '{code}' has no entry in {DOCUMENT}"));
    let stale = documented
        .iter()
        .filter(|code| !in_source.contains_key(*code))
        .map(|code| format!("{DOCUMENT}: code '{code}' is raised nowhere"));
    missing.chain(stale).collect()
}

/// Dotted codes in the files that define a `code`: `=> "queue.not_found"` and `code: "cli.runtime"`.
fn codes_in_source(text: &str) -> Vec<String> {
    let defines_codes = text.contains("fn code(") || text.contains("code: \"");
    let before_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
    if !defines_codes {
        return Vec::new();
    }
    before_tests
        .lines()
        .filter(|line| line.contains("=> \"") || line.contains("code: \""))
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .filter(|text| is_code(text))
        .map(str::to_owned)
        .collect()
}

/// The first cell of each row of the document's tables.
fn codes_in_document(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|text| is_code(text))
        .map(str::to_owned)
        .collect()
}

fn is_code(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    text.contains('.') && text.split('.').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_matches_and_fields_but_not_in_tests() {
        let text = "fn code(&self) { match self { A => \"queue.not_found\", B => \"x\" } }\n\
                    Failure { code: \"cli.runtime\" }\n#[cfg(test)]\nfn t() { A => \"only.in_tests\" }";
        assert_eq!(codes_in_source(text), ["queue.not_found", "cli.runtime"]);
    }

    #[test]
    fn only_first_cells_of_rows_count_as_documented() {
        let text = "| `queue.not_found` | see `other.code` |\nprose with `third.code`\n";
        assert_eq!(codes_in_document(text), ["queue.not_found"]);
    }
}

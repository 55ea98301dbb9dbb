//! A statement is a file of its own; one that no code includes is dead, and worse, looks alive.

use crate::source;

pub(crate) fn findings() -> Vec<String> {
    let mut findings = Vec::new();
    for folder in source::crates() {
        let code: String = source::files(&folder, &[".rs"]).iter().map(|path| source::text(path)).collect();
        for path in source::files(&folder, &[".sql", ".lua", ".html"]) {
            if !is_included(&code, &path.file_name().unwrap_or_default().to_string_lossy()) {
                findings.push(format!("{}: no include_str! names it", source::shown(&path)));
            }
        }
    }
    findings
}

fn is_included(code: &str, name: &str) -> bool {
    code.split("include_str!(").skip(1).filter_map(|rest| rest.split('"').nth(1)).any(|included| {
        included.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_included_by_its_whole_name() {
        let code = r#"const A: &str = include_str!("sql/acquire.sql");"#;
        assert!(is_included(code, "acquire.sql"));
        assert!(!is_included(code, "quire.sql"));
        assert!(!is_included(code, "release.sql"));
    }
}

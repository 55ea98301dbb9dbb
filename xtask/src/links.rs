//! Links from one document to another must lead to a file that exists.

use crate::source;

pub(crate) fn findings() -> Vec<String> {
    let mut findings = Vec::new();
    for path in source::files(source::root(), &[".md"]) {
        let folder = path.parent().expect("a file has a folder");
        for target in targets(&source::text(&path)) {
            if !folder.join(&target).exists() {
                findings.push(format!("{}: link to missing {target}", source::shown(&path)));
            }
        }
    }
    findings
}

/// The relative targets of Markdown links, without their fragments.
fn targets(text: &str) -> Vec<String> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains(':') && !target.contains(' '))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_targets_are_found_without_fragments_and_urls_are_left_out() {
        let text = "[a](docs/a.md) [b](docs/b.md#part) [c](https://example.org/x) [d](#here)";
        assert_eq!(targets(text), ["docs/a.md", "docs/b.md"]);
    }
}

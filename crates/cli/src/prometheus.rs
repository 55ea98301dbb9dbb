//! Reads what a server shows at `/metrics`.

use std::collections::BTreeMap;

/// One line: a name, its labels, a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

impl Sample {
    /// Empty where there is none of that name.
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

/// All lines that can be read; a later server may write some that cannot.
pub(crate) fn parse(text: &str) -> Vec<Sample> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(sample).collect()
}

fn sample(line: &str) -> Option<Sample> {
    let name_len = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(name_len);
    let mut labels = BTreeMap::new();
    let value = match rest.strip_prefix('{') {
        None => rest,
        Some(mut rest) => loop {
            rest = rest.trim_start_matches([',', ' ']);
            if let Some(value) = rest.strip_prefix('}') {
                break value;
            }
            let (label, quoted) = rest.split_once("=\"")?;
            let (value, after) = unquoted(quoted)?;
            labels.insert(label.to_owned(), value);
            rest = after;
        },
    };
    let value = value.split_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// The text up to the closing quote, and what comes after it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut symbols = text.char_indices();
    while let Some((at, symbol)) = symbols.next() {
        match symbol {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match symbols.next()?.1 {
                'n' => value.push('\n'),
                escaped => value.push(escaped),
            },
            plain => value.push(plain),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_labels_and_values_are_read_and_nonsense_is_passed_over() {
        let text = "# HELP a b\n\
                    plain 1.5\n\
                    items{queue=\"a\\\"b\\\\c}, \\nd\",state=\"ready\"} 7\n\
                    timed{} 3 1700000000\n\
                    broken{queue=\"x\n\
                    nonsense\n";
        let samples = parse(text);
        assert_eq!(samples.len(), 3, "{samples:?}");
        assert_eq!((samples[0].name.as_str(), samples[0].value), ("plain", 1.5));
        assert_eq!(samples[1].label("queue"), "a\"b\\c}, \nd");
        assert_eq!(
            (samples[1].label("state"), samples[1].label("none"), samples[1].value),
            ("ready", "", 7.0)
        );
        assert_eq!(samples[2].value, 3.0);
    }
}

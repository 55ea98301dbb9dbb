//! Entries of a report as tables that a document can take.

use serde_json::Value;

/// One table for every run of entries with the same names.
#[must_use]
pub fn tables(entries: &[Value]) -> String {
    let mut text = String::new();
    let mut names: Vec<&String> = Vec::new();
    for entry in entries.iter().filter_map(Value::as_object) {
        let of_this: Vec<&String> = entry.keys().collect();
        if of_this != names {
            let heads: Vec<String> = of_this.iter().map(|name| name.replace('_', " ")).collect();
            if !text.is_empty() {
                text.push('\n');
            }
            text += &format!("| {} |\n|{}\n", heads.join(" | "), " --- |".repeat(heads.len()));
            names = of_this;
        }
        let cells: Vec<String> = entry.values().map(Value::to_string).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::tables;

    #[test]
    fn entries_with_other_names_begin_another_table() {
        let entries = [
            json!({"batch": 1, "ratio_lowest": 0.5}),
            json!({"batch": 2, "ratio_lowest": 0.25}),
            json!({"items": 3}),
        ];
        let text = "| batch | ratio lowest |\n| --- | --- |\n| 1 | 0.5 |\n| 2 | 0.25 |\n\n| items |\n| --- |\n| 3 |\n";
        assert_eq!(tables(&entries), text);
    }
}

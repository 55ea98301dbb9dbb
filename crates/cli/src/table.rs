use std::fmt;

/// Text in columns as wide as their widest cell.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        Table { rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    /// Cells come from clients: what would move the cursor is shown, not obeyed.
    pub(crate) fn row<const N: usize>(&mut self, cells: [&dyn fmt::Display; N]) {
        let shown = |cell: &dyn fmt::Display| match cell.to_string() {
            cell if cell.is_empty() => "-".to_owned(),
            cell => cell.chars().flat_map(visible).collect(),
        };
        self.rows.push(cells.into_iter().map(shown).collect());
    }
}

fn visible(symbol: char) -> Vec<char> {
    match symbol.is_control() {
        true => symbol.escape_debug().collect(),
        false => vec![symbol],
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let lines = self.rows.iter().map(|row| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        });
        out.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_empty_cells_are_seen() {
        let mut table = Table::new(&["NAME", "N"]);
        table.row([&"a-long-name", &1]);
        table.row([&"", &22]);
        assert_eq!(table.to_string(), "NAME         N\na-long-name  1\n-            22");
    }

    #[test]
    fn what_would_move_the_cursor_is_shown() {
        let mut table = Table::new(&["NAME"]);
        table.row([&"a\u{1b}[2Jb\n"]);
        assert_eq!(table.to_string(), "NAME\na\\u{1b}[2Jb\\n");
    }
}

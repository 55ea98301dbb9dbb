//! The table: medians over rounds, and ratios taken within a round.

use std::fmt::Write as _;

use super::{Figures, Rates};
use crate::rates::median;

/// What a queue did in every round, or why it did nothing.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which.
    pub name: &'static str,
    /// A round each.
    pub rounds: Vec<Result<Figures, String>>,
}

const SHAPES: [fn(&Rates) -> f64; 3] = [|rates| rates.add, |rates| rates.add_batch, |rates| rates.work];

/// A table in which every row is compared with the first, and a line on each queue beneath it.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut table =
        "| queue | how it is worked off | add 1 per call | × | add in batches | × | work off | × |\n"
            .to_owned();
    table += "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    let (mut notes, mut note) = (String::new(), "");
    for row in rows {
        let Some(figures) = row.rounds.iter().find_map(|round| round.as_ref().ok()) else {
            let why = row.rounds.iter().find_map(|round| round.as_ref().err());
            let why = why.map_or("no round", String::as_str);
            writeln!(table, "| {} | not run: {why} | | | | | | |", row.name)
                .expect("a string takes everything");
            continue;
        };
        write!(table, "| {} | {} |", row.name, figures.settings).expect("a string takes everything");
        for shape in SHAPES {
            let rates: Vec<f64> = done(row).map(|(_, rates)| shape(rates)).collect();
            let ratio = rows.first().map_or(f64::NAN, |base| ratio(base, row, shape));
            write!(table, " {:.0} | {ratio:.2} |", median(&rates)).expect("a string takes everything");
        }
        table.push('\n');
        let failed = row.rounds.len() - done(row).count();
        if failed > 0 {
            writeln!(notes, "{}: {failed} round(s) failed.", row.name).expect("a string takes everything");
        }
        // Rows of one queue that differ only in how they are worked off follow each other.
        if figures.note != note {
            note = &figures.note;
            writeln!(notes, "{} {}: {note}.", row.name, figures.version).expect("a string takes everything");
        }
    }
    table + &notes
}

/// Rounds that have figures, with their numbers.
fn done(row: &Row) -> impl Iterator<Item = (usize, &Rates)> {
    row.rounds.iter().enumerate().filter_map(|(round, figures)| Some((round, &figures.as_ref().ok()?.rates)))
}

/// How many times faster the base is, in the rounds that both have.
fn ratio(base: &Row, row: &Row, shape: fn(&Rates) -> f64) -> f64 {
    let of_base = |round: usize| base.rounds.get(round).and_then(|figures| figures.as_ref().ok());
    let ratios = done(row).filter_map(|(round, rates)| Some(shape(&of_base(round)?.rates) / shape(rates)));
    median(&ratios.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(rate: f64) -> Result<Figures, String> {
        let rates = Rates { add: rate, add_batch: rate * 10.0, work: rate * 2.0 };
        Ok(Figures { version: "1.2".into(), settings: "4 workers".into(), note: "deletes".into(), rates })
    }

    #[test]
    fn rows_are_compared_with_the_first_round_by_round() {
        let base = Row { name: "ours", rounds: vec![round(100.0), round(1_000.0), round(10.0)] };
        // Half as fast whatever the machine did; a round that failed is left out of both.
        let other = Row { name: "other", rounds: vec![round(50.0), Err("lost".into()), round(5.0)] };
        let shown = table(&[base, other]);
        assert!(shown.contains("| ours | 4 workers | 100 | 1.00 | 1000 | 1.00 | 200 | 1.00 |\n"), "{shown}");
        assert!(shown.contains("| other | 4 workers | 50 | 2.00 | 500 | 2.00 | 100 | 2.00 |\n"), "{shown}");
        assert!(shown.ends_with("|\nours 1.2: deletes.\nother: 1 round(s) failed.\n"), "{shown}");
    }

    #[test]
    fn queue_that_did_not_run_says_why() {
        let row = Row { name: "other", rounds: vec![Err("npm is not installed".into())] };
        assert!(table(&[row]).ends_with("| other | not run: npm is not installed | | | | | | |\n"));
    }
}

//! Slices of two forms, taken in turns: what disturbs the machine disturbs both.

use std::future::Future;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rounds, each with a figure of its own.
    pub rounds: usize,
    /// Pairs of slices in a round.
    pub pairs: usize,
    /// Runs in a slice.
    pub slice: usize,
}

/// The same work in a plain form and in the form under test.
#[derive(Clone, Debug)]
pub struct Comparison {
    name: &'static str,
    plain: Vec<Vec<Duration>>,
    tested: Vec<Vec<Duration>>,
    slice: usize,
}

/// A median and the lowest and highest round.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The median over all slices.
    pub median: f64,
    /// The lowest median of a round.
    pub min: f64,
    /// The highest median of a round.
    pub max: f64,
}

/// Takes slices of both forms in turns, the first of a pair alternating.
pub async fn compare<A, B>(
    name: &'static str,
    plan: Plan,
    mut plain: impl FnMut(usize) -> A,
    mut tested: impl FnMut(usize) -> B,
) -> Comparison
where
    A: Future<Output = ()>,
    B: Future<Output = ()>,
{
    let mut comparison = Comparison { name, plain: Vec::new(), tested: Vec::new(), slice: plan.slice };
    // Statements are prepared and caches are filled before anything counts.
    time(plan.slice, &mut plain).await;
    time(plan.slice, &mut tested).await;
    for _ in 0..plan.rounds {
        let (mut plain_slices, mut tested_slices) = (Vec::new(), Vec::new());
        for pair in 0..plan.pairs {
            if pair % 2 == 0 {
                plain_slices.push(time(plan.slice, &mut plain).await);
                tested_slices.push(time(plan.slice, &mut tested).await);
            } else {
                tested_slices.push(time(plan.slice, &mut tested).await);
                plain_slices.push(time(plan.slice, &mut plain).await);
            }
        }
        comparison.plain.push(plain_slices);
        comparison.tested.push(tested_slices);
    }
    comparison
}

async fn time<F: Future<Output = ()>>(runs: usize, form: &mut impl FnMut(usize) -> F) -> Duration {
    let started = Instant::now();
    for run in 0..runs {
        form(run).await;
    }
    started.elapsed()
}

impl Comparison {
    /// Microseconds per run of the plain form.
    #[must_use]
    pub fn plain(&self) -> Figure {
        figure(&self.per_run(&self.plain))
    }

    /// Microseconds per run of the tested form.
    #[must_use]
    pub fn tested(&self) -> Figure {
        figure(&self.per_run(&self.tested))
    }

    /// Tested over plain, pair by pair.
    #[must_use]
    pub fn ratio(&self) -> Figure {
        let ratios: Vec<Vec<f64>> = self
            .plain
            .iter()
            .zip(&self.tested)
            .map(|(plain, tested)| {
                plain
                    .iter()
                    .zip(tested)
                    .map(|(plain, tested)| tested.as_secs_f64() / plain.as_secs_f64())
                    .collect()
            })
            .collect();
        figure(&ratios)
    }

    fn per_run(&self, rounds: &[Vec<Duration>]) -> Vec<Vec<f64>> {
        let runs = u32::try_from(self.slice).map_or(f64::INFINITY, f64::from);
        rounds
            .iter()
            .map(|slices| slices.iter().map(|slice| slice.as_secs_f64() * 1e6 / runs).collect())
            .collect()
    }

    /// One line of the table.
    #[must_use]
    pub fn row(&self) -> String {
        let (plain, tested, ratio) = (self.plain(), self.tested(), self.ratio());
        format!(
            "{:<26} {:>8.1} ({:.1}-{:.1})  {:>8.1} ({:.1}-{:.1})  {:>+6.2} % ({:+.2}-{:+.2})",
            self.name,
            plain.median,
            plain.min,
            plain.max,
            tested.median,
            tested.min,
            tested.max,
            percent(ratio.median),
            percent(ratio.min),
            percent(ratio.max),
        )
    }

    /// The same for machines.
    #[must_use]
    pub fn json(&self) -> Value {
        let of = |figure: Figure| json!({"median": figure.median, "min": figure.min, "max": figure.max});
        json!({
            "name": self.name,
            "plain_microseconds": of(self.plain()),
            "tested_microseconds": of(self.tested()),
            "ratio": of(self.ratio()),
        })
    }
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

fn figure(rounds: &[Vec<f64>]) -> Figure {
    let medians: Vec<f64> = rounds.iter().map(|round| median(round)).collect();
    Figure {
        median: median(&rounds.concat()),
        min: medians.iter().copied().fold(f64::INFINITY, f64::min),
        max: medians.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// The middle value, the mean of the two middle ones for an even number; nothing has no middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.get(sorted.len().saturating_sub(1) / 2), sorted.get(sorted.len() / 2)) {
        (Some(low), Some(high)) => f64::midpoint(*low, *high),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::{figure, median};

    #[test]
    fn median_is_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn spread_is_that_of_the_rounds() {
        let figure = figure(&[vec![1.0, 2.0, 3.0], vec![5.0, 6.0, 100.0]]);
        assert!((figure.median - 4.0).abs() < f64::EPSILON);
        assert!((figure.min - 2.0).abs() < f64::EPSILON && (figure.max - 6.0).abs() < f64::EPSILON);
    }
}

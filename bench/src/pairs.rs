//! Slices of two forms, taken in turns: what disturbs the machine disturbs both.

use std::future::Future;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How much to measure in a round.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Pairs of slices.
    pub pairs: usize,
    /// Runs in a slice.
    pub slice: u32,
}

/// The same work in a plain form and in the form under test, over all rounds.
#[derive(Clone, Debug)]
pub struct Comparison {
    name: &'static str,
    rounds: Vec<Vec<Pair>>,
}

/// Two neighbouring slices; per run, in microseconds.
#[derive(Clone, Copy, Debug)]
struct Pair {
    plain: Cost,
    tested: Cost,
}

/// What a run took.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// From start to end, waiting included.
    wall: f64,
    /// On a processor, in this process. Feels the machine's other work far less.
    cpu: f64,
}

/// A median and the lowest and highest round.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The median over all pairs.
    pub median: f64,
    /// The lowest median of a round.
    pub min: f64,
    /// The highest median of a round.
    pub max: f64,
}

impl Comparison {
    /// A comparison without rounds.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, rounds: Vec::new() }
    }

    /// Adds a round: slices of both forms in turns, the first of a pair alternating.
    pub async fn round<A, B>(
        &mut self,
        plan: Plan,
        mut plain: impl FnMut(u32) -> A,
        mut tested: impl FnMut(u32) -> B,
    ) where
        A: Future<Output = ()>,
        B: Future<Output = ()>,
    {
        // Statements are prepared and caches are filled before anything counts.
        slice(100, &mut plain).await;
        slice(100, &mut tested).await;
        let mut pairs = Vec::with_capacity(plan.pairs);
        for turn in 0..plan.pairs {
            pairs.push(if turn % 2 == 0 {
                let plain = slice(plan.slice, &mut plain).await;
                Pair { plain, tested: slice(plan.slice, &mut tested).await }
            } else {
                let tested = slice(plan.slice, &mut tested).await;
                Pair { plain: slice(plan.slice, &mut plain).await, tested }
            });
        }
        self.rounds.push(pairs);
    }

    fn figure(&self, of: impl Fn(&Pair) -> f64) -> Figure {
        figure(&self.rounds.iter().map(|pairs| pairs.iter().map(&of).collect()).collect::<Vec<_>>())
    }

    /// Every figure by its name.
    fn figures(&self) -> [(&'static str, Figure); 6] {
        [
            ("plain_microseconds", self.figure(|pair| pair.plain.wall)),
            ("tested_microseconds", self.figure(|pair| pair.tested.wall)),
            ("wall_percent", self.figure(|pair| (pair.tested.wall / pair.plain.wall - 1.0) * 100.0)),
            ("plain_cpu_microseconds", self.figure(|pair| pair.plain.cpu)),
            ("extra_cpu_microseconds", self.figure(|pair| pair.tested.cpu - pair.plain.cpu)),
            (
                "extra_cpu_percent_of_wall",
                self.figure(|pair| (pair.tested.cpu - pair.plain.cpu) / pair.plain.wall * 100.0),
            ),
        ]
    }

    /// A block of lines for people.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = format!("{} (median over pairs, then lowest and highest round)\n", self.name);
        for (name, Figure { median, min, max }) in self.figures() {
            table += &format!("  {:<28} {median:>9.2}   {min:.2} to {max:.2}\n", name.replace('_', " "));
        }
        table
    }

    /// The same for machines.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut object = serde_json::Map::from_iter([("name".to_owned(), self.name.into())]);
        for (name, Figure { median, min, max }) in self.figures() {
            object.insert(name.to_owned(), json!({"median": median, "min": min, "max": max}));
        }
        Value::Object(object)
    }
}

async fn slice<F: Future<Output = ()>>(runs: u32, form: &mut impl FnMut(u32) -> F) -> Cost {
    let (started, cpu) = (Instant::now(), cpu_time());
    for run in 0..runs {
        form(run).await;
    }
    let (wall, cpu) = (started.elapsed(), cpu_time().saturating_sub(cpu));
    let per_run = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(runs);
    Cost { wall: per_run(wall), cpu: per_run(cpu) }
}

/// What all threads of this process have spent on a processor; zero where the kernel does not tell.
fn cpu_time() -> Duration {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|text| text.split(' ').next()?.parse().ok())
        .map(Duration::from_nanos)
        .sum()
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

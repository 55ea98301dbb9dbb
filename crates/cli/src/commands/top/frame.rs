//! One look, ready to be shown. Pure: figures in, rows out.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use leasehold_core::{LockRecord, duration};
use serde::Serialize;

use super::Sort;
use crate::prometheus::Sample;
use crate::table::Table;

/// What the server shows of each queue, by name.
#[derive(Debug, Default)]
pub(super) struct Counts(BTreeMap<String, Figures>);

#[derive(Debug, Default, Clone, Copy)]
struct Figures {
    ready: f64,
    leased: f64,
    scheduled: f64,
    oldest_seconds: f64,
    lease_waiting: f64,
    failures: f64,
    /// Since the queue was opened.
    produced: f64,
    completed: f64,
    dead: f64,
}

impl Counts {
    pub(super) fn of(samples: &[Sample]) -> Self {
        let mut queues: BTreeMap<String, Figures> = BTreeMap::new();
        for sample in samples.iter().filter(|sample| !sample.label("queue").is_empty()) {
            let queue = queues.entry(sample.label("queue").to_owned()).or_default();
            let figure = match (sample.name.as_str(), sample.label("state"), sample.label("event")) {
                ("leasehold_queue_items", "ready", _) => &mut queue.ready,
                ("leasehold_queue_items", "leased", _) => &mut queue.leased,
                ("leasehold_queue_items", "scheduled", _) => &mut queue.scheduled,
                ("leasehold_queue_oldest_ready_seconds", ..) => &mut queue.oldest_seconds,
                ("leasehold_queue_lease_waiting", ..) => &mut queue.lease_waiting,
                ("leasehold_queue_partition_failures", ..) => &mut queue.failures,
                ("leasehold_queue_events_total", _, "produced") => &mut queue.produced,
                ("leasehold_queue_events_total", _, "completed") => &mut queue.completed,
                ("leasehold_queue_events_total", _, "dead") => &mut queue.dead,
                _ => continue,
            };
            // Only failures have more lines than one: one a partition.
            *figure += sample.value;
        }
        Counts(queues)
    }
}

/// The holds there are.
#[derive(Debug)]
pub(super) enum Held {
    Listed {
        records: Vec<LockRecord>,
        is_all_below: usize,
    },
    /// Why they cannot be seen.
    Unseen(String),
}

impl Held {
    pub(super) fn len(&self) -> usize {
        match self {
            Held::Listed { records, .. } => records.len(),
            Held::Unseen(_) => 0,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Frame {
    queues: Vec<QueueRow>,
    /// Queues that are not in the list.
    #[serde(skip_serializing_if = "is_zero")]
    queues_left_out: usize,
    locks: LockRows,
}

#[derive(Debug, Serialize)]
struct QueueRow {
    queue: String,
    ready: u64,
    leased: u64,
    scheduled: u64,
    oldest_seconds: f64,
    /// Items produced a second; nothing until there are two looks.
    in_per_second: Option<f64>,
    /// Items completed a second.
    out_per_second: Option<f64>,
    dead_per_second: Option<f64>,
    lease_waiting: u64,
    failures: u64,
}

#[derive(Debug, Default, Serialize)]
struct LockRows {
    held: usize,
    /// There are more than can be counted in one look.
    #[serde(skip_serializing_if = "is_false")]
    at_least: bool,
    list: Vec<LockRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct LockRow {
    key: String,
    fence: String,
    /// By this machine's clock.
    left_ms: i64,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; saturates")]
fn count(value: f64) -> u64 {
    value.max(0.0) as u64
}

impl Frame {
    /// `since`: an earlier look, and how long ago it was.
    pub(super) fn new(now: &Counts, since: Option<(&Counts, Duration)>, held: &Held) -> Self {
        let row = |(name, figures): (&String, &Figures)| {
            let rate = |of: fn(&Figures) -> f64| {
                let (before, elapsed) = since?;
                // A queue that was not open then, or was opened anew, counted from nothing.
                let before = before.0.get(name).map_or(0.0, of);
                let more = if of(figures) >= before { of(figures) - before } else { of(figures) };
                Some(more / elapsed.as_secs_f64().max(0.001))
            };
            QueueRow {
                queue: name.clone(),
                ready: count(figures.ready),
                leased: count(figures.leased),
                scheduled: count(figures.scheduled),
                oldest_seconds: figures.oldest_seconds,
                in_per_second: rate(|figures| figures.produced),
                out_per_second: rate(|figures| figures.completed),
                dead_per_second: rate(|figures| figures.dead),
                lease_waiting: count(figures.lease_waiting),
                failures: count(figures.failures),
            }
        };
        let queues = now.0.iter().map(row).collect();
        Frame { queues, queues_left_out: 0, locks: LockRows::of(held) }
    }

    /// Most first, then by name.
    pub(super) fn sort(&mut self, by: Sort) {
        let thousandths = |rate: f64| count(rate * 1_000.0);
        self.queues.sort_by_cached_key(|row| {
            let most = match by {
                Sort::Name => 0,
                Sort::Ready => row.ready,
                Sort::Leased => row.leased,
                Sort::Scheduled => row.scheduled,
                Sort::Oldest => thousandths(row.oldest_seconds),
                Sort::In => thousandths(row.in_per_second.unwrap_or(0.0)),
                Sort::Out => thousandths(row.out_per_second.unwrap_or(0.0)),
                Sort::Failing => row.failures,
            };
            (Reverse(most), row.queue.clone())
        });
    }

    pub(super) fn cut(&mut self, queues_max: usize, locks_max: usize) {
        self.queues_left_out = self.queues.len().saturating_sub(queues_max);
        self.queues.truncate(queues_max);
        self.locks.list.truncate(locks_max);
    }
}

impl LockRows {
    fn of(held: &Held) -> Self {
        let (records, is_all_below) = match held {
            Held::Listed { records, is_all_below } => (records, *is_all_below),
            Held::Unseen(error) => return LockRows { error: Some(error.clone()), ..LockRows::default() },
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let row = |record: &LockRecord| LockRow {
            key: record.key.as_str().to_owned(),
            fence: record.fence.to_string(),
            left_ms: record.expires_at.as_millis().saturating_sub(now),
        };
        LockRows {
            held: records.len(),
            at_least: records.len() >= is_all_below,
            list: records.iter().map(row).collect(),
            error: None,
        }
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(&[
            "QUEUE",
            "READY",
            "LEASED",
            "SCHEDULED",
            "OLDEST",
            "IN/S",
            "OUT/S",
            "DEAD/S",
            "WAITING",
            "FAILING",
        ]);
        for row in &self.queues {
            table.row([
                &row.queue,
                &row.ready,
                &row.leased,
                &row.scheduled,
                &age(row.oldest_seconds),
                &rate(row.in_per_second),
                &rate(row.out_per_second),
                &rate(row.dead_per_second),
                &row.lease_waiting,
                &row.failures,
            ]);
        }
        writeln!(out, "{table}")?;
        if self.queues_left_out > 0 {
            writeln!(out, "and {} more", self.queues_left_out)?;
        }
        let LockRows { held, at_least, list, error } = &self.locks;
        if let Some(error) = error {
            return write!(out, "\nlocks cannot be seen: {error}");
        }
        write!(out, "\n{held}{} lock(s) held", if *at_least { " or more" } else { "" })?;
        if !list.is_empty() {
            let mut table = Table::new(&["FENCE", "LEFT", "KEY"]);
            for row in list {
                table.row([&row.fence, &left(row.left_ms), &row.key]);
            }
            write!(out, "\n{table}")?;
        }
        Ok(())
    }
}

/// To the second: nobody reads more of a number that moves.
fn age(seconds: f64) -> String {
    match count(seconds) {
        0 if seconds <= 0.0 => String::new(),
        seconds => duration::format(Duration::from_secs(seconds)),
    }
}

fn rate(rate: Option<f64>) -> String {
    match rate {
        None => String::new(),
        Some(rate) if rate >= 100.0 => format!("{rate:.0}"),
        Some(rate) => format!("{rate:.1}"),
    }
}

fn left(millis: i64) -> String {
    age(millis as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prometheus::parse;

    fn counts(queue: &str, ready: u32, produced: u32, failures: [u32; 2]) -> String {
        format!(
            "leasehold_queue_items{{queue=\"{queue}\",state=\"ready\"}} {ready}\n\
             leasehold_queue_oldest_ready_seconds{{queue=\"{queue}\"}} 61.9\n\
             leasehold_queue_events_total{{queue=\"{queue}\",event=\"produced\"}} {produced}\n\
             leasehold_queue_partition_failures{{queue=\"{queue}\",partition=\"0\"}} {}\n\
             leasehold_queue_partition_failures{{queue=\"{queue}\",partition=\"1\"}} {}\n",
            failures[0], failures[1]
        )
    }

    fn looked(text: &str) -> Counts {
        Counts::of(&parse(text))
    }

    const NONE: Held = Held::Listed { records: Vec::new(), is_all_below: 1_000 };

    #[test]
    fn rates_are_what_came_between_two_looks_also_after_a_restart() {
        let before = looked(&(counts("a", 5, 100, [0, 0]) + &counts("b", 1, 500, [0, 0])));
        let now = looked(
            &(counts("a", 7, 140, [2, 1]) + &counts("b", 1, 20, [0, 0]) + &counts("new", 1, 10, [0, 0])),
        );
        let mut frame = Frame::new(&now, Some((&before, Duration::from_secs(2))), &NONE);
        frame.sort(Sort::Name);
        let rates: Vec<Option<f64>> = frame.queues.iter().map(|row| row.in_per_second).collect();
        assert_eq!(rates, [Some(20.0), Some(10.0), Some(5.0)]);
        assert_eq!((frame.queues[0].failures, frame.queues[0].ready), (3, 7));
        assert_eq!(Frame::new(&now, None, &NONE).queues[0].in_per_second, None);
    }

    #[test]
    fn most_comes_first_and_what_is_left_out_is_counted() {
        let now =
            looked(&(counts("a", 1, 0, [0, 0]) + &counts("b", 9, 0, [0, 0]) + &counts("c", 1, 0, [0, 4])));
        for (sort, expected) in [
            (Sort::Ready, ["b", "a", "c"]),
            (Sort::Failing, ["c", "a", "b"]),
            (Sort::Name, ["a", "b", "c"]),
            (Sort::Oldest, ["a", "b", "c"]),
        ] {
            let mut frame = Frame::new(&now, None, &NONE);
            frame.sort(sort);
            let names: Vec<&str> = frame.queues.iter().map(|row| row.queue.as_str()).collect();
            assert_eq!(names, expected, "{sort:?}");
        }
        let mut frame = Frame::new(&now, None, &NONE);
        frame.cut(2, 0);
        let shown = frame.to_string();
        assert!(
            shown.contains("and 1 more") && shown.contains("1m1s") && shown.contains("0 lock(s) held"),
            "{shown}"
        );
    }
}

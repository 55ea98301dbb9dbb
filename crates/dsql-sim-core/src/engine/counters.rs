//! What happened, in numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Statements run for clients.
    Statements,
    /// Statements refused by a rule.
    Refusals,
    /// Transactions committed with writes or locks.
    Commits,
    /// Data conflicts told to clients (OC000), injected ones too.
    Conflicts,
    /// Schema conflicts told to clients (OC001), injected ones too.
    SchemaConflicts,
    /// Transactions that failed at a limit.
    Limits,
    /// Times an open transaction gave up its row locks for another.
    GivenWay,
    /// Transactions whose writes were done again at COMMIT.
    Replays,
}

const COUNTS: [(Count, &str); 8] = [
    (Count::Statements, "statements"),
    (Count::Refusals, "refusals"),
    (Count::Commits, "commits"),
    (Count::Conflicts, "conflicts"),
    (Count::SchemaConflicts, "schema_conflicts"),
    (Count::Limits, "limits"),
    (Count::GivenWay, "given_way"),
    (Count::Replays, "replays"),
];

/// Counters since the start.
#[derive(Debug, Default)]
pub struct Counters {
    values: [AtomicU64; COUNTS.len()],
}

impl Counters {
    pub(crate) fn add(&self, count: Count) {
        self.values[count as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often it happened.
    #[must_use]
    pub fn get(&self, count: Count) -> u64 {
        self.values[count as usize].load(Ordering::Relaxed)
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        COUNTS.iter().map(|(count, name)| (*name, self.get(*count)))
    }
}

#[cfg(test)]
mod tests {
    use super::{COUNTS, Count, Counters};

    #[test]
    fn every_count_has_its_own_place() {
        let counters = Counters::default();
        for (count, _) in COUNTS {
            counters.add(count);
        }
        assert!(counters.all().all(|(_, value)| value == 1));
        counters.add(Count::Commits);
        assert_eq!(counters.all().find(|(name, _)| *name == "commits"), Some(("commits", 2)));
    }
}

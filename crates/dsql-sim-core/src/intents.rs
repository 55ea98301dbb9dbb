//! Which rows were locked by transactions that committed: PostgreSQL forgets a row lock when its holder ends, DSQL
//! compares it with every transaction that was open at the time.

use std::collections::HashMap;

use parking_lot::Mutex;

/// What a transaction wants of a row beside writing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// There was no row of this key: PostgreSQL does not see one that came and went meanwhile.
    Insert,
    /// The row keeps its key: `FOR KEY SHARE`, or a row that points to it.
    KeyShare,
    /// The row is deleted, its key set, or it was read `FOR UPDATE`.
    Key,
}

/// One row, by a name that is the same for all who mean it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Intent {
    pub(crate) row: String,
    pub(crate) strength: Strength,
}

/// Beyond this many rows, those no open transaction can conflict with are forgotten.
const ROWS_KEPT: usize = 10_000;

/// The committed intents.
#[derive(Default)]
pub(crate) struct Intents {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many commits brought intents.
    commits: u64,
    rows: HashMap<String, Seen>,
    /// After the last time rows were forgotten: while many must stay, it is not tried each time.
    rows_left: usize,
}

/// The last commit of each strength; 0 is never.
#[derive(Clone, Copy, Default)]
struct Seen {
    key_share: u64,
    key: u64,
}

impl Intents {
    /// The place in the order of commits that a snapshot taken now has.
    pub(crate) fn now(&self) -> u64 {
        self.state.lock().commits
    }

    /// Whether a transaction with these intents lost a row to one that committed since `snapshot`.
    pub(crate) fn conflict(&self, intents: &[Intent], snapshot: u64) -> bool {
        let state = self.state.lock();
        intents.iter().any(|intent| {
            let seen = state.rows.get(&intent.row).copied().unwrap_or_default();
            match intent.strength {
                Strength::Insert | Strength::KeyShare => seen.key > snapshot,
                Strength::Key => seen.key_share > snapshot,
            }
        })
    }

    /// These intents were committed. `oldest` is the oldest snapshot that is still open.
    pub(crate) fn committed(&self, intents: &[Intent], oldest: u64) {
        let mut state = self.state.lock();
        state.commits += 1;
        let commit = state.commits;
        for intent in intents {
            if intent.strength != Strength::Insert {
                let seen = state.rows.entry(intent.row.clone()).or_default();
                let last = if intent.strength == Strength::Key { &mut seen.key } else { &mut seen.key_share };
                *last = commit;
            }
        }
        if state.rows.len() > ROWS_KEPT.max(2 * state.rows_left) {
            state.rows.retain(|_, seen| seen.key.max(seen.key_share) > oldest);
            state.rows_left = state.rows.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Intent, Intents, ROWS_KEPT, Strength};

    fn one(row: &str, strength: Strength) -> Vec<Intent> {
        vec![Intent { row: row.into(), strength }]
    }

    #[test]
    fn key_share_and_key_exclude_each_other_in_both_orders() {
        for (first, second) in [(Strength::Key, Strength::KeyShare), (Strength::KeyShare, Strength::Key)] {
            let intents = Intents::default();
            let snapshot = intents.now();
            intents.committed(&one("r", first), snapshot);
            assert!(intents.conflict(&one("r", second), snapshot));
            assert!(!intents.conflict(&one("other", second), snapshot));
            assert!(!intents.conflict(&one("r", first), snapshot), "{first:?} is no rival of its like here");
            assert!(!intents.conflict(&one("r", second), intents.now()), "a later snapshot has seen it");
        }
    }

    #[test]
    fn insert_loses_to_a_row_that_went_meanwhile_and_harms_nobody() {
        let intents = Intents::default();
        let snapshot = intents.now();
        intents.committed(&one("r", Strength::Insert), snapshot);
        assert!(!intents.conflict(&one("r", Strength::KeyShare), snapshot));
        intents.committed(&one("r", Strength::Key), snapshot);
        assert!(intents.conflict(&one("r", Strength::Insert), snapshot));
    }

    #[test]
    fn forgotten_rows_are_those_nobody_can_conflict_with() {
        let intents = Intents::default();
        let old: Vec<Intent> = (0..ROWS_KEPT).map(|n| one(&n.to_string(), Strength::Key).remove(0)).collect();
        intents.committed(&old, 0);
        let snapshot = intents.now();
        intents.committed(&one("r", Strength::Key), snapshot);
        assert_eq!(intents.state.lock().rows.len(), 1);
        assert!(intents.conflict(&one("r", Strength::KeyShare), snapshot));
    }
}

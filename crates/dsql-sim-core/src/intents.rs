//! Which rows were locked by transactions that committed: PostgreSQL forgets a row lock when its holder ends, DSQL
//! compares it with every transaction that was open at the time.

use std::collections::{HashMap, VecDeque};

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

/// A commit, by the number that PostgreSQL gives to transactions.
pub(crate) type Xid = u64;

/// Beyond this many rows, those no open transaction can conflict with are forgotten.
const ROWS_KEPT: usize = 10_000;
/// Commits of one row that are told apart; of older ones only the last is known.
const COMMITS_KEPT: usize = 16;

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
    /// Rows whose keys are being committed right now, and by how many.
    under_way: HashMap<String, usize>,
    /// After the last time rows were forgotten: while many must stay, it is not tried each time.
    rows_left: usize,
}

/// The commits of each strength.
#[derive(Default)]
struct Seen {
    key_share: Commits,
    key: Commits,
}

/// Of one row, oldest first.
#[derive(Default)]
struct Commits {
    kept: VecDeque<(u64, Xid)>,
    /// The last of those that are not kept; 0 is never.
    forgotten: u64,
}

/// Those to whom a transaction has lost a row, unless its snapshot has seen them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rivals {
    /// There are more than are known one by one.
    pub(crate) is_certain: bool,
    pub(crate) xids: Vec<Xid>,
}

/// Keys that are being committed: from before PostgreSQL does it until it is written down here, or has failed.
pub(crate) struct UnderWay<'a> {
    intents: &'a Intents,
    rows: Vec<String>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.intents.state.lock();
        for row in &self.rows {
            if let Some(count) = state.under_way.get_mut(row) {
                *count -= 1;
                if *count == 0 {
                    state.under_way.remove(row);
                }
            }
        }
    }
}

impl Commits {
    fn add(&mut self, commit: u64, xid: Xid) {
        self.kept.push_back((commit, xid));
        if self.kept.len() > COMMITS_KEPT
            && let Some((commit, _)) = self.kept.pop_front()
        {
            self.forgotten = commit;
        }
    }

    fn last(&self) -> u64 {
        self.kept.back().map_or(self.forgotten, |(commit, _)| *commit)
    }
}

impl Intents {
    /// The place in the order of commits that a snapshot taken from now on has, at least: it is told before the snapshot
    /// is taken, and a commit after PostgreSQL has done it.
    pub(crate) fn now(&self) -> u64 {
        self.state.lock().commits
    }

    /// To be called before PostgreSQL commits these intents.
    pub(crate) fn under_way(&self, intents: &[Intent]) -> UnderWay<'_> {
        let keys = intents.iter().filter(|intent| intent.strength == Strength::Key);
        let rows: Vec<String> = keys.map(|intent| intent.row.clone()).collect();
        let mut state = self.state.lock();
        for row in &rows {
            *state.under_way.entry(row.clone()).or_default() += 1;
        }
        UnderWay { intents: self, rows }
    }

    /// Whether somebody is committing what these intents may have lost to: a key can be inserted as soon as PostgreSQL has
    /// committed that its row is gone, which is before it is written down here.
    pub(crate) fn must_wait(&self, intents: &[Intent]) -> bool {
        let state = self.state.lock();
        let mut inserts = intents.iter().filter(|intent| intent.strength == Strength::Insert);
        inserts.any(|intent| state.under_way.contains_key(&intent.row))
    }

    /// To whom a transaction with these intents may have lost a row since `snapshot`.
    pub(crate) fn rivals(&self, intents: &[Intent], snapshot: u64) -> Rivals {
        let state = self.state.lock();
        let mut rivals = Rivals::default();
        for intent in intents {
            let Some(seen) = state.rows.get(&intent.row) else { continue };
            let commits = match intent.strength {
                Strength::Insert | Strength::KeyShare => &seen.key,
                Strength::Key => &seen.key_share,
            };
            rivals.is_certain |= commits.forgotten > snapshot;
            let later = commits.kept.iter().filter(|(commit, _)| *commit > snapshot);
            rivals.xids.extend(later.map(|(_, xid)| *xid));
        }
        rivals
    }

    /// These intents were committed by `xid`. `oldest` is the oldest snapshot that is still open.
    pub(crate) fn committed(&self, intents: &[Intent], xid: Xid, oldest: u64) {
        let mut state = self.state.lock();
        state.commits += 1;
        let commit = state.commits;
        for intent in intents {
            if intent.strength != Strength::Insert {
                let seen = state.rows.entry(intent.row.clone()).or_default();
                let commits =
                    if intent.strength == Strength::Key { &mut seen.key } else { &mut seen.key_share };
                commits.add(commit, xid);
            }
        }
        if state.rows.len() > ROWS_KEPT.max(2 * state.rows_left) {
            state.rows.retain(|_, seen| seen.key.last().max(seen.key_share.last()) > oldest);
            state.rows_left = state.rows.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COMMITS_KEPT, Intent, Intents, ROWS_KEPT, Rivals, Strength};

    fn one(row: &str, strength: Strength) -> Vec<Intent> {
        vec![Intent { row: row.into(), strength }]
    }

    const NOBODY: [u64; 0] = [];

    fn xids(intents: &Intents, row: &str, strength: Strength, snapshot: u64) -> Vec<u64> {
        intents.rivals(&one(row, strength), snapshot).xids
    }

    #[test]
    fn key_share_and_key_exclude_each_other_in_both_orders() {
        for (first, second) in [(Strength::Key, Strength::KeyShare), (Strength::KeyShare, Strength::Key)] {
            let intents = Intents::default();
            let snapshot = intents.now();
            intents.committed(&one("r", first), 700, snapshot);
            assert_eq!(xids(&intents, "r", second, snapshot), [700]);
            assert_eq!(xids(&intents, "other", second, snapshot), NOBODY);
            assert_eq!(
                xids(&intents, "r", first, snapshot),
                NOBODY,
                "{first:?} is no rival of its like here"
            );
            assert_eq!(xids(&intents, "r", second, intents.now()), NOBODY, "a later snapshot has seen it");
        }
    }

    #[test]
    fn insert_loses_to_a_row_that_went_meanwhile_and_harms_nobody() {
        let intents = Intents::default();
        let snapshot = intents.now();
        intents.committed(&one("r", Strength::Insert), 700, snapshot);
        assert_eq!(xids(&intents, "r", Strength::KeyShare, snapshot), NOBODY);
        intents.committed(&one("r", Strength::Key), 701, snapshot);
        assert_eq!(xids(&intents, "r", Strength::Insert, snapshot), [701]);
    }

    #[test]
    fn insert_waits_for_whoever_is_committing_its_key_and_nobody_else_does() {
        let intents = Intents::default();
        let (one_way, other_way) =
            (intents.under_way(&one("r", Strength::Key)), intents.under_way(&one("r", Strength::Key)));
        assert!(intents.must_wait(&one("r", Strength::Insert)));
        assert!(!intents.must_wait(&one("other", Strength::Insert)));
        assert!(!intents.must_wait(&one("r", Strength::Key)));
        drop(one_way);
        assert!(intents.must_wait(&one("r", Strength::Insert)));
        drop(other_way);
        assert!(!intents.must_wait(&one("r", Strength::Insert)));
    }

    #[test]
    fn every_commit_since_the_snapshot_is_a_rival_and_beyond_a_number_it_is_certain() {
        let intents = Intents::default();
        let snapshot = intents.now();
        for xid in 0..COMMITS_KEPT as u64 {
            intents.committed(&one("r", Strength::Key), xid, snapshot);
        }
        let rivals = intents.rivals(&one("r", Strength::KeyShare), snapshot);
        assert_eq!(rivals, Rivals { is_certain: false, xids: (0..COMMITS_KEPT as u64).collect() });
        intents.committed(&one("r", Strength::Key), 700, snapshot);
        assert!(intents.rivals(&one("r", Strength::KeyShare), snapshot).is_certain);
        assert!(!intents.rivals(&one("r", Strength::KeyShare), snapshot + 1).is_certain);
    }

    #[test]
    fn forgotten_rows_are_those_nobody_can_conflict_with() {
        let intents = Intents::default();
        let old: Vec<Intent> = (0..ROWS_KEPT).map(|n| one(&n.to_string(), Strength::Key).remove(0)).collect();
        intents.committed(&old, 700, 0);
        let snapshot = intents.now();
        intents.committed(&one("r", Strength::Key), 701, snapshot);
        assert_eq!(intents.state.lock().rows.len(), 1);
        assert_eq!(xids(&intents, "r", Strength::KeyShare, snapshot), [701]);
    }
}

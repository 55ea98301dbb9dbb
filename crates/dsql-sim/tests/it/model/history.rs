//! Random steps of several sessions, one after another; the same for the same seed.

/// What a session does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Begin,
    /// No statement: what the first one of a transaction does before anything else.
    Snapshot,
    Read(u8),
    Update(u8, u16),
    Add(u8),
    Insert(u8, u16),
    Delete(u8),
    ForUpdate(u8),
    KeyShare(u8),
    Commit,
    Rollback,
}

pub(super) const KEYS: u8 = 4;
const STEPS: usize = 28;

impl Step {
    pub(super) fn sql(self) -> String {
        match self {
            Step::Begin => "BEGIN".into(),
            Step::Snapshot => String::new(),
            Step::Read(id) => format!("SELECT value FROM rows WHERE id = {id}"),
            Step::Update(id, value) => format!("UPDATE rows SET value = {value} WHERE id = {id}"),
            Step::Add(id) => format!("UPDATE rows SET value = value + 1 WHERE id = {id}"),
            Step::Insert(id, value) => format!("INSERT INTO rows VALUES ({id}, {value})"),
            Step::Delete(id) => format!("DELETE FROM rows WHERE id = {id}"),
            Step::ForUpdate(id) => format!("SELECT value FROM rows WHERE id = {id} FOR UPDATE"),
            Step::KeyShare(id) => format!("SELECT value FROM rows WHERE id = {id} FOR KEY SHARE"),
            Step::Commit => "COMMIT".into(),
            Step::Rollback => "ROLLBACK".into(),
        }
    }
}

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// What a transaction may do before its end. `FOR KEY SHARE` is `FOR UPDATE` where there is none.
    pub(super) fn statement(&mut self, has_key_share: bool) -> Step {
        let id = self.below(u64::from(KEYS)) as u8;
        let value = self.below(1000) as u16;
        match self.below(16) {
            0..=2 => Step::Read(id),
            3..=5 => Step::Update(id, value),
            6..=7 => Step::Add(id),
            8..=9 => Step::Insert(id, value),
            10..=11 => Step::Delete(id),
            14..=15 if has_key_share => Step::KeyShare(id),
            _ => Step::ForUpdate(id),
        }
    }
}

/// Steps in turn; every transaction that begins also ends.
pub(super) struct History {
    random: Random,
    is_open: Vec<bool>,
    left: usize,
}

impl History {
    pub(super) fn new(seed: u64, sessions: usize) -> History {
        History { random: Random::new(seed), is_open: vec![false; sessions], left: STEPS }
    }

    fn step(&mut self) -> Step {
        match self.random.below(20) {
            16..=18 => Step::Commit,
            19 => Step::Rollback,
            _ => self.random.statement(true),
        }
    }
}

impl Iterator for History {
    type Item = (usize, Step);

    fn next(&mut self) -> Option<(usize, Step)> {
        if self.left == 0 {
            let session = self.is_open.iter().position(|open| *open)?;
            self.is_open[session] = false;
            return Some((session, Step::Commit));
        }
        self.left -= 1;
        let session = self.random.below(self.is_open.len() as u64) as usize;
        if !self.is_open[session] {
            self.is_open[session] = true;
            return Some((session, Step::Begin));
        }
        let step = self.step();
        self.is_open[session] = !matches!(step, Step::Commit | Step::Rollback);
        Some((session, step))
    }
}

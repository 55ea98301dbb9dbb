//! Snapshot isolation where the first to commit wins, in a few maps.

use std::collections::BTreeMap;

use super::history::{KEYS, Step};

type Rows = BTreeMap<u8, u16>;

/// What was answered, as the fixture shows it: a value or how many rows, or SQLSTATE and message.
pub(super) type Found = Result<String, String>;

/// What a step answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// As the fixture shows it: a value, or how many rows.
    Value(String),
    Conflict,
    Duplicate,
    Aborted,
    Any,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Database {
    committed: Rows,
    commits: u64,
    /// The last commit that touched each key, by what it did there.
    last: BTreeMap<u8, Last>,
    transactions: Vec<Option<Transaction>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Last {
    write: u64,
    key: u64,
    share: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Transaction {
    /// Taken at the first statement.
    snapshot: Option<(u64, Rows)>,
    touched: Vec<(u8, Touch)>,
    has_failed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Touch {
    Other,
    Key,
    Share,
}

impl Database {
    pub(super) fn new(sessions: usize) -> Database {
        Database {
            committed: (0..KEYS - 1).map(|key| (key, 0)).collect(),
            commits: 0,
            last: BTreeMap::new(),
            transactions: (0..sessions).map(|_| None).collect(),
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (u8, u16)> {
        self.committed.iter().map(|(key, value)| (*key, *value))
    }

    /// The rows as the fixture shows them.
    pub(super) fn shown(&self) -> String {
        let rows: Vec<String> = self.rows().map(|(id, value)| format!("{id},{value}")).collect();
        if rows.is_empty() { "0".to_owned() } else { rows.join("|") }
    }

    /// Does a step, of which this is what was answered.
    ///
    /// # Errors
    /// What should have been answered.
    pub(super) fn take(&mut self, session: usize, step: Step, found: &Found) -> Result<(), Answer> {
        let is_lost = self.is_lost(session);
        let expected = self.apply(session, step);
        let is_told = |sqlstate: &str| found.as_ref().is_err_and(|told| told.starts_with(sqlstate));
        let fits = match &expected {
            // Once lost, only the end of a transaction is told apart.
            _ if is_lost && !matches!(step, Step::Commit | Step::Rollback) => {
                self.set_failed(session, found.is_err());
                true
            }
            Answer::Value(value) => found.as_ref() == Ok(value),
            Answer::Conflict => is_told("40001"),
            Answer::Duplicate => is_told("23505"),
            Answer::Aborted => is_told("25P02"),
            Answer::Any => found.is_ok(),
        };
        if fits { Ok(()) } else { Err(expected) }
    }

    /// Whether the open transaction of a session has already lost to somebody.
    fn is_lost(&self, session: usize) -> bool {
        self.transactions[session]
            .as_ref()
            .is_some_and(|transaction| !transaction.has_failed && self.loses(transaction))
    }

    fn set_failed(&mut self, session: usize, has_failed: bool) {
        if let Some(transaction) = &mut self.transactions[session] {
            transaction.has_failed = has_failed;
        }
    }

    fn loses(&self, transaction: &Transaction) -> bool {
        let Some((snapshot, _)) = &transaction.snapshot else { return false };
        transaction.touched.iter().any(|(key, touch)| {
            let last = self.last.get(key).copied().unwrap_or_default();
            match touch {
                Touch::Other => last.write > *snapshot,
                Touch::Key => last.write > *snapshot || last.share > *snapshot,
                Touch::Share => last.key > *snapshot,
            }
        })
    }

    pub(super) fn apply(&mut self, session: usize, step: Step) -> Answer {
        match step {
            Step::Begin => {
                self.transactions[session] =
                    Some(Transaction { snapshot: None, touched: Vec::new(), has_failed: false });
                Answer::Any
            }
            Step::Commit => self.commit(session),
            Step::Rollback => {
                self.transactions[session] = None;
                Answer::Any
            }
            _ => self.statement(session, step),
        }
    }

    fn commit(&mut self, session: usize) -> Answer {
        let Some(transaction) = self.transactions[session].take() else { return Answer::Any };
        if transaction.has_failed {
            return Answer::Any;
        }
        if self.loses(&transaction) {
            return Answer::Conflict;
        }
        let Some((_, view)) = transaction.snapshot else { return Answer::Any };
        // Two states that differ in how many readers committed are the same.
        if transaction.touched.is_empty() {
            return Answer::Any;
        }
        self.commits += 1;
        for (key, touch) in transaction.touched {
            let last = self.last.entry(key).or_default();
            match touch {
                Touch::Share => last.share = self.commits,
                Touch::Other => last.write = self.commits,
                Touch::Key => (last.write, last.key) = (self.commits, self.commits),
            }
            if touch != Touch::Share {
                match view.get(&key) {
                    Some(value) => drop(self.committed.insert(key, *value)),
                    None => drop(self.committed.remove(&key)),
                }
            }
        }
        Answer::Any
    }

    fn statement(&mut self, session: usize, step: Step) -> Answer {
        let (commits, committed) = (self.commits, self.committed.clone());
        let Some(transaction) = &mut self.transactions[session] else { return Answer::Any };
        if transaction.has_failed {
            return Answer::Aborted;
        }
        let is_gone = |key: u8, touched: &[(u8, Touch)]| {
            !self.committed.contains_key(&key) && touched.iter().all(|(own, _)| *own != key)
        };
        let (_, view) = transaction.snapshot.get_or_insert((commits, committed));
        let mut touch = None;
        let answer = match step {
            Step::Read(key) => read(view, key),
            Step::ForUpdate(key) => {
                touch = view.contains_key(&key).then_some((key, Touch::Key));
                read(view, key)
            }
            Step::KeyShare(key) => {
                touch = view.contains_key(&key).then_some((key, Touch::Share));
                read(view, key)
            }
            Step::Update(key, value) => {
                touch = view.contains_key(&key).then_some((key, Touch::Other));
                view.entry(key).and_modify(|old| *old = value);
                count(touch.is_some())
            }
            Step::Add(key) => {
                touch = view.contains_key(&key).then_some((key, Touch::Other));
                view.entry(key).and_modify(|old| *old += 1);
                count(touch.is_some())
            }
            // The row is in the snapshot and nowhere else: the simulator finds out at COMMIT.
            Step::Insert(key, _)
                if view.contains_key(&key) && is_gone(key, transaction.touched.as_slice()) =>
            {
                touch = Some((key, Touch::Key));
                Answer::Any
            }
            Step::Insert(key, _) if view.contains_key(&key) => {
                transaction.has_failed = true;
                Answer::Duplicate
            }
            Step::Insert(key, value) => {
                view.insert(key, value);
                touch = Some((key, Touch::Key));
                count(true)
            }
            Step::Delete(key) => {
                touch = view.remove(&key).map(|_| (key, Touch::Key));
                count(touch.is_some())
            }
            Step::Snapshot | Step::Begin | Step::Commit | Step::Rollback => Answer::Any,
        };
        transaction.touched.extend(touch);
        answer
    }
}

fn read(view: &Rows, key: u8) -> Answer {
    Answer::Value(view.get(&key).map_or_else(|| "0".to_owned(), ToString::to_string))
}

fn count(is_one: bool) -> Answer {
    Answer::Value(usize::from(is_one).to_string())
}

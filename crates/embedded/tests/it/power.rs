//! What a store promises on a disk whose syncs fail and whose power is lost: an answer, and whatever was read once,
//! stays true.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use leasehold_embedded::faults::Faults;
use leasehold_embedded::{Error, Result, Store, Written};
use proptest::prelude::*;
use redb::{ReadableTable, TableDefinition, WriteTransaction};
use tempfile::TempDir;

const ENTRIES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("test.entries");
/// How many entries a store holds: each further write deletes the oldest one, so that its pages are used again.
const KEPT: u64 = 8;

/// Lengths of the entries by their numbers.
type Entries = BTreeMap<u64, usize>;

fn open(folder: &TempDir, faults: &Faults) -> Result<Store> {
    let store = Store::open_with_faults(folder.path(), faults)?;
    store.write_blocking(|write| Ok(write.open_table(ENTRIES).map(|_| Written::Changed(()))?))?;
    Ok(store)
}

fn put(write: &WriteTransaction, number: u64, len: usize) -> Result<Written<()>, redb::Error> {
    let mut entries = write.open_table(ENTRIES)?;
    entries.insert(number, vec![number as u8; len].as_slice())?;
    if let Some(oldest) = number.checked_sub(KEPT) {
        entries.remove(oldest)?;
    }
    Ok(Written::Changed(()))
}

fn write(store: &Store, number: u64, len: usize) -> Result<()> {
    store.write_blocking(move |write| put(write, number, len))
}

fn entries(store: &Store) -> Result<Entries> {
    store.read(|read| {
        let entries = read.open_table(ENTRIES)?;
        entries
            .iter()?
            .map(|entry| entry.map(|(number, value)| (number.value(), value.value().len())))
            .try_fold(Entries::new(), |mut found, entry| {
                let (number, len) = entry?;
                found.insert(number, len);
                Ok(found)
            })
    })
}

#[test]
fn what_is_read_after_a_failed_sync_outlives_a_power_loss() {
    let (folder, faults) = (tempfile::tempdir().expect("temporary folder"), Faults::none());
    let store = open(&folder, &faults).expect("opens");
    write(&store, 1, 100).expect("writes");
    faults.fail_next_sync();
    let failed = write(&store, 2, 100).expect_err("the sync failed");
    assert_eq!(failed.code(), "embedded.indeterminate", "{failed:?}");
    let read = entries(&store).expect("was opened again at once");
    faults.lose_power();
    drop(store);
    let store = open(&folder, &faults).expect("opens after the power loss");
    assert_eq!(entries(&store).expect("reads"), read);
    assert!(read.contains_key(&1), "{read:?}");
}

#[test]
fn next_process_trusts_nothing_that_a_failed_sync_left_cached() {
    let (folder, faults) = (tempfile::tempdir().expect("temporary folder"), Faults::none());
    let store = open(&folder, &faults).expect("opens");
    write(&store, 1, 100).expect("writes");
    faults.set_unsynced(true);
    write(&store, 2, 100).expect_err("the sync failed");
    drop(store);
    let refused = Store::open_with_faults(folder.path(), &faults).expect_err("still nothing can be synced");
    assert_eq!(refused.code(), "embedded.unsynced", "{refused:?}");
    faults.set_unsynced(false);
    let store = open(&folder, &faults).expect("opens");
    let read = entries(&store).expect("reads");
    faults.lose_power();
    drop(store);
    let store = open(&folder, &faults).expect("opens after the power loss");
    assert_eq!(entries(&store).expect("reads"), read);
    assert!(read.contains_key(&1), "{read:?}");
}

#[derive(Clone, Debug)]
enum Step {
    Write { len: usize },
    FailNextSync,
    LosePowerAfter { changes: u64 },
    LosePower,
    Read,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0_usize..12_000).prop_map(|len| Step::Write { len }),
        2 => Just(Step::FailNextSync),
        2 => (0_u64..24).prop_map(|changes| Step::LosePowerAfter { changes }),
        1 => Just(Step::LosePower),
        2 => Just(Step::Read),
        1 => Just(Step::Restart),
    ]
}

/// An empty store. Creating one waits for the disk, which each case need not do.
static CREATED: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("temporary folder");
    open(&folder, &Faults::none()).expect("creates");
    folder
});

/// A store, with all that may be in it. More than one state is possible only while an outcome is unknown.
struct Run {
    folder: TempDir,
    faults: Faults,
    store: Option<Store>,
    possible: Vec<Entries>,
    next: u64,
}

impl Run {
    fn new(seed: u64) -> Self {
        let (folder, faults) = (tempfile::tempdir().expect("temporary folder"), Faults::by_chance(seed));
        for name in ["leasehold.redb", "leasehold.id"] {
            fs::copy(CREATED.path().join(name), folder.path().join(name)).expect("copies");
        }
        let store = Some(open(&folder, &faults).expect("opens"));
        Run { folder, faults, store, possible: vec![Entries::new()], next: 0 }
    }

    /// Closes the store, and opens it as often as faults keep it from being opened.
    fn restart(&mut self) {
        self.store = None;
        for _ in 0..20 {
            match open(&self.folder, &self.faults) {
                Ok(store) => return self.store = Some(store),
                Err(
                    Error::Unsynced { .. }
                    | Error::Folder { .. }
                    | Error::Engine(_)
                    | Error::NotWritten(_)
                    | Error::Closed { .. }
                    | Error::Indeterminate(_),
                ) => {}
                Err(refused) => panic!("the store was lost: {refused:?}"),
            }
        }
        panic!("the store does not open");
    }

    fn read(&mut self) {
        match entries(self.store.as_ref().expect("is open")) {
            Ok(found) => {
                assert!(self.possible.contains(&found), "{found:?} is none of {:?}", self.possible);
                self.possible = vec![found];
            }
            Err(_) => self.restart(),
        }
    }

    fn write(&mut self, len: usize) {
        let number = self.next;
        self.next += 1;
        let written = self.possible.iter().cloned().map(|mut entries| {
            entries.insert(number, len);
            number.checked_sub(KEPT).map(|oldest| entries.remove(&oldest));
            entries
        });
        match write(self.store.as_ref().expect("is open"), number, len) {
            Ok(()) => self.possible = written.collect(),
            Err(Error::Indeterminate(_)) => {
                let written: Vec<_> = written.collect();
                self.possible.extend(written);
            }
            Err(Error::NotWritten(_) | Error::Closed { .. }) => self.restart(),
            Err(other) => panic!("not an answer to a write: {other:?}"),
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Write { len } => self.write(len),
            Step::FailNextSync => self.faults.fail_next_sync(),
            Step::LosePowerAfter { changes } => self.faults.lose_power_after(changes),
            Step::LosePower => {
                self.faults.lose_power();
                self.restart();
            }
            Step::Read => self.read(),
            Step::Restart => self.restart(),
        }
    }
}

proptest! {
    // Each opens a store ten times or so.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]

    #[test]
    fn answers_and_reads_stay_true_through_failed_syncs_and_power_losses(
        seed in any::<u64>(),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut run = Run::new(seed);
        steps.iter().for_each(|step| run.step(step));
        run.faults.lose_power();
        run.restart();
        run.read();
    }
}

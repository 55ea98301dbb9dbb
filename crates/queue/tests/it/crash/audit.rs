//! What a child said, against what is in the folder.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use leasehold_embedded::Store as Folder;
use leasehold_queue::store::Store;
use leasehold_queue::store::embedded::EmbeddedStore;
use leasehold_queue::{Item, ItemId};

use super::PARTITIONS;
use super::child::{number_of, partition_id};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Produced, or not.
    Coming,
    Here,
    /// Completed, or not.
    Leaving,
    Gone,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    place: Place,
    /// Leases that were acknowledged, and those that were tried.
    leases: (i32, i32),
}

/// All that children have said so far, by partition and number.
#[derive(Debug, Default)]
pub(super) struct Audit {
    known: HashMap<(u32, u64), Known>,
    /// The last batch that was tried: all of it happened, or nothing.
    tried: HashMap<u32, (String, Vec<u64>)>,
    acknowledged: u64,
}

impl Audit {
    pub(super) fn next_number(&self) -> u64 {
        self.known.keys().map(|(_, number)| number + 1).max().unwrap_or(0)
    }

    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    pub(super) fn hear(&mut self, line: &str) {
        let words: Vec<_> = line.split(' ').collect();
        // The last line may have been cut by the kill; then what it would say was not said.
        let [word @ ("try" | "did"), partition, verb, numbers @ ..] = words.as_slice() else { return };
        let partition = partition.parse().expect("a partition");
        let numbers: Vec<u64> = numbers.iter().map(|number| number.parse().expect("a number")).collect();
        for number in &numbers {
            let coming = Known { place: Place::Coming, leases: (0, 0) };
            let known = self.known.entry((partition, *number)).or_insert(coming);
            match (*word, *verb) {
                ("did", "produce") => known.place = Place::Here,
                ("try", "complete") => known.place = Place::Leaving,
                ("did", "complete") => known.place = Place::Gone,
                ("try", "lease") => known.leases.1 += 1,
                ("did", "lease") => known.leases.0 += 1,
                _ => (),
            }
        }
        match *word {
            "try" => drop(self.tried.insert(partition, ((*verb).to_owned(), numbers))),
            _ => {
                self.tried.remove(&partition);
                self.acknowledged += 1;
            }
        }
    }

    /// Panics unless the folder holds what it must.
    pub(super) async fn check(&mut self, folder: &Path, run: &str) {
        let store = EmbeddedStore::open(Folder::open(folder).expect("the dead hold no lock")).expect("opens");
        for partition in 0..PARTITIONS {
            let mut handle = store.partition(&partition_id(partition));
            let opened = handle.open().await.expect("opens");
            let listed = handle.list(false, ItemId::MIN, usize::MAX, usize::MAX).await.expect("lists").items;
            assert_eq!(opened.counts.ready + opened.counts.leased, listed.len() as u64, "{run}");
            let mut here = BTreeMap::new();
            for item in &listed {
                let twice = here.insert(number_of(item), item);
                assert!(twice.is_none(), "{run}: item twice: {item:?}");
            }
            self.check_presence(partition, &here, run);
            check_order(&listed, run);
        }
        self.tried.clear();
    }

    fn check_presence(&mut self, partition: u32, here: &BTreeMap<u64, &Item>, run: &str) {
        for number in here.keys() {
            assert!(self.known.contains_key(&(partition, *number)), "{run}: nobody produced {number}");
        }
        if let Some((verb, numbers)) = self.tried.get(&partition).filter(|(verb, _)| verb != "lease") {
            let present = numbers.iter().filter(|number| here.contains_key(number)).count();
            assert!(present == 0 || present == numbers.len(), "{run}: half of a {verb} happened");
        }
        for ((_, number), known) in self.known.iter_mut().filter(|((of, _), _)| *of == partition) {
            let item = here.get(number);
            match known.place {
                Place::Here => assert!(item.is_some(), "{run}: item {number} is lost"),
                Place::Gone => assert!(item.is_none(), "{run}: item {number} is back"),
                Place::Coming | Place::Leaving => {
                    known.place = if item.is_some() { Place::Here } else { Place::Gone };
                }
            }
            if let Some(item) = item {
                let (acknowledged, tried) = known.leases;
                let attempts = item.attempts;
                assert!(attempts >= acknowledged && attempts <= tried, "{run}: {known:?}, but {item:?}");
                known.leases = (attempts, attempts);
            }
        }
    }
}

/// Those that were never leased stand in the order in which they were produced.
fn check_order(listed: &[Item], run: &str) {
    let fresh: Vec<_> = listed.iter().filter(|item| item.attempts == 0).map(number_of).collect();
    assert!(fresh.is_sorted(), "{run}: out of order: {fresh:?}");
}

//! A disk that fails when told to: full, broken, or without power. It holds what was synced, and shows what was written.

mod cache;

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

use cache::Cache;

/// What is wrong with a disk. Clones are handles on the same one; it outlives the file's being opened again.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<State>);

#[derive(Debug, Default)]
struct State {
    full: AtomicBool,
    unreadable: AtomicBool,
    /// How many syncs are still to fail.
    unsynced: AtomicU64,
    syncs: AtomicU64,
    power: Mutex<Power>,
}

#[derive(Debug, Default)]
struct Power {
    /// Power losses so far. What was opened before the last one does nothing any more.
    losses: u64,
    /// Changes of the file until the next one.
    changes_left: Option<u64>,
    cache: Cache,
    file: Option<File>,
}

impl Faults {
    /// A disk without faults. Nothing reaches it without a sync.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// A disk that some of what is written reaches without a sync, by chance. Its syncs cost nothing: what it holds is
    /// safe from its own power losses alone.
    #[must_use]
    pub fn by_chance(seed: u64) -> Self {
        let power = Mutex::new(Power { cache: Cache::by_chance(seed), ..Power::default() });
        Faults(Arc::new(State { power, ..State::default() }))
    }

    /// No more can be written, as on a disk that is full.
    pub fn set_full(&self, full: bool) {
        self.0.full.store(full, Ordering::SeqCst);
    }

    /// Nothing can be read.
    pub fn set_unreadable(&self, unreadable: bool) {
        self.0.unreadable.store(unreadable, Ordering::SeqCst);
    }

    /// Syncs fail. What they should have written stays readable, counts as written, and is not on the disk.
    pub fn set_unsynced(&self, unsynced: bool) {
        self.0.unsynced.store(if unsynced { u64::MAX } else { 0 }, Ordering::SeqCst);
    }

    /// As [`set_unsynced`](Self::set_unsynced), for the next sync alone: Linux reports a failure once.
    pub fn fail_next_sync(&self) {
        self.0.unsynced.store(1, Ordering::SeqCst);
    }

    /// How often the disk was waited for.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.0.syncs.load(Ordering::SeqCst)
    }

    /// Takes the power away: the file is what the disk held. Whatever has it open fails; what opens it next has power.
    pub fn lose_power(&self) {
        self.0.power.lock().lose();
    }

    /// Takes the power away before this many further changes of the file are done.
    pub fn lose_power_after(&self, changes: u64) {
        self.0.power.lock().changes_left = Some(changes);
    }

    /// How often the power was lost.
    #[must_use]
    pub fn power_losses(&self) -> u64 {
        self.0.power.lock().losses
    }

    pub(crate) fn over(&self, file: File) -> Result<FaultyDisk, DatabaseError> {
        let mut power = self.0.power.lock();
        let raw = file.try_clone()?;
        power.cache.opened(&raw)?;
        power.file = Some(raw.try_clone()?);
        Ok(FaultyDisk { file: FileBackend::new(file)?, raw, faults: self.clone(), losses: power.losses })
    }

    /// Syncs, and then forgets what is cached.
    pub(crate) fn settle(&self, file: &File) -> io::Result<()> {
        let mut power = self.0.power.lock();
        self.sync(&mut power, file)?;
        power.cache.forgotten(file)
    }

    fn sync(&self, power: &mut Power, file: &File) -> io::Result<()> {
        let one_less = |left: u64| match left {
            0 | u64::MAX => None,
            left => Some(left - 1),
        };
        match self.0.unsynced.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less) {
            Err(0) => power.cache.synced(file),
            Ok(_) | Err(_) => {
                power.cache.not_synced();
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn check(&self, fault: fn(&State) -> &AtomicBool, kind: io::ErrorKind) -> io::Result<()> {
        match fault(&self.0).load(Ordering::SeqCst) {
            true => Err(kind.into()),
            false => Ok(()),
        }
    }
}

impl Power {
    fn lose(&mut self) {
        self.losses += 1;
        self.changes_left = None;
        if let Some(file) = &self.file {
            self.cache.lost(file).expect("the file under the test can be written");
        }
    }
}

#[derive(Debug)]
pub(crate) struct FaultyDisk {
    file: FileBackend,
    raw: File,
    faults: Faults,
    /// How often the power had been lost when it was opened.
    losses: u64,
}

impl FaultyDisk {
    /// Fails without power.
    fn powered(&self) -> io::Result<MutexGuard<'_, Power>> {
        let power = self.faults.0.power.lock();
        match power.losses == self.losses {
            true => Ok(power),
            false => Err(io::ErrorKind::Other.into()),
        }
    }

    /// As [`powered`](Self::powered), for a change of the file, which may be the one at which the power is lost.
    fn changing(&self) -> io::Result<MutexGuard<'_, Power>> {
        let mut power = self.powered()?;
        match &mut power.changes_left {
            Some(0) => {
                power.lose();
                Err(io::ErrorKind::Other.into())
            }
            Some(changes) => {
                *changes -= 1;
                Ok(power)
            }
            None => Ok(power),
        }
    }
}

impl StorageBackend for FaultyDisk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        drop(self.powered()?);
        self.faults.check(|state| &state.unreadable, io::ErrorKind::Other)?;
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.faults.check(|state| &state.full, io::ErrorKind::StorageFull)?;
        let mut power = self.changing()?;
        power.cache.resized(&self.raw, len)?;
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.faults.0.syncs.fetch_add(1, Ordering::SeqCst);
        if !self.powered()?.cache.is_by_chance() {
            self.file.sync_data()?;
        }
        let mut power = self.changing()?;
        self.faults.sync(&mut power, &self.raw)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.faults.check(|state| &state.full, io::ErrorKind::StorageFull)?;
        let mut power = self.changing()?;
        power.cache.dirty(&self.raw, offset, data.len() as u64)?;
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

//! A disk that fails when told to: full, or broken.

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

/// What is wrong with a disk. Clones are handles on the same one; it outlives the file's being opened again.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<State>);

#[derive(Debug, Default)]
struct State {
    full: AtomicBool,
    unreadable: AtomicBool,
    unsynced: AtomicBool,
    syncs: AtomicU64,
}

impl Faults {
    /// A disk without faults.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// No more can be written, as on a disk that is full.
    pub fn set_full(&self, full: bool) {
        self.0.full.store(full, Ordering::SeqCst);
    }

    /// Nothing can be read.
    pub fn set_unreadable(&self, unreadable: bool) {
        self.0.unreadable.store(unreadable, Ordering::SeqCst);
    }

    /// What is written does not reach the disk for sure: syncs fail after their work was done.
    pub fn set_unsynced(&self, unsynced: bool) {
        self.0.unsynced.store(unsynced, Ordering::SeqCst);
    }

    /// How often the disk was waited for.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.0.syncs.load(Ordering::SeqCst)
    }

    pub(crate) fn over(&self, file: File) -> Result<FaultyDisk, DatabaseError> {
        Ok(FaultyDisk { file: FileBackend::new(file)?, faults: self.clone() })
    }

    fn check(&self, fault: fn(&State) -> &AtomicBool, kind: io::ErrorKind) -> io::Result<()> {
        match fault(&self.0).load(Ordering::SeqCst) {
            true => Err(kind.into()),
            false => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct FaultyDisk {
    file: FileBackend,
    faults: Faults,
}

impl StorageBackend for FaultyDisk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.faults.check(|state| &state.unreadable, io::ErrorKind::Other)?;
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.faults.check(|state| &state.full, io::ErrorKind::StorageFull)?;
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.faults.0.syncs.fetch_add(1, Ordering::SeqCst);
        self.file.sync_data()?;
        self.faults.check(|state| &state.unsynced, io::ErrorKind::Other)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.faults.check(|state| &state.full, io::ErrorKind::StorageFull)?;
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

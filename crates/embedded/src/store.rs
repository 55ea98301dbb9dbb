use std::path::Path;
use std::sync::Arc;

use redb::{ReadTransaction, WriteTransaction};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

use crate::file::{Disk, File, is_lasting};
use crate::folder::Absent;
use crate::job::{Job, Regardless, Task, Written};
use crate::writer::Writer;
use crate::{Error, Result, format};

/// An open folder. Cheap to clone; the folder is free for another process when the last clone is gone, which waits
/// for writes that are under way. A job must not hold one: it would wait for itself.
#[derive(Debug, Clone)]
pub struct Store {
    // Before the file: the writer ends while the file is still open.
    writer: Arc<Writer>,
    file: Arc<File>,
}

impl Store {
    /// Opens the folder, creating it (mode 700) and its file (mode 600) where no store has been created yet. A store
    /// that was lost is not created again: [`Error::Missing`], [`Error::Empty`] and [`Error::Replaced`] say what to do.
    ///
    /// Blocks on the disk, and after an unclean stop until the file is repaired: call it at start, or from a
    /// thread that may block.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Store::over(folder.as_ref(), Disk::Plain, Absent::Create)
    }

    /// As [`open`](Self::open), and creates nothing: [`Error::Absent`] where there is no store.
    pub fn open_existing(folder: impl AsRef<Path>) -> Result<Self> {
        Store::over(folder.as_ref(), Disk::Plain, Absent::Refuse)
    }

    /// As [`open`](Self::open), on a disk that fails when told to.
    #[cfg(feature = "faults")]
    pub fn open_with_faults(folder: impl AsRef<Path>, faults: &crate::faults::Faults) -> Result<Self> {
        Store::over(folder.as_ref(), Disk::Faulty(faults.clone()), Absent::Create)
    }

    fn over(folder: &Path, disk: Disk, absent: Absent) -> Result<Self> {
        let file = Arc::new(File::open(folder, disk, absent)?);
        Ok(Store { writer: Arc::new(Writer::start(file.clone())), file })
    }

    /// The folder this store lives in.
    pub fn folder(&self) -> &Path {
        self.file.folder()
    }

    /// Looks at what is committed now, to be read later: what is committed meanwhile does not show.
    pub fn begin_read(&self) -> Result<ReadTransaction> {
        let begun = self.file.begin_read();
        if begun.as_ref().is_err_and(is_broken) {
            self.nudge();
        }
        begun
    }

    /// Reads what is committed, without waiting for the writer. Blocks on the disk.
    pub fn read<T>(&self, read: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>) -> Result<T> {
        let done = self.file.begin_read().and_then(|transaction| read(&transaction).map_err(Error::engine));
        if done.as_ref().is_err_and(is_broken) {
            self.nudge();
        }
        done
    }

    /// Runs a job in a transaction that it may share with others, and answers when all of it is on the disk.
    ///
    /// The job runs again, on the same state, when another of the same commit fails; so it must not use up what it
    /// holds. [`Error::NotWritten`] and [`Error::Closed`] mean that nothing was written, [`Error::Indeterminate`] that
    /// nobody knows. Dropped midway, the write is given up if it had not begun, and happens unseen otherwise.
    pub async fn write<T: Send + 'static>(
        &self,
        job: impl FnMut(&WriteTransaction) -> Result<Written<T>, redb::Error> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.send(Task::boxed(job, answer)).await?;
        answered.await.unwrap_or_else(|lost| Err(Error::Indeterminate(Arc::new(lost))))
    }

    /// As [`write`](Self::write), for a job that is to happen whether or not somebody waits for it: `settle` is told
    /// on the writer's thread, and must not block. Waits only while the mailbox is full.
    pub async fn submit<T: Send + 'static>(
        &self,
        job: impl FnMut(&WriteTransaction) -> Result<Written<T>, redb::Error> + Send + 'static,
        settle: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Result<()> {
        self.send(Task::boxed(job, Regardless(settle))).await
    }

    /// As [`write`](Self::write), for making tables at start: blocks on the disk, and does not wait for a place in the
    /// mailbox.
    pub fn write_blocking<T: Send + 'static>(
        &self,
        job: impl FnMut(&WriteTransaction) -> Result<Written<T>, redb::Error> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = std::sync::mpsc::sync_channel(1);
        let task = Task::boxed(job, Regardless(move |outcome| drop(answer.send(outcome))));
        let taken = self.writer.mailbox().try_send(task);
        taken.map_err(|refused| Error::NotWritten(Arc::new(NotTaken::of(&refused))))?;
        answered.recv().unwrap_or_else(|lost| Err(Error::Indeterminate(Arc::new(lost))))
    }

    /// Reads from the file, and looks whether it is still where it was; an error means that requests would fail too.
    /// Blocks on the disk.
    pub fn check(&self) -> Result<()> {
        self.file.check_in_place()?;
        self.read(format::read).map(drop)
    }

    async fn send(&self, job: Box<dyn Job>) -> Result<()> {
        let taken = self.writer.mailbox().send(job).await;
        taken.map_err(|_| Error::NotWritten(Arc::new(NotTaken::Ended)))
    }

    /// Has the writer look at the file, and open it again if it must; a full mailbox does that anyway.
    fn nudge(&self) {
        let task = Task::boxed(|_| Ok(Written::Nothing(())), Regardless(drop::<Result<()>>));
        drop(self.writer.mailbox().try_send(task));
    }
}

fn is_broken(error: &Error) -> bool {
    match error {
        Error::Engine(engine) => is_lasting(engine),
        Error::Closed { .. } => true,
        _ => false,
    }
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
enum NotTaken {
    #[error("the writer of the embedded store has ended")]
    Ended,
    #[error("the writer of the embedded store has too much to do")]
    Full,
}

impl NotTaken {
    fn of<T>(refused: &TrySendError<T>) -> Self {
        match refused {
            TrySendError::Full(_) => NotTaken::Full,
            TrySendError::Closed(_) => NotTaken::Ended,
        }
    }
}

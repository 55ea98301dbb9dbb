//! News that a key was released, from process to process, without a cost for releases nobody waits for.
//!
//! `NOTIFY` inside the release would make all commits of the database wait for each other. So it is turned around: who
//! waits says so, on one channel; who holds listens there and remembers; and who then releases a key that is wanted
//! says so on the other, after the release, out of its caller's way. Only hashes of keys travel.
//!
//! Everything here is a hint. What is lost costs a waiter time until it asks again, never the lock.

mod listening;
mod wanted;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use leasehold_core::KeyHash;
use leasehold_core::postgres::TableNames;
use leasehold_txn::Pool;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use self::listening::Listening;
use self::wanted::Wanted;
use crate::{Watch, WatchHub};

/// Announcements on their way to the connection; more are dropped.
const PENDING_MAX: usize = 1_024;

/// How long a waiter waits for its announcement to be out before it looks again anyway.
const ANNOUNCE_TIMEOUT: Duration = Duration::from_secs(1);

/// What is to be said on the connection.
#[derive(Debug)]
enum Announcement {
    /// Somebody here waits for the key. Answered, or dropped, once it was said or cannot be.
    Wanted(KeyHash, oneshot::Sender<()>),
    /// Somebody waits elsewhere for the key, and it was released here.
    Freed(KeyHash),
}

/// The news of one backend.
#[derive(Debug)]
pub(in crate::backend) struct News {
    hub: Arc<WatchHub>,
    wanted: Arc<Wanted>,
    /// Where to listen; `None` if waiters ask by themselves.
    pool: Option<Pool>,
    table: String,
    started: OnceLock<Started>,
}

#[derive(Debug)]
struct Started {
    announcements: mpsc::Sender<Announcement>,
    task: AbortHandle,
}

impl News {
    pub(in crate::backend) fn new(pool: Option<Pool>, tables: &TableNames) -> Self {
        News {
            hub: Arc::default(),
            wanted: Arc::default(),
            pool,
            table: format!("\"{}\"", tables.locks()),
            started: OnceLock::new(),
        }
    }

    /// Tells when the key was released, here or elsewhere. Ready once the other processes were told that it is wanted.
    pub(in crate::backend) async fn watch(&self, key_hash: KeyHash) -> Watch {
        let watch = self.hub.watch(key_hash);
        if let Some(started) = self.start() {
            let (said, waiting) = oneshot::channel();
            if started.announcements.try_send(Announcement::Wanted(key_hash, said)).is_ok() {
                let _ = tokio::time::timeout(ANNOUNCE_TIMEOUT, waiting).await;
            }
        }
        watch
    }

    /// A key is held here from now on: somebody may come to want it.
    pub(in crate::backend) fn held(&self) {
        self.start();
    }

    /// A key was released here.
    pub(in crate::backend) fn freed(&self, key_hash: KeyHash) {
        self.hub.freed(key_hash);
        if let Some(started) = self.started.get()
            && self.wanted.is_freed(key_hash, Instant::now())
        {
            let _ = started.announcements.try_send(Announcement::Freed(key_hash));
        }
    }

    /// The connection to say it on: opened by a task of its own when first needed.
    fn start(&self) -> Option<&Started> {
        if let Some(started) = self.started.get() {
            return Some(started);
        }
        let (pool, runtime) = (self.pool.as_ref()?, Handle::try_current().ok()?);
        Some(self.started.get_or_init(|| {
            let (announcements, pending) = mpsc::channel(PENDING_MAX);
            let listening = Listening {
                pool: pool.clone(),
                table: self.table.clone(),
                hub: self.hub.clone(),
                wanted: self.wanted.clone(),
                pending,
            };
            let task = runtime.spawn(listening.run()).abort_handle();
            Started { announcements, task }
        }))
    }

    pub(in crate::backend) fn close(&self) {
        if let Some(started) = self.started.get() {
            started.task.abort();
        }
    }
}

impl Drop for News {
    fn drop(&mut self) {
        self.close();
    }
}

//! News of what other servers changed. Nothing tells of it on DSQL, so we look: whoever changes what servers remember adds
//! one to a version in the same transaction, and a version is one row to read.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use leasehold_txn::Operation;

use super::super::postgres::{PostgresStore, column};
use super::statements::VERSIONS;
use crate::store::{Change, Result};

const LOOK: Operation = Operation::new("access.changes");

/// How often something was changed of each kind that is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Versions {
    keys: i64,
    permissions: i64,
}

impl Versions {
    async fn read(store: &PostgresStore) -> Result<Option<Self>> {
        let rows = store.read(LOOK, VERSIONS, &[]).await?;
        let read =
            |row| Ok(Versions { keys: column(row, "keys")?, permissions: column(row, "permissions")? });
        rows.first().map(read).transpose()
    }

    /// What changed since. Which key it was is not told, so it may be any.
    fn since(self, before: Option<Self>) -> Option<Change> {
        match before {
            None => Some(Change::Everything),
            Some(before) if before.keys != self.keys => Some(Change::Everything),
            Some(before) if before.permissions != self.permissions => Some(Change::Permissions),
            Some(_) => None,
        }
    }
}

pub(super) async fn hear(store: &PostgresStore, every: Duration, told: &(dyn Fn(Change) + Send + Sync)) {
    look(|| Versions::read(store).boxed(), every, told).await;
}

/// What a failed look did not see the next one does: versions are compared with those last seen.
async fn look<'a>(
    read: impl Fn() -> BoxFuture<'a, Result<Option<Versions>>>,
    every: Duration,
    told: &(dyn Fn(Change) + Send + Sync),
) {
    let mut seen = None;
    loop {
        match read().await {
            Ok(versions) => {
                if let Some(change) = versions.and_then(|versions| versions.since(seen)) {
                    told(change);
                }
                seen = versions.or(seen);
            }
            Err(error) => tracing::debug!(code = error.code(), %error, "changes of access were not seen"),
        }
        tokio::time::sleep(every).await;
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use parking_lot::Mutex;
    use tokio::time::Instant;

    use super::*;
    use crate::store::StoreError;

    const EVERY: Duration = Duration::from_secs(1);

    /// What is stored, or that it cannot be read; and what was told, with the time since the last change.
    struct Scene {
        stored: Mutex<Option<Versions>>,
        changed_at: Mutex<Instant>,
        told: Mutex<Vec<(Change, Duration)>>,
    }

    impl Scene {
        fn new() -> Self {
            let first = Versions { keys: 7, permissions: 7 };
            let now = Mutex::new(Instant::now());
            Scene { stored: Mutex::new(Some(first)), changed_at: now, told: Mutex::default() }
        }

        fn store(&self, versions: Option<Versions>) {
            *self.stored.lock() = versions;
            *self.changed_at.lock() = Instant::now();
        }

        /// Looks until the script is over.
        async fn play(&self, script: impl Future<Output = ()>) -> Vec<(Change, Duration)> {
            let read = || {
                let down = StoreError::Unusable { what: "test", reason: "down".to_owned() };
                let found = (*self.stored.lock()).map(Some).ok_or(down);
                async { found }.boxed()
            };
            let told = |change| self.told.lock().push((change, self.changed_at.lock().elapsed()));
            let looking = async {
                look(read, EVERY, &told).await;
                None::<Infallible>
            };
            tokio::select! {
                _ = looking => unreachable!("it looks until it is dropped"),
                () = script => {}
            }
            self.told.lock().clone()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn change_is_told_within_the_interval_and_once() {
        let scene = Scene::new();
        let told = scene.play(async {
            tokio::time::sleep(Duration::from_millis(2_001)).await;
            scene.store(Some(Versions { keys: 7, permissions: 8 }));
            tokio::time::sleep(EVERY * 3).await;
            scene.store(Some(Versions { keys: 8, permissions: 8 }));
            tokio::time::sleep(EVERY * 3).await;
        });
        let told = told.await;
        let changes: Vec<_> = told.iter().map(|(change, _)| change.clone()).collect();
        assert_eq!(changes, [Change::Everything, Change::Permissions, Change::Everything]);
        assert!(told.iter().all(|(_, late)| *late <= EVERY), "{told:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn change_that_nobody_could_see_is_told_when_it_can_be_seen() {
        let scene = Scene::new();
        let told = scene.play(async {
            tokio::time::sleep(EVERY / 2).await;
            scene.store(None);
            tokio::time::sleep(EVERY * 5).await;
            scene.store(Some(Versions { keys: 7, permissions: 9 }));
            tokio::time::sleep(EVERY * 2).await;
        });
        let changes: Vec<_> = told.await.into_iter().map(|(change, _)| change).collect();
        assert_eq!(changes, [Change::Everything, Change::Permissions]);
    }
}

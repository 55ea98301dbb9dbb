//! The contract over the embedded store, and what it promises beyond: fences and holds outlive the process.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::{Fence, Key, LockId, ManualClock, Timestamp, Ttl};
use leasehold_embedded::faults::Faults;
use leasehold_embedded::{Store, Written};
use leasehold_locks::backend::embedded::EmbeddedBackend;
use leasehold_locks::conformance::Harness;
use leasehold_locks::{AcquireOutcome, AcquireRequest, Grant, LockBackend, LookupBy, lock_conformance};
use tempfile::TempDir;

pub(crate) struct Embedded {
    backend: Arc<EmbeddedBackend>,
    store: Store,
    clock: ManualClock,
    _folder: TempDir,
}

#[async_trait]
impl Harness for Embedded {
    async fn start() -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000));
        let store = Store::open(folder.path()).expect("opens");
        let backend = EmbeddedBackend::with_clock(store.clone(), Arc::new(clock.clone())).expect("opens");
        Embedded { backend: Arc::new(backend), store, clock, _folder: folder }
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        self.backend.clone()
    }

    async fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
    }

    async fn count_to(&self, key: &Key, fence: Fence) {
        const FENCES: redb::TableDefinition<'_, &str, u64> = redb::TableDefinition::new("locks.fences");
        let key = key.clone();
        let counted = self.store.write_blocking(move |write| {
            write.open_table(FENCES)?.insert(key.as_str(), fence.as_u64())?;
            Ok(Written::Changed(()))
        });
        counted.expect("writes");
    }

    fn clock_slack(&self) -> Duration {
        Duration::ZERO
    }
}

lock_conformance!(Embedded, [allow(unused)], [store waiting]);

fn request(key: &str) -> AcquireRequest {
    let lock_id = LockId::generate().expect("random bytes");
    AcquireRequest { key: Key::parse(key).expect("is a key"), lock_id, ttl: Ttl::DEFAULT }
}

async fn acquired(backend: &EmbeddedBackend, key: &str) -> Grant {
    backend.acquire(&request(key)).await.expect("answers").acquired().expect("is free")
}

fn open(folder: &TempDir) -> EmbeddedBackend {
    EmbeddedBackend::open(Store::open(folder.path()).expect("the folder is free")).expect("opens")
}

#[tokio::test]
async fn holds_and_fences_survive_a_restart() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (held, released) = {
        let backend = open(&folder);
        let held = acquired(&backend, "held").await;
        let released = acquired(&backend, "released").await;
        backend.release(&released.lock_id).await.expect("answers");
        (held, released)
    };
    let backend = open(&folder);
    let refused = backend.acquire(&request("held")).await.expect("answers");
    assert!(matches!(refused, AcquireOutcome::Held { .. }), "{refused:?}");
    let found = backend.lookup(LookupBy::LockId(&held.lock_id)).await.expect("answers").expect("is held");
    assert_eq!((found.fence, found.expires_at), (held.fence, held.expires_at));
    assert_eq!(Ok(acquired(&backend, "released").await.fence), released.fence.next());
}

#[tokio::test]
async fn second_process_is_refused_while_the_first_lives() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let backend = open(&folder);
    let refused = Store::open(folder.path()).expect_err("one process at a time");
    assert_eq!(refused.code(), "embedded.in_use");
    drop(backend);
    Store::open(folder.path()).expect("free again");
}

#[tokio::test]
async fn lost_store_does_not_grant_fences_again() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("leasehold.redb");
    {
        let backend = open(&folder);
        for _ in 0..3 {
            let held = acquired(&backend, "billing").await;
            backend.release(&held.lock_id).await.expect("answers");
        }
        std::fs::remove_file(&file).expect("removes");
        let refused = backend.acquire(&request("billing")).await.expect_err("the store is lost");
        assert_eq!(refused.class(), leasehold_core::Class::Unavailable, "{refused:?}");
    }
    for _ in 0..2 {
        let refused = Store::open(folder.path()).expect_err("no new store takes its place");
        assert_eq!(refused.code(), "embedded.missing");
    }
    std::fs::write(&file, "").expect("writes");
    let refused = Store::open(folder.path()).expect_err("no new store takes its place");
    assert_eq!(refused.code(), "embedded.empty");
}

#[tokio::test]
async fn grant_that_is_answered_after_a_failed_sync_outlives_a_power_loss() {
    let (folder, faults) = (tempfile::tempdir().expect("temporary folder"), Faults::none());
    let open = || {
        let store = Store::open_with_faults(folder.path(), &faults).expect("opens");
        EmbeddedBackend::open(store).expect("opens")
    };
    let backend = open();
    let request = request("billing");
    faults.fail_next_sync();
    let unknown = backend.acquire(&request).await.expect_err("the sync failed");
    assert_eq!(unknown.class(), leasehold_core::Class::Indeterminate, "{unknown:?}");
    let seen = backend.lookup(LookupBy::LockId(&request.lock_id)).await.expect("answers");
    let granted = backend.acquire(&request).await.expect("answers").acquired().expect("is free");
    faults.lose_power();
    drop(backend);
    let backend = open();
    let found = backend.lookup(LookupBy::LockId(&request.lock_id)).await.expect("answers").expect("is held");
    assert_eq!(found.fence, granted.fence);
    assert!(seen.is_none_or(|seen| seen.fence == granted.fence), "what was seen stayed true");
}

const CHILD: &str = "LEASEHOLD_TEST_LOCK_CHILD";

/// Acquires and releases for ever, and tells each fence after it was granted.
#[tokio::test]
#[ignore = "the process that killed_process_loses_no_fence_it_told_of kills"]
async fn child_that_is_killed() {
    let folder = std::env::var_os(CHILD).expect("its parent names the folder");
    let backend = EmbeddedBackend::open(Store::open(folder).expect("opens")).expect("opens");
    loop {
        let grant = acquired(&backend, "contended").await;
        println!("fence {}", grant.fence);
        backend.release(&grant.lock_id).await.expect("answers");
    }
}

#[tokio::test]
async fn killed_process_loses_no_fence_it_told_of() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut last = 0;
    for told in [1, 3, 10, 17, 40] {
        let mut child = Command::new(std::env::current_exe().expect("is a program"))
            .args(["--exact", "embedded::child_that_is_killed", "--ignored", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let fences = lines.filter_map(|line| line.split("fence ").nth(1)?.trim().parse::<u64>().ok());
        for fence in fences.take(told) {
            assert!(fence > last, "fence {fence} after {last}");
            last = fence;
        }
        child.kill().expect("kill -9");
        child.wait().expect("is gone");
        // The hold of the killed process may still be live; its fence must be above all it told of.
        let backend = open(&folder);
        let key = Key::parse("contended").expect("is a key");
        if let Some(held) = backend.lookup(LookupBy::Key(&key)).await.expect("answers") {
            assert!(held.fence.as_u64() >= last, "{} after {last}", held.fence);
            backend.release(&held.lock_id).await.expect("answers");
        }
        let next = acquired(&backend, "contended").await;
        assert!(next.fence.as_u64() > last, "fence {} after {last}", next.fence);
        last = next.fence.as_u64();
        backend.release(&next.lock_id).await.expect("answers");
    }
}

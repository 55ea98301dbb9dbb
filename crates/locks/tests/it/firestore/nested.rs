//! Keys with slashes, and ids that Firestore keeps for itself.

use leasehold_locks::backend::firestore::NestedKeys;
use leasehold_locks::{AcquireOutcome, ExtendRequest, Key, LockBackend, LookupBy, ReleaseOutcome, Ttl};

use super::peer::{fields, lock, put};
use super::{Project, request};

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn keys_that_are_no_document_ids_are_refused() {
    let project = Project::new();
    let backend = project.backend().await;
    for text in ["a/b", "a/b/c", "s/", "/", "/a", "a//b", ".", "..", "__x__"] {
        let error = backend.acquire(&request(text)).await.unwrap_err();
        assert_eq!(error.code(), "key.not_document_id", "{text}");
        let error = backend.is_locked(&Key::parse(text).unwrap()).await.unwrap_err();
        assert_eq!(error.code(), "key.not_document_id", "{text}");
    }
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn nested_key_is_released_and_extended_by_the_process_that_holds_it() {
    let project = Project::new();
    let config = project.config().nested_keys(NestedKeys::Allow);
    let backend = project.backend_with(config.clone()).await;
    let asked = request("key/with/slashes");
    let grant = backend.acquire(&asked).await.unwrap().acquired().unwrap();
    assert!(fields(&project.name, "locks/key/with/slashes").is_some());
    assert!(fields(&project.name, "fence_counters/fence:key/with/slashes").is_some());

    let other = project.backend_with(config).await;
    assert!(matches!(
        other.acquire(&request("key/with/slashes")).await.unwrap(),
        AcquireOutcome::Held { .. }
    ));
    let found = backend.lookup(LookupBy::LockId(&asked.lock_id)).await.unwrap().unwrap();
    assert_eq!(found.key, asked.key);
    let extend = ExtendRequest { lock_id: asked.lock_id, ttl: asked.ttl };
    backend.extend(&extend).await.unwrap().expires_at().unwrap();
    assert_eq!(backend.release(&asked.lock_id).await.unwrap(), ReleaseOutcome::Released);
    let next = other.acquire(&request("key/with/slashes")).await.unwrap().acquired().unwrap();
    assert_eq!(Ok(next.fence), grant.fence.next());
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn nested_lock_of_a_peer_keeps_us_out() {
    let project = Project::new();
    let backend = project.backend_with(project.config().nested_keys(NestedKeys::Allow)).await;
    let theirs = lock("a/b/c", "zzzzzzzzzzzzzzzzzzzzzz", 1_700_000_060_000, "000000000000001");
    put(&project.name, "locks/a/b/c", &theirs);
    assert!(matches!(backend.acquire(&request("a/b/c")).await.unwrap(), AcquireOutcome::Held { .. }));
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn lock_that_a_peer_keeps_elsewhere_is_extended_and_released_where_it_is() {
    let project = Project::new();
    let backend = project.backend().await;
    let lock_id = request("s").lock_id;
    // As a peer writes it that drops the slash for the name; the key itself is refused here.
    put(&project.name, "locks/s", &lock("s/", lock_id.as_str(), 1_700_000_060_000, "000000000000001"));
    for _first_found_then_known in 0..2 {
        let extend = ExtendRequest { lock_id, ttl: Ttl::DEFAULT };
        backend.extend(&extend).await.unwrap().expires_at().expect("an end");
    }
    assert_eq!(backend.lookup(LookupBy::LockId(&lock_id)).await.unwrap().unwrap().key.as_str(), "s/");
    assert_eq!(backend.release(&lock_id).await.unwrap(), ReleaseOutcome::Released);
    assert_eq!(fields(&project.name, "locks/s"), None);
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn slash_at_the_end_is_the_same_lock() {
    let project = Project::new();
    let backend = project.backend_with(project.config().nested_keys(NestedKeys::Allow)).await;
    let asked = request("s/");
    backend.acquire(&asked).await.unwrap().acquired().unwrap();
    assert!(matches!(backend.acquire(&request("s")).await.unwrap(), AcquireOutcome::Held { .. }));
    assert_eq!(project.backend().await.release(&asked.lock_id).await.unwrap(), ReleaseOutcome::Released);
}

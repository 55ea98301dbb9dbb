//! Documents byte for byte as SyncGuard has them, and those it wrote under our hands.

use std::time::Duration;

use leasehold_core::{Refusal, Timestamp, Ttl};
use leasehold_locks::{
    AcquireOutcome, ExtendOutcome, ExtendRequest, Key, LockBackend, LockId, LookupBy, ReleaseOutcome,
};
use serde_json::json;

use super::peer::{fields, lock, put};
use super::{Project, request};

const NOW: i64 = 1_700_000_000_000;
const THEIRS: &str = "zzzzzzzzzzzzzzzzzzzzzz";

fn theirs() -> LockId {
    LockId::parse(THEIRS).expect("22 characters")
}

fn extend(lock_id: LockId, millis: u64) -> ExtendRequest {
    ExtendRequest { lock_id, ttl: Ttl::from_millis(millis).expect("in range") }
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn documents_have_the_fields_and_types_of_syncguard() {
    let project = Project::new();
    let asked = request("resource:123");
    project.backend().await.acquire(&asked).await.unwrap().acquired().unwrap();
    assert_eq!(
        fields(&project.name, "locks/resource:123").unwrap(),
        json!({
            "lockId": { "stringValue": asked.lock_id.as_str() },
            "expiresAtMs": { "integerValue": "1700000030000" },
            "acquiredAtMs": { "integerValue": "1700000000000" },
            "key": { "stringValue": "resource:123" },
            "fence": { "stringValue": "000000000000001" },
        })
    );
    assert_eq!(
        fields(&project.name, "fence_counters/fence:resource:123").unwrap(),
        json!({
            "fence": { "stringValue": "000000000000001" },
            "keyDebug": { "stringValue": "resource:123" },
        })
    );
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn lock_of_a_peer_is_contended_found_extended_and_released() {
    let project = Project::new();
    let backend = project.backend().await;
    put(&project.name, "locks/billing", &lock("billing", THEIRS, NOW + 10_000, "000000000000007"));
    put(
        &project.name,
        "fence_counters/fence:billing",
        &json!({ "fence": { "stringValue": "000000000000007" } }),
    );

    let refused = backend.acquire(&request("billing")).await.unwrap();
    assert_eq!(refused, AcquireOutcome::Held { free_in: Some(Duration::from_secs(11)) });
    let billing = Key::parse("billing").unwrap();
    let by_key = backend.lookup(LookupBy::Key(&billing)).await.unwrap().unwrap();
    let by_id = backend.lookup(LookupBy::LockId(&theirs())).await.unwrap().unwrap();
    assert_eq!((by_key.lock_id, by_key.fence.as_u64()), (theirs(), 7));
    assert_eq!(by_id, by_key);
    let extended = backend.extend(&extend(theirs(), 20_000)).await.unwrap();
    assert_eq!(extended.expires_at(), Some(Timestamp::from_millis(NOW + 20_000)));
    assert_eq!(backend.release(&theirs()).await.unwrap(), ReleaseOutcome::Released);
    assert_eq!(fields(&project.name, "locks/billing"), None);
    let next = backend.acquire(&request("billing")).await.unwrap().acquired().unwrap();
    assert_eq!(next.fence.as_u64(), 8);
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn acquire_replaces_documents_and_extend_changes_one_field() {
    let project = Project::new();
    let backend = project.backend().await;
    let mut ended = lock("billing", THEIRS, NOW - 60_000, "000000000000001");
    ended["extra"] = json!({ "booleanValue": true });
    put(&project.name, "locks/billing", &ended);
    put(
        &project.name,
        "fence_counters/fence:billing",
        &json!({
        "fence": { "stringValue": "000000000000001" }, "extra": { "booleanValue": true } }),
    );
    let asked = request("billing");
    backend.acquire(&asked).await.unwrap().acquired().unwrap();
    let lock_fields = fields(&project.name, "locks/billing").unwrap();
    assert!(lock_fields.get("extra").is_none(), "{lock_fields}");
    let counter = fields(&project.name, "fence_counters/fence:billing").unwrap();
    assert!(counter.get("extra").is_none(), "{counter}");

    // A peer that touches the document also makes our knowledge of its version old.
    let mut expected = lock_fields;
    expected["extra"] = json!({ "booleanValue": true });
    put(&project.name, "locks/billing", &expected);
    backend.extend(&extend(asked.lock_id, 90_000)).await.unwrap().expires_at().unwrap();
    expected["expiresAtMs"] = json!({ "integerValue": "1700000090000" });
    assert_eq!(fields(&project.name, "locks/billing").unwrap(), expected);
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn counters_of_other_forms_go_on_and_are_written_padded() {
    let project = Project::new();
    let backend = project.backend().await;
    for (key, fence, next) in [
        ("text", json!({ "stringValue": "41" }), "000000000000042"),
        ("integer", json!({ "integerValue": "41" }), "000000000000042"),
        ("double", json!({ "doubleValue": 41.0 }), "000000000000042"),
        ("empty", json!({ "stringValue": "" }), "000000000000001"),
        ("last", json!({ "stringValue": "899999999999999" }), "900000000000000"),
    ] {
        let path = format!("fence_counters/fence:{key}");
        put(&project.name, &path, &json!({ "fence": fence }));
        let grant = backend.acquire(&request(key)).await.unwrap().acquired().unwrap();
        assert_eq!(grant.fence.to_string(), next, "{key}");
        assert_eq!(fields(&project.name, &path).unwrap()["fence"], json!({ "stringValue": next }), "{key}");
    }
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn used_up_counter_is_an_error_and_nothing_is_written() {
    let project = Project::new();
    let backend = project.backend().await;
    for fence in ["900000000000000", "9000000000000000"] {
        let counter = json!({ "fence": { "stringValue": fence } });
        put(&project.name, "fence_counters/fence:billing", &counter);
        let error = backend.acquire(&request("billing")).await.unwrap_err();
        assert_eq!(error.code(), "fence.overflow");
        assert_eq!(fields(&project.name, "fence_counters/fence:billing").unwrap(), counter);
        assert_eq!(fields(&project.name, "locks/billing"), None);
    }
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn document_that_is_no_lock_is_left_alone() {
    let project = Project::new();
    let backend = project.backend().await;
    let foreign = json!({ "name": { "stringValue": "somebody's own" } });
    put(&project.name, "locks/billing", &foreign);
    let billing = Key::parse("billing").unwrap();
    for error in [
        backend.acquire(&request("billing")).await.unwrap_err(),
        backend.lookup(LookupBy::Key(&billing)).await.unwrap_err(),
        backend.is_locked(&billing).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), "lock.foreign_entry");
    }
    assert_eq!(fields(&project.name, "locks/billing").unwrap(), foreign);
    put(&project.name, "fence_counters/fence:other", &json!({ "fence": { "stringValue": "many" } }));
    assert_eq!(backend.acquire(&request("other")).await.unwrap_err().code(), "lock.foreign_entry");
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn live_one_of_duplicates_is_released_and_ended_ones_are_cleared_away() {
    let project = Project::new();
    let backend = project.backend().await;
    // Names on both sides of the live one, so that it is not the first whatever the order.
    for ended in ["a", "z"] {
        put(&project.name, &format!("locks/{ended}"), &lock(ended, THEIRS, NOW - 60_000, "000000000000001"));
    }
    put(&project.name, "locks/m", &lock("m", THEIRS, NOW + 60_000, "000000000000001"));
    let extended = backend.extend(&extend(theirs(), 90_000)).await.unwrap();
    assert_eq!(extended.expires_at(), Some(Timestamp::from_millis(NOW + 90_000)));
    assert_eq!((fields(&project.name, "locks/a"), fields(&project.name, "locks/z")), (None, None));
    assert_eq!(project.backend().await.release(&theirs()).await.unwrap(), ReleaseOutcome::Released);
    assert_eq!(fields(&project.name, "locks/m"), None);
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn two_live_duplicates_are_refused_and_untouched() {
    let project = Project::new();
    let backend = project.backend().await;
    for key in ["a", "b"] {
        put(&project.name, &format!("locks/{key}"), &lock(key, THEIRS, NOW + 60_000, "000000000000001"));
    }
    let refused = Refusal::NotFound;
    assert_eq!(backend.release(&theirs()).await.unwrap(), ReleaseOutcome::Refused(refused));
    assert_eq!(backend.extend(&extend(theirs(), 9_000)).await.unwrap(), ExtendOutcome::Refused(refused));
    for key in ["a", "b"] {
        let found = fields(&project.name, &format!("locks/{key}")).unwrap();
        assert_eq!(found["expiresAtMs"], json!({ "integerValue": (NOW + 60_000).to_string() }));
    }
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn key_that_a_peer_stored_in_another_unicode_form_is_the_same_key() {
    let project = Project::new();
    let backend = project.backend().await;
    put(&project.name, "locks/caf\u{e9}", &lock("cafe\u{301}", THEIRS, NOW + 60_000, "000000000000001"));
    let key = Key::parse("cafe\u{301}").unwrap();
    assert_eq!(backend.lookup(LookupBy::Key(&key)).await.unwrap().unwrap().key, key);
    assert!(matches!(backend.acquire(&request("caf\u{e9}")).await.unwrap(), AcquireOutcome::Held { .. }));
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn long_ended_hold_is_cleared_away_if_wanted_and_its_counter_stays() {
    let project = Project::new();
    let backend = project.backend_with(project.config().cleanup_in_is_locked(true)).await;
    let plain = project.backend().await;
    backend.acquire(&request("billing")).await.unwrap().acquired().unwrap();
    let billing = Key::parse("billing").unwrap();
    project.clock.advance(Duration::from_millis(30_000 + 1_999));
    assert!(!backend.is_locked(&billing).await.unwrap());
    assert!(fields(&project.name, "locks/billing").is_some(), "a second is left to slow clocks");
    project.clock.advance(Duration::from_millis(1));
    assert!(!plain.is_locked(&billing).await.unwrap());
    assert!(fields(&project.name, "locks/billing").is_some(), "nobody asked for it");
    assert!(!backend.is_locked(&billing).await.unwrap());
    assert_eq!(fields(&project.name, "locks/billing"), None);
    assert!(fields(&project.name, "fence_counters/fence:billing").is_some());
}

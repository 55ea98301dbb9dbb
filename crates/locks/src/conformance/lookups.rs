//! Looking without touching, and without showing what must not be shown.

use std::time::Duration;

use leasehold_core::{Key, KeyHash};

use super::{Store, TTL, key, lock_id, ttl};
use crate::{ListRequest, LookupBy};

/// Both ways lead to the same record.
pub async fn hold_is_found_by_key_and_by_id(store: &Store) {
    let grant = store.acquired("billing").await;
    let by_key =
        store.backend().lookup(LookupBy::Key(&key("billing"))).await.expect("answers").expect("is held");
    let by_id =
        store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").expect("is held");
    assert_eq!(by_key, by_id);
    assert_eq!((&by_key.key, by_key.lock_id, by_key.fence), (&key("billing"), grant.lock_id, grant.fence));
    assert_eq!(by_key.expires_at.saturating_since(by_key.acquired_at), TTL.as_duration());
}

/// Absence is an answer.
pub async fn nothing_is_found_where_nothing_is_held(store: &Store) {
    assert_eq!(store.backend().lookup(LookupBy::Key(&key("billing"))).await.expect("answers"), None);
    assert_eq!(store.backend().lookup(LookupBy::LockId(&lock_id())).await.expect("answers"), None);
    assert!(!store.backend().is_locked(&key("billing")).await.expect("answers"));
    assert!(!store.locks().await.owns(&lock_id()).await.expect("answers"));
}

/// Neither a released nor an expired one.
pub async fn ended_hold_is_not_found(store: &Store) {
    let released = store.acquired("released").await;
    store.backend().release(&released.lock_id).await.expect("answers");
    let expired = store.acquired_for("expired", ttl(1_000)).await;
    store.advance(Duration::from_secs(10)).await;
    for (text, grant) in [("released", released), ("expired", expired)] {
        assert_eq!(store.backend().lookup(LookupBy::Key(&key(text))).await.expect("answers"), None, "{text}");
        let by_id = store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers");
        assert_eq!(by_id, None, "{text}");
    }
}

/// What everybody may see names neither key nor id.
pub async fn info_shows_hashes_only(store: &Store) {
    let grant = store.acquired("customer:4711").await;
    let locks = store.locks().await;
    let info = locks.get_by_key(&key("customer:4711")).await.expect("answers").expect("is held");
    assert_eq!(info.key_hash, KeyHash::of("customer:4711"));
    assert_eq!(info.lock_id_hash, KeyHash::of(grant.lock_id.as_str()));
    assert_eq!(Some(info), locks.get_by_id(&grant.lock_id).await.expect("answers"));
    let shown = format!("{info:?} {grant:?}");
    // Digits of the key may be in a hash by chance; its letters cannot.
    assert!(!shown.contains("customer") && !shown.contains(grant.lock_id.as_str()), "{shown}");
    assert!(locks.owns(&grant.lock_id).await.expect("answers"));
}

/// Lookups follow extensions.
pub async fn extension_shows_in_lookups(store: &Store) {
    let grant = store.acquired("billing").await;
    let expires_at = store.extend(&grant.lock_id, ttl(77_000)).await.expires_at().expect("is live");
    let found =
        store.backend().lookup(LookupBy::Key(&key("billing"))).await.expect("answers").expect("is held");
    assert_eq!(found.expires_at, expires_at);
}

/// Every live hold once, in byte order, page by page.
pub async fn list_pages_through_live_holds_in_order(store: &Store) {
    let mut texts: Vec<String> = (0..25).map(|number| format!("list:{number:02}")).collect();
    texts.extend(["list:é".to_owned(), "list:Z".to_owned(), "list:a".to_owned()]);
    for text in &texts {
        store.acquired(text).await;
    }
    let released = store.acquired("list:released").await;
    store.backend().release(&released.lock_id).await.expect("answers");

    let mut found: Vec<Key> = Vec::new();
    loop {
        let request = ListRequest { after: found.last().cloned(), len_max: 7 };
        let page = store.backend().list(&request).await.expect("answers");
        assert!(page.len() <= 7, "a page of {}", page.len());
        if page.is_empty() {
            break;
        }
        found.extend(page.into_iter().map(|record| record.key));
    }
    texts.sort();
    let found: Vec<&str> = found.iter().map(Key::as_str).collect();
    assert_eq!(found, texts);
}

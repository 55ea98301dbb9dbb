//! Keys as people write them, and as attackers do.

use leasehold_core::Class;

use super::{Store, TTL, key, request};
use crate::{AcquireOutcome, LookupBy, ReleaseOutcome};

/// Texts that have broken lock stores: quotes, separators, patterns, paths, control characters, other scripts.
pub const HOSTILE: [&str; 28] = [
    " ",
    "'",
    "\"",
    "'; DROP TABLE syncguard_locks; --",
    "%s%s%n",
    "\\",
    "\\u0000",
    "\n\r\t",
    "\u{0}",
    "a\u{0}b",
    "\u{7f}\u{1b}[2J",
    "{tag}",
    "a{b}c",
    "*",
    "?[a-z]",
    "fence:x",
    "id:x",
    "syncguard:x",
    "fence:syncguard:x",
    "a/b",
    "a/b/c",
    "/",
    "..",
    "__x__",
    "ключ",
    "鍵🔑",
    "\u{202e}txt.exe",
    "null",
];

/// A key locks, and then all operations work on it, unless the store is known to refuse it as invalid before anything is
/// written.
pub async fn hostile_keys_lock_or_are_refused_as_invalid(store: &Store) {
    let mut refused = Vec::new();
    for text in HOSTILE {
        let grant = match store.backend().acquire(&request(text, TTL)).await {
            Ok(outcome) => outcome.acquired().unwrap_or_else(|| panic!("{text:?} is free")),
            Err(error) => {
                assert_eq!(error.class(), Class::Rejected, "{text:?}: {error}");
                refused.push(text);
                continue;
            }
        };
        let found =
            store.backend().lookup(LookupBy::Key(&key(text))).await.expect("answers").expect("is held");
        assert_eq!(found.key.as_str(), text);
        assert!(matches!(store.acquire(text, TTL).await, AcquireOutcome::Held { .. }), "{text:?}");
        store.extend(&grant.lock_id, TTL).await.expires_at().unwrap_or_else(|| panic!("{text:?} is live"));
        let released = store.backend().release(&grant.lock_id).await.expect("answers");
        assert_eq!(released, ReleaseOutcome::Released, "{text:?}");
    }
    assert_eq!(refused, store.harness.refused_keys());
}

/// All at once: no two of them are one lock, and no counter is another key's lock.
pub async fn hostile_keys_do_not_meet(store: &Store) {
    let mut held = Vec::new();
    for text in HOSTILE {
        if let Ok(outcome) = store.backend().acquire(&request(text, TTL)).await {
            held.push((text, outcome.acquired().unwrap_or_else(|| panic!("{text:?} is free"))));
        }
    }
    for (text, grant) in held {
        let found = store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers");
        assert_eq!(found.unwrap_or_else(|| panic!("{text:?} is held")).key.as_str(), text);
    }
}

/// 512 bytes, of one and of several bytes a character.
pub async fn longest_key_works(store: &Store) {
    for text in ["x".repeat(512), "鍵".repeat(170) + "ab"] {
        assert_eq!(text.len(), 512);
        let grant = store.acquired(&text).await;
        let found =
            store.backend().lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").expect("held");
        assert_eq!(found.key.as_str(), text);
    }
}

/// One who types é as one character and one who types it as two mean the same key.
pub async fn equal_text_in_another_unicode_form_is_the_same_key(store: &Store) {
    store.acquired("caf\u{e9}").await;
    assert!(matches!(store.acquire("cafe\u{301}", TTL).await, AcquireOutcome::Held { .. }));
}

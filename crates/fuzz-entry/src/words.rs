//! Durations, keys, ids and names.

use leasehold_access::{ApiKeyText, Permission};
use leasehold_core::redis::KeyPrefix;
use leasehold_core::{Fence, Key, KeyHash, LockId, StorageKeySpace, Ttl, duration};
use leasehold_queue::{ItemId, Namespace, QueueName};

use crate::{seeds, text};

pub(crate) fn duration(bytes: &[u8]) {
    if let Ok(read) = duration::parse(text(bytes)) {
        let written = duration::format(read);
        assert_eq!(duration::parse(&written).expect("is ours"), read, "{written}");
    }
    let _ = text(bytes).parse::<Ttl>();
}

pub(crate) fn key(bytes: &[u8]) {
    let text = text(bytes);
    if let Ok(key) = Key::parse(text) {
        let space = StorageKeySpace::redis(&KeyPrefix::parse(KeyPrefix::DEFAULT).expect("the default"));
        let (lock, fence) = (space.lock(&key), space.fence(&key));
        assert!(!lock.as_str().is_empty() && lock.as_str() != fence.as_str());
        assert!(!format!("{key:?}").contains(text) || text.len() < 8, "a key is not shown");
    }
    if let Ok(fence) = Fence::parse(text) {
        assert_eq!(fence.to_string(), text, "fences have one form");
    }
    if let Ok(id) = LockId::parse(text) {
        assert!(!format!("{id:?}").contains(text), "a lock id is not shown");
    }
    let _ = KeyHash::parse(text);
}

pub(crate) fn name(bytes: &[u8]) {
    let text = text(bytes);
    if let Ok(name) = text.parse::<QueueName>() {
        assert_eq!(name.as_str(), text);
    }
    if let Ok(name) = text.parse::<Namespace>() {
        assert_eq!(name.as_str(), text);
    }
    if let Ok(id) = text.parse::<ItemId>() {
        assert_eq!(id.text().as_str(), text, "ids have one form");
    }
    if let Ok(permission) = text.parse::<Permission>() {
        assert_eq!(permission.as_str(), text);
    }
    let _ = ApiKeyText::parse(bytes);
}

pub(crate) fn duration_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "0",
        "30s",
        "1h30m",
        "1.5h",
        "-1s",
        "+2m",
        "500ms",
        "10us",
        "3µs",
        "7ns",
        "2562047h47m16.854775807s",
        ".5s",
        "1.s",
    ])
}

pub(crate) fn key_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "billing",
        "grüße",
        "e\u{301}",
        "000000000000042",
        "AAAAAAAAAAAAAAAAAAAAAA",
        "a:b/c",
        "\u{1f512}",
    ])
}

pub(crate) fn name_seeds() -> Vec<Vec<u8>> {
    let key = "qtr-live-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEf";
    seeds(&["orders", "_system", "team-a", "a~b", "3M8JduQhcTnqQaxswEiQu6xNDyA", "queue.produce", key])
}

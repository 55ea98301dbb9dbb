//! Where a store keeps what belongs to a key.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::nfc::nfc;
use crate::redis::KeyPrefix;
use crate::{Error, Key, KeyHash, LockId, Result};

/// Characters of the hashed form: 16 bytes of SHA-256 as base64url.
const HASHED_LEN: usize = 22;

/// The text under which a store keeps a lock, a fence counter or an index entry. Made from the caller's key, so
/// `Debug` shows only its hash.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StorageKey(String);

impl StorageKey {
    /// The derivation shared with SyncGuard: `prefix:text`, or `prefix:` and a hash when that is over `limit`
    /// less `reserve` bytes. Backends go through [`StorageKeySpace`], where it cannot fail.
    ///
    /// The text is normalised and the prefix is not; trailing colons of the prefix do not count. The hash
    /// covers the prefix, so the same long key under two prefixes stays two keys.
    pub fn derive(prefix: &str, text: &str, limit: usize, reserve: usize) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::KeyEmpty);
        }
        let lead = lead(prefix);
        let room = limit.checked_sub(reserve).filter(|room| lead.len() <= *room).ok_or_else(|| {
            Error::KeyPrefixTooLong {
                len: trimmed(prefix).len(),
                limit: limit.saturating_sub(reserve).saturating_sub(1),
            }
        })?;
        let key = fitted(&lead, text, room);
        if key.0.len() > room {
            return Err(Error::StorageKeyTooLong { limit: room });
        }
        Ok(key)
    }

    /// The text itself. For the store, not for logs.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StorageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StorageKey({})", KeyHash::of(&self.0))
    }
}

/// Derives every storage key of one backend, given its prefix and the store's limit.
///
/// Within one space no lock key equals a fence key or an index key, and different keys have different lock and
/// fence keys, provided that
/// * no key starts with `id:` or `fence:`, which [`crate::redis::ReservedKeys`] sees to. On PostgreSQL and
///   Firestore the kinds live apart and the proviso is not needed; and
/// * nothing is hashed. Only Redis prefixes over 227 bytes, as given or normalised, make that happen; then the
///   promise is as good as 128 bits of SHA-256, and a caller who sets out to choose a key equal to another's
///   hash can do so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageKeySpace {
    lead: String,
    /// Bytes a derived key may have: the limit less the reserve.
    room: usize,
}

impl StorageKeySpace {
    /// Bytes of a storage key on PostgreSQL.
    pub const POSTGRES_LIMIT: usize = 1700;
    /// Bytes of a storage key on Redis.
    pub const REDIS_LIMIT: usize = 1000;
    /// Bytes kept free on Redis: `:id:` and a lock id.
    pub const REDIS_RESERVE: usize = 26;
    /// Bytes of a document id on Firestore.
    pub const FIRESTORE_LIMIT: usize = 1500;

    /// A space of any shape. Refuses a prefix so long that a hashed key would not fit: every key of an
    /// accepted space has its place.
    pub fn new(prefix: &str, limit: usize, reserve: usize) -> Result<Self> {
        let lead = lead(prefix);
        let room = limit.saturating_sub(reserve);
        if lead.len() + HASHED_LEN > room {
            let (len, limit) = (trimmed(prefix).len(), room.saturating_sub(HASHED_LEN + 1));
            return Err(Error::KeyPrefixTooLong { len, limit });
        }
        Ok(Self { lead, room })
    }

    /// The rows of PostgreSQL: no prefix, the table is the space.
    pub const fn postgres() -> Self {
        Self { lead: String::new(), room: Self::POSTGRES_LIMIT }
    }

    /// The keys of Redis under a prefix.
    pub fn redis(prefix: &KeyPrefix) -> Self {
        Self { lead: lead(prefix.as_str()), room: Self::REDIS_LIMIT - Self::REDIS_RESERVE }
    }

    /// The document ids of Firestore: no prefix, the collection is the space.
    pub const fn firestore() -> Self {
        Self { lead: String::new(), room: Self::FIRESTORE_LIMIT }
    }

    /// Where the lock of a key is kept.
    pub fn lock(&self, key: &Key) -> StorageKey {
        fitted(&self.lead, key.as_str(), self.room)
    }

    /// Where the fence counter of a key is kept. Made from the lock's storage key, not from the key: peers do
    /// the same, and so on Redis it carries the prefix twice.
    pub fn fence(&self, key: &Key) -> StorageKey {
        fitted(&self.lead, &joined("fence:", &self.lock(key).0), self.room)
    }

    /// Where Redis keeps which key a lock id holds.
    pub fn index(&self, lock_id: &LockId) -> StorageKey {
        fitted(&self.lead, &joined("id:", lock_id.as_str()), self.room)
    }
}

fn trimmed(prefix: &str) -> &str {
    prefix.trim_end_matches(':')
}

fn lead(prefix: &str) -> String {
    match trimmed(prefix) {
        "" => String::new(),
        prefix => format!("{prefix}:"),
    }
}

/// Every lock operation derives its keys, and `format!` takes several times as long for this.
fn joined(first: &str, second: &str) -> String {
    let mut text = String::with_capacity(first.len() + second.len());
    text.push_str(first);
    text.push_str(second);
    text
}

/// The full form if it has room, else the hashed form, which may still be too long.
fn fitted(lead: &str, text: &str, room: usize) -> StorageKey {
    let full = joined(lead, &nfc(text));
    if full.len() <= room {
        return StorageKey(full);
    }
    let digest = Sha256::digest(full.as_bytes());
    StorageKey(format!("{lead}{}", URL_SAFE_NO_PAD.encode(&digest[..16])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redis_fence_key_carries_the_prefix_twice() {
        let space = StorageKeySpace::redis(&KeyPrefix::default());
        let key = Key::parse("resource:123").unwrap();
        assert_eq!(space.lock(&key).as_str(), "syncguard:resource:123");
        assert_eq!(space.fence(&key).as_str(), "syncguard:fence:syncguard:resource:123");
    }

    #[test]
    fn debug_does_not_show_the_key() {
        let key = StorageKeySpace::postgres().lock(&Key::parse("alice@example.com").unwrap());
        assert!(!format!("{key:?}").contains("alice"), "{key:?}");
    }

    #[test]
    fn longest_prefix_still_has_room_for_hashed_keys() {
        let longest = "p".repeat(951);
        let space = StorageKeySpace::new(&longest, 1000, 26).unwrap();
        assert_eq!(space.lock(&Key::parse(&"k".repeat(512)).unwrap()).as_str().len(), 974);
        let error = StorageKeySpace::new(&(longest + "p"), 1000, 26).unwrap_err();
        assert_eq!(error, Error::KeyPrefixTooLong { len: 952, limit: 951 });
    }

    #[test]
    fn keys_are_hashed_only_under_prefixes_over_227_bytes() {
        let key = Key::parse(&"k".repeat(512)).unwrap();
        let fence_len = |prefix_len| {
            let prefix = KeyPrefix::parse(&"p".repeat(prefix_len)).unwrap();
            StorageKeySpace::redis(&prefix).fence(&key).as_str().len()
        };
        assert_eq!(fence_len(227), 227 + 1 + 6 + 227 + 1 + 512);
        assert_eq!(fence_len(228), 228 + 1 + 22);
    }
}

//! Something shared by those who care about the same key, alive as long as one of them does.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use leasehold_core::KeyHash;
use parking_lot::Mutex;

/// One `T` per key in use. A key nobody uses any more costs nothing once it is swept.
#[derive(Debug)]
pub(crate) struct PerKey<T>(Mutex<Entries<T>>);

#[derive(Debug)]
struct Entries<T> {
    by_key: HashMap<KeyHash, Weak<T>>,
    sweep_len: usize,
}

impl<T> PerKey<T> {
    const SWEEP_LEN_MIN: usize = 64;

    /// What the users of this key share: theirs if there are any, else a new one.
    pub(crate) fn join(&self, key_hash: KeyHash, make: impl FnOnce() -> T) -> Arc<T> {
        let mut entries = self.0.lock();
        if let Some(shared) = entries.by_key.get(&key_hash).and_then(Weak::upgrade) {
            return shared;
        }
        if entries.by_key.len() >= entries.sweep_len {
            entries.by_key.retain(|_, shared| shared.strong_count() > 0);
            entries.sweep_len = Self::SWEEP_LEN_MIN.max(2 * entries.by_key.len());
        }
        let shared = Arc::new(make());
        entries.by_key.insert(key_hash, Arc::downgrade(&shared));
        shared
    }

    /// What the users of this key share, if there are any.
    pub(crate) fn get(&self, key_hash: KeyHash) -> Option<Arc<T>> {
        self.0.lock().by_key.get(&key_hash).and_then(Weak::upgrade)
    }

    /// All that is in use now.
    pub(crate) fn all(&self) -> Vec<(KeyHash, Arc<T>)> {
        let entries = self.0.lock();
        entries.by_key.iter().filter_map(|(hash, shared)| Some((*hash, shared.upgrade()?))).collect()
    }
}

impl<T> Default for PerKey<T> {
    fn default() -> Self {
        PerKey(Mutex::new(Entries { by_key: HashMap::new(), sweep_len: Self::SWEEP_LEN_MIN }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_do_not_outgrow_their_users() {
        let shared = PerKey::default();
        let kept = shared.join(KeyHash::of("kept"), || 0);
        for number in 0..10_000 {
            drop(shared.join(KeyHash::of(&number.to_string()), || number));
        }
        assert!(shared.0.lock().by_key.len() <= 2 * PerKey::<i32>::SWEEP_LEN_MIN);
        assert!(Arc::ptr_eq(&kept, &shared.get(KeyHash::of("kept")).expect("still used")));
        assert_eq!(shared.all().len(), 1);
    }
}

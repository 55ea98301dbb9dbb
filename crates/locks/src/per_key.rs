//! Something shared by those who care about the same key, alive as long as one of them does.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// One `T` per key in use, by the key itself or, where two keys may share it, by its hash. A key nobody uses any more costs
/// nothing once it is swept.
#[derive(Debug)]
pub(crate) struct PerKey<K, T>(Mutex<Entries<K, T>>);

#[derive(Debug)]
struct Entries<K, T> {
    by_key: HashMap<K, Weak<T>>,
    sweep_len: usize,
}

impl<K: Clone + Eq + Hash, T> PerKey<K, T> {
    /// What the users of this key share: theirs if there are any, else a new one.
    pub(crate) fn join(&self, key: &K, make: impl FnOnce() -> T) -> Arc<T> {
        let mut entries = self.0.lock();
        if let Some(shared) = entries.by_key.get(key).and_then(Weak::upgrade) {
            return shared;
        }
        if entries.by_key.len() >= entries.sweep_len {
            entries.by_key.retain(|_, shared| shared.strong_count() > 0);
            entries.sweep_len = SWEEP_LEN_MIN.max(2 * entries.by_key.len());
        }
        let shared = Arc::new(make());
        entries.by_key.insert(key.clone(), Arc::downgrade(&shared));
        shared
    }

    /// What the users of this key share, if there are any.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<T>> {
        self.0.lock().by_key.get(key).and_then(Weak::upgrade)
    }

    /// All that is in use now.
    pub(crate) fn all(&self) -> Vec<(K, Arc<T>)> {
        let entries = self.0.lock();
        entries.by_key.iter().filter_map(|(key, shared)| Some((key.clone(), shared.upgrade()?))).collect()
    }
}

/// Entries below this many are not worth a sweep.
const SWEEP_LEN_MIN: usize = 64;

impl<K, T> Default for PerKey<K, T> {
    fn default() -> Self {
        PerKey(Mutex::new(Entries { by_key: HashMap::new(), sweep_len: SWEEP_LEN_MIN }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_do_not_outgrow_their_users() {
        let shared = PerKey::default();
        let kept = shared.join(&"kept".to_owned(), || 0);
        for number in 0..10_000 {
            drop(shared.join(&number.to_string(), || number));
        }
        assert!(shared.0.lock().by_key.len() <= 2 * SWEEP_LEN_MIN);
        assert!(Arc::ptr_eq(&kept, &shared.get(&"kept".to_owned()).expect("still used")));
        assert_eq!(shared.all().len(), 1);
    }
}

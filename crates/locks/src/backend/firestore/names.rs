//! Where the documents of a key are.

use leasehold_core::firestore::{Collections, NestedKeys};
use leasehold_core::{Key, StorageKeySpace};

use super::Config;
use crate::Result;

/// The names of documents as the API wants them: whole paths from the project on.
#[derive(Debug)]
pub(super) struct Names {
    /// `projects/…/databases/…`
    pub(super) database: String,
    /// `projects/…/databases/…/documents`
    pub(super) root: String,
    collections: Collections,
    nested_keys: NestedKeys,
    space: StorageKeySpace,
}

/// The documents of one key.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) lock: String,
    pub(super) counter: String,
    /// Below the collection, where no query by lock id finds it.
    pub(super) is_nested: bool,
}

impl Names {
    pub(super) fn new(config: &Config) -> Self {
        let database = format!("projects/{}/databases/{}", config.project, config.database);
        Names {
            root: format!("{database}/documents"),
            database,
            collections: config.collections.clone(),
            nested_keys: config.nested_keys,
            space: StorageKeySpace::firestore(),
        }
    }

    /// The collection that queries look through.
    pub(super) fn locks(&self) -> &str {
        self.collections.locks()
    }

    /// Where the key has its documents, unless Firestore has no place for it.
    pub(super) fn place(&self, key: &Key) -> Result<Place> {
        self.nested_keys.admit(key)?;
        let lock = self.space.lock(key);
        Ok(Place {
            is_nested: id(lock.as_str()).contains('/'),
            lock: self.document(self.collections.locks(), lock.as_str()),
            counter: self.document(self.collections.fences(), self.space.fence(key).as_str()),
        })
    }

    /// The last document of the collection that can come before the key in the order of names. A nested key has no
    /// document there itself.
    pub(super) fn cursor(&self, key: &Key) -> Result<String> {
        NestedKeys::Allow.admit(key)?;
        let first = id(key.as_str()).split('/').next().unwrap_or_default();
        Ok(self.document(self.collections.locks(), first))
    }

    fn document(&self, collection: &str, text: &str) -> String {
        format!("{}/{collection}/{}", self.root, id(text))
    }
}

/// Clients drop a slash at the end: `s/` and `s` are one document.
fn id(text: &str) -> &str {
    text.strip_suffix('/').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(nested_keys: NestedKeys, key: &str) -> Result<Place> {
        Names::new(&Config::new("p").nested_keys(nested_keys)).place(&Key::parse(key).unwrap())
    }

    #[test]
    fn plain_key_is_the_document_id() {
        let place = place(NestedKeys::Refuse, "resource:123").unwrap();
        assert_eq!(place.lock, "projects/p/databases/(default)/documents/locks/resource:123");
        assert_eq!(
            place.counter,
            "projects/p/databases/(default)/documents/fence_counters/fence:resource:123"
        );
        assert!(!place.is_nested);
    }

    #[test]
    fn nested_key_is_a_path_where_allowed() {
        assert_eq!(place(NestedKeys::Refuse, "a/b/c").unwrap_err().code(), "key.not_document_id");
        let place = place(NestedKeys::Allow, "a/b/c").unwrap();
        assert!(
            place.lock.ends_with("/locks/a/b/c") && place.counter.ends_with("/fence_counters/fence:a/b/c")
        );
        assert!(place.is_nested);
    }

    #[test]
    fn slash_at_the_end_changes_nothing() {
        let (with, without) =
            (place(NestedKeys::Allow, "s/").unwrap(), place(NestedKeys::Allow, "s").unwrap());
        assert_eq!((with.lock, with.counter), (without.lock, without.counter));
        assert!(!with.is_nested);
    }

    #[test]
    fn cursor_stays_within_the_collection() {
        let names = Names::new(&Config::new("p"));
        let cursor = |key: &str| names.cursor(&Key::parse(key).unwrap()).unwrap();
        assert!(cursor("a").ends_with("/locks/a"));
        assert!(cursor("a/b/c").ends_with("/locks/a"));
    }
}

//! The words of Firestore: collection names, keys that are document ids.

use crate::{Error, Key, Result};

/// Names of the two collections locks are kept in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Collections {
    locks: String,
    fences: String,
}

impl Collections {
    /// The lock collection SyncGuard uses unless told otherwise.
    pub const DEFAULT_LOCKS: &str = "locks";
    /// The fence counter collection SyncGuard uses unless told otherwise.
    pub const DEFAULT_FENCES: &str = "fence_counters";
    /// Bytes a name may have.
    pub const LEN_MAX: usize = 1500;

    /// Checks configured names.
    pub fn parse(locks: &str, fences: &str) -> Result<Self> {
        if locks == fences {
            return Err(Error::CollectionsEqual);
        }
        Ok(Self { locks: collection("collection", locks)?, fences: collection("fence_collection", fences)? })
    }

    /// The collection of locks.
    pub fn locks(&self) -> &str {
        &self.locks
    }

    /// The collection of fence counters.
    pub fn fences(&self) -> &str {
        &self.fences
    }
}

impl Default for Collections {
    fn default() -> Self {
        Self { locks: Self::DEFAULT_LOCKS.into(), fences: Self::DEFAULT_FENCES.into() }
    }
}

fn collection(field: &'static str, name: &str) -> Result<String> {
    if name.len() > Collections::LEN_MAX {
        return Err(Error::CollectionTooLong { field, len: name.len(), limit: Collections::LEN_MAX });
    }
    match fault(name) {
        Some(reason) => Err(Error::CollectionMalformed { field, reason }),
        None => Ok(name.into()),
    }
}

/// What to do with keys that hold a `/`, which Firestore reads as a path into nested collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NestedKeys {
    /// Refuse them.
    #[default]
    Refuse,
    /// Take those that SyncGuard stores, because peers use such keys: it writes the lock to the nested path,
    /// where neither it nor a query by lock id finds it again. The backend must remember the path.
    Allow,
}

impl NestedKeys {
    /// Whether a key may be used on Firestore.
    pub fn admit(self, key: &Key) -> Result<()> {
        let reason = match self {
            Self::Refuse => fault(key.as_str()),
            Self::Allow => path_fault(key.as_str()),
        };
        reason.map_or(Ok(()), |reason| Err(Error::KeyNotDocumentId { reason }))
    }
}

/// Why a text cannot name one document or collection, to follow "it".
fn fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("is empty")
    } else if name.contains('/') {
        Some("contains a slash")
    } else if name == "." || name == ".." || is_reserved(name) {
        Some("is reserved by Firestore")
    } else {
        None
    }
}

/// Why a text is not the path of a document below a collection. A single slash at the end changes nothing.
/// One at the start is refused: the fence key puts `fence:` before it and would name a collection.
fn path_fault(path: &str) -> Option<&'static str> {
    let segments: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
    if segments.iter().any(|segment| segment.is_empty()) {
        Some("has an empty path segment")
    } else if segments.len().is_multiple_of(2) {
        Some("is the path of a collection")
    } else {
        segments.into_iter().find_map(fault)
    }
}

fn is_reserved(name: &str) -> bool {
    name.len() >= 4 && name.starts_with("__") && name.ends_with("__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_no_document_ids_are_refused() {
        for (text, refused, refused_nested) in [
            ("a", false, false),
            ("a.b", false, false),
            ("__x", false, false),
            ("___", false, false),
            ("a/b", true, true),
            ("a/b/c", true, false),
            ("key/with/slashes", true, false),
            ("s/", true, false),
            ("a//b", true, true),
            ("/", true, true),
            ("/a", true, true),
            ("a/b/", true, true),
            (".", true, true),
            ("..", true, true),
            ("__x__", true, true),
            ("a/../c", true, true),
        ] {
            let key = Key::parse(text).unwrap();
            assert_eq!(NestedKeys::Refuse.admit(&key).is_err(), refused, "{text}");
            assert_eq!(NestedKeys::Allow.admit(&key).is_err(), refused_nested, "{text}");
        }
    }

    #[test]
    fn refusal_names_the_option() {
        assert_eq!(Collections::parse("", "f").unwrap_err().field(), "collection");
        assert_eq!(Collections::parse("l", "a/b").unwrap_err().field(), "fence_collection");
        assert_eq!(
            Collections::parse(&"l".repeat(1501), "f"),
            Err(Error::CollectionTooLong { field: "collection", len: 1501, limit: 1500 })
        );
    }
}

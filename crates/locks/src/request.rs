use leasehold_core::{Key, LockId, Ttl};

/// Asks for a key. Every field has been parsed: no backend checks them again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquireRequest {
    /// What to hold.
    pub key: Key,
    /// The id of the hold if it is granted. Repeating a request with the same id after an unknown outcome
    /// returns the same grant while it is live. An id that has a live hold of another key is refused; once that hold has
    /// ended, the id may be used again and then stands for the new hold alone.
    pub lock_id: LockId,
    /// How long the hold lasts unless it is extended.
    pub ttl: Ttl,
}

/// Asks for more time: the hold then ends `ttl` from now, which may also be sooner than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtendRequest {
    /// The hold.
    pub lock_id: LockId,
    /// How long it lasts from now on.
    pub ttl: Ttl,
}

/// How a hold is looked up.
#[derive(Debug, Clone, Copy)]
pub enum LookupBy<'a> {
    /// The live hold of this key.
    Key(&'a Key),
    /// The live hold with this id.
    LockId(&'a LockId),
}

/// Asks for live holds in the order of their keys, a page at a time.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// Only keys after this one.
    pub after: Option<Key>,
    /// At most so many; [`ListRequest::LEN_MAX`] is the most a page can have.
    pub len_max: usize,
}

impl ListRequest {
    /// The most holds one page has.
    pub const LEN_MAX: usize = 1_000;

    /// The length to read: never more than a page.
    pub fn page_len(&self) -> usize {
        self.len_max.min(Self::LEN_MAX)
    }
}

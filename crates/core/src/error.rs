//! Why a word was refused.

use crate::{Class, LockCode};

/// The result of everything in this crate that can refuse its input.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an input is not one of our words. Never holds a raw key or lock id: messages end up in logs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A key of no characters.
    #[error("key is empty")]
    KeyEmpty,
    /// A key over the limit. `len` is measured after normalisation, as the limit is.
    #[error("key exceeds maximum length of {limit} bytes after normalisation: it has {len}")]
    KeyTooLong {
        /// Bytes of the normalised key.
        len: usize,
        /// Bytes a key may have.
        limit: usize,
    },
    /// A key that would be stored where Redis keeps another lock's index or counter.
    #[error("key starts with {prefix:?}, which Redis backends keep for their own entries")]
    KeyReserved {
        /// The reserved beginning.
        prefix: &'static str,
    },
    /// A key PostgreSQL cannot store.
    #[error("key contains a NUL character, which PostgreSQL text cannot hold")]
    KeyNul,
    /// A key Firestore cannot use as a document id, or that would land on a nested path.
    #[error("key cannot be a Firestore document id: it {reason}")]
    KeyNotDocumentId {
        /// What is wrong with it, to follow "it".
        reason: &'static str,
    },
    /// A lock id of the wrong length or alphabet.
    #[error("lock id is not {limit} base64url characters: it has {len} bytes")]
    LockIdMalformed {
        /// Bytes of the refused text.
        len: usize,
        /// Characters a lock id has.
        limit: usize,
    },
    /// A fence text that is not exactly the fixed number of digits.
    #[error("fence is not {limit} decimal digits")]
    FenceMalformed {
        /// Digits a fence has.
        limit: usize,
    },
    /// A number no fence can have.
    #[error("fence {value} is outside {min} to {max}")]
    FenceOutOfRange {
        /// The refused number.
        value: i128,
        /// The least allowed.
        min: u64,
        /// The greatest allowed.
        max: u64,
    },
    /// A counter has run out: handing out this fence would break the order of the fences after it.
    #[error("fence overflow: counter is above the maximum of {limit}")]
    FenceOverflow {
        /// The last fence that may be handed out.
        limit: u64,
    },
    /// A ttl of nothing, or one whose end no store could hold exactly.
    #[error("ttl is outside {min} to {max} milliseconds")]
    TtlOutOfRange {
        /// The shortest allowed, in milliseconds.
        min: u64,
        /// The longest allowed, in milliseconds.
        max: u64,
    },
    /// A ttl finer than the stores can keep.
    #[error("ttl is not a whole number of milliseconds")]
    TtlNotWholeMillis,
    /// A duration text with stray characters or a missing number.
    #[error("duration {text:?} is malformed: write it like 30s, 500ms or 1h30m")]
    DurationMalformed {
        /// The refused text.
        text: String,
    },
    /// A duration text with a bare number.
    #[error("duration {text:?} has a number without a unit: use ns, us, ms, s, m or h")]
    DurationUnitMissing {
        /// The refused text.
        text: String,
    },
    /// A duration text with a unit that does not exist.
    #[error("duration {text:?} has the unknown unit {unit:?}: use ns, us, ms, s, m or h")]
    DurationUnitUnknown {
        /// The refused text.
        text: String,
        /// The unit in it.
        unit: String,
    },
    /// A duration text below zero.
    #[error("duration {text:?} is negative")]
    DurationNegative {
        /// The refused text.
        text: String,
    },
    /// A duration text beyond what a signed 64-bit count of nanoseconds holds.
    #[error("duration {text:?} exceeds the maximum of {limit} nanoseconds")]
    DurationTooLong {
        /// The refused text.
        text: String,
        /// The longest allowed, in nanoseconds.
        limit: u64,
    },
    /// A prefix that leaves no room for keys.
    #[error("key prefix exceeds maximum length of {limit} bytes: it has {len}")]
    KeyPrefixTooLong {
        /// Bytes of the prefix without trailing colons.
        len: usize,
        /// Bytes it may have.
        limit: usize,
    },
    /// A prefix under which lock entries could be mistaken for fence counters.
    #[error("key prefix must not contain \"fence:\" nor end with \"fence\"")]
    KeyPrefixReserved,
    /// Not even the hashed form of the key fits the store.
    #[error("storage key exceeds the limit of {limit} bytes even in its hashed form")]
    StorageKeyTooLong {
        /// Bytes available to a storage key.
        limit: usize,
    },
    /// A table name that is not a plain lower-case identifier.
    #[error("{field} must match [a-z_][a-z0-9_]*")]
    TableNameMalformed {
        /// The option that holds it.
        field: &'static str,
    },
    /// A table name too long for the index names made from it.
    #[error("{field} exceeds maximum length of {limit} bytes: it has {len}")]
    TableNameTooLong {
        /// The option that holds it.
        field: &'static str,
        /// Bytes of the name.
        len: usize,
        /// Bytes it may have.
        limit: usize,
    },
    /// Locks and fence counters in one table.
    #[error("fence_table_name must differ from table_name: fence counters must outlive locks")]
    TableNamesEqual,
    /// A collection name Firestore would refuse or read as a path.
    #[error("{field} is not a collection name: it {reason}")]
    CollectionMalformed {
        /// The option that holds it.
        field: &'static str,
        /// What is wrong with it, to follow "it".
        reason: &'static str,
    },
    /// A collection name over Firestore's limit.
    #[error("{field} exceeds maximum length of {limit} bytes: it has {len}")]
    CollectionTooLong {
        /// The option that holds it.
        field: &'static str,
        /// Bytes of the name.
        len: usize,
        /// Bytes it may have.
        limit: usize,
    },
    /// Locks and fence counters in one collection.
    #[error("fence_collection must differ from collection: fence counters must outlive locks")]
    CollectionsEqual,
    /// A reply to `TIME` that is not a time.
    #[error("reply of Redis to TIME is not seconds and microseconds")]
    RedisTimeMalformed,
    /// The operating system gave no random bytes. There is no fallback: a guessable lock id is no proof.
    #[error("no random bytes from the operating system: {reason}")]
    RandomUnavailable {
        /// What the operating system said.
        reason: String,
    },
}

impl Error {
    /// The stable dotted code clients match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::KeyEmpty => "key.empty",
            Self::KeyTooLong { .. } => "key.too_long",
            Self::KeyReserved { .. } => "key.reserved",
            Self::KeyNul => "key.nul",
            Self::KeyNotDocumentId { .. } => "key.not_document_id",
            Self::LockIdMalformed { .. } => "lock_id.malformed",
            Self::FenceMalformed { .. } => "fence.malformed",
            Self::FenceOutOfRange { .. } => "fence.out_of_range",
            Self::FenceOverflow { .. } => "fence.overflow",
            Self::TtlOutOfRange { .. } => "ttl.out_of_range",
            Self::TtlNotWholeMillis => "ttl.not_whole_millis",
            Self::DurationMalformed { .. } => "duration.malformed",
            Self::DurationUnitMissing { .. } => "duration.unit_missing",
            Self::DurationUnitUnknown { .. } => "duration.unit_unknown",
            Self::DurationNegative { .. } => "duration.negative",
            Self::DurationTooLong { .. } => "duration.too_long",
            Self::KeyPrefixTooLong { .. } => "key_prefix.too_long",
            Self::KeyPrefixReserved => "key_prefix.reserved",
            Self::StorageKeyTooLong { .. } => "storage_key.too_long",
            Self::TableNameMalformed { .. } => "table_name.malformed",
            Self::TableNameTooLong { .. } => "table_name.too_long",
            Self::TableNamesEqual => "table_name.not_distinct",
            Self::CollectionMalformed { .. } => "collection.malformed",
            Self::CollectionTooLong { .. } => "collection.too_long",
            Self::CollectionsEqual => "collection.not_distinct",
            Self::RedisTimeMalformed => "redis_time.malformed",
            Self::RandomUnavailable { .. } => "random.unavailable",
        }
    }

    /// The input that was refused, by its name in requests and configuration.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::KeyEmpty
            | Self::KeyTooLong { .. }
            | Self::KeyReserved { .. }
            | Self::KeyNul
            | Self::KeyNotDocumentId { .. }
            | Self::StorageKeyTooLong { .. } => "key",
            Self::LockIdMalformed { .. } | Self::RandomUnavailable { .. } => "lock_id",
            Self::FenceMalformed { .. } | Self::FenceOutOfRange { .. } | Self::FenceOverflow { .. } => {
                "fence"
            }
            Self::TtlOutOfRange { .. } | Self::TtlNotWholeMillis => "ttl",
            Self::DurationMalformed { .. }
            | Self::DurationUnitMissing { .. }
            | Self::DurationUnitUnknown { .. }
            | Self::DurationNegative { .. }
            | Self::DurationTooLong { .. } => "duration",
            Self::KeyPrefixTooLong { .. } | Self::KeyPrefixReserved => "key_prefix",
            Self::TableNameMalformed { field }
            | Self::TableNameTooLong { field, .. }
            | Self::CollectionMalformed { field, .. }
            | Self::CollectionTooLong { field, .. } => field,
            Self::TableNamesEqual => "fence_table_name",
            Self::CollectionsEqual => "fence_collection",
            Self::RedisTimeMalformed => "redis_time",
        }
    }

    /// The greatest value allowed, where the fault is one of size: bytes, characters, digits, milliseconds
    /// or nanoseconds, as the message says.
    pub const fn limit(&self) -> Option<u64> {
        match self {
            Self::KeyTooLong { limit, .. }
            | Self::LockIdMalformed { limit, .. }
            | Self::FenceMalformed { limit }
            | Self::KeyPrefixTooLong { limit, .. }
            | Self::StorageKeyTooLong { limit }
            | Self::TableNameTooLong { limit, .. }
            | Self::CollectionTooLong { limit, .. } => Some(*limit as u64),
            Self::FenceOverflow { limit } | Self::DurationTooLong { limit, .. } => Some(*limit),
            Self::FenceOutOfRange { max, .. } | Self::TtlOutOfRange { max, .. } => Some(*max),
            _ => None,
        }
    }

    /// What the caller does next.
    pub const fn class(&self) -> Class {
        match self {
            Self::FenceOverflow { .. } | Self::RedisTimeMalformed => Class::Internal,
            Self::RandomUnavailable { .. } => Class::Unavailable,
            _ => Class::Rejected,
        }
    }

    /// The code a SyncGuard peer would give.
    pub const fn lock_code(&self) -> LockCode {
        match self.class() {
            Class::Rejected => LockCode::InvalidArgument,
            _ => LockCode::Internal,
        }
    }
}

//! Shards: who owns which part of the history, and the range id that only grows.

mod assert_ownership;
pub(crate) mod fence;
mod get_or_create;
mod lease;
mod update;

pub use lease::ShardLease;
pub(crate) use lease::next_range;

use crate::sql::Sql;
use crate::{Blob, Database};

const SELECT: Sql = Sql::same(include_str!("sql/select.sql"));
const SELECT_RANGE: Sql = Sql::same(include_str!("sql/select_range.sql"));

/// The number of a shard.
pub type ShardId = i32;

/// A shard as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number.
    pub shard_id: ShardId,
    /// The fence of its owner.
    pub range_id: i64,
    /// What the owner keeps in it.
    pub blob: Blob,
}

/// The shards of a database.
#[derive(Clone, Debug)]
pub struct Shards {
    database: Database,
}

impl Shards {
    /// The shards of `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}

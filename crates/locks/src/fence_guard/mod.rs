//! Refusing writes of a holder that has lost its lock, at the place that is written to.
//!
//! A lock alone cannot do that: a paused process does not know that its time is over. Its fence can: whoever keeps the
//! data remembers the newest fence it has seen, and refuses anything older *in the same step* that writes.

mod gate;

pub use gate::{FenceGate, Stale};

/// The table that the guarded statements need, on PostgreSQL and DSQL.
pub const SCHEMA_SQL: &str = include_str!("sql/schema.sql");

/// A guarded statement to start from, on PostgreSQL and DSQL.
pub const EXAMPLE_SQL: &str = include_str!("sql/guarded.sql");

/// A guarded write for Redis.
pub const EXAMPLE_LUA: &str = include_str!("lua/guarded.lua");

/// What a guarded statement has in its condition.
pub const MARK: &str = "{fence is current}";

/// Makes a statement write only if no newer fence was seen, on PostgreSQL and DSQL.
///
/// The statement says where by [`MARK`], once, in the condition of what it writes. `resource` and `fence` are the
/// numbers of the parameters that hold the name of what is protected and the fence as a `bigint`. No row changed means
/// that a newer holder has been here. `None` if the mark is not there exactly once.
///
/// ```
/// use leasehold_locks::fence_guard::guarded;
///
/// let sql = guarded("UPDATE account SET balance = $3 WHERE id = $4 AND {fence is current}", 1, 2).unwrap();
/// assert!(sql.starts_with("WITH leasehold_guard AS (INSERT INTO leasehold_fence_guard"));
/// ```
pub fn guarded(statement: &str, resource: usize, fence: usize) -> Option<String> {
    let (before, after) = statement.split_once(MARK)?;
    if after.contains(MARK) {
        return None;
    }
    Some(format!(
        "WITH leasehold_guard AS (INSERT INTO leasehold_fence_guard AS seen (resource, fence) \
         VALUES (${resource}, ${fence}) \
         ON CONFLICT (resource) DO UPDATE SET fence = EXCLUDED.fence WHERE seen.fence <= EXCLUDED.fence \
         RETURNING resource) \
         {before}EXISTS (SELECT 1 FROM leasehold_guard){after}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_without_exactly_one_mark_is_refused() {
        assert_eq!(guarded("UPDATE account SET balance = 0", 1, 2), None);
        assert_eq!(guarded("UPDATE a SET b = 0 WHERE {fence is current} AND {fence is current}", 1, 2), None);
    }
}

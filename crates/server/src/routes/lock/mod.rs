//! Locks: a file per verb. Each parses once, makes one call down, and answers.

mod acquire;
mod extend;
mod is_locked;
mod list;
mod lookup;
mod release;
mod watch;

use std::time::Duration;

use leasehold_core::{LockId, Ttl, duration};

use super::body::BodyLimit;
use super::operation::Operations;

/// The longest a request may wait for a key.
const WAIT_MAX: Duration = Duration::from_secs(15 * 60);

pub(super) fn operations(operations: Operations) -> Operations {
    operations
        .operation("/v1/lock.acquire", BodyLimit::USUAL, acquire::acquire)
        .operation("/v1/lock.extend", BodyLimit::USUAL, extend::extend)
        .operation("/v1/lock.isLocked", BodyLimit::USUAL, is_locked::is_locked)
        .operation("/v1/lock.list", BodyLimit::USUAL, list::list)
        .operation("/v1/lock.lookup", BodyLimit::USUAL, lookup::lookup)
        .operation("/v1/lock.release", BodyLimit::USUAL, release::release)
        .operation("/v1/lock.watch", BodyLimit::USUAL, watch::watch)
}

fn ttl(millis: i64) -> leasehold_core::Result<Ttl> {
    // What is negative is as far out of range as zero.
    Ttl::from_millis(u64::try_from(millis).unwrap_or(0))
}

fn lock_id(text: &str) -> leasehold_core::Result<LockId> {
    LockId::parse(text)
}

/// Zero if nothing is said; never longer than the server allows.
fn request_timeout(text: &str) -> leasehold_core::Result<Duration> {
    match text {
        "" => Ok(Duration::ZERO),
        text => Ok(duration::parse(text)?.min(WAIT_MAX)),
    }
}

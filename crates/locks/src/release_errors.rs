//! Where errors go when nobody waits for the answer of a release.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use leasehold_core::{Key, LockId};

use crate::Error;

/// Called with the error of a release that nobody awaits. A panic in it is swallowed: giving a lock back never
/// fails the one who gave it back.
#[derive(Clone)]
pub struct OnReleaseError(Option<Arc<Callback>>);

type Callback = dyn Fn(&Error, &ReleaseContext) + Send + Sync;

/// Which hold was not released. Raw, because the callback belongs to the application.
#[derive(Debug, Clone)]
pub struct ReleaseContext {
    /// The key.
    pub key: Key,
    /// The hold.
    pub lock_id: LockId,
}

impl OnReleaseError {
    /// Calls the function.
    pub fn call(callback: impl Fn(&Error, &ReleaseContext) + Send + Sync + 'static) -> Self {
        OnReleaseError(Some(Arc::new(callback)))
    }

    pub(crate) fn report(&self, error: &Error, context: &ReleaseContext) {
        match &self.0 {
            Some(callback) => drop(catch_unwind(AssertUnwindSafe(|| callback(error, context)))),
            None => log(error, context),
        }
    }
}

/// Logs a warning with the hash of the key, and without key and id.
impl Default for OnReleaseError {
    fn default() -> Self {
        OnReleaseError(None)
    }
}

impl fmt::Debug for OnReleaseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_some() { "OnReleaseError(callback)" } else { "OnReleaseError(log)" })
    }
}

fn log(error: &Error, context: &ReleaseContext) {
    let error_chain = error as &dyn std::error::Error;
    let key_hash = context.key.key_hash();
    tracing::warn!(
        code = error.code(),
        error = error_chain,
        %key_hash,
        "a lock was not released; it ends with its ttl"
    );
}

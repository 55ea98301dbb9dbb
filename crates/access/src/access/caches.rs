//! What is remembered of the stores between requests.

use std::sync::Arc;
use std::time::Duration;

use leasehold_queue::Namespace;
use parking_lot::Mutex;

use super::authenticate::Unread;
use crate::cache::{Bounded, Cache};
use crate::store::Change;
use crate::{ApiKey, ApiKeyHash, PermissionSet, StoreError};

/// How long a key is known without looking. Bounds how long another server honours a deleted key if the news of it
/// are lost.
const API_KEY_LIFETIME: Duration = Duration::from_secs(5 * 60);

/// How long a key is known not to exist. Hashes are of random keys that leave the server only once they are stored, so
/// none that was asked for in vain comes to exist.
const UNKNOWN_LIFETIME: Duration = Duration::from_secs(60);

/// How long it is known what somebody may. Shorter than for keys: what was granted on another server is to work soon,
/// whatever becomes of the news.
const PERMISSIONS_LIFETIME: Duration = Duration::from_secs(30);

const API_KEYS_MAX: usize = 20_000;
const UNKNOWN_MAX: usize = 20_000;
const PERMISSIONS_MAX: usize = 20_000;

pub(super) struct Caches {
    pub(super) api_keys: Cache<ApiKeyHash, Arc<ApiKey>, Unread>,
    /// Apart from the others, which strangers must not be able to push out.
    pub(super) unknown_api_keys: Mutex<Bounded<ApiKeyHash, ()>>,
    /// By user and namespace.
    pub(super) permissions: Cache<(String, Namespace), PermissionSet, Arc<StoreError>>,
    /// Whether any role is bound to a user.
    pub(super) bound: Cache<String, bool, Arc<StoreError>>,
}

impl Caches {
    /// Forgets what a change may have made wrong.
    pub(super) fn forget(&self, change: &Change) {
        match change {
            Change::ApiKey { id } => self.api_keys.retain(|key| key.id != *id),
            Change::User { id } => {
                self.api_keys.retain(|key| key.user_id != *id);
                self.forget_permissions();
            }
            Change::Permissions => self.forget_permissions(),
            Change::Everything => {
                self.api_keys.retain(|_| false);
                self.forget_permissions();
            }
        }
    }

    fn forget_permissions(&self) {
        self.permissions.retain(|_| false);
        self.bound.retain(|_| false);
    }
}

impl Default for Caches {
    fn default() -> Self {
        Self {
            api_keys: Cache::new(API_KEYS_MAX, API_KEY_LIFETIME),
            unknown_api_keys: Mutex::new(Bounded::new(UNKNOWN_MAX, UNKNOWN_LIFETIME)),
            permissions: Cache::new(PERMISSIONS_MAX, PERMISSIONS_LIFETIME),
            bound: Cache::new(PERMISSIONS_MAX, PERMISSIONS_LIFETIME),
        }
    }
}

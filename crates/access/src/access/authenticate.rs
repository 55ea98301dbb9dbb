//! Who makes the request?

use std::sync::Arc;

use leasehold_core::Timestamp;
use tokio_util::task::TaskTracker;

use super::{Access, Driver, LOOKUP_TIMEOUT};
use crate::store::{ApiKeyStore, StoreError};
use crate::{ApiKey, ApiKeyHash, ApiKeyText, Error, Principal, Result};

const SCHEME: &[u8] = b"Bearer ";

/// Notes of last uses that may be on their way to the store; more are left out.
const NOTES_MAX: usize = 64;

/// Why there is no key to a hash.
#[derive(Clone, Debug)]
pub(super) enum Unread {
    Unknown,
    Failed(Arc<StoreError>),
    TimedOut,
}

impl Access {
    /// Who makes a request with this `Authorization` header. Dropping the call does no harm.
    ///
    /// # Errors
    /// All with reply code 401: the header has another form, or its key is malformed, unknown or expired, or cannot be
    /// looked up.
    pub async fn authenticate(&self, header: Option<&[u8]>) -> Result<Principal> {
        let Some(header) = header.filter(|header| !header.is_empty()) else {
            return Ok(Principal::anonymous());
        };
        let key = header.strip_prefix(SCHEME).ok_or(Error::HeaderMalformed)?;
        if self.0.driver == Driver::None {
            return Ok(Principal::anonymous());
        }
        let hash = ApiKeyText::parse(key).ok_or(Error::ApiKeyInvalid)?.hash();
        let key = self.api_key(hash).await?;
        // Also of a key that was valid when it was read.
        if key.is_expired(self.0.clock.now()) {
            return Err(Error::ApiKeyExpired);
        }
        Ok(Principal::user(&*key.user_id, key.namespace_scope.clone()))
    }

    async fn api_key(&self, hash: ApiKeyHash) -> Result<Arc<ApiKey>> {
        let now = self.0.clock.instant();
        if self.0.caches.unknown_api_keys.lock().get(&hash, now).is_some() {
            return Err(Error::ApiKeyNotFound);
        }
        let failed = |error: &StoreError| {
            tracing::warn!(code = error.code(), %error, "a key could not be looked up");
            Error::ApiKeyInvalid
        };
        self.ready().await.map_err(|error| failed(&error))?;
        let store = self.api_keys().map_err(|_| Error::ApiKeyInvalid)?;
        let read = || {
            let (store, background, used_at) = (store.clone(), self.0.background.clone(), self.0.clock.now());
            async move {
                let reading = read(store, background, hash, used_at);
                tokio::time::timeout(LOOKUP_TIMEOUT, reading).await.unwrap_or(Err(Unread::TimedOut))
            }
        };
        self.0.caches.api_keys.get_or_read(hash, now, read).await.map_err(|unread| match unread {
            Unread::Unknown => {
                self.0.caches.unknown_api_keys.lock().insert(hash, (), now);
                Error::ApiKeyNotFound
            }
            Unread::Failed(error) => failed(&error),
            Unread::TimedOut => {
                tracing::warn!(timeout = ?LOOKUP_TIMEOUT, "a key was not looked up in time");
                Error::ApiKeyInvalid
            }
        })
    }
}

async fn read(
    store: Arc<dyn ApiKeyStore>,
    background: TaskTracker,
    hash: ApiKeyHash,
    used_at: Timestamp,
) -> Result<Arc<ApiKey>, Unread> {
    let found = store.get_by_hash(&hash).await.map_err(|error| Unread::Failed(Arc::new(error)))?;
    // A store that compares text by other rules than ours must not let another key in.
    let key = Arc::new(found.filter(|key| key.hash == hash).ok_or(Unread::Unknown)?);
    if !key.is_expired(used_at) && background.len() < NOTES_MAX {
        let key = key.clone();
        background.spawn(async move {
            if let Err(error) = store.update_last_used(&key.id, used_at).await {
                tracing::debug!(code = error.code(), %error, "the last use of a key was not noted");
            }
        });
    }
    Ok(key)
}

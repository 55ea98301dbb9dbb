use leasehold_access::Principal;
use leasehold_api::lock::{LockWatchRequest, LockWatchResponse};
use leasehold_core::Key;

use super::request_timeout;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/lock.watch`: answers when the key may have become free, for clients that wait without asking again and
/// again. A hint.
pub(super) async fn watch(
    services: Services,
    _caller: Principal,
    request: LockWatchRequest,
) -> Result<LockWatchResponse, Reply> {
    let key = Key::parse(&request.key)?;
    let timeout = request_timeout(&request.request_timeout)?;
    let watch = services.locks.backend().watch(&key).await;
    // What was released before the watch was taken brings no news.
    let is_free = !services.locks.is_locked(&key).await?;
    let freed = is_free || tokio::time::timeout(timeout, watch.freed()).await.is_ok();
    Ok(LockWatchResponse { freed })
}

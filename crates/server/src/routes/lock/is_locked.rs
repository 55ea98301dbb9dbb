use leasehold_access::{Permission, Principal};
use leasehold_api::lock::{LockIsLockedRequest, LockIsLockedResponse};
use leasehold_core::Key;
use leasehold_queue::DEFAULT_NAMESPACE;

use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/lock.isLocked`.
pub(super) async fn is_locked(
    services: Services,
    caller: Principal,
    request: LockIsLockedRequest,
) -> Result<LockIsLockedResponse, Reply> {
    services.access.authorise(&caller, DEFAULT_NAMESPACE, Permission::LockRead).await?;
    let key = Key::parse(&request.key)?;
    Ok(LockIsLockedResponse { locked: services.locks.is_locked(&key).await? })
}

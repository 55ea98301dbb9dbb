use leasehold_access::Principal;
use leasehold_api::lock::{LockIsLockedRequest, LockIsLockedResponse};
use leasehold_core::Key;

use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/lock.isLocked`.
pub(super) async fn is_locked(
    services: Services,
    _caller: Principal,
    request: LockIsLockedRequest,
) -> Result<LockIsLockedResponse, Reply> {
    let key = Key::parse(&request.key)?;
    Ok(LockIsLockedResponse { locked: services.locks.is_locked(&key).await? })
}

use leasehold_access::{Permission, Principal};
use leasehold_api::lock::{LockReleaseRequest, LockReleaseResponse};
use leasehold_locks::ReleaseOutcome;
use leasehold_queue::DEFAULT_NAMESPACE;

use super::lock_id;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/lock.release`.
pub(super) async fn release(
    services: Services,
    caller: Principal,
    request: LockReleaseRequest,
) -> Result<LockReleaseResponse, Reply> {
    services.access.authorise(&caller, DEFAULT_NAMESPACE, Permission::LockHold).await?;
    Ok(match services.locks.release(&lock_id(&request.lock_id)?).await? {
        ReleaseOutcome::Released => LockReleaseResponse { ok: true, reason: String::new() },
        ReleaseOutcome::Refused(refusal) => LockReleaseResponse { ok: false, reason: refusal.to_string() },
    })
}

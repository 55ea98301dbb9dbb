use leasehold_access::Principal;
use leasehold_api::lock::{LockReleaseRequest, LockReleaseResponse};
use leasehold_locks::ReleaseOutcome;

use super::lock_id;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/lock.release`.
pub(super) async fn release(
    services: Services,
    _caller: Principal,
    request: LockReleaseRequest,
) -> Result<LockReleaseResponse, Reply> {
    Ok(match services.locks.release(&lock_id(&request.lock_id)?).await? {
        ReleaseOutcome::Released => LockReleaseResponse { ok: true, reason: String::new() },
        ReleaseOutcome::Refused(refusal) => LockReleaseResponse { ok: false, reason: refusal.to_string() },
    })
}

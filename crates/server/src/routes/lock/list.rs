use leasehold_access::Principal;
use leasehold_api::Shown;
use leasehold_api::lock::{LockInfo, LockListRequest, LockListResponse};
use leasehold_core::Key;
use leasehold_locks::ListRequest;

use crate::reply::Reply;
use crate::services::Services;

const LIMIT_DEFAULT: usize = 100;

/// `POST /v1/lock.list`: who holds what. Keys are what is asked for here; lock ids only with `raw`.
pub(super) async fn list(
    services: Services,
    _caller: Principal,
    request: LockListRequest,
) -> Result<LockListResponse, Reply> {
    let after = (!request.after.is_empty()).then(|| Key::parse(&request.after)).transpose()?;
    let len_max = match usize::try_from(request.limit) {
        Ok(0) => LIMIT_DEFAULT,
        Ok(limit) => limit,
        Err(_negative) => return Err(Reply::invalid_argument("limit is negative")),
    };
    let found = services.locks.list(&ListRequest { after, len_max }).await?;
    let shown = if request.raw { Shown::Raw } else { Shown::Key };
    Ok(LockListResponse { locks: found.iter().map(|record| LockInfo::of(record, shown)).collect() })
}

use leasehold_access::Principal;
use leasehold_api::Shown;
use leasehold_api::lock::{LockInfo, LockLookupRequest};
use leasehold_core::Key;

use super::lock_id;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/lock.lookup`: by key or by lock id; an empty object if nothing is held.
pub(super) async fn lookup(
    services: Services,
    _caller: Principal,
    request: LockLookupRequest,
) -> Result<LockInfo, Reply> {
    let found = match (request.key.is_empty(), request.lock_id.is_empty()) {
        (false, true) => services.locks.get_by_key_raw(&Key::parse(&request.key)?).await?,
        (true, false) => services.locks.get_by_id_raw(&lock_id(&request.lock_id)?).await?,
        _ => return Err(Reply::invalid_argument("lookup takes either a key or a lock id")),
    };
    let shown = if request.raw { Shown::Raw } else { Shown::Hashes };
    Ok(found.map(|record| LockInfo::of(&record, shown)).unwrap_or_default())
}

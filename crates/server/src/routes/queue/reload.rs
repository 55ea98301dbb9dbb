use leasehold_access::{Permission, Principal};
use leasehold_api::queue::QueueReloadRequest;

use super::super::operation::{DONE, Done};
use super::super::wire::queue_name;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queue.reload`: reads the counts of every partition anew.
pub(super) async fn reload(
    services: Services,
    caller: Principal,
    request: QueueReloadRequest,
) -> Result<Done, Reply> {
    let queue = queue_name(&request.queue_name)?;
    services.permit(&caller, &queue, Permission::QueueUpdate).await?;
    services.engine.reload(&queue).await?;
    Ok(DONE)
}

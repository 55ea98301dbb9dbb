use leasehold_access::{Permission, Principal};
use leasehold_api::queue::{QueueInfo, QueuesInfoRequest};

use super::super::wire::queue_name;
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queues.info`: the record as it is stored; a queue that runs elsewhere may not know of a change yet.
pub(super) async fn info(
    services: Services,
    caller: Principal,
    request: QueuesInfoRequest,
) -> Result<QueueInfo, Reply> {
    let name = queue_name(&request.queue_name)?;
    services.permit(&caller, &name, Permission::QueueStats).await?;
    Ok(super::message(&services.engine.queue_info(&name).await?))
}

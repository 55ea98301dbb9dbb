use leasehold_access::{Permission, Principal};
use leasehold_api::queue::{QueuesListRequest, QueuesListResponse};
use leasehold_queue::{Error, Namespace};

use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queues.list`: the queues of one namespace, in order of their names.
pub(super) async fn list(
    services: Services,
    caller: Principal,
    request: QueuesListRequest,
) -> Result<QueuesListResponse, Reply> {
    services.access.authorise(&caller, &request.namespace, Permission::QueueList).await?;
    let namespace: Namespace = match request.namespace.as_str() {
        "" => Namespace::default(),
        given => given.parse().map_err(|refusal| Reply::from(Error::from(refusal)))?,
    };
    let listed = services.engine.list_queues(Some(&namespace), &request.pivot, request.limit.into()).await?;
    Ok(QueuesListResponse { items: listed.iter().map(super::message).collect() })
}

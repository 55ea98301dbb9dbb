use leasehold_access::{Permission, Principal};
use leasehold_api::queue::QueueInfo;
use leasehold_queue::{Error, Namespace, QueueName};

use super::super::operation::{DONE, Done};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/queues.create`: the queue serves when the reply arrives.
pub(super) async fn create(services: Services, caller: Principal, request: QueueInfo) -> Result<Done, Reply> {
    let refused = |refusal| Reply::from(Error::from(refusal));
    let name: QueueName = request.queue_name.parse().map_err(refused)?;
    let mut change = super::change(&request)?;
    let namespace: Namespace = match request.namespace.as_str() {
        "" => Namespace::default(),
        given => given.parse().map_err(refused)?,
    };
    services.permit_in(&caller, namespace.as_str(), Permission::QueueCreate, &name).await?;
    services.namespace_exists(&namespace).await?;
    change.dead_queue = super::dead_queue(&request)?;
    let dead_queue = change.dead_queue.as_ref();
    let permitted = services.permit_dead_queue(&caller, &namespace, None, dead_queue).await?;
    let created = services.engine.create_queue(name, namespace, change).await?;
    if permitted.is_some() {
        services.access.remember_dead_queue(&created, permitted.as_ref()).await?;
    }
    services.access.audit_done(&caller, Permission::QueueCreate, &request.queue_name);
    Ok(DONE)
}

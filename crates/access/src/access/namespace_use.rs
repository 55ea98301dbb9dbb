use async_trait::async_trait;
use leasehold_queue::Namespace;

use crate::store::Cause;

/// Knows what is in a namespace besides roles and bindings.
#[async_trait]
pub trait NamespaceUse: Send + Sync + 'static {
    /// Whether a queue is in the namespace, which then cannot be deleted.
    ///
    /// # Errors
    /// What kept it from finding out.
    async fn has_queues(&self, namespace: &Namespace) -> Result<bool, Cause>;
}

/// For a server without queues.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoQueues;

#[async_trait]
impl NamespaceUse for NoQueues {
    async fn has_queues(&self, _: &Namespace) -> Result<bool, Cause> {
        Ok(false)
    }
}

//! A typed client: a method per endpoint, grouped by what it is about.

use std::time::Duration;

use leasehold_api::reply::Reply;
use leasehold_core::duration;
use prost::Message;

use crate::call::Caller;
use crate::{Endpoint, Options, Result, TraceParent};

/// Queues, their items, and who may use them, through a server. Cheap to clone; clones share their connections.
///
/// Every method answers what the server answers. Dropping one midway closes its connection: the server may have
/// acted, except on a lease that was still waiting.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) caller: Caller,
}

impl Client {
    /// Over a server. Connects when it is first used.
    pub fn new(endpoint: Endpoint, options: &Options) -> Result<Self> {
        Ok(Client { caller: Caller::with_options(endpoint, options)? })
    }

    /// The same client, with requests that belong to this trace.
    #[must_use]
    pub fn traced(&self, parent: TraceParent) -> Self {
        let mut caller = self.caller.clone();
        caller.trace_parent = Some(parent);
        Client { caller }
    }

    pub(crate) async fn ask<Q: Message, A: Message + Default>(&self, path: &str, question: &Q) -> Result<A> {
        self.caller.call(path, question).await
    }

    /// For operations that return nothing but that they are done.
    pub(crate) async fn tell<Q: Message>(&self, path: &str, question: &Q) -> Result<()> {
        let Reply { .. } = self.ask(path, question).await?;
        Ok(())
    }

    pub(crate) async fn ask_waiting<Q: Message, A: Message + Default>(
        &self,
        request_timeout: &str,
        path: &str,
        question: &Q,
    ) -> Result<A> {
        self.caller.call_waiting(wait(request_timeout), path, question).await
    }

    pub(crate) async fn tell_waiting<Q: Message>(
        &self,
        request_timeout: &str,
        path: &str,
        question: &Q,
    ) -> Result<()> {
        let Reply { .. } = self.ask_waiting(request_timeout, path, question).await?;
        Ok(())
    }
}

/// What the server cannot read it refuses at once.
fn wait(request_timeout: &str) -> Duration {
    duration::parse(request_timeout).unwrap_or_default()
}

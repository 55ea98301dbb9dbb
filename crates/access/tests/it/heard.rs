//! What a server hears of others that share its store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_access::store::{Change, ChangeFeed};
use leasehold_access::{Access, Config, Driver, Stores};
use leasehold_core::{Clock, ManualClock};
use tokio::sync::mpsc;

/// Nothing in a test waits longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server that judges requests.
pub(crate) fn server(stores: Stores, clock: &ManualClock) -> Access {
    let clock: Arc<dyn Clock> = Arc::new(clock.clone());
    Access::new(stores, Config { driver: Driver::Internal, clock, ..Config::default() })
}

/// A server, and what it hears after it has acted on it. It hears from when this returns.
pub(crate) async fn hearing_server(stores: Stores, clock: &ManualClock) -> (Access, Heard) {
    let (seen, heard) = mpsc::unbounded_channel();
    let inner = stores.changes.clone().expect("there are news");
    let server = server(stores.with_changes(Arc::new(Seen { inner, seen })), clock);
    server.bootstrap().await.expect("starts");
    let mut heard = Heard(heard);
    heard.wait_for(&Change::Everything).await;
    (server, heard)
}

struct Seen {
    inner: Arc<dyn ChangeFeed>,
    seen: mpsc::UnboundedSender<Change>,
}

#[async_trait]
impl ChangeFeed for Seen {
    async fn run(&self, told: &(dyn Fn(Change) + Send + Sync)) {
        let pass_on = |change: Change| {
            told(change.clone());
            let _ = self.seen.send(change);
        };
        self.inner.run(&pass_on).await;
    }
}

/// What a server has heard.
pub(crate) struct Heard(mpsc::UnboundedReceiver<Change>);

impl Heard {
    pub(crate) async fn next(&mut self) -> Change {
        let heard = tokio::time::timeout(PATIENCE, self.0.recv()).await.expect("something is heard");
        heard.expect("the feed goes on")
    }

    pub(crate) async fn wait_for(&mut self, change: &Change) {
        while self.next().await != *change {}
    }
}

//! News of released keys, from whichever client released them.
//!
//! The release script publishes the key. A peer's release does not, and a message may be lost: waiters also ask
//! from time to time, so that news only makes them faster.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use leasehold_core::{Key, KeyHash};
use parking_lot::Mutex;
use redis::aio::PubSub;
use redis::{RedisResult, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::connection::Connection;
use crate::{Watch, WatchHub};

/// Between attempts to subscribe again, doubled up to the second one.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// A connection that has been silent for so long is asked whether it is still there.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// The watches of one backend, and the subscription that wakes them. Subscribes when the first one is taken.
pub(super) struct News {
    hub: Arc<WatchHub>,
    channel: String,
    patience: Duration,
    listener: Mutex<Option<Listener>>,
}

struct Listener {
    task: JoinHandle<()>,
    heard: watch::Receiver<Heard>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How far the first attempt to subscribe has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    NotYet,
    Tried,
}

impl News {
    /// Waits no longer than `patience` for a subscription or for the answer to a ping.
    pub(super) fn new(channel: String, patience: Duration) -> Self {
        News { hub: Arc::default(), channel, patience, listener: Mutex::default() }
    }

    pub(super) fn channel(&self) -> &str {
        &self.channel
    }

    /// A watch that misses no release that comes after it, as long as the subscription holds.
    pub(super) async fn watch(&self, connection: &Arc<Connection>, key: &Key) -> Watch {
        let watch = self.hub.watch(key.key_hash());
        let mut heard = self.listening(connection);
        // Without news the caller still polls: it is not worth more waiting than this.
        let _ = timeout(self.patience, heard.wait_for(|heard| *heard == Heard::Tried)).await;
        watch
    }

    fn listening(&self, connection: &Arc<Connection>) -> watch::Receiver<Heard> {
        let mut listener = self.listener.lock();
        // A task ends with the runtime it was started on; a backend may outlive that.
        if let Some(listener) = listener.as_ref().filter(|listener| !listener.task.is_finished()) {
            return listener.heard.clone();
        }
        let (telling, heard) = watch::channel(Heard::NotYet);
        let listening =
            listen(connection.clone(), self.hub.clone(), self.channel.clone(), self.patience, telling);
        *listener = Some(Listener { task: tokio::spawn(listening), heard: heard.clone() });
        heard
    }
}

/// Passes news on for as long as the backend lives.
async fn listen(
    connection: Arc<Connection>,
    hub: Arc<WatchHub>,
    channel: String,
    patience: Duration,
    telling: watch::Sender<Heard>,
) {
    let mut pause = PAUSES.0;
    loop {
        match subscribe(&connection, &channel, patience).await {
            Ok(subscription) => {
                pause = PAUSES.0;
                // What was released while nobody listened.
                hub.all_freed();
                telling.send_replace(Heard::Tried);
                pass_on(subscription, &hub, patience).await;
            }
            Err(error) => {
                telling.send_replace(Heard::Tried);
                tracing::debug!(%error, "no news of released keys for now");
            }
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(PAUSES.1);
    }
}

async fn subscribe(connection: &Connection, channel: &str, patience: Duration) -> RedisResult<PubSub> {
    let mut subscription = connection.subscriber().await?;
    timeout(patience, subscription.subscribe(channel))
        .await
        .unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()))?;
    Ok(subscription)
}

/// Until the connection is gone, or does not answer any more.
async fn pass_on(subscription: PubSub, hub: &WatchHub, patience: Duration) {
    let (mut asking, mut messages) = subscription.split();
    loop {
        match timeout(SILENCE_MAX, messages.next()).await {
            Ok(Some(message)) => {
                if let Ok(key) = std::str::from_utf8(message.get_payload_bytes()) {
                    hub.freed(KeyHash::of(key));
                }
            }
            Ok(None) => return,
            Err(_) => match timeout(patience, asking.ping::<Value>()).await {
                Ok(Ok(_)) => {}
                _ => return,
            },
        }
    }
}

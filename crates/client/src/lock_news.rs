//! News of released keys: for each key that somebody here waits for, one question that the server answers when it is free.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use leasehold_api::lock::{LockWatchRequest, LockWatchResponse};
use leasehold_core::Key;
use leasehold_locks::{Watch, WatchHub};
use parking_lot::Mutex;
use tokio::task::AbortHandle;

use crate::call::Caller;

/// How long one question waits at the server before it is asked again.
const WATCH_TIMEOUT: Duration = Duration::from_secs(60);
/// How much longer its answer may take.
const WATCH_SLACK: Duration = Duration::from_secs(5);
/// Whoever was told asks for the key now; the next question is for the news after that.
const PAUSE_AFTER_NEWS: Duration = Duration::from_millis(5);
/// After a failure, doubled up to the second one. Meanwhile the timers of the waiters cover for us.
const PAUSES_AFTER_FAILURE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// The questions under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Questions {
    hub: Arc<WatchHub>,
    by_key: Arc<Mutex<HashMap<Key, Weak<Question>>>>,
}

/// Asked until the last watch of its key is dropped. Then the server sees its connection closed, and watches no more.
#[derive(Debug)]
struct Question {
    key: Key,
    asking: AbortHandle,
    by_key: Arc<Mutex<HashMap<Key, Weak<Question>>>>,
}

impl Questions {
    pub(crate) fn watch(&self, caller: &Caller, key: &Key) -> Watch {
        let watch = self.hub.watch(key.key_hash());
        let mut by_key = self.by_key.lock();
        // A task ends with the runtime it was started on; a backend may outlive that.
        let asked = by_key.get(key).and_then(Weak::upgrade).filter(|asked| !asked.asking.is_finished());
        let question = asked.unwrap_or_else(|| {
            let asking = tokio::spawn(ask(caller.clone(), self.hub.clone(), key.clone())).abort_handle();
            let question = Arc::new(Question { key: key.clone(), asking, by_key: self.by_key.clone() });
            by_key.insert(key.clone(), Arc::downgrade(&question));
            question
        });
        watch.fed_by(question)
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.asking.abort();
        let mut by_key = self.by_key.lock();
        // Somebody may have asked anew since.
        if by_key.get(&self.key).is_some_and(|asked| asked.strong_count() == 0) {
            by_key.remove(&self.key);
        }
    }
}

async fn ask(caller: Caller, hub: Arc<WatchHub>, key: Key) {
    let question = LockWatchRequest {
        key: key.as_str().to_owned(),
        request_timeout: format!("{}s", WATCH_TIMEOUT.as_secs()),
    };
    let mut pause = PAUSES_AFTER_FAILURE.0;
    loop {
        match caller.call_within(WATCH_TIMEOUT + WATCH_SLACK, "/v1/lock.watch", &question).await {
            Ok(LockWatchResponse { freed }) => {
                pause = PAUSES_AFTER_FAILURE.0;
                if freed {
                    hub.freed(key.key_hash());
                    tokio::time::sleep(PAUSE_AFTER_NEWS).await;
                }
            }
            Err(_no_news) => {
                tokio::time::sleep(pause).await;
                pause = (2 * pause).min(PAUSES_AFTER_FAILURE.1);
            }
        }
    }
}

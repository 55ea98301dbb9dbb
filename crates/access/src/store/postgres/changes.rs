//! News of what other servers changed.

use std::time::Duration;

use leasehold_txn::Listener;

use super::PostgresStore;
use crate::store::Change;

/// Pauses between attempts to connect double from the first to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);

pub(super) async fn hear(store: &PostgresStore, told: &(dyn Fn(Change) + Send + Sync)) {
    let mut pause = PAUSE_FIRST;
    loop {
        if let Some(mut listener) = listen(store).await {
            pause = PAUSE_FIRST;
            told(Change::Everything);
            while let Some(heard) = listener.next().await {
                told(read(heard.payload()));
            }
            tracing::debug!("the connection for changes of access was lost");
        }
        tokio::time::sleep(pause).await;
        pause = PAUSE_MAX.min(pause * 2);
    }
}

/// `None` while there is no server, or no table yet.
async fn listen(store: &PostgresStore) -> Option<Listener> {
    let listener = Listener::connect(&store.pool)
        .await
        .inspect_err(|error| tracing::debug!(code = error.code(), "no connection for changes of access"))
        .ok()?;
    let rows = listener.client().query_typed(include_str!("sql/channel.sql"), &[]).await.ok()?;
    let channel: Option<&str> = rows.first()?.try_get(0).ok()?;
    listener.batch_execute(&format!("LISTEN {}", channel?)).await.ok()?;
    Some(listener)
}

/// What a later release has words for that this one has not may be anything.
fn read(payload: &str) -> Change {
    match payload.split_once(' ') {
        Some(("key", id)) => Change::ApiKey { id: id.to_owned() },
        Some(("user", id)) => Change::User { id: id.to_owned() },
        None if payload == "permissions" => Change::Permissions,
        _ => Change::Everything,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_read_and_unknown_ones_mean_anything() {
        let id = || "0ujtsYcgvSTl8PAuAdqWYSMnLOv".to_owned();
        assert_eq!(read(&format!("key {}", id())), Change::ApiKey { id: id() });
        assert_eq!(read(&format!("user {}", id())), Change::User { id: id() });
        assert_eq!(read("permissions"), Change::Permissions);
        for other in ["", "roles", "queue 1"] {
            assert_eq!(read(other), Change::Everything, "{other}");
        }
    }
}

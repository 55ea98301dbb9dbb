//! Loads that no server should take, and what they do to it.

pub(crate) mod bystander;
pub(crate) mod connection;
pub(crate) mod crowd;
pub(crate) mod floods;
pub(crate) mod http2;
pub(crate) mod long_answers;
pub(crate) mod long_bodies;
pub(crate) mod long_leases;
pub(crate) mod pressed;
mod watched;

use std::collections::BTreeMap;
use std::future::Future;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;

pub(crate) use self::watched::Watched;
use crate::served::Server;

pub(crate) const MIB: u64 = 1 << 20;

/// More than what four long bodies, the buffers of all connections and the figures of the last minute take; much less than
/// all bodies do.
pub(crate) const GROWTH_MAX: u64 = 64 * MIB;

/// What may be kept of a load that is over: those figures, and what the allocator does not give back.
pub(crate) const KEPT_MAX: u64 = 40 * MIB;

/// How many answers there were of each code.
pub(crate) type Answers = BTreeMap<u16, usize>;

/// In place of a code, where the connection was closed or the request refused by the protocol.
pub(crate) const CLOSED: u16 = 0;

/// What a request goes over.
pub(crate) trait Wire: Send + 'static {
    /// Sends a request but for the last byte of its body, and that one when told to. The code of the answer, which may
    /// come before.
    fn ask_late(
        self,
        path: &'static str,
        body: Bytes,
        finish: CancellationToken,
    ) -> impl Future<Output = u16> + Send;
}

/// Longer than any answer takes, also on a machine that does a hundred other things.
pub(crate) const PATIENT: Duration = Duration::from_secs(300);

/// What comes of asking again until there is room: of what was taken or given up a server may hear a moment later.
pub(crate) async fn once_there_is_room<T>(ask: impl AsyncFn() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(started.elapsed() < PATIENT, "there is no room");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A server with these limits, and an address for operators: they see it also while nobody else gets through.
pub(crate) fn server(store: &str, limits: &str) -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("limits.yaml");
    std::fs::write(&file, format!("limits:\n  {limits}\n")).expect("writes");
    let file = file.to_str().expect("text");
    Server::start_on(store, &["--config", file, "--admin-address", "127.0.0.1:0"])
}

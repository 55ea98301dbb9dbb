//! How slowly a body may come.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::reply::Reply;

/// What must have come of a body, or its end, whenever a client was waited for as long as the timeout. A byte now and then
/// would do otherwise, for ever.
const PACE_BYTES: usize = 64_000;

/// How far a client is with what it must send before the timeout.
pub(super) struct Pace {
    timeout: Duration,
    waited: Duration,
    bytes: usize,
}

impl Pace {
    pub(super) fn new(timeout: Duration) -> Self {
        Pace { timeout, waited: Duration::ZERO, bytes: 0 }
    }

    /// What the client sends next. Time that passes between two calls is the server's, and not counted.
    pub(super) async fn next<T>(&mut self, next: impl Future<Output = T>) -> Result<T, Reply> {
        let began = Instant::now();
        let left = self.timeout.saturating_sub(self.waited);
        let next = timeout(left, next).await.map_err(|_| self.too_slow())?;
        self.waited += began.elapsed();
        Ok(next)
    }

    /// So much was sent.
    pub(super) fn came(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes >= PACE_BYTES {
            *self = Pace::new(self.timeout);
        }
    }

    fn too_slow(&self) -> Reply {
        let waited = leasehold_core::duration::format(self.timeout);
        let came = match self.bytes {
            0 => format!("nothing came for {waited}"),
            bytes => format!("only {bytes} byte(s) came in {waited}"),
        };
        Reply::transport_error(format!("reading the request body failed; {came}"))
    }
}

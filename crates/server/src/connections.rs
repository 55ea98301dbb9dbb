//! Connections: how many there are at once, and how long a client may keep one of them waiting.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use axum::{Router, middleware};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::TimeoutsConfig;
use crate::write_timeout::WriteTimeout;

/// How long to rest when the system has no room for another connection.
const NO_ROOM_PAUSE: Duration = Duration::from_secs(1);

/// Serves the connections of one listener.
pub(crate) struct Connections {
    pub(crate) listener: TcpListener,
    pub(crate) router: Router,
    /// Served at once. Further ones wait in the system's queue: nothing of them is in our memory.
    pub(crate) limit: usize,
    pub(crate) timeouts: TimeoutsConfig,
}

impl Connections {
    /// Accepts until `stop` is cancelled, then lets every connection answer what it is at, and returns once the last
    /// one has ended. Dropping the future cuts them all.
    pub(crate) async fn serve(self, stop: CancellationToken) {
        let slots = Arc::new(Semaphore::new(self.limit));
        let is_full = Arc::new(AtomicBool::new(false));
        let router = self.router.layer(middleware::map_response_with_state(is_full.clone(), make_room));
        let mut served = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                // Keeps what has ended from piling up.
                Some(_) = served.join_next() => continue,
                accepted = async {
                    (slot(&slots, &is_full).await, accept(&self.listener).await)
                } => accepted,
            };
            let (slot, stream) = accepted;
            let connection = serve_connection(stream, router.clone(), self.timeouts, stop.clone());
            served.spawn(async move {
                connection.await;
                drop(slot);
            });
        }
        drop(self.listener);
        while served.join_next().await.is_some() {}
    }
}

/// A place for one more connection, once there is one.
async fn slot(slots: &Arc<Semaphore>, is_full: &AtomicBool) -> OwnedSemaphorePermit {
    let free = slots.clone().try_acquire_owned();
    is_full.store(free.is_err(), Ordering::Relaxed);
    match free {
        Ok(slot) => slot,
        Err(_) => slots.clone().acquire_owned().await.expect("nobody closes it"),
    }
}

/// While others wait to be accepted, whoever was answered makes room: a client that keeps its connection for later must
/// not keep them out. Said in the answer, so that no request meets a closed connection.
async fn make_room(State(is_full): State<Arc<AtomicBool>>, mut response: Response) -> Response {
    if is_full.load(Ordering::Relaxed) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "cannot accept connections; trying again");
                tokio::time::sleep(NO_ROOM_PAUSE).await;
            }
        }
    }
}

/// The client was gone before it was accepted.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn serve_connection(
    stream: TcpStream,
    router: Router,
    timeouts: TimeoutsConfig,
    stop: CancellationToken,
) {
    // Answers are written whole: waiting for more to send only adds latency. A connection where it cannot be set
    // is a closed one.
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(WriteTimeout::new(stream, timeouts.write));
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(timeouts.idle);
    let connection = builder.serve_connection(io, TowerToHyperService::new(router));
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::trace!(error, "a connection ended early");
    }
}

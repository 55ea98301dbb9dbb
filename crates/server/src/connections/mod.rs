//! Connections: how many there are at once, what they speak, and how long a client may keep one of them waiting.

mod activity;
mod answer_body;
mod clear_text;
mod write_timeout;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{HeaderValue, Request, Response, Version, header};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::activity::{Activity, Verdict};
use self::answer_body::AnswerBody;
use self::write_timeout::WriteTimeout;
use crate::TimeoutsConfig;
use crate::routes::{Routes, WaitingPlaces};
use crate::tls::Tls;

/// How long to rest when the system has no room for another connection.
const NO_ROOM_PAUSE: Duration = Duration::from_secs(1);

/// How often a client of HTTP/2 is asked whether it is still there. Nothing else would tell while it waits for items.
const PING_INTERVAL: Duration = Duration::from_secs(30);

/// Bytes of all headers of a request.
const HEADER_LIST_BYTES: u32 = 16 * 1024;

/// Bytes of one body that may have come before they are read, and of all bodies of a connection.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;

/// Bodies of a connection that may wait for room, so that there is always enough of its window for one that need not.
const WAITING_BODIES_MAX: usize = (CONNECTION_WINDOW_BYTES / STREAM_WINDOW_BYTES - 1) as usize;

/// Requests that a client may have taken back before we looked at them, and that we may have refused, before its
/// connection is ended. More of them are an attack.
const RESETS_BEFORE_ACCEPT: usize = 20;
const RESETS_OF_OURS: usize = 100;

/// Serves the connections of one listener.
pub(crate) struct Connections {
    pub(crate) listener: TcpListener,
    pub(crate) routes: Routes,
    /// In clear text if there is none.
    pub(crate) tls: Option<Arc<Tls>>,
    /// Served at once. Further ones wait in the system's queue: nothing of them is in our memory.
    pub(crate) limit: usize,
    /// Requests at once on one connection, where it speaks HTTP/2.
    pub(crate) streams: u32,
    pub(crate) timeouts: TimeoutsConfig,
}

/// What every connection of a listener needs.
#[derive(Clone)]
struct Shared {
    routes: Routes,
    tls: Option<Arc<Tls>>,
    streams: u32,
    timeouts: TimeoutsConfig,
    /// Whether others may be waiting to be accepted.
    is_full: Arc<AtomicBool>,
    stop: CancellationToken,
}

impl Connections {
    /// Accepts until `stop` is cancelled, then lets every connection answer what it is at, and returns once the last
    /// one has ended. Dropping the future cuts them all.
    pub(crate) async fn serve(self, stop: CancellationToken) {
        let slots = Arc::new(Semaphore::new(self.limit));
        let is_full = Arc::new(AtomicBool::new(false));
        let shared = Shared {
            routes: self.routes,
            tls: self.tls,
            streams: self.streams,
            timeouts: self.timeouts,
            is_full: is_full.clone(),
            stop: stop.clone(),
        };
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
            let shared = shared.clone();
            served.spawn(async move {
                shared.serve_connection(stream).await;
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
        Err(_) => {
            let slot = slots.clone().acquire_owned().await.expect("nobody closes it");
            // Until the next one comes, which may take long, nobody is to make room for it.
            is_full.store(false, Ordering::Relaxed);
            slot
        }
    }
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

/// What a connection speaks, as far as it is known before its first byte.
#[derive(Clone, Copy)]
enum Speaks {
    Http1,
    Http2,
    /// As its first bytes say.
    Either,
}

impl Shared {
    async fn serve_connection(self, stream: TcpStream) {
        // Answers are written whole: waiting for more to send only adds latency. A connection where it cannot be set
        // is a closed one.
        let _ = stream.set_nodelay(true);
        let Some(tls) = self.tls.clone() else {
            return self.serve(WriteTimeout::new(stream, self.timeouts.write), Speaks::Either).await;
        };
        let handshake = async {
            match clear_text::is_http(&stream).await {
                true => {
                    clear_text::refuse(stream).await;
                    None
                }
                false => tls.handshake(WriteTimeout::new(stream, self.timeouts.write)).await,
            }
        };
        let shaken = tokio::select! {
            shaken = tokio::time::timeout(self.timeouts.handshake, handshake) => shaken,
            () = self.stop.cancelled() => return,
        };
        match shaken {
            Ok(Some(stream)) => {
                let speaks = match stream.get_ref().1.alpn_protocol() {
                    Some(b"h2") => Speaks::Http2,
                    _ => Speaks::Http1,
                };
                self.serve(stream, speaks).await;
            }
            Ok(None) => {}
            Err(_) => tracing::debug!(timeout = ?self.timeouts.handshake, "a TLS handshake took too long"),
        }
    }

    async fn serve(&self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, speaks: Speaks) {
        let Shared { routes, is_full, stop, timeouts, .. } = self.clone();
        let activity = Arc::new(Activity::default());
        let waiting = WaitingPlaces::new(WAITING_BODIES_MAX);
        let service = service_fn(|request: Request<Incoming>| {
            answer(routes.clone(), activity.clone(), is_full.clone(), waiting.clone(), request)
        });
        let builder = self.builder(speaks);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let watched = |is_leaving| end(activity.clone(), stop.clone(), timeouts, is_leaving);
        // Looked at only when there is news of it: the connection is woken for every piece that comes or goes.
        let mut ends = FuturesUnordered::from_iter([watched(false)]);
        loop {
            tokio::select! {
                biased;
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::trace!(error, "a connection ended early");
                    }
                    return;
                }
                Some(end) = ends.next() => match end {
                    End::Cut => return,
                    End::Leave => {
                        connection.as_mut().graceful_shutdown();
                        ends.push(watched(true));
                    }
                },
            }
        }
    }

    fn builder(&self, speaks: Speaks) -> Builder<TokioExecutor> {
        let mut builder = match speaks {
            Speaks::Http1 => Builder::new(TokioExecutor::new()).http1_only(),
            Speaks::Http2 => Builder::new(TokioExecutor::new()).http2_only(),
            Speaks::Either => Builder::new(TokioExecutor::new()),
        };
        // A timer for each request costs more than most requests: see `Activity`.
        builder.http1().header_read_timeout(None);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(self.timeouts.write)
            .max_concurrent_streams(self.streams)
            .max_header_list_size(HEADER_LIST_BYTES)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_pending_accept_reset_streams(RESETS_BEFORE_ACCEPT)
            .max_local_error_reset_streams(RESETS_OF_OURS);
        builder
    }
}

/// How a connection is to end.
enum End {
    /// Once what is in flight is answered.
    Leave,
    /// Now.
    Cut,
}

/// Ready once the connection is to end; if it was told before, once it had its time for that.
async fn end(
    activity: Arc<Activity>,
    stop: CancellationToken,
    timeouts: TimeoutsConfig,
    is_leaving: bool,
) -> End {
    tokio::select! {
        () = stop.cancelled(), if !is_leaving => End::Leave,
        () = activity.told_to_leave(), if !is_leaving => End::Leave,
        verdict = activity.verdict(&timeouts) => match verdict {
            Verdict::Idle if !is_leaving => {
                activity.rest();
                End::Leave
            }
            Verdict::Idle | Verdict::Silent | Verdict::Stalled => End::Cut,
        },
    }
}

/// While others wait to be accepted, whoever was answered makes room: a client that keeps its connection for later must
/// not keep them out. Said in the answer, or as HTTP/2 says it, so that no request meets a closed connection.
async fn answer(
    routes: Routes,
    activity: Arc<Activity>,
    is_full: Arc<AtomicBool>,
    waiting: WaitingPlaces,
    request: Request<Incoming>,
) -> Result<Response<AnswerBody>, Infallible> {
    let is_http2 = request.version() == Version::HTTP_2;
    if !is_http2 {
        activity.leave_writes_to_http1();
    }
    let in_flight = activity.begin();
    let mut response = routes.answer(request, is_http2.then_some(waiting)).await;
    if is_full.load(Ordering::Relaxed) {
        match is_http2 {
            true => activity.tell_to_leave(),
            false => {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
        }
    }
    Ok(response.map(|body| AnswerBody::new(body, in_flight, is_http2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_makes_room_where_there_is_some_again() {
        let (slots, is_full) = (Arc::new(Semaphore::new(1)), AtomicBool::new(false));
        let taken = slot(&slots, &is_full).await;
        assert!(!is_full.load(Ordering::Relaxed));
        let next = slot(&slots, &is_full);
        tokio::pin!(next);
        tokio::select! {
            biased;
            _ = &mut next => panic!("there is one slot"),
            () = std::future::ready(()) => {}
        }
        assert!(is_full.load(Ordering::Relaxed));
        drop(taken);
        let _next = next.await;
        assert!(!is_full.load(Ordering::Relaxed));
    }
}

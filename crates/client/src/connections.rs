//! Connections to a server, kept for the next call. Whoever calls drives the connection itself: with a task of its own
//! for each connection every call would wake two others, which takes longer than most calls.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Uri, response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tower_service::Service;

use crate::connect::{Connector, Stream};

/// How long a connection is kept that nobody uses. Servers keep theirs longer: none is closed under a call.
const IDLE_MAX: Duration = Duration::from_secs(90);

/// The most an answer may have: a page of items whose payloads are large, and more than any request may have.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

type Question = Request<Full<Bytes>>;
type Answer = (response::Parts, Bytes);
/// What reads and writes a connection.
type Driver = Pin<Box<http1::Connection<TokioIo<Box<dyn Stream>>, Full<Bytes>>>>;
type Broken = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// No connection: nothing was sent.
    Connect(Broken),
    /// Something was sent, perhaps all of it.
    Lost(Broken),
}

/// Connections to one server. Clones share them.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Shared>);

struct Shared {
    server: Uri,
    connector: Connector,
    /// Those that nobody uses, by when they were last used.
    idle: Mutex<Vec<(Connection, Instant)>>,
}

impl Connections {
    /// None yet.
    pub(crate) fn new(connector: Connector, server: Uri) -> Self {
        Connections(Arc::new(Shared { server, connector, idle: Mutex::default() }))
    }

    /// Asks over a connection that is free, or a new one. Dropping the call closes it.
    pub(crate) async fn ask(&self, mut question: Question) -> Result<Answer, Unanswered> {
        while let Some(mut kept) = self.kept() {
            match kept.ask(question).await {
                Ok(answer) => {
                    self.keep(kept);
                    return Ok(answer);
                }
                // The server had closed it, which is seen before anything is sent.
                Err(NoAnswer::NotSent(back)) => question = *back,
                Err(NoAnswer::Lost(broken)) => return Err(Unanswered::Lost(broken)),
            }
        }
        let mut new = Connection::open(&self.0).await.map_err(Unanswered::Connect)?;
        match new.ask(question).await {
            Ok(answer) => {
                self.keep(new);
                Ok(answer)
            }
            Err(NoAnswer::NotSent(_)) => Err(Unanswered::Connect("the server closed it at once".into())),
            Err(NoAnswer::Lost(broken)) => Err(Unanswered::Lost(broken)),
        }
    }

    /// The one that was used last: the others get old and go.
    fn kept(&self) -> Option<Connection> {
        let (connection, used_at) = self.0.idle.lock().pop()?;
        (used_at.elapsed() < IDLE_MAX).then_some(connection)
    }

    fn keep(&self, connection: Connection) {
        if connection.is_over() {
            return;
        }
        let now = Instant::now();
        let mut idle = self.0.idle.lock();
        let old = idle.iter().take_while(|(_, used_at)| now.duration_since(*used_at) >= IDLE_MAX).count();
        idle.drain(..old);
        idle.push((connection, now));
    }
}

/// Why a connection did not answer.
enum NoAnswer {
    NotSent(Box<Question>),
    Lost(Broken),
}

struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// None once it has ended.
    driver: Option<Driver>,
}

impl Connection {
    async fn open(shared: &Shared) -> Result<Self, Broken> {
        let stream = shared.connector.clone().call(shared.server.clone()).await?;
        let (sender, driver) = http1::handshake(stream).await?;
        Ok(Connection { sender, driver: Some(Box::pin(driver)) })
    }

    fn is_over(&self) -> bool {
        self.driver.is_none() || self.sender.is_closed()
    }

    async fn ask(&mut self, question: Question) -> Result<Answer, NoAnswer> {
        let Connection { sender, driver } = self;
        let mut asking = pin!(ask(sender, question));
        poll_fn(|context| {
            // A turn for what goes out, or for the head of the answer; another for its body, which waits to be wanted.
            for _ in 0..2 {
                if let Poll::Ready(answer) = asking.as_mut().poll(context) {
                    return Poll::Ready(answer);
                }
                if driver.as_mut().is_some_and(|driver| driver.as_mut().poll(context).is_ready()) {
                    *driver = None;
                }
            }
            asking.as_mut().poll(context)
        })
        .await
    }
}

async fn ask(sender: &mut SendRequest<Full<Bytes>>, question: Question) -> Result<Answer, NoAnswer> {
    if sender.ready().await.is_err() {
        return Err(NoAnswer::NotSent(Box::new(question)));
    }
    let sent = sender.try_send_request(question).await;
    let response = sent.map_err(|mut refused| match refused.take_message() {
        Some(question) => NoAnswer::NotSent(Box::new(question)),
        None => NoAnswer::Lost(refused.into_error().into()),
    })?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await.map_err(NoAnswer::Lost)?;
    Ok((head, body.to_bytes()))
}

//! The one connection that all operations share, and how it comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use redis::aio::{MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, Cmd, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::batched::{Batched, InFlight};
use super::dial::Dialler;
use super::errors::Failure;
use super::location::{Location, Node};

/// Commands that wait for their turn on the wire; beyond it callers wait before it.
const WAITING_MAX: usize = 1_024;
/// How often a cluster may send one command on. It takes one hop, or two while it changes.
const HOPS_MAX: usize = 5;

/// A connection that is made when it is needed and replaced when it broke.
///
/// On a cluster it leads to the primary of the one slot that all keys are in, so that no more than one connection
/// is needed there either.
pub(super) struct Connection {
    location: Location,
    dialler: Dialler,
    connect_timeout: Duration,
    /// A key in the slot that all keys share, to find its primary with; `None` outside a cluster.
    slot_key: Option<String>,
    live: RwLock<Option<Arc<Live>>>,
    /// The node a cluster last sent us to.
    primary: Mutex<Option<Node>>,
    attempts: Attempts,
}

/// How connecting went, for all who wait for it: one tries, and the others share what comes of it.
#[derive(Default)]
struct Attempts {
    made: AtomicU64,
    last_failure: tokio::sync::Mutex<Option<RedisError>>,
}

/// A connection and the task that carries it.
struct Live {
    connection: MultiplexedConnection,
    driver: JoinHandle<()>,
    node: Node,
    in_flight: InFlight,
    /// Number of commands that it has answered.
    answers: AtomicU64,
}

impl Live {
    fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A call that replaces its connection if it is dropped before the connection has answered anything. Other calls in flight
/// keep the replaced one until they end.
pub(super) struct Suspect<'a> {
    connection: &'a Connection,
    /// The connection when the call began, and what it had answered until then.
    asked: Option<(u64, Arc<Live>)>,
    answered: bool,
}

impl Suspect<'_> {
    pub(super) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Suspect<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let asked = self.asked.take().or_else(|| self.connection.current().map(|live| (0, live)));
        if let Some((_, silent)) = asked.filter(|(answers, live)| live.answers() == *answers) {
            self.connection.discard(&silent);
        }
    }
}

impl Connection {
    pub(super) fn new(
        location: Location,
        dialler: Dialler,
        connect_timeout: Duration,
        slot_key: String,
    ) -> Self {
        let slot_key = location.cluster.then_some(slot_key);
        Connection {
            location,
            dialler,
            connect_timeout,
            slot_key,
            live: RwLock::default(),
            primary: Mutex::default(),
            attempts: Attempts::default(),
        }
    }

    /// Sends one command and waits for its answer until the deadline. Nothing is sent twice, except where Redis
    /// has answered that it did nothing.
    pub(super) async fn send(&self, command: &Cmd, deadline: Instant) -> Result<Value, Failure> {
        let mut hops = 0;
        loop {
            let live = match self.current() {
                Some(live) => live,
                // Boxed, as all that is rare: every operation carries the size of its largest step.
                None => timeout_at(deadline, Box::pin(self.live()))
                    .await
                    .map_err(|_| Failure::Unreached)?
                    .map_err(Failure::Unsent)?,
            };
            let mut connection = live.connection.clone();
            let _counted = live.in_flight.count();
            let answered = timeout_at(deadline, connection.send_packed_command(command)).await;
            if answered.is_ok() {
                live.answers.fetch_add(1, Ordering::Relaxed);
            }
            let failure = match answered.map(|answer| answer.and_then(Value::extract_error)) {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(error)) => Failure::of_sent(error),
                Err(_) => Failure::Unanswered,
            };
            match &failure {
                // The next one must not inherit what may be wrong with this connection.
                Failure::Lost(_) | Failure::Unanswered => self.discard(&live),
                // The primary has become a replica.
                _ if failure.is_reply(ServerErrorKind::ReadOnly) => self.discard(&live),
                Failure::Refused(error) if self.slot_key.is_some() && hops < HOPS_MAX => {
                    if let Some(primary) = moved_to(error, &live.node) {
                        hops += 1;
                        *self.primary.lock() = Some(primary);
                        self.discard(&live);
                        continue;
                    }
                }
                _ => {}
            }
            return Err(failure);
        }
    }

    /// Before a call whose caller may leave because the answer takes too long.
    pub(super) fn suspect(&self) -> Suspect<'_> {
        Suspect {
            connection: self,
            asked: self.current().map(|live| (live.answers(), live)),
            answered: false,
        }
    }

    /// A connection of its own that only listens. Any node of a cluster will do: all of them tell all news.
    pub(super) async fn subscriber(&self) -> RedisResult<PubSub> {
        let mut last_failure = None;
        for node in self.candidates() {
            let opening = async { PubSub::new(&self.location.login, self.dialler.dial(&node).await?).await };
            match self.in_time(opening).await {
                Ok(subscriber) => return Ok(subscriber),
                Err(error) => last_failure = Some(error),
            }
        }
        Err(last_failure.unwrap_or_else(unreachable_node))
    }

    async fn live(&self) -> RedisResult<Arc<Live>> {
        let seen = self.attempts.made.load(Ordering::Acquire);
        let mut last_failure = self.attempts.last_failure.lock().await;
        if let Some(live) = self.current() {
            return Ok(live);
        }
        if let Some(error) = last_failure.as_ref()
            && self.attempts.made.load(Ordering::Acquire) != seen
        {
            return Err(error.clone());
        }
        let connected = self.connect().await;
        self.attempts.made.fetch_add(1, Ordering::Release);
        match connected {
            Ok(live) => {
                let live = Arc::new(live);
                *last_failure = None;
                *self.live.write() = Some(live.clone());
                Ok(live)
            }
            Err(error) => {
                *last_failure = Some(error.clone());
                Err(error)
            }
        }
    }

    /// The connection, unless it is known to be broken: what is not handed to it is surely not sent.
    fn current(&self) -> Option<Arc<Live>> {
        self.live.read().as_ref().filter(|live| !live.driver.is_finished()).cloned()
    }

    fn discard(&self, broken: &Arc<Live>) {
        let mut live = self.live.write();
        if live.as_ref().is_some_and(|live| Arc::ptr_eq(live, broken)) {
            *live = None;
        }
    }

    /// Each candidate once, and where it sends us on to.
    async fn connect(&self) -> RedisResult<Live> {
        let mut last_failure = None;
        for mut node in self.candidates() {
            for _ in 0..HOPS_MAX {
                match self.in_time(self.open(&node)).await {
                    Ok(Opened::Serves(live)) => return Ok(live),
                    Ok(Opened::SendsOn(to)) => {
                        *self.primary.lock() = Some(to.clone());
                        node = to;
                    }
                    Err(error) => {
                        last_failure = Some(error);
                        break;
                    }
                }
            }
        }
        Err(last_failure.unwrap_or_else(unreachable_node))
    }

    /// The node that served us last, then the others, beginning with another one at each attempt: an attempt may
    /// run out of time before it gets to the one that answers.
    fn candidates(&self) -> Vec<Node> {
        let mut nodes = self.location.nodes.clone();
        let first = self.attempts.made.load(Ordering::Relaxed) % nodes.len() as u64;
        nodes.rotate_left(usize::try_from(first).expect("below the number of nodes"));
        if let Some(primary) = self.primary.lock().clone() {
            nodes.retain(|node| *node != primary);
            nodes.insert(0, primary);
        }
        nodes
    }

    async fn open(&self, node: &Node) -> RedisResult<Opened> {
        let in_flight = InFlight::default();
        let socket = Batched::new(self.dialler.dial(node).await?, in_flight.clone());
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None)
            .set_pipeline_buffer_size(WAITING_MAX);
        let (mut connection, driver) =
            MultiplexedConnection::new_with_config(&self.location.login, socket, config).await?;
        let (driver, node) = (tokio::spawn(driver), node.clone());
        let live =
            Live { connection: connection.clone(), driver, node, in_flight, answers: AtomicU64::default() };
        let Some(slot_key) = &self.slot_key else { return Ok(Opened::Serves(live)) };
        // Any read of the slot: its primary answers, and everybody else says who that is.
        let asked = redis::cmd("EXISTS").arg(slot_key).query_async::<Value>(&mut connection).await;
        match asked {
            Ok(_) => Ok(Opened::Serves(live)),
            Err(error) => match moved_to(&error, &live.node) {
                Some(primary) => Ok(Opened::SendsOn(primary)),
                None => Err(error),
            },
        }
    }

    async fn in_time<T>(&self, work: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
        timeout(self.connect_timeout, work)
            .await
            .unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()))
    }
}

enum Opened {
    Serves(Live),
    SendsOn(Node),
}

fn moved_to(error: &RedisError, asked: &Node) -> Option<Node> {
    match error.kind() {
        redis::ErrorKind::Server(ServerErrorKind::Moved) => Node::redirected(error.redirect_node()?.0, asked),
        _ => None,
    }
}

fn unreachable_node() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::NotConnected).into()
}

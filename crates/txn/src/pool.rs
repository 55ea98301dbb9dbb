//! A bounded set of connections to one database.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::managed::{self, Metrics, PoolError, RecycleError, RecycleResult, Timeouts};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::connect::Connector;
use crate::connection::Connection;
use crate::pool_config::Config;
use crate::{Dialect, Error, Result};

/// How long a connection that is put in order in the background may take before it is closed instead.
const TIDY_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections to one database, shared by cloning. Opened when first needed; closed with the last clone.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    sessions: managed::Pool<Sessions>,
    config: Config,
    tls: tokio_postgres_rustls::MakeRustlsConnect,
    /// What puts connections in order after a cancelled transaction; [`Pool::close`] waits for it.
    tidying: TaskTracker,
}

/// A connection on loan from the pool.
pub(crate) type Session = managed::Object<Sessions>;

impl Pool {
    /// A pool; no connection is opened yet.
    ///
    /// # Errors
    /// [`Error::BadConfig`] when a setting is out of its limits or a certificate file cannot be used.
    pub fn new(config: Config) -> Result<Self> {
        config.check()?;
        let connector = config.connector()?;
        let tls = connector.tls.clone();
        let sessions = managed::Pool::builder(Sessions {
            connector,
            lifetime_max: config.lifetime_max,
            lifetime_spread: config.lifetime_spread,
        })
        .max_size(config.size_max)
        .runtime(deadpool::Runtime::Tokio1)
        .build()
        .map_err(|error| Error::BadConfig { field: "pool", reason: error.to_string() })?;
        Ok(Self(Arc::new(Shared { sessions, config, tls, tidying: TaskTracker::new() })))
    }

    /// Another pool with the same settings and `size_max` connections of its own.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn sibling(&self, size_max: usize) -> Result<Self> {
        Self::new(self.0.config.clone().size_max(size_max))
    }

    /// The database behind the pool.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.0.config.dialect
    }

    /// Whether a transaction pooler stands between the pool and the server.
    #[must_use]
    pub fn behind_pooler(&self) -> bool {
        self.0.config.behind_pooler
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.0.sessions.manager().connector
    }

    /// How many connections the pool may have.
    #[must_use]
    pub fn size_max(&self) -> usize {
        self.0.config.size_max
    }

    /// How many connections are open, in use or not.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.sessions.status().size
    }

    /// How many open connections wait for work.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.0.sessions.status().available
    }

    /// Refuses new work, closes idle connections, and waits for those that are still being put in order.
    /// Connections in use close when their work ends. Dropping the call leaves the pool closed.
    pub async fn close(&self) {
        self.0.sessions.close();
        self.0.tidying.close();
        self.0.tidying.wait().await;
    }

    /// A connection. Dropping the call gives up the place in the queue.
    pub(crate) async fn session(&self) -> Result<Session> {
        let Config { size_max, wait_timeout, .. } = self.0.config;
        let wait = |wait| Timeouts { wait: Some(wait), create: None, recycle: None };
        // Most calls find a place at once and need no timer.
        let found = match self.0.sessions.timeout_get(&wait(Duration::ZERO)).await {
            Err(PoolError::Timeout(_)) => Box::pin(self.0.sessions.timeout_get(&wait(wait_timeout))).await,
            found => found,
        };
        found.map_err(|error| match error {
            PoolError::Backend(error) => error,
            PoolError::Closed => Error::PoolClosed,
            PoolError::Timeout(_) | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                Error::PoolExhausted { size_max, wait_timeout }
            }
        })
    }

    /// Takes back a connection that may be inside a transaction.
    ///
    /// `running` says that the server may still be executing a statement nobody waits for. Rolling back would
    /// wait for it, so it is asked to stop and the connection is closed: a cancel request can arrive late, and
    /// must not meet the next user's statement.
    pub(crate) fn put_in_order(&self, session: Session, running: bool) {
        let Ok(runtime) = Handle::try_current() else {
            drop(Session::take(session));
            return;
        };
        // PgBouncer 1.18, the one of Debian 12, was seen to die of cancel requests.
        let cancels = self.dialect().cancels() && !self.behind_pooler();
        let cancel = (running && cancels).then(|| session.cancel_token());
        let tls = self.0.tls.clone();
        self.0.tidying.spawn_on(
            async move {
                if running {
                    if let Some(cancel) = cancel {
                        // Without it the server notices the closed connection when its statement ends.
                        let _ = tokio::time::timeout(TIDY_TIMEOUT, cancel.cancel_query(tls)).await;
                    }
                    drop(Session::take(session));
                } else if !rolled_back(&session).await {
                    drop(Session::take(session));
                }
            },
            &runtime,
        );
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("config", &self.0.config)
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}

/// Whether the session is certainly outside any transaction. Harmless where none is open; answers come in order,
/// so a `COMMIT` still in flight is settled by then too.
pub(crate) async fn rolled_back(session: &Session) -> bool {
    matches!(tokio::time::timeout(TIDY_TIMEOUT, session.batch_execute("ROLLBACK")).await, Ok(Ok(())))
}

impl Pool {
    pub(crate) fn downgrade(&self) -> WeakPool {
        WeakPool(Arc::downgrade(&self.0))
    }
}

/// Finds a pool as long as somebody else keeps it.
pub(crate) struct WeakPool(std::sync::Weak<Shared>);

impl WeakPool {
    pub(crate) fn upgrade(&self) -> Option<Pool> {
        self.0.upgrade().map(Pool).filter(|pool| !pool.0.sessions.is_closed())
    }
}

/// Makes and judges the pool's connections.
pub(crate) struct Sessions {
    connector: Connector,
    lifetime_max: Option<Duration>,
    lifetime_spread: f64,
}

/// A connection and the time it is replaced at. The pool moves it about, hence the box.
pub(crate) struct Pooled {
    connection: Box<Connection>,
    retire_at: Option<Instant>,
}

impl Deref for Pooled {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl managed::Manager for Sessions {
    type Type = Pooled;
    type Error = Error;

    async fn create(&self) -> Result<Pooled> {
        // Boxed: opening is rare, and its state would otherwise be a part of every call's.
        let connection = Box::new(Box::pin(self.connector.connect()).await?);
        // Spread, so that connections opened together are not all replaced together.
        let random = getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX));
        let retire_at = self.lifetime_max.and_then(|lifetime| {
            Instant::now().checked_add(lifetime.mul_f64(1.0 - self.lifetime_spread * random))
        });
        Ok(Pooled { connection, retire_at })
    }

    /// No round trip: a connection that died is known to be closed, or fails its first statement.
    async fn recycle(&self, pooled: &mut Pooled, _: &Metrics) -> RecycleResult<Error> {
        if pooled.is_closed() {
            return Err(RecycleError::message("closed"));
        }
        if pooled.retire_at.is_some_and(|retire_at| Instant::now() >= retire_at) {
            return Err(RecycleError::message("past its lifetime"));
        }
        Ok(())
    }
}

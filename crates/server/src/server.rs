use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use leasehold_locks::LockBackend;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::connections::Connections;
use crate::routes::Routes;
use crate::services::Services;
use crate::tls::Tls;
use crate::{Config, Error, Result, TimeoutsConfig, recorder};

/// Connections served at once where only operators and tests connect.
const FEW_CONNECTIONS: usize = 100;

/// A server that listens and has its store open, but answers nobody until [`Server::run`].
pub struct Server {
    listener: Listener,
    admin: Option<Listener>,
    test_hooks: Option<Listener>,
    tls: Option<Arc<Tls>>,
    services: Services,
    timeouts: TimeoutsConfig,
    stop_timeout: Duration,
}

impl Server {
    /// Opens the store and takes the address. Dropping the future midway leaves neither held.
    pub async fn bind(config: &Config) -> Result<Self> {
        // First: what is opened has figures to show from its start.
        recorder::recorder();
        let services = Services::open(config).await?;
        Server::serve(config, services).await
    }

    /// As [`Server::bind`], with locks in a backend of the caller's.
    pub async fn bind_with_locks(config: &Config, locks: Arc<dyn LockBackend>) -> Result<Self> {
        recorder::recorder();
        let services = Services::open_with_locks(config, locks).await?;
        Server::serve(config, services).await
    }

    async fn serve(config: &Config, services: Services) -> Result<Self> {
        let tls = config.tls.as_ref().map(Tls::open).transpose()?.map(Arc::new);
        let listener = Listener::bind(&config.address).await?;
        let admin = match &config.admin_address {
            Some(address) => Some(Listener::bind(address).await?),
            None => None,
        };
        let test_hooks = match &config.test_hooks {
            Some(address) => Some(Listener::bind_test_hooks(address).await?),
            None => None,
        };
        let Config { timeouts, stop_timeout, .. } = *config;
        Ok(Server { listener, admin, test_hooks, tls, services, timeouts, stop_timeout })
    }

    /// Where it listens: the real port when port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// Where `/health` and `/metrics` are served, if that is elsewhere.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(|admin| admin.address)
    }

    /// Where tests of clients hold queues and move time, if they may.
    pub fn test_hooks_address(&self) -> Option<SocketAddr> {
        self.test_hooks.as_ref().map(|hooks| hooks.address)
    }

    /// Serves until `stop` is ready, then refuses new connections, answers what is in flight, and returns; what
    /// has not finished within the stop timeout is cut. Dropping the future cuts everything at once.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let (stopping, closed) = (CancellationToken::new(), CancellationToken::new());
        let stopped = async {
            stop.await;
            stopping.cancel();
            // Before the listener closes: those who wait for items get an answer, not a cut connection.
            self.services.close().await;
            closed.cancel();
        };
        let out_of_time = async {
            stopping.cancelled().await;
            tokio::time::sleep(self.stop_timeout).await;
        };
        let connections = Connections {
            listener: self.listener.socket,
            routes: Routes::all(self.services.clone(), self.admin.is_some()),
            tls: self.tls.clone(),
            limit: self.services.limits.connections,
            streams: self.services.limits.streams,
            timeouts: self.timeouts,
        };
        let for_few = |listener: Listener, routes| Connections {
            listener: listener.socket,
            routes,
            tls: None,
            limit: FEW_CONNECTIONS,
            streams: self.services.limits.streams,
            timeouts: self.timeouts,
        };
        let admin =
            self.admin.map(|listener| for_few(listener, Routes::for_operators(self.services.clone())));
        #[cfg(feature = "test-hooks")]
        let test_hooks = self.test_hooks.map(|listener| {
            let hooks = self.services.test_hooks().router();
            for_few(listener, Routes::unobserved(hooks, self.services.clone()))
        });
        #[cfg(not(feature = "test-hooks"))]
        let test_hooks = None::<Connections>;
        let others = admin.into_iter().chain(test_hooks).map(|listening| listening.serve(closed.clone()));
        let others = others.collect::<JoinSet<()>>().join_all();
        tokio::select! {
            _ = async { tokio::join!(connections.serve(closed.clone()), others, stopped) } => {}
            () = out_of_time => {
                tracing::warn!(stop_timeout = ?self.stop_timeout, "cut the requests that were still running");
            }
            never = reload(self.tls) => match never {},
            never = recorder::upkeep(|| self.services.locks.look()) => match never {},
            never = self.services.prepare() => match never {},
        }
        self.services.spans.clone().close().await;
        Ok(())
    }
}

/// Keeps the certificate as new as its files.
async fn reload(tls: Option<Arc<Tls>>) -> Infallible {
    match tls {
        Some(tls) => tls.reload().await,
        None => std::future::pending().await,
    }
}

/// An address that is taken.
struct Listener {
    socket: TcpListener,
    /// With the real port.
    address: SocketAddr,
}

impl Listener {
    async fn bind(address: &str) -> Result<Self> {
        let listen = |source| Error::Listen { address: address.to_owned(), source };
        let socket = TcpListener::bind(address).await.map_err(listen)?;
        let address = socket.local_addr().map_err(listen)?;
        Ok(Listener { socket, address })
    }

    async fn bind_test_hooks(address: &str) -> Result<Self> {
        if cfg!(not(feature = "test-hooks")) {
            return Err(Error::TestHooksMissing);
        }
        let listener = Listener::bind(address).await?;
        match listener.address.ip().is_loopback() {
            true => Ok(listener),
            false => Err(Error::TestHooksPublic { address: address.to_owned() }),
        }
    }
}

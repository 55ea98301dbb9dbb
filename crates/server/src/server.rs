use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use leasehold_locks::LockBackend;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::connections::Connections;
use crate::services::Services;
use crate::{Config, Error, Result, TimeoutsConfig, recorder, routes};

/// Connections of operators served at once.
const ADMIN_CONNECTIONS_MAX: usize = 100;

/// A server that listens and has its store open, but answers nobody until [`Server::run`].
pub struct Server {
    listener: Listener,
    admin: Option<Listener>,
    services: Services,
    timeouts: TimeoutsConfig,
    stop_timeout: Duration,
}

impl Server {
    /// Opens the store and takes the address. Dropping the future midway leaves neither held.
    pub async fn bind(config: &Config) -> Result<Self> {
        let services = Services::open(config).await?;
        Server::serve(config, services).await
    }

    /// As [`Server::bind`], with locks in a backend of the caller's.
    pub async fn bind_with_locks(config: &Config, locks: Arc<dyn LockBackend>) -> Result<Self> {
        let services = Services::open_with_locks(config, locks).await?;
        Server::serve(config, services).await
    }

    async fn serve(config: &Config, services: Services) -> Result<Self> {
        let listener = Listener::bind(&config.address).await?;
        let admin = match &config.admin_address {
            Some(address) => Some(Listener::bind(address).await?),
            None => None,
        };
        recorder::recorder();
        let Config { timeouts, stop_timeout, .. } = *config;
        Ok(Server { listener, admin, services, timeouts, stop_timeout })
    }

    /// Where it listens: the real port when port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// Where `/health` and `/metrics` are served, if that is elsewhere.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(|admin| admin.address)
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
            router: routes::router(self.services.clone(), self.admin.is_some()),
            limit: self.services.limits.connections,
            timeouts: self.timeouts,
        };
        let admin = self.admin.map(|admin| Connections {
            listener: admin.socket,
            router: routes::admin_router(self.services.clone()),
            limit: ADMIN_CONNECTIONS_MAX,
            timeouts: self.timeouts,
        });
        let admin = async {
            if let Some(admin) = admin {
                admin.serve(closed.clone()).await;
            }
        };
        tokio::select! {
            _ = async { tokio::join!(connections.serve(closed.clone()), admin, stopped) } => Ok(()),
            () = out_of_time => {
                tracing::warn!(stop_timeout = ?self.stop_timeout, "cut the requests that were still running");
                Ok(())
            }
            never = recorder::upkeep() => match never {},
            never = self.services.prepare() => match never {},
        }
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
}

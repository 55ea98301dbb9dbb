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

/// A server that listens and has its store open, but answers nobody until [`Server::run`].
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
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
        let listen = |source| Error::Listen { address: config.address.clone(), source };
        let listener = TcpListener::bind(&config.address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        recorder::recorder();
        let Config { timeouts, stop_timeout, .. } = *config;
        Ok(Server { listener, address, services, timeouts, stop_timeout })
    }

    /// Where it listens: the real port when port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
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
            listener: self.listener,
            router: routes::router(self.services.clone()),
            limit: self.services.limits.connections,
            timeouts: self.timeouts,
        };
        tokio::select! {
            _ = async { tokio::join!(connections.serve(closed.clone()), stopped) } => Ok(()),
            () = out_of_time => {
                tracing::warn!(stop_timeout = ?self.stop_timeout, "cut the requests that were still running");
                Ok(())
            }
            never = recorder::upkeep() => match never {},
            never = self.services.prepare() => match never {},
        }
    }
}

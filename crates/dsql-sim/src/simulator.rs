//! The server: listens, and gives every connection a session of the engine.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use leasehold_dsql_sim_core::{
    BackingUrl, Canceller, Config as ClusterConfig, Counters, Engine, faults::Faults,
};
use parking_lot::Mutex;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

use crate::{
    Error, Result, admin,
    client::Client,
    reply::Replies,
    startup::{self, Opening, settings},
};

/// What a simulator is built from.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: String,
    /// How the simulated cluster behaves.
    pub cluster: ClusterConfig,
    /// Encryption for clients that ask for it.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Where faults are armed and counters are read over HTTP; none: nowhere.
    pub admin: Option<String>,
    /// Connections are closed at their first statement after this.
    pub connection_lifetime: Duration,
}

/// A running simulator. Dropping it ends its connections.
pub struct Simulator {
    engine: Engine,
    address: SocketAddr,
    admin_address: Option<SocketAddr>,
    /// Closed by dropping it.
    _stop: watch::Sender<()>,
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
    pub(crate) connection_lifetime: Duration,
    cancellers: Mutex<HashMap<(i32, i32), Canceller>>,
}

impl Config {
    /// A free port on loopback, no encryption, no admin port, DSQL's lifetime of connections.
    #[must_use]
    pub fn new(backing: BackingUrl) -> Config {
        Config {
            listen: "127.0.0.1:0".into(),
            cluster: ClusterConfig::new(backing),
            tls: None,
            admin: None,
            connection_lifetime: Duration::from_secs(3600),
        }
    }
}

impl Simulator {
    /// Connects to the database behind it, listens, and serves until the handle is dropped.
    ///
    /// # Errors
    /// When an address cannot be listened on, or the database cannot be used.
    pub async fn start(config: Config) -> Result<Simulator> {
        let engine = Engine::start(config.cluster).await.map_err(|failure| Error::Backing { failure })?;
        let (listener, address) = listen(&config.listen).await?;
        let admin = match &config.admin {
            Some(wanted) => Some(listen(wanted).await?),
            None => None,
        };
        let (stop, stopped) = watch::channel(());
        let admin_address = admin.map(|(listener, address)| {
            tokio::spawn(admin::serve(listener, engine.clone(), stopped.clone()));
            address
        });
        let shared = Arc::new(Shared {
            engine: engine.clone(),
            tls: config.tls,
            connection_lifetime: config.connection_lifetime,
            cancellers: Mutex::default(),
        });
        tokio::spawn(accept(listener, shared, stopped));
        Ok(Simulator { engine, address, admin_address, _stop: stop })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where its admin port listens.
    #[must_use]
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    /// A connection string for any PostgreSQL client.
    #[must_use]
    pub fn url(&self) -> String {
        // A listener on all addresses is reached on loopback.
        let host = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => "127.0.0.1".into(),
            IpAddr::V6(ip) if ip.is_unspecified() => "[::1]".into(),
            IpAddr::V6(ip) => format!("[{ip}]"),
            IpAddr::V4(ip) => ip.to_string(),
        };
        format!("postgres://admin@{host}:{}/postgres", self.address.port())
    }

    /// What is made to fail.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        self.engine.faults()
    }

    /// What happened so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.engine.counters()
    }
}

async fn listen(address: &str) -> Result<(TcpListener, SocketAddr)> {
    let failed = |source| Error::Listen { address: address.to_owned(), source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stopped: watch::Receiver<()>) {
    // Dropped at the end, which ends every connection.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(serve(stream, shared.clone()))),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
            _ = stopped.changed() => return,
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let served = match startup::open(stream, shared.tls.clone()).await {
        Ok(Opening::Session { stream, parameters }) => session(stream, &parameters, &shared).await,
        Ok(Opening::Cancel { pid, secret }) => {
            let canceller = shared.cancellers.lock().get(&(pid, secret)).cloned();
            if let Some(canceller) = canceller {
                canceller.cancel().await;
            }
            Ok(())
        }
        Ok(Opening::Gone) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended");
    }
}

async fn session(
    mut stream: Box<dyn startup::Stream>,
    parameters: &[(String, String)],
    shared: &Shared,
) -> std::io::Result<()> {
    use tokio::io::AsyncWriteExt;

    let mut replies = Replies::default();
    let opened = match shared.engine.faults().connect() {
        Ok(()) => shared.engine.session(&settings(parameters)).await.map_err(Some),
        Err(refused) => Err(refused),
    };
    let session = match opened {
        Ok(session) => session,
        Err(None) => return Ok(()),
        Err(Some(failure)) => {
            tracing::info!(%failure, "a connection was refused");
            replies.failure(&failure);
            stream.write_all(&replies.buffer).await?;
            return stream.shutdown().await;
        }
    };
    let key = new_key();
    shared.cancellers.lock().insert(key, session.canceller());
    let served = Client::new(stream, session, shared).run(key).await;
    shared.cancellers.lock().remove(&key);
    served
}

fn new_key() -> (i32, i32) {
    let mut bytes = [0; 8];
    // Without randomness cancel requests may hit the wrong session; nothing else depends on it.
    let _ = getrandom::fill(&mut bytes);
    let half = |bytes: &[u8]| i32::from_be_bytes([bytes[0] & 0x7f, bytes[1], bytes[2], bytes[3]]);
    (half(&bytes[..4]), half(&bytes[4..]))
}

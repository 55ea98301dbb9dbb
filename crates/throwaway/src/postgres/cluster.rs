//! One PostgreSQL server with its data folder.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio_postgres::{Client, NoTls};

use super::{Database, Original, Schema, Settings, ready, schema::Shelf, template};
use crate::{
    Error, Result, Service,
    account::Account,
    folder,
    server::{Kind, Server},
};

/// SIGINT asks for a fast shutdown: sessions are ended, not awaited.
const KIND: Kind = Kind { name: "postgres", stop_signal: "INT", is_ready: ready::takes_sessions };

static SHARED: OnceLock<Cluster> = OnceLock::new();

/// A running PostgreSQL server that nobody else uses. Dropping it kills the server and removes its data.
#[derive(Debug)]
pub struct Cluster {
    server: Server,
    /// Numbers the databases and schemas.
    next: AtomicU32,
    shelf: tokio::sync::Mutex<Shelf>,
    version: String,
}

impl Cluster {
    /// Starts a server on a free port. Blocks for some 0.2 s, the first time on a machine for 1 s.
    ///
    /// # Errors
    /// When the programs are missing or the server does not come up.
    pub fn start(settings: Settings) -> Result<Cluster> {
        let found = Service::Postgres.find_or_install()?;
        let account = Account::for_servers()?;
        let server = Server::start(
            KIND,
            &account,
            folder::fresh(&account, settings.medium())?,
            |folder| template::copy_to(&folder.join("data"), &found, &account),
            |folder, port| command_line(&found.bin, folder, port, &settings),
        )?;
        Ok(Cluster {
            server,
            next: AtomicU32::new(0),
            shelf: tokio::sync::Mutex::default(),
            version: found.version,
        })
    }

    /// The one server of this test process, with fast settings, started by the first call. Tests share it and take
    /// a database or a schema each; nobody may stop it.
    ///
    /// # Panics
    /// When the server cannot be started: the message says what to install.
    #[must_use]
    pub fn shared() -> &'static Cluster {
        SHARED.get_or_init(|| match Cluster::start(Settings::fast()) {
            Ok(cluster) => cluster,
            Err(error) => panic!("{}", error.chain()),
        })
    }

    /// Where it listens; stays the same across restarts.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The folder of its unix socket, for a `host=` of a connection string.
    #[must_use]
    pub fn socket_dir(&self) -> &Path {
        self.server.folder()
    }

    /// The superuser; needs no password.
    #[must_use]
    pub fn user(&self) -> &'static str {
        "postgres"
    }

    /// The server's version, such as `15.18`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Process id of the server (its first process, the postmaster), of the last one if it is stopped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Connection string over TCP for a database of this server.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{}@{}/{database}", self.user(), self.address())
    }

    /// A fresh, empty database. It goes with its handle.
    ///
    /// Dropping the future midway may leave the database behind until the cluster goes.
    ///
    /// # Panics
    /// When the server does not make it.
    pub async fn database(&self) -> Database {
        self.copy_of("template0").await
    }

    /// Makes copies of a database possible: whoever is still connected to it is disconnected, and nobody may connect from then
    /// on, because a copy can only be made of a database that nobody uses.
    ///
    /// # Panics
    /// When the server does not close it.
    pub async fn original(&self, database: Database) -> Original {
        match Original::close(self, database).await {
            Ok(original) => original,
            Err(error) => panic!("{}", error.chain()),
        }
    }

    /// A fresh database with all that `original` holds.
    ///
    /// Dropping the future midway may leave the database behind until the cluster goes.
    ///
    /// # Panics
    /// When the server does not make it.
    pub async fn database_like(&self, original: &Original) -> Database {
        self.copy_of(original.name()).await
    }

    async fn copy_of(&self, template: &str) -> Database {
        let name = format!("test_{}", self.next.fetch_add(1, Ordering::Relaxed));
        match Database::create(self, name, template).await {
            Ok(database) => database,
            Err(error) => panic!("{}", error.chain()),
        }
    }

    /// A fresh, empty schema in a database shared with a few other schemas: cheaper than a database, but extensions,
    /// advisory locks and `LISTEN` channels are shared.
    ///
    /// Dropping the future midway may leave the schema behind until the cluster goes.
    ///
    /// # Panics
    /// When the server does not make it.
    pub async fn schema(&self) -> Schema {
        let name = format!("test_{}", self.next.fetch_add(1, Ordering::Relaxed));
        match Schema::create(self, name).await {
            Ok(schema) => schema,
            Err(error) => panic!("{}", error.chain()),
        }
    }

    /// Stops the server in order: sessions are ended, data is flushed.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn stop(&self) -> Result<()> {
        self.server.stop()
    }

    /// Ends the server and all its processes at once with SIGKILL, as a power cut would.
    ///
    /// # Errors
    /// When a process survives it.
    pub fn kill(&self) -> Result<()> {
        self.server.kill()
    }

    /// Starts the server again on the same port and data, after [`Cluster::stop`] or [`Cluster::kill`]; a server
    /// that still runs is stopped first.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart(&self) -> Result<()> {
        self.server.restart()
    }

    pub(super) fn shelf(&self) -> &tokio::sync::Mutex<Shelf> {
        &self.shelf
    }

    pub(super) async fn admin(&self) -> Result<Client> {
        connect(&self.url("postgres")).await
    }
}

/// A session whose background task ends with the client.
pub(super) async fn connect(url: &str) -> Result<Client> {
    let failed = |source| Error::Statement { action: "connect to the test server", source };
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.map_err(failed)?;
    tokio::spawn(connection);
    Ok(client)
}

fn command_line(bin: &Path, folder: &Path, port: u16, settings: &Settings) -> Vec<String> {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut words = vec![text(bin.join("postgres")), "-D".into(), text(folder.join("data"))];
    words.extend(["-p".into(), port.to_string(), "-k".into(), text(folder.to_path_buf())]);
    words.extend(["-c".into(), "listen_addresses=127.0.0.1".into()]);
    words.extend(settings.words());
    words
}

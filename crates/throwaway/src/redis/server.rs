//! One Redis server.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use super::{Settings, wire};
use crate::{Result, Service, account::Account, folder, folder::Medium, server, server::Kind};

/// SIGTERM makes it write what its settings ask for, then end.
const KIND: Kind = Kind { name: "redis", stop_signal: "TERM", is_ready: wire::answers_ping };

static SHARED: OnceLock<Server> = OnceLock::new();

/// A running Redis server that nobody else uses. Dropping it kills the server and removes its data.
#[derive(Debug)]
pub struct Server {
    inner: server::Server,
    /// Numbers the prefixes.
    next: AtomicU32,
    version: String,
}

impl Server {
    /// Starts a server on a free port. Blocks for a few ten milliseconds.
    ///
    /// # Errors
    /// When the programs are missing or the server does not come up.
    pub fn start(settings: Settings) -> Result<Server> {
        let found = Service::Redis.find_or_install()?;
        let account = Account::for_servers()?;
        let inner = server::Server::start(
            KIND,
            &account,
            folder::fresh(&account, Medium::Disk)?,
            |_| Ok(()),
            |folder, port| command_line(&found.bin, folder, port, &settings),
        )?;
        Ok(Server { inner, next: AtomicU32::new(0), version: found.version })
    }

    /// The one server of this test process, with volatile settings, started by the first call. Tests share it and
    /// take a [`Server::prefix`] each; nobody may stop it.
    ///
    /// # Panics
    /// When the server cannot be started: the message says what to install.
    #[must_use]
    pub fn shared() -> &'static Server {
        SHARED.get_or_init(|| match Server::start(Settings::volatile()) {
            Ok(server) => server,
            Err(error) => panic!("{}", error.chain()),
        })
    }

    /// Where it listens; stays the same across restarts.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.inner.address()
    }

    /// Its connection string.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// The server's version, such as `7.0.15`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Process id of the server, of the last one if it is stopped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.inner.pid()
    }

    /// The folder of its data.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.inner.folder()
    }

    /// A beginning for keys that no other caller got.
    #[must_use]
    pub fn prefix(&self) -> String {
        format!("test-{}-{}:", std::process::id(), self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Stops the server in order.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn stop(&self) -> Result<()> {
        self.inner.stop()
    }

    /// Ends the server at once with SIGKILL.
    ///
    /// # Errors
    /// When it survives.
    pub fn kill(&self) -> Result<()> {
        self.inner.kill()
    }

    /// Starts the server again on the same port and data; one that still runs is stopped first.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart(&self) -> Result<()> {
        self.inner.restart()
    }
}

fn command_line(bin: &Path, folder: &Path, port: u16, settings: &Settings) -> Vec<String> {
    let mut words = vec![bin.join("redis-server").to_string_lossy().into_owned()];
    words.extend(["--port".into(), port.to_string(), "--bind".into(), "127.0.0.1".into()]);
    words.extend(["--dir".into(), folder.to_string_lossy().into_owned()]);
    words.extend(settings.words());
    words
}

//! A throw-away PgBouncer in front of a cluster, in transaction mode: each transaction may meet another session.

use std::{net::SocketAddr, path::Path, sync::OnceLock};

use crate::{
    Result, Service,
    account::Account,
    folder::{self, Medium},
    postgres::{Cluster, takes_sessions},
    server::{Kind, Server},
};

/// SIGTERM ends it at once.
const KIND: Kind = Kind { name: "pgbouncer", stop_signal: "TERM", is_ready: takes_sessions };

/// PgBouncer reads its port from a file only, and the port is known last.
const START: &str = "printf '%s' \"$1\" >\"$2\" && exec \"$0\" -q \"$2\"";

static SHARED: OnceLock<PgBouncer> = OnceLock::new();

/// A running PgBouncer. Dropping it ends it.
#[derive(Debug)]
pub struct PgBouncer {
    server: Server,
}

impl PgBouncer {
    /// Starts one in front of every database of `cluster`, with so many sessions per database: fewer than clients, so that
    /// clients do meet each other's sessions.
    ///
    /// # Errors
    /// When the program is missing or does not come up.
    pub fn start(cluster: &Cluster, sessions: u16) -> Result<PgBouncer> {
        let found = Service::PgBouncer.find_or_install()?;
        let account = Account::for_servers()?;
        let server = Server::start(
            KIND,
            &account,
            folder::fresh(&account, Medium::Disk)?,
            |_| Ok(()),
            |folder, port| command_line(&found.bin, folder, port, cluster, sessions),
        )?;
        Ok(PgBouncer { server })
    }

    /// The one in front of [`Cluster::shared`], started by the first call.
    ///
    /// # Panics
    /// When it cannot be started: the message says what to install.
    #[must_use]
    pub fn shared() -> &'static PgBouncer {
        SHARED.get_or_init(|| match PgBouncer::start(Cluster::shared(), 3) {
            Ok(bouncer) => bouncer,
            Err(error) => panic!("{}", error.chain()),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Connection string for a database of the cluster behind it.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@{}/{database}", self.address())
    }
}

fn command_line(bin: &Path, folder: &Path, port: u16, cluster: &Cluster, sessions: u16) -> Vec<String> {
    let (host, behind) = (cluster.address().ip(), cluster.address().port());
    let settings = format!(
        "[databases]\n* = host={host} port={behind} user={user}\n\
         [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
         pool_mode = transaction\ndefault_pool_size = {sessions}\nmax_client_conn = 500\n",
        user = cluster.user(),
    );
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let program = text(&bin.join("pgbouncer"));
    let file = text(&folder.join("pgbouncer.ini"));
    vec!["sh".into(), "-c".into(), START.into(), program, settings, file]
}

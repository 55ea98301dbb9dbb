use std::path::PathBuf;

use clap::Args;
use leasehold_dsql_sim::rules::Level;
use leasehold_dsql_sim::{BackingUrl, Config, Mode, Simulator, server_config};
use leasehold_throwaway::postgres::{Cluster, Settings};

use crate::commands::block_on;
use crate::commands::serve::stop_signal;
use crate::failure::Failure;
use crate::log::{self, LogFormat};
use crate::output::Done;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Where to listen, as HOST:PORT; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:5433")]
    listen: String,

    /// The PostgreSQL that holds the data; without it one is started, and thrown away at the end
    #[arg(long, value_name = "URL", env = "LEASEHOLD_DSQL_SIM_BACKING", hide_env_values = true)]
    backing: Option<BackingUrl>,

    /// Which DSQL: 2025.05 or 2026.09
    #[arg(long, default_value_t)]
    level: Level,

    /// Who decides conflicts: deferred (at COMMIT, as DSQL) or native (PostgreSQL's row locks)
    #[arg(long, default_value_t)]
    mode: Mode,

    /// Take locking reads outside the documented shape, as clusters were seen to do
    #[arg(long)]
    lenient: bool,

    /// Where faults are armed and counters are read over HTTP
    #[arg(long, value_name = "HOST:PORT")]
    admin: Option<String>,

    /// Where the sequences of random faults start
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// A certificate (PEM) for clients that want encryption
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,

    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,

    /// What to log: error, warn, info, debug or trace
    #[arg(long, value_name = "FILTER", env = "LEASEHOLD_LOG", default_value = "info")]
    log_level: String,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  leasehold dsql-sim
  leasehold dsql-sim --backing postgres://postgres@localhost/app --listen 127.0.0.1:0 --level 2025.05
  leasehold dsql-sim --admin 127.0.0.1:5434 &
  curl -d '{\"name\": \"c\", \"action\": \"conflict_at_commit\", \"times\": 3}' http://127.0.0.1:5434/faults";

impl Serve {
    pub(super) fn run(self) -> Result<Done, Failure> {
        log::start(&self.log_level, LogFormat::Auto)?;
        // Held to the end: the server goes with it.
        let (_cluster, backing) = match self.backing.clone() {
            Some(backing) => (None, backing),
            None => {
                let cluster = Cluster::start(Settings::fast())?;
                tracing::info!(
                    version = cluster.version(),
                    "started a PostgreSQL that is thrown away at the end"
                );
                let backing = cluster.url("postgres").parse().expect("a cluster's URL names its host");
                (Some(cluster), backing)
            }
        };
        block_on(serve(self.config(backing)?))
    }

    fn config(self, backing: BackingUrl) -> Result<Config, Failure> {
        let mut config = Config::new(backing);
        config.listen = self.listen;
        config.admin = self.admin;
        config.cluster.level = self.level;
        config.cluster.mode = self.mode;
        config.cluster.is_strict = !self.lenient;
        config.cluster.seed = self.seed;
        if let Some((certificate, key)) = self.tls_certificate.zip(self.tls_key) {
            config.tls = Some(server_config(&certificate, &key)?);
        }
        Ok(config)
    }
}

async fn serve(config: Config) -> Result<Done, Failure> {
    // Listened for before the address is printed: whoever reads it may send a signal at once.
    let stop = stop_signal().map_err(Failure::runtime)?;
    let (level, mode, backing) = (config.cluster.level, config.cluster.mode, config.cluster.backing.clone());
    let simulator = Simulator::start(config).await?;
    println!("{}", simulator.url());
    tracing::info!(
        url = simulator.url(),
        admin_url = simulator.admin_address().map(|address| format!("http://{address}")),
        %backing,
        %level,
        %mode,
        "simulating Aurora DSQL; Ctrl-C stops it"
    );
    stop.await;
    Ok(Done::Yes)
}

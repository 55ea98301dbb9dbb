use std::time::Duration;

use clap::Args;
use leasehold_server::{Config, DEFAULT_ADDRESS, DEFAULT_STORE, Server, StoreLocation};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;
use crate::log::{self, LogFormat};

/// Run the server until Ctrl-C or SIGTERM.
///
/// Without options it listens on loopback and keeps its data in ./leasehold-data: nothing to install.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Where to listen, as HOST:PORT; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", env = "LEASEHOLD_ADDRESS", default_value = DEFAULT_ADDRESS)]
    address: String,

    /// What holds the data: a folder, memory: or postgres://…
    #[arg(
        long,
        value_name = "PATH|URL",
        env = "LEASEHOLD_STORE",
        hide_env_values = true,
        default_value = DEFAULT_STORE
    )]
    store: String,

    /// How long requests in flight may take to finish after the first signal to stop
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = leasehold_core::duration::parse)]
    stop_timeout: Duration,

    /// What to log: error, warn, info, debug or trace, or a filter such as info,leasehold_txn=debug
    #[arg(long, value_name = "FILTER", env = "LEASEHOLD_LOG", default_value = "info")]
    log_level: String,

    /// How to log; auto is text on a terminal and JSON elsewhere
    #[arg(long, value_enum, default_value_t = LogFormat::Auto)]
    log_format: LogFormat,
}

const EXAMPLES: &str = "\
Examples:
  leasehold serve
  leasehold serve --store memory: --address 127.0.0.1:0
  LEASEHOLD_STORE=postgres://app:secret@db/app leasehold serve --address 0.0.0.0:2319";

impl Serve {
    pub(crate) fn run(self) -> Result<(), Failure> {
        log::start(&self.log_level, self.log_format)?;
        let config = Config {
            store: self.store.parse::<StoreLocation>()?,
            address: self.address,
            stop_timeout: self.stop_timeout,
        };
        let runtime = Runtime::new().map_err(Failure::runtime)?;
        runtime.block_on(serve(config))
    }
}

async fn serve(config: Config) -> Result<(), Failure> {
    // Listened for before the address is printed: whoever reads it may send a signal at once.
    let stop = stop_signal().map_err(Failure::runtime)?;
    let server = Server::bind(&config).await?;
    tracing::info!(
        url = %format_args!("http://{}", server.address()),
        store = %config.store,
        version = env!("CARGO_PKG_VERSION"),
        "leasehold is serving; Ctrl-C stops it"
    );
    server.run(stop).await?;
    tracing::info!("leasehold has stopped");
    Ok(())
}

/// Ready at the first Ctrl-C or SIGTERM. A second one ends the process at once.
fn stop_signal() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("stopping: answering what is in flight; a second signal stops at once");
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            std::process::exit(1);
        });
    })
}

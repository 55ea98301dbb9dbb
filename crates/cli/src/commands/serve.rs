use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use leasehold_locks::backend::BackendLocation;
use leasehold_server::{
    ClientAuth, Config, ConfigFile, HostName, Server, StoreLocation, TlsOptions, TracingOptions,
};
use tokio::signal::unix::{SignalKind, signal};

use super::block_on;
use crate::connection::variable;
use crate::failure::Failure;
use crate::log::{self, LogFormat};
use crate::output::Done;

/// Run the server until Ctrl-C or SIGTERM.
///
/// Without options it listens on loopback and keeps its data in ./leasehold-data: nothing to install.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// A configuration file (YAML); flags and the environment are over it
    #[arg(long, value_name = "FILE", env = "LEASEHOLD_CONFIG")]
    config: Option<PathBuf>,

    /// Where to listen, as HOST:PORT; port 0 takes a free one [default: 127.0.0.1:2319]
    #[arg(long, value_name = "HOST:PORT", env = "LEASEHOLD_ADDRESS")]
    address: Option<String>,

    /// Names that requests without an API key may be sent to, beside IP addresses and localhost; separated by commas
    #[arg(long, value_name = "NAME", env = "LEASEHOLD_ALLOWED_HOSTS", value_delimiter = ',')]
    allowed_hosts: Option<Vec<HostName>>,

    /// What holds the data: a folder, memory:, postgres://… or dsql://… [default: ./leasehold-data]
    #[arg(long, value_name = "PATH|URL", env = "LEASEHOLD_STORE", hide_env_values = true)]
    store: Option<String>,

    /// Refuse to start where a folder holds no store yet, instead of creating one
    #[arg(long, env = "LEASEHOLD_MUST_EXIST")]
    must_exist: bool,

    /// What holds the locks, if not the store: also redis://…
    #[arg(long, value_name = "PATH|URL", env = "LEASEHOLD_LOCKS", hide_env_values = true)]
    locks: Option<String>,

    /// Where /health and /metrics are served, if not at the address of everything else
    #[arg(long, value_name = "HOST:PORT", env = "LEASEHOLD_ADMIN_ADDRESS")]
    admin_address: Option<String>,

    /// Whether /metrics is served at all [default: true]
    #[arg(long, value_name = "true|false", env = "LEASEHOLD_METRICS")]
    metrics: Option<bool>,

    #[command(flatten)]
    tls: TlsFlags,

    /// Where a collector takes traces (OTLP over HTTP), such as http://127.0.0.1:4318/v1/traces; not in every build
    #[arg(long, value_name = "URL", env = "LEASEHOLD_TRACING_ENDPOINT")]
    tracing_endpoint: Option<String>,

    /// How long requests in flight may take to finish after the first signal to stop [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = leasehold_core::duration::parse)]
    stop_timeout: Option<Duration>,

    /// What to log: error, warn, info, debug or trace, or a filter such as info,leasehold_txn=debug
    /// [default: info]
    #[arg(long, value_name = "FILTER", env = "LEASEHOLD_LOG")]
    log_level: Option<String>,

    /// How to log; auto is text on a terminal and JSON elsewhere [default: auto]
    #[arg(long, value_enum, env = "LEASEHOLD_LOG_FORMAT")]
    log_format: Option<LogFormat>,
}

/// TLS at the address; clear text if none of them is given.
#[derive(Debug, Default, Args)]
struct TlsFlags {
    /// A certificate chain (PEM): speak HTTPS with it; read anew when it changes
    #[arg(long, value_name = "FILE", env = "LEASEHOLD_TLS_CERTIFICATE")]
    tls_certificate: Option<PathBuf>,

    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", env = "LEASEHOLD_TLS_KEY")]
    tls_key: Option<PathBuf>,

    /// Who signs certificates of clients (PEM); without more, clients must show one
    #[arg(long, value_name = "FILE", env = "LEASEHOLD_TLS_CLIENT_CA")]
    tls_client_ca: Option<PathBuf>,

    /// Whether clients must show a certificate
    #[arg(long, value_enum, env = "LEASEHOLD_TLS_CLIENT_AUTH")]
    tls_client_auth: Option<ClientAuthFlag>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ClientAuthFlag {
    /// They are not asked
    None,
    /// One that is shown must be valid
    Optional,
    /// Who shows none is not served
    Required,
}

impl From<TlsFlags> for TlsOptions {
    fn from(flags: TlsFlags) -> Self {
        TlsOptions {
            certificate_file: flags.tls_certificate,
            key_file: flags.tls_key,
            client_ca_file: flags.tls_client_ca,
            client_auth: flags.tls_client_auth.map(|auth| match auth {
                ClientAuthFlag::None => ClientAuth::None,
                ClientAuthFlag::Optional => ClientAuth::Optional,
                ClientAuthFlag::Required => ClientAuth::Required,
            }),
            ..TlsOptions::default()
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  leasehold serve
  leasehold serve --store memory: --address 127.0.0.1:0
  LEASEHOLD_STORE=postgres://app:secret@db/app leasehold serve --address 0.0.0.0:2319";

impl Serve {
    pub(crate) fn run(mut self) -> Result<Done, Failure> {
        self.take_from_querator(variable);
        let file = self.config.as_deref().map(ConfigFile::read).transpose()?.unwrap_or_default();
        let format = self.log_format.or(file.log_handler()?.map(LogFormat::from)).unwrap_or(LogFormat::Auto);
        log::start(self.log_level.as_deref().or(file.log_level()).unwrap_or("info"), format)?;
        let file = file.with_tls(std::mem::take(&mut self.tls).into());
        let endpoint = self.tracing_endpoint.take();
        let file = file.with_tracing(TracingOptions { endpoint, ..TracingOptions::default() });
        let config = self.over(file.config()?)?;
        block_on(serve(config))
    }

    /// What was given, over what the file says.
    fn over(self, mut config: Config) -> Result<Config, Failure> {
        if let Some(store) = &self.store {
            config.store = store.parse::<StoreLocation>()?;
        }
        if let Some(locks) = &self.locks {
            config.locks.backend = Some(locks.parse::<BackendLocation>()?);
        }
        config.must_exist |= self.must_exist;
        config.address = self.address.unwrap_or(config.address);
        config.allowed_hosts = self.allowed_hosts.unwrap_or(config.allowed_hosts);
        config.admin_address = self.admin_address.or(config.admin_address);
        config.metrics_enabled = self.metrics.unwrap_or(config.metrics_enabled);
        config.stop_timeout = self.stop_timeout.unwrap_or(config.stop_timeout);
        Ok(config)
    }

    /// What Querator's variables say, where neither a flag nor a variable of ours does.
    fn take_from_querator(&mut self, variable: impl Fn(&str) -> Option<String>) {
        self.config = self.config.take().or_else(|| variable("QUERATOR_CONFIG").map(PathBuf::from));
        self.address = self.address.take().or_else(|| variable("QUERATOR_ADDRESS"));
        self.log_level = self.log_level.take().or_else(|| variable("QUERATOR_LOG_LEVEL"));
    }
}

async fn serve(config: Config) -> Result<Done, Failure> {
    // Listened for before the address is printed: whoever reads it may send a signal at once.
    let stop = stop_signal().map_err(Failure::runtime)?;
    let server = Server::bind(&config).await?;
    log::show_dropped();
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    tracing::info!(
        url = %format_args!("{scheme}://{}", server.address()),
        admin_url = server.admin_address().map(|address| format!("http://{address}")),
        test_hooks_url = server.test_hooks_address().map(|address| format!("http://{address}")),
        store = %config.store,
        version = env!("CARGO_PKG_VERSION"),
        "leasehold is serving; Ctrl-C stops it"
    );
    server.run(stop).await?;
    tracing::info!("leasehold has stopped");
    Ok(Done::Yes)
}

/// Ready at the first Ctrl-C or SIGTERM. A second one ends the process at once.
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
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
            crate::log::flush();
            std::process::exit(1);
        });
    })
}

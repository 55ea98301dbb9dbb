use std::io::{self, IsTerminal};

use clap::ValueEnum;
use leasehold_server::LogHandler;
use tracing_subscriber::EnvFilter;

use crate::failure::Failure;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LogFormat {
    /// Text on a terminal, JSON elsewhere
    Auto,
    /// One readable line per event
    Text,
    /// The same with colours, also where there is no terminal
    Color,
    /// One JSON object per line
    Json,
}

impl From<LogHandler> for LogFormat {
    fn from(handler: LogHandler) -> Self {
        match handler {
            LogHandler::Color => LogFormat::Color,
            LogHandler::Text => LogFormat::Text,
            LogHandler::Json => LogFormat::Json,
        }
    }
}

/// Says five times what the error says that follows. A filter that names it has it back.
const QUIETER: &str = "gcp_auth=error";

/// Sends the log to stderr; stdout is for data.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(format!("{QUIETER},{filter}"))
        .map_err(|error| Failure::log_filter(filter, error))?;
    let terminal = io::stderr().is_terminal();
    let coloured = terminal || matches!(format, LogFormat::Color);
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(coloured);
    match (format, terminal) {
        (LogFormat::Text | LogFormat::Color, _) | (LogFormat::Auto, true) => {
            builder.with_target(false).init();
        }
        (LogFormat::Json, _) | (LogFormat::Auto, false) => builder.json().flatten_event(true).init(),
    }
    Ok(())
}

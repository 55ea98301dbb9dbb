use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

use crate::failure::Failure;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LogFormat {
    /// Text on a terminal, JSON elsewhere
    Auto,
    /// One readable line per event
    Text,
    /// One JSON object per line
    Json,
}

/// Sends the log to stderr; stdout is for data.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(filter).map_err(|error| Failure::log_filter(filter, error))?;
    let terminal = io::stderr().is_terminal();
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(terminal);
    match (format, terminal) {
        (LogFormat::Text, _) | (LogFormat::Auto, true) => builder.with_target(false).init(),
        (LogFormat::Json, _) | (LogFormat::Auto, false) => builder.json().flatten_event(true).init(),
    }
    Ok(())
}

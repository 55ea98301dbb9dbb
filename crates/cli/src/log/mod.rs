mod sink;

use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use clap::ValueEnum;
use leasehold_server::LogHandler;
use tracing_subscriber::EnvFilter;

use self::sink::Sink;
use crate::failure::Failure;

/// The log of this process, once it has one.
static SINK: OnceLock<Sink> = OnceLock::new();

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

/// Sends the log to stderr; stdout is for data. Nothing waits for its reader.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(format!("{QUIETER},{filter}"))
        .map_err(|error| Failure::log_filter(filter, error))?;
    let terminal = io::stderr().is_terminal();
    let coloured = terminal || matches!(format, LogFormat::Color);
    let started = Sink::start(io::stderr()).map_err(Failure::runtime)?;
    let sink = SINK.get_or_init(|| started).clone();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || sink.clone())
        // It would be written to stderr, and end the thread where stderr has no reader.
        .log_internal_errors(false)
        .with_ansi(coloured);
    match (format, terminal) {
        (LogFormat::Text | LogFormat::Color, _) | (LogFormat::Auto, true) => {
            builder.with_target(false).init();
        }
        (LogFormat::Json, _) | (LogFormat::Auto, false) => builder.json().flatten_event(true).init(),
    }
    Ok(())
}

/// Shows among the metrics how many lines were dropped.
pub(crate) fn show_dropped() {
    if let Some(sink) = SINK.get() {
        sink.show_dropped();
    }
}

/// Gives the last lines a moment to be written.
pub(crate) fn flush() {
    if let Some(sink) = SINK.get() {
        sink.drain();
    }
}

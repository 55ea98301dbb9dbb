//! `logging:` of the file.

use serde::Deserialize;

use crate::{Error, Result};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Logging {
    handler: Option<String>,
    level: Option<String>,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogHandler {
    /// Lines with colours.
    Color,
    /// Lines.
    Text,
    /// An object per line.
    Json,
}

impl LogHandler {
    /// As files name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LogHandler::Color => "color",
            LogHandler::Text => "text",
            LogHandler::Json => "json",
        }
    }
}

impl Logging {
    pub(super) fn handler(&self) -> Result<Option<LogHandler>> {
        let Some(given) = &self.handler else { return Ok(None) };
        match given.to_ascii_lowercase().as_str() {
            "" => Ok(None),
            "color" => Ok(Some(LogHandler::Color)),
            "text" => Ok(Some(LogHandler::Text)),
            "json" => Ok(Some(LogHandler::Json)),
            _ => Err(Error::LogHandler { handler: given.clone() }),
        }
    }

    /// Querator takes what it does not know as `info`.
    pub(super) fn level(&self) -> Option<&'static str> {
        let given = self.level.as_ref()?.to_ascii_lowercase();
        let known = ["error", "warn", "info", "debug", "trace"];
        Some(known.into_iter().find(|level| *level == given).unwrap_or("info"))
    }
}

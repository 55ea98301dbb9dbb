//! What operators ask a server: whether it is well, and its figures. Where it has an address for operators, there.

use http::StatusCode;
use serde_json::Value;

use crate::{Client, Result};

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether its store answers.
    pub passes: bool,
    /// The server's release; empty if it does not say.
    pub version: String,
    /// All that it said, as health+json.
    pub report: Value,
}

impl Client {
    /// How the server is. A server whose store does not answer is an answer, not an error.
    pub async fn health(&self) -> Result<Health> {
        let answers = [StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE];
        let (status, body) = self.caller.get("/health", &answers).await?;
        let report: Value = serde_json::from_slice(&body).map_err(|error| self.caller.unreadable(error))?;
        let version = report["version"].as_str().unwrap_or_default().to_owned();
        Ok(Health { passes: status == StatusCode::OK && report["status"] == "pass", version, report })
    }

    /// The server's figures as Prometheus text.
    pub async fn metrics(&self) -> Result<String> {
        let (_, body) = self.caller.get("/metrics", &[StatusCode::OK]).await?;
        String::from_utf8(body.to_vec()).map_err(|error| self.caller.unreadable(error))
    }
}

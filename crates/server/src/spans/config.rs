use axum::http::Uri;
use serde::Deserialize;

use crate::{Error, Result};

/// Where traces go.
#[derive(Debug, Clone, PartialEq)]
pub struct TracingConfig {
    /// Where a collector takes OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`.
    pub endpoint: String,
    /// What the server is called in traces.
    pub service_name: String,
    /// How many of the traces that begin here are kept, from 0 to 1. Of those that a client began, as many as it says.
    pub sample_ratio: f64,
}

/// `tracing:` of the file, and what flags say of the same.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TracingOptions {
    /// As in [`TracingConfig`].
    pub endpoint: Option<String>,
    /// As in [`TracingConfig`].
    pub service_name: Option<String>,
    /// As in [`TracingConfig`].
    pub sample_ratio: Option<f64>,
}

impl TracingOptions {
    /// Each of these, or else the other's.
    #[must_use]
    pub fn or(self, other: TracingOptions) -> Self {
        TracingOptions {
            endpoint: self.endpoint.or(other.endpoint),
            service_name: self.service_name.or(other.service_name),
            sample_ratio: self.sample_ratio.or(other.sample_ratio),
        }
    }

    /// None if no endpoint is named.
    pub(crate) fn config(self) -> Result<Option<TracingConfig>> {
        let Some(endpoint) = self.endpoint else { return Ok(None) };
        if !is_endpoint(&endpoint) {
            return Err(Error::TracingEndpoint);
        }
        let sample_ratio = self.sample_ratio.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&sample_ratio) {
            return Err(Error::TracingSampleRatio { given: sample_ratio });
        }
        let service_name = self.service_name.unwrap_or_else(|| "leasehold".to_owned());
        Ok(Some(TracingConfig { endpoint, service_name, sample_ratio }))
    }
}

/// In clear text, to a collector beside the server: it is the collector that knows keys and certificates.
fn is_endpoint(text: &str) -> bool {
    text.parse::<Uri>().is_ok_and(|uri| {
        uri.scheme_str() == Some("http") && uri.host().is_some() && !text.contains('@') && uri.path() != "/"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<Option<TracingConfig>> {
        serde_saphyr::from_str::<TracingOptions>(text).expect(text).config()
    }

    #[test]
    fn endpoint_is_enough() {
        let read = config("endpoint: http://127.0.0.1:4318/v1/traces\n").expect("is valid").expect("is said");
        assert_eq!((read.service_name.as_str(), read.sample_ratio), ("leasehold", 1.0));
        assert_eq!(config("service-name: x\n").expect("is valid"), None);
    }

    #[test]
    fn other_endpoints_and_ratios_are_refused() {
        for text in
            ["https://h/v1/traces", "http://h", "h:4318", "http://u:hunter2@h/v1/traces", "grpc://h/x"]
        {
            let refused = config(&format!("endpoint: {text}\n")).expect_err(text);
            assert_eq!(refused.code(), "server.tracing_endpoint");
            assert!(!refused.to_string().contains("hunter2"));
        }
        for ratio in ["1.5", "-0.1", ".nan"] {
            let text = format!("endpoint: http://h/v1/traces\nsample-ratio: {ratio}\n");
            assert_eq!(config(&text).expect_err(ratio).code(), "server.tracing_sample_ratio");
        }
    }
}

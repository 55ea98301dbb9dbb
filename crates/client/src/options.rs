use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// Optional arguments of a client.
#[derive(Debug, Clone)]
pub struct Options {
    /// Sent with every request; none asks as nobody in particular. Never printed.
    pub api_key: Option<SecretString>,
    /// How long an answer may take. One to a request that says how long it waits may take a little longer than that.
    pub timeout: Duration,
    /// Certificates (PEM) to trust in place of the system's.
    pub ca_file: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options { api_key: None, timeout: Duration::from_secs(30), ca_file: None }
    }
}

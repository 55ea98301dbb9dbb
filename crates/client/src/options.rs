use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use crate::TraceParent;

/// Optional arguments of a client.
#[derive(Debug, Clone)]
pub struct Options {
    /// Sent with every request; none asks as nobody in particular. Never printed.
    pub api_key: Option<SecretString>,
    /// How long an answer may take. One to a request that says how long it waits may take a little longer than that.
    pub timeout: Duration,
    /// Certificates (PEM) to trust in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// Shown to servers that ask for a certificate.
    pub certificate: Option<ClientCertificate>,
    /// The trace that requests belong to.
    pub trace_parent: Option<TraceParent>,
}

/// What a client proves itself with before it says anything. Files, both PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate and those between it and the authority.
    pub certificate_file: PathBuf,
    /// Its private key.
    pub key_file: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            api_key: None,
            timeout: Duration::from_secs(30),
            ca_file: None,
            certificate: None,
            trace_parent: None,
        }
    }
}

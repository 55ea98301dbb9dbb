//! A server certificate for clients that insist on encryption.

use std::{path::Path, sync::Arc};

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use crate::{Error, Result};

/// Reads a certificate chain and its key from PEM files.
///
/// # Errors
/// [`Error::Certificate`] when a file cannot be read or the two do not fit.
pub fn server_config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>> {
    let unusable = |reason: String| Error::Certificate { reason };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(error.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| unusable(error.to_string()))?;
    Ok(Arc::new(config))
}

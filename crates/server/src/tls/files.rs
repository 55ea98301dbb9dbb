//! The files: what is in them, and whether that has changed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};

use super::{ClientAuth, TlsConfig, TlsVersion};
use crate::{Error, Result};

/// What tells one state of the files from another. A file that is not there has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp(Vec<Option<(SystemTime, u64, u64)>>);

impl Stamp {
    pub(super) fn of(config: &TlsConfig) -> Self {
        let files = [&config.certificate_file, &config.key_file].into_iter().chain(&config.client_ca_file);
        Stamp(files.map(|file| stamp(file)).collect())
    }
}

/// Its inode, too: a file that is put in the place of another may be as old and as long.
fn stamp(file: &Path) -> Option<(SystemTime, u64, u64)> {
    let found = fs::metadata(file).ok()?;
    Some((found.modified().ok()?, found.len(), found.ino()))
}

pub(super) fn load(config: &TlsConfig) -> Result<ServerConfig> {
    let chain = certificates("tls.certificate-file", &config.certificate_file)?;
    let key = PrivateKeyDer::from_pem_file(&config.key_file).map_err(|error| match error {
        pem::Error::Io(error) => unusable("tls.key-file", &config.key_file, error),
        // Others may repeat a line of it.
        _ => unusable("tls.key-file", &config.key_file, "it has no private key in PEM"),
    })?;
    let provider = Arc::new(ring::default_provider());
    let versions: &[_] = match config.min_version {
        TlsVersion::Tls12 => &[&TLS13, &TLS12],
        TlsVersion::Tls13 => &[&TLS13],
    };
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("the provider has these versions");
    let builder = match client_verifier(config)? {
        Some(verifier) => builder.with_client_cert_verifier(verifier),
        None => builder.with_no_client_auth(),
    };
    let mut loaded =
        builder.with_single_cert(chain, key).map_err(|error| Error::TlsPair { reason: error.to_string() })?;
    loaded.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(loaded)
}

fn client_verifier(config: &TlsConfig) -> Result<Option<Arc<dyn ClientCertVerifier>>> {
    let Some(file) = config.client_ca_file.as_ref().filter(|_| config.client_auth != ClientAuth::None) else {
        return Ok(None);
    };
    let field = "tls.client-ca-file";
    let mut roots = RootCertStore::empty();
    for certificate in certificates(field, file)? {
        roots.add(certificate).map_err(|error| unusable(field, file, error))?;
    }
    let builder =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(ring::default_provider()));
    let builder = match config.client_auth {
        ClientAuth::Optional => builder.allow_unauthenticated(),
        _ => builder,
    };
    builder.build().map(Some).map_err(|error| unusable(field, file, error))
}

fn certificates(field: &'static str, file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| unusable(field, file, error))?;
    match read.is_empty() {
        true => Err(unusable(field, file, "it has no certificate")),
        false => Ok(read),
    }
}

/// Never what is in the file.
fn unusable(field: &'static str, file: &Path, reason: impl ToString) -> Error {
    Error::TlsFile { field, path: file.to_owned(), reason: reason.to_string() }
}

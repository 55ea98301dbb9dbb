//! From a host name to bytes that flow, encrypted if asked for.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::location::Node;
use crate::{Error, Result};

/// What the driver speaks over.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Socket for T {}

/// Opens sockets to nodes.
#[derive(Clone)]
pub(super) struct Dialler(Option<TlsConnector>);

impl Dialler {
    pub(super) fn new(tls: bool, root_cert: Option<&Path>) -> Result<Self> {
        if !tls {
            return Ok(Dialler(None));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| bad(error.to_string()))?
            .with_root_certificates(trusted(root_cert)?)
            .with_no_client_auth();
        Ok(Dialler(Some(TlsConnector::from(Arc::new(config)))))
    }

    pub(super) async fn dial(&self, node: &Node) -> io::Result<Box<dyn Socket>> {
        let socket = TcpStream::connect((node.host.as_str(), node.port)).await?;
        // Requests are smaller than a packet: waiting for more of them would only add latency.
        socket.set_nodelay(true)?;
        let Some(tls) = &self.0 else { return Ok(Box::new(socket)) };
        let name = ServerName::try_from(node.host.clone()).map_err(io::Error::other)?;
        Ok(Box::new(tls.connect(name, socket).await?))
    }
}

fn trusted(file: Option<&Path>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(path) => {
            let unreadable = |error: &dyn std::fmt::Display| bad(format!("cannot be read: {error}"));
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))? {
                let certificate = certificate.map_err(|error| unreadable(&error))?;
                roots.add(certificate).map_err(|error| unreadable(&error))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    match roots.is_empty() {
        true => Err(bad("names no certificate to trust, nor does this system".to_owned())),
        false => Ok(roots),
    }
}

fn bad(reason: String) -> Error {
    Error::BadConfig { field: "tls_root_cert", reason }
}

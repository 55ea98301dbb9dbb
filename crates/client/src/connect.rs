//! Connections in clear text and over TLS.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::client::WantsClientCert;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::{ClientCertificate, Error, Result};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

type Broken = Box<dyn std::error::Error + Send + Sync>;

/// Opens connections; over TLS where it was given certificates to trust.
#[derive(Clone)]
pub(crate) struct Connector {
    http: HttpConnector,
    tls: Option<TlsConnector>,
}

impl Connector {
    pub(crate) fn clear_text() -> Self {
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(CONNECT_TIMEOUT));
        http.set_nodelay(true);
        // Otherwise it refuses https:// before we see it.
        http.enforce_http(false);
        Connector { http, tls: None }
    }

    pub(crate) fn encrypted(roots: RootCertStore) -> Self {
        Connector::over_tls(client_config(roots).with_no_client_auth())
    }

    /// As [`Connector::encrypted`], with a certificate for servers that ask for one.
    pub(crate) fn certified(roots: RootCertStore, certificate: &ClientCertificate) -> Result<Self> {
        let ClientCertificate { certificate_file, key_file } = certificate;
        let refused = |path: &Path, reason: String| Error::Certificate { path: path.to_owned(), reason };
        let chain =
            CertificateDer::pem_file_iter(certificate_file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let chain = chain.map_err(|error| refused(certificate_file, error.to_string()))?;
        let key = PrivateKeyDer::from_pem_file(key_file).map_err(|error| match error {
            pem::Error::Io(error) => refused(key_file, error.to_string()),
            // Others may repeat a line of it.
            _ => refused(key_file, "it has no private key in PEM".to_owned()),
        })?;
        let config = client_config(roots)
            .with_client_auth_cert(chain, key)
            .map_err(|error| refused(certificate_file, error.to_string()))?;
        Ok(Connector::over_tls(config))
    }

    fn over_tls(config: ClientConfig) -> Self {
        Connector { tls: Some(TlsConnector::from(Arc::new(config))), ..Connector::clear_text() }
    }
}

fn client_config(roots: RootCertStore) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions that rustls calls safe")
        .with_root_certificates(roots)
}

/// What the system trusts. Nothing, where it has no certificates: every handshake then fails and says so.
pub(crate) fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// What a file of PEM certificates trusts.
pub(crate) fn roots_of(path: &Path) -> Result<RootCertStore> {
    let refused = |reason: String| Error::CaFile { path: path.to_owned(), reason };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))? {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        roots.add(certificate).map_err(|error| refused(error.to_string()))?;
    }
    match roots.is_empty() {
        true => Err(refused("it has no certificate".to_owned())),
        false => Ok(roots),
    }
}

/// A connection of either kind.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Service<Uri> for Connector {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = Broken;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Broken>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        self.http.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let connecting = self.http.call(uri);
        let tls = self.tls.clone();
        Box::pin(async move {
            let tcp = connecting.await?.into_inner();
            let stream: Box<dyn Stream> = match tls {
                None => Box::new(tcp),
                Some(tls) => {
                    let handshake = tls.connect(ServerName::try_from(host)?, tcp);
                    Box::new(tokio::time::timeout(CONNECT_TIMEOUT, handshake).await??)
                }
            };
            Ok(TokioIo::new(stream))
        })
    }
}

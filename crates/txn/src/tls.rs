//! Which server certificates are trusted: the `sslmode` values of libpq, on rustls.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{ConnectionString, Error, Result};

/// How much of TLS is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SslMode {
    Disable,
    /// TLS if the server has it, unverified. `allow` is read as this: it would try the clear text first.
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl SslMode {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text {
            "disable" => Ok(Self::Disable),
            "allow" | "prefer" => Ok(Self::Prefer),
            "require" => Ok(Self::Require),
            "verify-ca" => Ok(Self::VerifyCa),
            "verify-full" => Ok(Self::VerifyFull),
            _ => Err(Error::BadConfig {
                field: "sslmode",
                reason: "must be disable, allow, prefer, require, verify-ca or verify-full".to_owned(),
            }),
        }
    }

    pub(crate) const fn for_driver(self) -> tokio_postgres::config::SslMode {
        match self {
            Self::Disable => tokio_postgres::config::SslMode::Disable,
            Self::Prefer => tokio_postgres::config::SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => tokio_postgres::config::SslMode::Require,
        }
    }
}

/// The connector that a connection string asks for.
pub(crate) fn connector(connection: &ConnectionString) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::BadConfig { field: "sslmode", reason: error.to_string() })?;
    let roots = || trusted(connection.ssl_root_cert().as_deref());
    let trust = match connection.ssl_mode()? {
        // As libpq has it: naming certificates is asking for them to be checked.
        SslMode::Require if connection.has_ssl_root_cert() => Trust::Authority(roots()?),
        SslMode::Disable | SslMode::Prefer | SslMode::Require => Trust::Anyone,
        SslMode::VerifyCa => Trust::Authority(roots()?),
        SslMode::VerifyFull => {
            let config = builder.with_root_certificates(roots()?).with_no_client_auth();
            return Ok(negotiating(config, connection));
        }
    };
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier { trust, provider }))
        .with_no_client_auth();
    Ok(negotiating(config, connection))
}

/// A server asked for TLS without the usual preamble knows what to speak from this name alone.
fn negotiating(mut config: ClientConfig, connection: &ConnectionString) -> MakeRustlsConnect {
    if connection.negotiates_directly() {
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    MakeRustlsConnect::new(config)
}

fn trusted(file: Option<&Path>) -> Result<RootCertStore> {
    let bad = |reason: String| Error::BadConfig { field: "sslrootcert", reason };
    let mut roots = RootCertStore::empty();
    match file {
        Some(path) => {
            let certificates = CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
                .map_err(|error| bad(format!("{} cannot be read: {error}", path.display())))?;
            for certificate in certificates {
                roots.add(certificate).map_err(|error| bad(format!("{}: {error}", path.display())))?;
            }
            if roots.is_empty() {
                return Err(bad(format!("{} has no certificate in it", path.display())));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err(bad("is not given, and this system trusts no certificate".to_owned()));
            }
        }
    }
    Ok(roots)
}

#[derive(Debug)]
enum Trust {
    /// Encryption against listeners only.
    Anyone,
    /// The certificate must descend from one of these; its name does not matter.
    Authority(RootCertStore),
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        if let Trust::Authority(roots) = &self.trust {
            verify_server_cert_signed_by_trust_anchor(
                &ParsedCertificate::try_from(end_entity)?,
                roots,
                intermediates,
                now,
                self.provider.signature_verification_algorithms.all,
            )?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

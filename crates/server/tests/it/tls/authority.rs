use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use leasehold_server::{ClientAuth, Config, TlsConfig, TlsVersion};
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};

/// Issues certificates, and has the files of one for `localhost`.
pub(crate) struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

/// A certificate and its key.
pub(crate) struct Issued {
    certificate: Certificate,
    key: KeyPair,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "an authority of tests");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("signs");
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("ca.pem"), certificate.pem()).expect("writes");
        let authority = Authority { certificate, issuer: Issuer::new(params, key), folder };
        authority.write_new_certificate();
        authority
    }

    pub(crate) fn issued(&self, name: &str) -> Issued {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        Issued { certificate: params.signed_by(&key, &self.issuer).expect("signs"), key }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn ca_file(&self) -> PathBuf {
        self.file("ca.pem")
    }

    /// One file after the other, as most tools do it.
    pub(crate) fn write_new_certificate(&self) {
        let issued = self.issued("localhost");
        fs::write(self.file("certificate.pem"), issued.certificate.pem()).expect("writes");
        fs::write(self.file("key.pem"), issued.key.serialize_pem()).expect("writes");
    }

    pub(crate) fn write_broken_certificate(&self) {
        fs::write(self.file("certificate.pem"), "-----BEGIN CERTIFICATE-----\nbroken\n").expect("writes");
    }

    /// The same, with TLS.
    pub(crate) fn config(&self, config: Config) -> Config {
        let tls = TlsConfig {
            certificate_file: self.file("certificate.pem"),
            key_file: self.file("key.pem"),
            client_ca_file: None,
            client_auth: ClientAuth::None,
            min_version: TlsVersion::Tls13,
            reload_interval: Duration::from_secs(10),
        };
        Config { tls: Some(tls), ..config }
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.der().clone()).expect("a certificate");
        roots
    }

    /// A client that believes this authority and offers these protocols.
    pub(crate) fn client(&self, protocols: &[&str]) -> ClientConfig {
        let mut client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .expect("a version")
            .with_root_certificates(self.roots())
            .with_no_client_auth();
        client.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        client
    }

    /// A client that also shows a certificate.
    pub(crate) fn client_with(&self, protocols: &[&str], shown: &Issued) -> ClientConfig {
        let key = PrivateKeyDer::try_from(shown.key.serialize_der()).expect("a key");
        let mut client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .expect("a version")
            .with_root_certificates(self.roots())
            .with_client_auth_cert(vec![shown.certificate.der().clone()], key)
            .expect("they belong together");
        client.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        client
    }

    /// A client that speaks TLS 1.2 alone.
    pub(crate) fn old_client(&self) -> ClientConfig {
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS12])
            .expect("a version")
            .with_root_certificates(self.roots())
            .with_no_client_auth()
    }
}

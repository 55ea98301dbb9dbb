//! Every `sslmode` against a server whose certificate is known, unknown, or for another name.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use leasehold_core::Class;
use leasehold_testkit::postgres::Cluster;
use leasehold_txn::{Config, Error, Pool, Statement};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::fixture::{TEST, eager};

/// An authority of the test's own, and the folder its certificate lies in.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("root.crt"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    fn root(&self) -> String {
        self.folder.path().join("root.crt").display().to_string()
    }

    /// A front that speaks only TLS, with a certificate for `localhost`, before the shared server.
    async fn front(&self) -> SocketAddr {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["localhost".to_owned()])
            .unwrap()
            .signed_by(&key, &self.issuer)
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from(certificate)],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let mut request = [0; 8];
                    client.read_exact(&mut request).await?;
                    if request[4..] != 80_877_103_u32.to_be_bytes() {
                        return Ok(()); // Not the request for TLS: the connection closes.
                    }
                    client.write_all(b"S").await?;
                    let mut client = acceptor.accept(client).await?;
                    let mut server = TcpStream::connect(Cluster::shared().address()).await?;
                    copy_bidirectional(&mut client, &mut server).await.map(drop)
                });
            }
        });
        address
    }
}

async fn ping(host: &str, address: SocketAddr, rest: &str) -> Result<(), Error> {
    let text = format!(
        "host={host} hostaddr={} port={} user={} dbname=postgres {rest}",
        address.ip(),
        address.port(),
        Cluster::shared().user()
    );
    let pool = Pool::new(Config::new(text.parse().unwrap()))?;
    Statement::read(TEST, "SELECT 1").query(&pool, &eager(1), &[]).await.map(drop)
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn each_mode_trusts_what_it_should() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let address = ours.front().await;
    let (known, unknown) = (ours.root(), theirs.root());
    let refused = Some("txn.tls_failed");
    for (host, rest, code) in [
        ("localhost", "sslmode=prefer".to_owned(), None),
        ("localhost", "sslmode=allow".to_owned(), None),
        ("localhost", "sslmode=require".to_owned(), None),
        ("elsewhere", "sslmode=require".to_owned(), None),
        ("elsewhere", format!("sslmode=require sslrootcert={known}"), None),
        ("localhost", format!("sslmode=require sslrootcert={unknown}"), refused),
        ("elsewhere", format!("sslmode=verify-ca sslrootcert={known}"), None),
        ("localhost", format!("sslmode=verify-ca sslrootcert={unknown}"), refused),
        ("localhost", format!("sslmode=verify-full sslrootcert={known}"), None),
        ("elsewhere", format!("sslmode=verify-full sslrootcert={known}"), refused),
        ("localhost", format!("sslmode=verify-full sslrootcert={unknown}"), refused),
    ] {
        let answer = ping(host, address, &rest).await;
        assert_eq!(answer.as_ref().err().map(Error::code), code, "{host} {rest}: {answer:?}");
        if let Err(error) = answer {
            assert_eq!(error.class(), Class::Rejected);
        }
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn server_without_tls_is_used_only_when_that_is_allowed() {
    let address = Cluster::shared().address();
    for (mode, code) in
        [("disable", None), ("allow", None), ("prefer", None), ("require", Some("txn.tls_failed"))]
    {
        let answer = ping("localhost", address, &format!("sslmode={mode}")).await;
        assert_eq!(answer.as_ref().err().map(Error::code), code, "{mode}: {answer:?}");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn server_that_insists_on_tls_is_not_spoken_to_in_the_clear() {
    let address = Authority::new().front().await;
    let error = ping("localhost", address, "sslmode=disable").await.unwrap_err();
    assert_eq!(error.code(), "txn.connect_failed");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn unusable_certificate_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let absent = folder.path().join("absent.crt");
    let empty = write("empty.crt", "");
    let broken = write("broken.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    for path in [absent.as_path(), empty.as_path(), broken.as_path()] {
        let path: &Path = path;
        let rest = format!("sslmode=verify-full sslrootcert={}", path.display());
        let error = ping("localhost", Cluster::shared().address(), &rest).await.unwrap_err();
        assert_eq!(error.code(), "txn.bad_config");
        let message = error.to_string();
        assert!(
            message.starts_with("sslrootcert: ") && message.contains(&path.display().to_string()),
            "{message}"
        );
    }
}

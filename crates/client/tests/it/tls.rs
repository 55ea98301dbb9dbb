//! `https://`: whom the client believes.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use leasehold_api::queue::QueuesListRequest;
use leasehold_client::{Client, ClientCertificate, Error, Options};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

/// Answers every request on every connection with an empty list, under a certificate for this name.
async fn serve(name: &str) -> (SocketAddr, tempfile::NamedTempFile) {
    serve_as(name, None).await
}

/// As [`serve`], only to clients with this certificate.
async fn serve_to(client: CertificateDer<'static>) -> (SocketAddr, tempfile::NamedTempFile) {
    serve_as("localhost", Some(client)).await
}

async fn serve_as(
    name: &str,
    client: Option<CertificateDer<'static>>,
) -> (SocketAddr, tempfile::NamedTempFile) {
    let issued = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("the usual versions");
    let config = match client {
        Some(client) => {
            let mut roots = RootCertStore::empty();
            roots.add(client).expect("a certificate");
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            config.with_client_cert_verifier(verifier.expect("one root"))
        }
        None => config.with_no_client_auth(),
    };
    let config = config.with_single_cert(vec![issued.cert.der().clone()], key).expect("they belong together");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("accepts");
            // A client that does not believe the certificate goes away here.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut question = [0; 4096];
            let _ = stream.read(&mut question).await;
            let answer =
                b"HTTP/1.1 200 OK\r\nContent-Type: application/protobuf\r\nContent-Length: 0\r\n\r\n";
            let _ = stream.write_all(answer).await;
            let _ = stream.shutdown().await;
        }
    });
    let mut file = tempfile::NamedTempFile::new().expect("temporary file");
    file.write_all(issued.cert.pem().as_bytes()).expect("writes");
    (address, file)
}

async fn list(endpoint: &str, ca_file: Option<&Path>) -> Result<usize, Error> {
    let options = Options { ca_file: ca_file.map(Path::to_owned), ..Options::default() };
    let client = Client::new(endpoint.parse()?, &options)?;
    Ok(client.list_queues(&QueuesListRequest::default()).await?.items.len())
}

#[tokio::test]
async fn certificate_is_believed_if_it_is_in_the_file_and_has_the_name() {
    let (address, file) = serve("localhost").await;
    let endpoint = format!("https://localhost:{}", address.port());
    assert_eq!(list(&endpoint, Some(file.path())).await.expect("answers"), 0);

    let unknown = list(&endpoint, None).await.expect_err("the system does not know it");
    assert!(matches!(unknown, Error::Connect { .. }), "nothing was sent: {unknown:?}");
    let other_name = list(&format!("https://127.0.0.1:{}", address.port()), Some(file.path())).await;
    assert!(matches!(other_name, Err(Error::Connect { .. })), "{other_name:?}");
}

#[tokio::test]
async fn certificate_is_shown_to_a_server_that_requires_one() {
    let authority = rcgen::generate_simple_self_signed(["client".to_owned()]).expect("a certificate");
    let (address, file) = serve_to(authority.cert.der().clone()).await;
    let endpoint = format!("https://localhost:{}", address.port());
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate_file, key_file) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
    std::fs::write(&certificate_file, authority.cert.pem()).expect("writes");
    std::fs::write(&key_file, authority.signing_key.serialize_pem()).expect("writes");
    let list = async |certificate| {
        let options = Options { ca_file: Some(file.path().to_owned()), certificate, ..Options::default() };
        let client = Client::new(endpoint.parse()?, &options)?;
        client.list_queues(&QueuesListRequest::default()).await
    };
    let shown = ClientCertificate { certificate_file: certificate_file.clone(), key_file };
    assert_eq!(list(Some(shown)).await.expect("answers").items.len(), 0);
    list(None).await.expect_err("the server requires one");
    let no_key = ClientCertificate { certificate_file: certificate_file.clone(), key_file: certificate_file };
    let refused = list(Some(no_key)).await.expect_err("has no key");
    assert_eq!(refused.code(), "client.certificate", "{refused}");
}

#[tokio::test]
async fn files_without_certificates_are_refused() {
    let empty = tempfile::NamedTempFile::new().expect("temporary file");
    for path in [empty.path(), Path::new("/no/such/file")] {
        let refused = list("https://localhost:1", Some(path)).await.expect_err("has none");
        assert_eq!(refused.code(), "client.ca_file", "{refused}");
    }
}

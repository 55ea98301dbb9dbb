//! TLS in front of Redis.

use std::net::SocketAddr;
use std::sync::Arc;

use leasehold_core::Class;
use leasehold_locks::LockBackend;
use leasehold_locks::backend::redis::{RedisBackend, RedisConfig};
use leasehold_testkit::redis::Server;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::raw::{config, request};

/// Ends TLS and passes the bytes on; gives its address and its certificate.
async fn terminator(upstream: SocketAddr) -> (SocketAddr, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], private)
        .expect("a pair");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("address");
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut client) = acceptor.accept(client).await else { return };
                let Ok(mut server) = TcpStream::connect(upstream).await else { return };
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (address, made.cert.pem())
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn trusted_certificate_is_spoken_to_and_an_unknown_one_is_not() {
    let server = Server::shared();
    let (address, pem) = terminator(server.address()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("root.pem");
    std::fs::write(&root, pem).expect("written");
    let prefix = server.prefix();
    let url = format!("rediss://localhost:{}", address.port());
    let trusting = RedisConfig { tls_root_cert: Some(root.clone()), ..config(&url, &prefix) };
    let backend = RedisBackend::connect(&trusting).await.expect("is trusted");
    let asked = request("billing");
    backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    assert!(backend.release(&asked.lock_id).await.expect("answers").is_released());

    let (stranger, _) = terminator(server.address()).await;
    let url = format!("rediss://localhost:{}", stranger.port());
    let trusting = RedisConfig { tls_root_cert: Some(root.clone()), ..config(&url, &prefix) };
    let error = RedisBackend::connect(&trusting).await.expect_err("is unknown");
    assert_eq!(error.class(), Class::Unavailable, "{error:?}");

    let misnamed = format!("rediss://127.0.0.1:{}", address.port());
    let trusting = RedisConfig { tls_root_cert: Some(root), ..config(&misnamed, &prefix) };
    RedisBackend::connect(&trusting).await.expect_err("has another name");
}

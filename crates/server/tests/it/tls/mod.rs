//! TLS and HTTP/2 over real sockets.

mod authority;
mod http2;
mod session;

use std::time::Duration;

use leasehold_server::{ClientAuth, Server, TlsVersion};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use self::authority::Authority;
use self::session::Session;
use crate::wire::{Running, config};

const PATIENT: Duration = Duration::from_secs(60);
/// Connections that must see the old certificate: several intervals of reloading pass meanwhile.
const LOOKS: usize = 30;

#[tokio::test]
async fn both_versions_of_http_are_offered_and_served() {
    let authority = Authority::new();
    let server = Running::start(authority.config(config("memory:"))).await;
    for (offered, spoken) in [
        (&["h2", "http/1.1"][..], Some("h2")),
        (&["http/1.1"], Some("http/1.1")),
        (&["h2"], Some("h2")),
        (&[], None),
    ] {
        let mut session =
            Session::open(server.address, authority.client(offered)).await.expect("shakes hands");
        assert_eq!(session.protocol.as_deref(), spoken);
        let (status, body) = session.post("/v1/namespaces.list", "{}").await;
        assert_eq!(status, 200, "{offered:?}: {body}");
        let (status, body) = session.post("/v1/no-such", "{}").await;
        assert_eq!(status, 501, "{offered:?}: {body}");
    }
    let nobody = Session::open(server.address, authority.client(&["smtp"])).await;
    assert!(nobody.is_err(), "no protocol in common");
}

#[tokio::test]
async fn queue_works_over_http2_with_tls() {
    let authority = Authority::new();
    let server = Running::start(authority.config(config("memory:"))).await;
    let mut session = Session::open(server.address, authority.client(&["h2"])).await.expect("shakes hands");
    let create = json!({
        "queue_name": "q", "lease_timeout": "1m", "expire_timeout": "1h", "requested_partitions": 1,
    });
    let payload = "x".repeat(300_000);
    let produce = json!({"queue_name": "q", "request_timeout": "5s", "items": [{"utf8": payload}]});
    let lease = json!({"queue_name": "q", "client_id": "c", "batch_size": 1, "request_timeout": "5s"});
    for (path, body) in [("/v1/queues.create", &create), ("/v1/queue.produce", &produce)] {
        assert_eq!(session.post(path, &body.to_string()).await, (200, r#"{"code":200}"#.to_owned()));
    }
    let (status, leased) = session.post("/v1/queue.lease", &lease.to_string()).await;
    assert_eq!(status, 200);
    assert!(leased.len() > 400_000, "longer than a piece and a window: {}", leased.len());
}

#[tokio::test]
async fn client_that_believes_another_authority_goes_away() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = Running::start(authority.config(config("memory:"))).await;
    Session::open(server.address, other.client(&["h2"])).await.err().expect("unknown issuer");
    Session::open(server.address, authority.client(&["h2"])).await.expect("the server goes on");
}

#[tokio::test]
async fn certificate_of_the_client_is_asked_for_as_configured() {
    let (authority, clients, strangers) = (Authority::new(), Authority::new(), Authority::new());
    for (auth, without, with_stranger) in [
        (ClientAuth::Required, false, false),
        (ClientAuth::Optional, true, false),
        (ClientAuth::None, true, true),
    ] {
        let mut config = authority.config(config("memory:"));
        let tls = config.tls.as_mut().expect("is TLS");
        (tls.client_ca_file, tls.client_auth) = (Some(clients.ca_file()), auth);
        let server = Running::start(config).await;
        let served = async |client| match Session::open(server.address, client).await {
            // With TLS 1.3 the client learns of a refusal only with its first answer.
            Ok(mut session) => session.try_post("/v1/namespaces.list", "{}").await.is_some(),
            Err(_) => false,
        };
        assert_eq!(served(authority.client(&["h2"])).await, without, "{auth:?} without");
        let mine = clients.issued("someone");
        assert!(served(authority.client_with(&["h2"], &mine)).await, "{auth:?} with");
        let strange = strangers.issued("someone");
        assert_eq!(
            served(authority.client_with(&["h2"], &strange)).await,
            with_stranger,
            "{auth:?} stranger"
        );
    }
}

#[tokio::test]
async fn older_version_is_spoken_only_if_allowed() {
    let authority = Authority::new();
    for (min_version, spoken) in [(TlsVersion::Tls13, false), (TlsVersion::Tls12, true)] {
        let mut config = authority.config(config("memory:"));
        config.tls.as_mut().expect("is TLS").min_version = min_version;
        let server = Running::start(config).await;
        let session = Session::open(server.address, authority.old_client()).await;
        assert_eq!(session.is_ok(), spoken, "{min_version:?}");
    }
}

#[tokio::test]
async fn certificate_is_read_anew_when_its_files_change_and_kept_when_they_break() {
    let authority = Authority::new();
    let mut config = authority.config(config("memory:"));
    config.tls.as_mut().expect("is TLS").reload_interval = Duration::from_millis(20);
    let server = Running::start(config).await;
    let shown = async || {
        let session = Session::open(server.address, authority.client(&["h2"])).await.expect("shakes hands");
        session.certificate
    };
    let first = shown().await;
    let kept = Session::open(server.address, authority.client(&["http/1.1"])).await;
    let mut kept = kept.expect("shakes hands");

    authority.write_broken_certificate();
    for _ in 0..LOOKS {
        assert_eq!(shown().await, first, "unusable files are not used");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    authority.write_new_certificate();
    let changed = async {
        while shown().await == first {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENT, changed).await.expect("the new one is shown");
    assert_eq!(kept.post("/v1/namespaces.list", "{}").await.0, 200, "connections outlive it");
}

#[tokio::test]
async fn clear_text_at_the_address_of_tls_is_told_so() {
    let authority = Authority::new();
    let server = Running::start(authority.config(config("memory:"))).await;
    let mut stream = TcpStream::connect(server.address).await.expect("connects");
    for piece in ["POST ", "/v1/queues.list HTTP/1.1\r\n", "Host: localhost\r\n\r\n"] {
        stream.write_all(piece.as_bytes()).await.expect("sends");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stream.shutdown().await.expect("sends");
    let mut answer = String::new();
    timeout(PATIENT, stream.read_to_string(&mut answer)).await.expect("in time").expect("an answer");
    assert!(
        answer.starts_with("HTTP/1.1 400")
            && answer.ends_with("this address speaks HTTPS; you sent clear text\n"),
        "{answer}"
    );
    let (_, told) = answer.split_once("Content-Length: ").expect("a length");
    let (length, body) =
        (told.lines().next().expect("a line"), answer.split("\r\n\r\n").nth(1).expect("a body"));
    assert_eq!(length.parse(), Ok(body.len()));

    let mut stream = TcpStream::connect(server.address).await.expect("connects");
    stream.write_all(b"\0nonsense").await.expect("sends");
    let mut rest = Vec::new();
    let _ = timeout(PATIENT, stream.read_to_end(&mut rest)).await.expect("is closed in time");
}

#[tokio::test]
async fn half_a_handshake_is_cut_and_keeps_nobody_waiting() {
    let authority = Authority::new();
    let mut config = authority.config(config("memory:"));
    // Long for a busy machine to shake hands once.
    config.timeouts.handshake = Duration::from_secs(3);
    let server = Running::start(config).await;
    let mut silent = TcpStream::connect(server.address).await.expect("connects");
    let mut half = TcpStream::connect(server.address).await.expect("connects");
    // The head of a handshake record of 512 bytes, and the first of them.
    half.write_all(&[22, 3, 1, 2, 0, 1]).await.expect("sends");
    let mut session =
        Session::open(server.address, authority.client(&["h2"])).await.expect("is not kept waiting");
    for stream in [&mut silent, &mut half] {
        let mut rest = Vec::new();
        let _ = timeout(PATIENT, stream.read_to_end(&mut rest)).await.expect("is closed in time");
    }
    assert_eq!(session.post("/v1/namespaces.list", "{}").await.0, 200);
}

#[tokio::test]
async fn files_that_cannot_be_used_keep_the_server_from_starting() {
    let authority = Authority::new();
    let refused = async |change: &dyn Fn(&mut leasehold_server::TlsConfig)| {
        let mut config = authority.config(config("memory:"));
        change(config.tls.as_mut().expect("is TLS"));
        let error = Server::bind(&config).await.err().expect("cannot start");
        (error.code(), error.to_string())
    };
    let (code, text) = refused(&|tls| tls.certificate_file = "/no/such/file".into()).await;
    assert!(code == "server.tls_file" && text.contains("tls.certificate-file /no/such/file"), "{text}");
    let (code, text) = refused(&|tls| tls.key_file = tls.certificate_file.clone()).await;
    assert!(code == "server.tls_file" && text.contains("no private key"), "{text}");
    let (code, text) = refused(&|tls| tls.certificate_file = authority.ca_file()).await;
    assert!(code == "server.tls_pair", "{code} {text}");
    let empty = tempfile::NamedTempFile::new().expect("a file");
    let (code, _) = refused(&|tls| {
        (tls.client_ca_file, tls.client_auth) = (Some(empty.path().to_owned()), ClientAuth::Required);
    })
    .await;
    assert_eq!(code, "server.tls_file");
}

#[tokio::test]
async fn stop_answers_what_waits_over_tls() {
    let authority = Authority::new();
    let server = Running::start(authority.config(config("memory:"))).await;
    let mut session = Session::open(server.address, authority.client(&["h2"])).await.expect("shakes hands");
    let create = json!({
        "queue_name": "q", "lease_timeout": "1m", "expire_timeout": "1h", "requested_partitions": 1,
    });
    assert_eq!(session.post("/v1/queues.create", &create.to_string()).await.0, 200);
    let lease = json!({"queue_name": "q", "client_id": "c", "batch_size": 1, "request_timeout": "1m"});
    let polling = session.start("/v1/queue.lease", &lease.to_string());
    let mut other = Session::open(server.address, authority.client(&["h2"])).await.expect("shakes hands");
    let waiting = async {
        while !other.post("/v1/queue.stats", r#"{"queue_name":"q"}"#).await.1.contains("\"lease_waiting\":1")
        {
        }
    };
    let polling = tokio::spawn(polling);
    timeout(PATIENT, waiting).await.expect("it waits");
    server.signal_stop();
    let (status, body) =
        timeout(PATIENT, polling).await.expect("in time").expect("no panic").expect("an answer");
    assert_eq!(status, 453, "{body}");
}

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_util::task::AbortOnDropHandle;

const PATIENT: Duration = Duration::from_secs(60);

/// A connection, and what was agreed on it.
pub(crate) struct Session {
    pub(crate) protocol: Option<String>,
    /// What the server showed.
    pub(crate) certificate: Vec<u8>,
    sender: Sender,
    _driven: AbortOnDropHandle<()>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Session {
    pub(crate) async fn open(address: SocketAddr, client: ClientConfig) -> io::Result<Self> {
        let tcp = TcpStream::connect(address).await?;
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = TlsConnector::from(Arc::new(client)).connect(name, tcp).await?;
        let agreed = stream.get_ref().1;
        let protocol = agreed.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned());
        let certificate = agreed.peer_certificates().map(|shown| shown[0].to_vec()).unwrap_or_default();
        let speaks_http2 = protocol.as_deref() == Some("h2");
        let (sender, _driven) = match speaks_http2 {
            true => over_http2(stream).await,
            false => {
                let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("begins");
                (Sender::Http1(sender), driven(connection))
            }
        };
        Ok(Session { protocol, certificate, sender, _driven })
    }

    /// In clear text, as a client that knows beforehand.
    pub(crate) async fn open_http2(address: SocketAddr) -> Self {
        let tcp = TcpStream::connect(address).await.expect("connects");
        let (sender, _driven) = over_http2(tcp).await;
        Session { protocol: None, certificate: Vec::new(), sender, _driven }
    }

    pub(crate) fn start(
        &mut self,
        path: &str,
        body: &str,
    ) -> impl Future<Output = Option<(u16, String)>> + Send + 'static {
        let request = Request::post(format!("https://localhost{path}")).header("host", "localhost");
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).expect("a request");
        let sent: std::pin::Pin<Box<dyn Future<Output = _> + Send>> = match &mut self.sender {
            Sender::Http1(sender) => Box::pin(sender.send_request(request)),
            Sender::Http2(sender) => Box::pin(sender.send_request(request)),
        };
        async move {
            let answered = async {
                let response = sent.await.ok()?;
                let status = response.status().as_u16();
                let body = response.into_body().collect().await.ok()?.to_bytes();
                Some((status, String::from_utf8(body.to_vec()).expect("text")))
            };
            tokio::time::timeout(PATIENT, answered).await.expect("in time")
        }
    }

    pub(crate) async fn try_post(&mut self, path: &str, body: &str) -> Option<(u16, String)> {
        self.start(path, body).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: &str) -> (u16, String) {
        self.try_post(path, body).await.expect("an answer")
    }

    /// Ready once the server has ended the connection.
    pub(crate) async fn ended(&self) {
        let ended = async {
            while !self._driven.is_finished() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENT, ended).await.expect("the server ends it");
    }
}

async fn over_http2(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> (Sender, AbortOnDropHandle<()>) {
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("begins");
    (Sender::Http2(sender), driven(connection))
}

fn driven<E>(connection: impl Future<Output = Result<(), E>> + Send + 'static) -> AbortOnDropHandle<()>
where
    E: Send + 'static,
{
    AbortOnDropHandle::new(tokio::spawn(async move {
        let _ = connection.await;
    }))
}

//! HTTP/2 with nothing done by itself: no request is asked again, and what is not taken stays with the server.

use std::sync::Arc;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{Request, Response};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::{CLOSED, PATIENT, Wire};

/// A connection. Clones are handles on the same one; it ends with the last.
#[derive(Clone)]
pub(crate) struct Http2 {
    sender: SendRequest<Bytes>,
    _driven: Arc<AbortOnDropHandle<()>>,
}

impl Http2 {
    pub(crate) async fn open(endpoint: &str) -> Self {
        let address = endpoint.strip_prefix("http://").expect("is an endpoint");
        let stream = TcpStream::connect(address).await.expect("connects");
        let (sender, connection) = h2::client::handshake(stream).await.expect("begins");
        let driven = tokio::spawn(async move {
            // How it ends is seen by each request.
            let _ = connection.await;
        });
        Http2 { sender, _driven: Arc::new(AbortOnDropHandle::new(driven)) }
    }

    /// So many handles on each of so many connections.
    pub(crate) async fn open_many(endpoint: &str, connections: usize, streams: usize) -> Vec<Self> {
        let mut handles = Vec::new();
        for _ in 0..connections {
            let connection = Http2::open(endpoint).await;
            handles.extend(std::iter::repeat_n(connection, streams));
        }
        handles
    }

    /// The head of a request. None where the connection takes no more.
    async fn begin(&self, path: &str, body_bytes: usize) -> Option<(ResponseFuture, SendStream<Bytes>)> {
        let request = Request::post(format!("http://localhost{path}")).header("content-length", body_bytes);
        let mut sender = self.sender.clone().ready().await.ok()?;
        sender.send_request(request.body(()).expect("a request"), false).ok()
    }

    /// A request that is sent. What it is answered is not waited for, and dropping it takes it back.
    pub(crate) async fn start(&self, path: &str, body: String) -> Option<ResponseFuture> {
        let (response, mut sending) = self.begin(path, body.len()).await?;
        sending.send_data(body.into(), true).ok()?;
        Some(response)
    }

    /// The head of the answer. None where there will be none.
    pub(crate) async fn ask(&self, path: &str, body: String) -> Option<Response<RecvStream>> {
        let response = self.start(path, body).await?;
        timeout(PATIENT, response).await.expect("answers in time").ok()
    }
}

/// The rest of an answer.
pub(crate) async fn take(answer: Response<RecvStream>) -> Vec<u8> {
    let mut body = answer.into_body();
    let mut taken = Vec::new();
    while let Some(piece) = timeout(PATIENT, body.data()).await.expect("goes on") {
        let piece = piece.expect("is not cut");
        body.flow_control().release_capacity(piece.len()).expect("was taken");
        taken.extend_from_slice(&piece);
    }
    taken
}

impl Wire for Http2 {
    async fn ask_late(self, path: &'static str, body: Bytes, finish: CancellationToken) -> u16 {
        let Some((response, mut sending)) = self.begin(path, body.len()).await else { return CLOSED };
        let end = body.slice(body.len() - 1..);
        let send = async {
            // One who is refused cannot send; what it was told is what counts.
            let _ = sending.send_data(body.slice(..body.len() - 1), false);
            finish.cancelled().await;
            let _ = sending.send_data(end, true);
            std::future::pending().await
        };
        let answered = tokio::select! {
            answered = timeout(PATIENT, response) => answered.expect("answers in time"),
            never = send => never,
        };
        answered.map_or(CLOSED, |response| response.status().as_u16())
    }
}

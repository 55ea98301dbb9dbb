//! HTTP/1 by hand: what a client library does on its own, such as asking again, must not hide an answer that is missing.

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{PATIENT, Wire};

pub(crate) struct Connection {
    pub(crate) reader: BufReader<OwnedReadHalf>,
    pub(crate) writer: OwnedWriteHalf,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// It was the last one on its connection.
    pub(crate) is_last: bool,
}

impl Connection {
    pub(crate) async fn open(endpoint: &str) -> Self {
        let address = endpoint.strip_prefix("http://").expect("is an endpoint");
        // Also one that the server does not accept yet is open for us.
        let (reader, writer) = TcpStream::connect(address).await.expect("connects").into_split();
        Connection { reader: BufReader::new(reader), writer }
    }

    /// One that takes next to nothing of an answer before it is read.
    pub(crate) async fn narrow(endpoint: &str) -> Self {
        let address = endpoint.strip_prefix("http://").expect("is an endpoint");
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(8_192).expect("is set");
        let stream = socket.connect(address.parse().expect("an address")).await.expect("connects");
        let (reader, writer) = stream.into_split();
        Connection { reader: BufReader::new(reader), writer }
    }

    /// Asks, and leaves the answer where it is.
    pub(crate) async fn send(&mut self, path: &str, body: &str) {
        let request = format!("{}{body}", head(path, body.len()));
        self.writer.write_all(request.as_bytes()).await.expect("sends");
    }

    /// Whether the answer is a good one, once its beginning is there; the rest stays with the server.
    pub(crate) async fn is_good(&mut self) -> bool {
        let beginning = timeout(PATIENT, self.reader.fill_buf()).await.expect("in time").expect("an answer");
        beginning.starts_with(b"HTTP/1.1 200")
    }

    /// Takes all of the answer.
    pub(crate) async fn take(mut self) -> Answer {
        answer(&mut self.reader).await
    }

    pub(crate) async fn ask(&mut self, path: &str, body: &[u8]) -> Answer {
        let request = [head(path, body.len()).as_bytes(), body].concat();
        let sent = async {
            // The answer may come before all is sent; then it is the answer that counts.
            let _ = self.writer.write_all(&request).await;
            std::future::pending().await
        };
        tokio::select! {
            answer = answer(&mut self.reader) => answer,
            never = sent => never,
        }
    }
}

impl Wire for Connection {
    async fn ask_late(self, path: &'static str, body: Bytes, finish: CancellationToken) -> u16 {
        let Connection { mut reader, mut writer } = self;
        let (most, end) = body.split_at(body.len() - 1);
        let send = async {
            writer.write_all(head(path, body.len()).as_bytes()).await?;
            writer.write_all(most).await?;
            finish.cancelled().await;
            writer.write_all(end).await
        };
        let send = async {
            // One who is refused cannot send the rest; what it was told is what counts.
            let _ = send.await;
            std::future::pending().await
        };
        tokio::select! {
            answer = answer(&mut reader) => answer.status,
            never = send => never,
        }
    }
}

pub(crate) fn head(path: &str, body_bytes: usize) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {body_bytes}\r\n\r\n")
}

/// The next answer, which must come, whole, and in time.
pub(crate) async fn answer(reader: &mut BufReader<OwnedReadHalf>) -> Answer {
    let read = timeout(PATIENT, read(reader)).await.expect("answers in time");
    read.unwrap_or_else(|error| panic!("there is no answer: {error}"))
}

async fn read(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Answer> {
    let mut status = String::new();
    if reader.read_line(&mut status).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("has a status");
    let (mut body_bytes, mut is_last) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await?;
        let line = line.trim_end().to_ascii_lowercase();
        match line.split_once(": ") {
            Some(("content-length", bytes)) => body_bytes = bytes.parse().expect("a number"),
            Some(("connection", value)) => is_last = value == "close",
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; body_bytes];
    reader.read_exact(&mut body).await?;
    Ok(Answer { status, body, is_last })
}

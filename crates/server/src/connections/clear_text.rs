//! Clients that speak HTTP where TLS is served: told so, as nobody can read what TLS would answer them.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const REFUSAL: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Connection: close\r\nContent-Length: 47\r\n\r\nthis address speaks HTTPS; you sent clear text\n";

/// Bytes of what it asks that are read.
const ASKED_BYTES: u64 = 64 * 1024;

/// Whether the first byte is one of a method. A handshake begins with 22.
pub(super) async fn is_http(stream: &TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first).await, Ok(1) if first[0].is_ascii_uppercase())
}

/// Also when it cannot be told: the connection ends. For how long this may take is the caller's to say.
pub(super) async fn refuse(mut stream: TcpStream) {
    if stream.write_all(REFUSAL).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    // What is not read would make the system reset the connection, and the client, which may still be sending, might
    // not see the answer.
    let _ = tokio::io::copy(&mut stream.take(ASKED_BYTES), &mut tokio::io::sink()).await;
}

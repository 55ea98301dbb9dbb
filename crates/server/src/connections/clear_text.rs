//! Clients that speak HTTP where TLS is served: told so, as nobody can read what TLS would answer them.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const REFUSAL: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Connection: close\r\nContent-Length: 47\r\n\r\nthis address speaks HTTPS; you sent clear text\n";

/// Whether the first byte is one of a method. A handshake begins with 22.
pub(super) async fn is_http(stream: &TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first).await, Ok(1) if first[0].is_ascii_uppercase())
}

/// Also when it cannot be told: the connection ends.
pub(super) async fn refuse(mut stream: TcpStream) {
    let mut asked = [0; 4096];
    // What is not read would make the system reset the connection, and the client might not see the answer.
    let _ = stream.try_read(&mut asked);
    let _ = stream.write_all(REFUSAL).await;
    let _ = stream.shutdown().await;
}

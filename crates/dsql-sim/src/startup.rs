//! From a fresh connection to one that takes statements: encryption, cancel requests, the startup packet.

use std::{io, sync::Arc};

use bytes::{Buf, Bytes};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;

use crate::frontend::startup_packet;

const PROTOCOL_3: u32 = 3 << 16;
const CANCEL: u32 = (1234 << 16) | 5678;
const TLS: u32 = (1234 << 16) | 5679;
const GSS: u32 = (1234 << 16) | 5680;

/// A byte stream, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What a connection turned out to be.
pub(crate) enum Opening {
    /// A session, with what its client asked for.
    Session { stream: Box<dyn Stream>, parameters: Vec<(String, String)> },
    /// A request to cancel what another session does.
    Cancel { pid: i32, secret: i32 },
    /// Nothing we speak.
    Gone,
}

/// Reads packets until it is clear what the client wants.
pub(crate) async fn open(stream: TcpStream, tls: Option<Arc<rustls::ServerConfig>>) -> io::Result<Opening> {
    stream.set_nodelay(true)?;
    let mut stream: Box<dyn Stream> = Box::new(stream);
    let mut tls = tls.map(TlsAcceptor::from);
    loop {
        let Some(mut packet) = startup_packet(&mut stream).await? else { return Ok(Opening::Gone) };
        match packet.get_u32() {
            TLS => match tls.take() {
                Some(acceptor) => {
                    stream.write_all(b"S").await?;
                    stream = Box::new(acceptor.accept(stream).await?);
                }
                None => stream.write_all(b"N").await?,
            },
            GSS => stream.write_all(b"N").await?,
            CANCEL if packet.len() >= 8 => {
                return Ok(Opening::Cancel { pid: packet.get_i32(), secret: packet.get_i32() });
            }
            // Newer minor versions ask for nothing that is missed here.
            version if version >> 16 == PROTOCOL_3 >> 16 => {
                return Ok(Opening::Session { stream, parameters: pairs(&packet) });
            }
            _ => return Ok(Opening::Gone),
        }
    }
}

fn pairs(packet: &Bytes) -> Vec<(String, String)> {
    let mut words = packet.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut pairs = Vec::new();
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        if name.is_empty() {
            break;
        }
        pairs.push((name, value));
    }
    pairs
}

/// What a client asked for, as settings of a PostgreSQL session. User and database are those of the backing.
pub(crate) fn settings(parameters: &[(String, String)]) -> String {
    let mut words = Vec::new();
    for (name, value) in parameters {
        match name.as_str() {
            "user" | "database" | "replication" | "client_encoding" => {}
            "options" => words.push(value.clone()),
            name if name.starts_with("_pq_.") => {}
            name => words.push(format!("-c {name}={}", escaped(value))),
        }
    }
    words.join(" ")
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace(' ', r"\ ")
}

#[cfg(test)]
mod tests {
    use super::{pairs, settings};
    use bytes::Bytes;

    #[test]
    fn parameters_become_settings_without_user_and_database() {
        let packet =
            Bytes::from_static(b"user\0admin\0options\0-c search_path=app\0application_name\0my app\0\0");
        assert_eq!(settings(&pairs(&packet)), r"-c search_path=app -c application_name=my\ app");
    }

    #[test]
    fn packet_without_an_end_gives_what_it_has() {
        assert_eq!(pairs(&Bytes::from_static(b"user\0admin")).len(), 1);
        assert!(pairs(&Bytes::from_static(b"user")).is_empty());
    }
}

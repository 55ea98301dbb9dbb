//! Counts what a client says to PostgreSQL, from a place between the two: what a layer above claims to send is not asked.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Carries connections to a server, and counts. Its clients must not ask for TLS.
#[derive(Debug)]
pub struct CountingProxy {
    address: SocketAddr,
    counts: Arc<Counts>,
    accepting: JoinHandle<()>,
}

/// What was said, over all connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    /// Statements that were executed, `BEGIN` and `COMMIT` among them.
    pub statements: u64,
    /// How often a client sent something and had to wait for the answer. What is sent while an answer is awaited costs no
    /// wait of its own.
    pub round_trips: u64,
}

impl Sub for Said {
    type Output = Said;

    fn sub(self, before: Said) -> Said {
        Said {
            statements: self.statements - before.statements,
            round_trips: self.round_trips - before.round_trips,
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    statements: AtomicU64,
    round_trips: AtomicU64,
}

impl CountingProxy {
    /// Listens on loopback.
    ///
    /// # Errors
    /// No port can be bound.
    pub async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let counts = Arc::new(Counts::default());
        let accepting = tokio::spawn(accept(listener, server, counts.clone()));
        Ok(CountingProxy { address, counts, accepting })
    }

    /// Where clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// So far.
    #[must_use]
    pub fn said(&self) -> Said {
        Said {
            statements: self.counts.statements.load(Ordering::SeqCst),
            round_trips: self.counts.round_trips.load(Ordering::SeqCst),
        }
    }
}

impl Drop for CountingProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, counts: Arc<Counts>) {
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = TcpStream::connect(server).await else { continue };
        // The proxy must not add the kernel's own delays.
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let (client_read, client_write) = client.into_split();
        let (server_read, server_write) = server.into_split();
        let connection = Arc::new(Connection { counts: counts.clone(), awaited: AtomicU64::new(0) });
        let asking = connection.clone();
        tokio::spawn(carry(client_read, server_write, Frames::of_client(), move |kind| asking.asked(kind)));
        tokio::spawn(carry(server_read, client_write, Frames::of_server(), move |kind| {
            connection.answered(kind);
        }));
    }
}

#[derive(Debug)]
struct Connection {
    counts: Arc<Counts>,
    /// Questions that the server has not closed yet.
    awaited: AtomicU64,
}

impl Connection {
    /// Execute and simple queries are statements; simple queries and Sync end with the server saying that it is ready.
    fn asked(&self, kind: u8) {
        if matches!(kind, b'E' | b'Q') {
            self.counts.statements.fetch_add(1, Ordering::SeqCst);
        }
        if matches!(kind, b'S' | b'Q') && self.awaited.fetch_add(1, Ordering::SeqCst) == 0 {
            self.counts.round_trips.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// The server is also ready once without being asked: when the session begins.
    fn answered(&self, kind: u8) {
        if kind == b'Z' {
            let one_less = |awaited: u64| awaited.checked_sub(1);
            let _ = self.awaited.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        }
    }
}

async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut frames: Frames,
    mut each: impl FnMut(u8) + Send,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(len @ 1..) = from.read(&mut buffer).await {
        // Before it is passed on: an answer must be counted before the next question can come.
        frames.feed(&buffer[..len], &mut each);
        if to.write_all(&buffer[..len]).await.is_err() {
            return;
        }
    }
}

/// Finds messages in a stream, however it was cut: a byte that says the kind, four that say the length.
#[derive(Debug)]
struct Frames {
    head: Vec<u8>,
    body_left: usize,
    /// The first message of a client has no kind.
    is_first: bool,
}

impl Frames {
    fn of_client() -> Self {
        Frames { head: Vec::new(), body_left: 0, is_first: true }
    }

    fn of_server() -> Self {
        Frames { is_first: false, ..Frames::of_client() }
    }

    /// Tells the kind of each message that ends in this piece.
    fn feed(&mut self, mut bytes: &[u8], each: &mut impl FnMut(u8)) {
        loop {
            let head_len = if self.is_first { 4 } else { 5 };
            if self.head.len() < head_len {
                let take = (head_len - self.head.len()).min(bytes.len());
                self.head.extend_from_slice(&bytes[..take]);
                bytes = &bytes[take..];
                if self.head.len() < head_len {
                    return;
                }
                let length =
                    self.head[head_len - 4..].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                // The length counts itself.
                self.body_left = length.saturating_sub(4);
            }
            let take = self.body_left.min(bytes.len());
            bytes = &bytes[take..];
            self.body_left -= take;
            if self.body_left > 0 {
                return;
            }
            if !self.is_first {
                each(self.head[0]);
            }
            self.is_first = false;
            self.head.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).expect("is short").to_be_bytes();
        [&[kind][..], &length, body].concat()
    }

    #[test]
    fn messages_are_found_wherever_the_stream_is_cut() {
        let startup = message(0, b"user\0app\0\0")[1..].to_vec();
        let stream =
            [startup, message(b'P', b"x\0SELECT\0"), message(b'E', b""), message(b'S', b"")].concat();
        for cut in 0..=stream.len() {
            let (mut frames, mut kinds) = (Frames::of_client(), Vec::new());
            frames.feed(&stream[..cut], &mut |kind| kinds.push(kind));
            frames.feed(&stream[cut..], &mut |kind| kinds.push(kind));
            assert_eq!(kinds, b"PES", "cut at {cut}");
        }
    }

    #[test]
    fn what_is_sent_while_an_answer_is_awaited_costs_no_round_trip() {
        let connection = Connection { counts: Arc::default(), awaited: AtomicU64::new(0) };
        // The session begins.
        connection.answered(b'Z');
        b"PBESBES".iter().for_each(|kind| connection.asked(*kind));
        b"12CZ2CZ".iter().for_each(|kind| connection.answered(*kind));
        connection.asked(b'Q');
        let counts = &connection.counts;
        let said = [&counts.statements, &counts.round_trips].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(said, [3, 2]);
    }
}

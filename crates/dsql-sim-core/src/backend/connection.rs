//! One connection: requests are queued, sent together, and their replies read in order.

use std::io;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use postgres_protocol::message::frontend;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, UnixStream},
};
use tokio_postgres::config::Host;

use super::{Call, Outcome, Reply, authenticate::Authentication, target::BackingUrl};
use crate::failure::Failure;

/// Message bodies beyond this are not PostgreSQL's.
const BODY_BYTES_MAX: usize = 1 << 30;

trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for S {}

/// A connection to the stock PostgreSQL.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    url: BackingUrl,
    incoming: BytesMut,
    outgoing: BytesMut,
    /// What the server said of itself when it let us in.
    pub(crate) parameters: Vec<(String, String)>,
    pid: i32,
    secret: i32,
    /// Replies that were asked for and not read: a caller may have been dropped between the two.
    unread: usize,
}

/// What it takes to cancel the statement a connection is running.
#[derive(Clone, Debug)]
pub(crate) struct CancelKey {
    url: BackingUrl,
    pid: i32,
    secret: i32,
}

impl CancelKey {
    /// Asks the server to cancel; it answers nothing.
    pub(crate) async fn cancel(&self) -> io::Result<()> {
        let mut stream = dial(&self.url).await?;
        let mut request = BytesMut::new();
        frontend::cancel_request(self.pid, self.secret, &mut request);
        stream.write_all(&request).await?;
        stream.shutdown().await
    }
}

async fn dial(url: &BackingUrl) -> io::Result<Box<dyn Stream>> {
    Ok(match url.host() {
        Host::Tcp(host) => {
            let stream = TcpStream::connect((host.as_str(), url.port())).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
        Host::Unix(folder) => {
            Box::new(UnixStream::connect(folder.join(format!(".s.PGSQL.{}", url.port()))).await?)
        }
    })
}

impl Connection {
    /// Connects and waits until the server takes statements. `settings` are words of a command line.
    pub(crate) async fn open(url: &BackingUrl, settings: &str) -> Result<Connection, Failure> {
        Connection::try_open(url, settings).await.map_err(|error| unavailable(&error))?
    }

    async fn try_open(url: &BackingUrl, settings: &str) -> io::Result<Result<Connection, Failure>> {
        let mut connection = Connection {
            stream: dial(url).await?,
            url: url.clone(),
            incoming: BytesMut::with_capacity(8192),
            outgoing: BytesMut::with_capacity(8192),
            parameters: Vec::new(),
            pid: 0,
            secret: 0,
            unread: 0,
        };
        let options = format!("-c application_name=leasehold-dsql-sim {} {settings}", url.options());
        let words = [
            ("user", url.user()),
            ("database", url.database()),
            ("client_encoding", "UTF8"),
            ("options", options.trim()),
        ];
        frontend::startup_message(words, &mut connection.outgoing)?;
        connection.flush().await?;
        let mut authentication = Authentication::default();
        loop {
            let (kind, mut body) = connection.message().await?;
            match kind {
                b'R' => {
                    authentication.answer(body, url, &mut connection.outgoing)?;
                    connection.flush().await?;
                }
                b'E' => return Ok(Err(Failure::read(&body))),
                b'S' => connection.parameters.extend(parameter(&body)),
                b'K' if body.len() >= 8 => {
                    (connection.pid, connection.secret) = (body.get_i32(), body.get_i32());
                }
                b'Z' => return Ok(Ok(connection)),
                _ => {}
            }
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    pub(crate) fn cancel_key(&self) -> CancelKey {
        CancelKey { url: self.url.clone(), pid: self.pid, secret: self.secret }
    }

    /// Queues statements without parameters; they make one reply.
    pub(crate) fn queue_simple(&mut self, sql: &str) {
        // Only a zero byte in the text fails, and no text of a client has one: its own protocol ends with it.
        let _ = frontend::query(sql, &mut self.outgoing);
        self.unread += 1;
    }

    /// Queues one call of a statement. Calls make one reply together, up to the next [`Connection::queue_sync`].
    pub(crate) fn queue_call(&mut self, call: &Call, name: &str, is_parsed: bool, wants_rows: bool) {
        if !is_parsed {
            self.queue_parse(call, name);
        }
        self.outgoing.put_u8(b'B');
        let at = self.outgoing.len();
        self.outgoing.put_u32(0);
        self.outgoing.put_u8(0);
        self.outgoing.put_slice(name.as_bytes());
        self.outgoing.put_u8(0);
        self.outgoing.put_slice(&call.parameters);
        self.outgoing.put_u16(u16::try_from(call.formats.len()).unwrap_or(0));
        for format in &call.formats {
            self.outgoing.put_i16(*format);
        }
        let length = u32::try_from(self.outgoing.len() - at).unwrap_or(u32::MAX);
        self.outgoing[at..at + 4].copy_from_slice(&length.to_be_bytes());
        if wants_rows {
            let _ = frontend::describe(b'P', "", &mut self.outgoing);
        }
        let _ = frontend::execute("", 0, &mut self.outgoing);
    }

    /// Queues the preparation of a statement.
    pub(crate) fn queue_parse(&mut self, call: &Call, name: &str) {
        let _ = frontend::parse(name, &call.sql, call.types.iter().copied(), &mut self.outgoing);
    }

    /// Queues the question what a prepared statement takes and gives.
    pub(crate) fn queue_describe(&mut self, name: &str) {
        let _ = frontend::describe(b'S', name, &mut self.outgoing);
    }

    /// Queues the end of a prepared statement.
    pub(crate) fn queue_close(&mut self, name: &str) {
        let _ = frontend::close(b'S', name, &mut self.outgoing);
    }

    /// Ends what makes one reply.
    pub(crate) fn queue_sync(&mut self) {
        frontend::sync(&mut self.outgoing);
        self.unread += 1;
    }

    /// Sends what is queued.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        let result = self.stream.write_all(&self.outgoing).await;
        self.outgoing.clear();
        result
    }

    /// Sends what is queued, `count` replies' worth, and reads those replies. Older replies that nobody read are
    /// read over.
    pub(crate) async fn exchange(&mut self, count: usize) -> Result<Vec<Reply>, Failure> {
        self.try_exchange(count).await.map_err(|error| unavailable(&error))
    }

    async fn try_exchange(&mut self, count: usize) -> io::Result<Vec<Reply>> {
        self.flush().await?;
        while self.unread > count {
            self.reply().await?;
        }
        let mut replies = Vec::with_capacity(count);
        for _ in 0..count {
            replies.push(self.reply().await?);
        }
        Ok(replies)
    }

    /// Runs statements without parameters.
    pub(crate) async fn simple(&mut self, sql: &str) -> Result<Reply, Failure> {
        self.queue_simple(sql);
        let mut replies = self.exchange(1).await?;
        Ok(replies.pop().unwrap_or_default())
    }

    async fn reply(&mut self) -> io::Result<Reply> {
        let mut reply = Reply::default();
        let mut outcome = Outcome::default();
        let mut is_described = false;
        loop {
            let (kind, body) = self.message().await?;
            match kind {
                b't' => {
                    reply.parameters = Some(body);
                    is_described = true;
                }
                b'T' if is_described => (reply.described, is_described) = (Some(body), false),
                b'n' if is_described => is_described = false,
                b'T' => outcome.description = Some(body),
                b'D' => outcome.rows.push(body),
                b'C' => {
                    let tag = body.strip_suffix(&[0]).unwrap_or(&body);
                    outcome.tag = Some(String::from_utf8_lossy(tag).into_owned());
                    reply.outcomes.push(std::mem::take(&mut outcome));
                }
                b'I' => reply.outcomes.push(std::mem::take(&mut outcome)),
                b'E' => reply.failure = Some(Failure::read(&body)),
                b'N' | b'S' => reply.asides.push((kind, body)),
                b'G' | b'W' => self.refuse_copy(),
                b'Z' => {
                    self.unread = self.unread.saturating_sub(1);
                    return Ok(reply);
                }
                _ => {}
            }
            if !self.outgoing.is_empty() {
                self.flush().await?;
            }
        }
    }

    /// A COPY that slipped through is ended, or both sides would wait for each other.
    fn refuse_copy(&mut self) {
        let _ = frontend::copy_fail("COPY is not simulated", &mut self.outgoing);
    }

    async fn message(&mut self) -> io::Result<(u8, Bytes)> {
        loop {
            if self.incoming.len() >= 5 {
                let length = (&self.incoming[1..5]).get_u32() as usize;
                if !(4..BODY_BYTES_MAX).contains(&length) {
                    return Err(io::Error::other("a message of impossible length"));
                }
                if self.incoming.len() > length {
                    let kind = self.incoming[0];
                    let mut body = self.incoming.split_to(length + 1);
                    body.advance(5);
                    return Ok((kind, body.freeze()));
                }
                self.incoming.reserve(length + 1 - self.incoming.len());
            }
            if self.stream.read_buf(&mut self.incoming).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn parameter(body: &[u8]) -> Option<(String, String)> {
    let mut parts = body.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned());
    Some((parts.next()?, parts.next()?))
}

/// DSQL's words for a fault of its own; the client may try again.
fn unavailable(error: &io::Error) -> Failure {
    Failure::new("XX000", format!("server unavailable: the database behind the simulator: {error}"))
}

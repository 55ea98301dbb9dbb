//! Messages of clients.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// DSQL closes the connection on longer messages, without an error.
const MESSAGE_BYTES_MAX: usize = 10 * 1024 * 1024 + 64 * 1024;
/// No startup packet is longer.
const STARTUP_BYTES_MAX: usize = 10_000;

/// One message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Query(String),
    Parse {
        name: String,
        sql: String,
        types: Vec<u32>,
    },
    Bind {
        portal: String,
        statement: String,
        parameters: Bytes,
        formats: Vec<i16>,
    },
    DescribeStatement(String),
    DescribePortal(String),
    Execute {
        portal: String,
        rows_max: usize,
    },
    CloseStatement(String),
    ClosePortal(String),
    Flush,
    Sync,
    Terminate,
    /// COPY data without a COPY: ignored, as PostgreSQL does.
    Stray,
    Unknown(u8),
}

/// Reads messages, one ahead where asked.
pub(crate) struct Messages<R> {
    reader: R,
    buffer: BytesMut,
    ahead: Option<Message>,
}

impl<R: AsyncRead + Unpin> Messages<R> {
    pub(crate) fn new(reader: R) -> Messages<R> {
        Messages { reader, buffer: BytesMut::with_capacity(8192), ahead: None }
    }

    /// The next message; none when the client is gone.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Message>> {
        match self.ahead.take() {
            Some(message) => Ok(Some(message)),
            None => self.read().await,
        }
    }

    /// Looks at the next message.
    pub(crate) async fn peek(&mut self) -> io::Result<Option<&Message>> {
        if self.ahead.is_none() {
            self.ahead = self.read().await?;
        }
        Ok(self.ahead.as_ref())
    }

    async fn read(&mut self) -> io::Result<Option<Message>> {
        if !self.fill(5).await? {
            return Ok(None);
        }
        let kind = self.buffer[0];
        let length = (&self.buffer[1..5]).get_u32() as usize;
        if !(4..=MESSAGE_BYTES_MAX).contains(&length) {
            return Ok(None);
        }
        if !self.fill(length + 1).await? {
            return Ok(None);
        }
        let mut body = self.buffer.split_to(length + 1).freeze();
        body.advance(5);
        parse(kind, body).map(Some)
    }

    async fn fill(&mut self, length: usize) -> io::Result<bool> {
        while self.buffer.len() < length {
            self.buffer.reserve(length - self.buffer.len());
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Reads a packet that has no type: length and body. None when the client is gone.
pub(crate) async fn startup_packet(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Bytes>> {
    let length = match reader.read_u32().await {
        Ok(length) => length as usize,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    };
    if !(8..=STARTUP_BYTES_MAX).contains(&length) {
        return Ok(None);
    }
    let mut body = vec![0; length - 4];
    reader.read_exact(&mut body).await?;
    Ok(Some(body.into()))
}

fn parse(kind: u8, mut body: Bytes) -> io::Result<Message> {
    Ok(match kind {
        b'Q' => Message::Query(text(&mut body)?),
        b'P' => {
            let (name, sql) = (text(&mut body)?, text(&mut body)?);
            let count = short(&mut body)?;
            let types = (0..count).map(|_| body.try_get_u32().map_err(broken)).collect::<io::Result<_>>()?;
            Message::Parse { name, sql, types }
        }
        b'B' => bind(body)?,
        b'D' | b'C' => {
            let of = body.try_get_u8().map_err(broken)?;
            let name = text(&mut body)?;
            match (kind, of) {
                (b'D', b'S') => Message::DescribeStatement(name),
                (b'D', b'P') => Message::DescribePortal(name),
                (b'C', b'S') => Message::CloseStatement(name),
                (b'C', b'P') => Message::ClosePortal(name),
                _ => return Err(io::Error::other("neither a statement nor a portal")),
            }
        }
        b'E' => {
            let portal = text(&mut body)?;
            let rows_max = body.try_get_i32().map_err(broken)?;
            Message::Execute { portal, rows_max: usize::try_from(rows_max).unwrap_or(0) }
        }
        b'H' => Message::Flush,
        b'S' => Message::Sync,
        b'X' => Message::Terminate,
        b'd' | b'c' | b'f' => Message::Stray,
        other => Message::Unknown(other),
    })
}

fn bind(mut body: Bytes) -> io::Result<Message> {
    let (portal, statement) = (text(&mut body)?, text(&mut body)?);
    let mut rest = body.clone();
    let formats = short(&mut rest)?;
    skip(&mut rest, usize::from(formats) * 2)?;
    for _ in 0..short(&mut rest)? {
        // Below zero is NULL, which has no bytes.
        let length = rest.try_get_i32().map_err(broken)?;
        skip(&mut rest, usize::try_from(length).unwrap_or(0))?;
    }
    let parameters = body.split_to(body.len() - rest.len());
    let count = short(&mut rest)?;
    let formats = (0..count).map(|_| rest.try_get_i16().map_err(broken)).collect::<io::Result<_>>()?;
    Ok(Message::Bind { portal, statement, parameters, formats })
}

fn text(body: &mut Bytes) -> io::Result<String> {
    let end =
        body.iter().position(|byte| *byte == 0).ok_or_else(|| io::Error::other("a text without an end"))?;
    let text = body.split_to(end);
    body.advance(1);
    String::from_utf8(text.to_vec()).map_err(|_| io::Error::other("a text that is not UTF-8"))
}

fn short(body: &mut Bytes) -> io::Result<u16> {
    body.try_get_u16().map_err(broken)
}

fn skip(body: &mut Bytes, length: usize) -> io::Result<()> {
    if body.len() < length {
        return Err(io::Error::other("a message that ends early"));
    }
    body.advance(length);
    Ok(())
}

fn broken(_: bytes::TryGetError) -> io::Error {
    io::Error::other("a message that ends early")
}

#[cfg(test)]
mod tests {
    use super::{Message, Messages, parse};
    use bytes::Bytes;

    #[test]
    fn bind_is_split_into_parameters_and_result_formats() {
        let body = b"\0s1\0\0\x01\0\x01\0\x02\0\0\0\x01a\xff\xff\xff\xff\0\x01\0\x01";
        let message = parse(b'B', Bytes::from_static(body)).unwrap();
        let Message::Bind { portal, statement, parameters, formats } = message else { panic!("{message:?}") };
        assert_eq!((portal.as_str(), statement.as_str()), ("", "s1"));
        assert_eq!(&parameters[..], b"\0\x01\0\x01\0\x02\0\0\0\x01a\xff\xff\xff\xff");
        assert_eq!(formats, [1]);
    }

    #[test]
    fn messages_that_end_early_are_errors() {
        for (kind, body) in
            [(b'B', &b"\0\0\0\x01"[..]), (b'P', b"a"), (b'E', b"\0"), (b'D', b""), (b'D', b"X\0")]
        {
            assert!(parse(kind, Bytes::copy_from_slice(body)).is_err(), "{body:?}");
        }
    }

    #[tokio::test]
    async fn peeked_message_comes_again() {
        let mut messages = Messages::new(&b"S\0\0\0\x04X\0\0\0\x04"[..]);
        assert_eq!(messages.peek().await.unwrap(), Some(&Message::Sync));
        assert_eq!(messages.next().await.unwrap(), Some(Message::Sync));
        assert_eq!(messages.next().await.unwrap(), Some(Message::Terminate));
        assert_eq!(messages.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn message_beyond_the_limit_ends_the_connection() {
        let mut messages = Messages::new(&b"Q\x7f\xff\xff\xff"[..]);
        assert_eq!(messages.next().await.unwrap(), None);
    }
}

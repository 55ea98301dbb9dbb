//! Just enough of the Redis protocol to ask a server how it is.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest answer read here is a list of a few nodes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Sends one command and gives back its answer as text; an error answer is an error.
pub(super) fn ask(address: SocketAddr, words: &[&str]) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    let mut command = format!("*{}\r\n", words.len());
    for word in words {
        command += &format!("${}\r\n{word}\r\n", word.len());
    }
    stream.write_all(command.as_bytes())?;
    answer(&mut BufReader::new(stream))
}

/// Whether the server takes commands now; one that is loading its data does not.
pub(super) fn answers_ping(address: SocketAddr) -> bool {
    ask(address, &["PING"]).is_ok_and(|answer| answer == "PONG")
}

fn answer(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let line = line.strip_suffix("\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    let unexpected = || io::Error::new(io::ErrorKind::InvalidData, format!("unexpected answer {line:?}"));
    match line.split_at_checked(1).ok_or_else(unexpected)? {
        ("+" | ":", text) => Ok(text.to_owned()),
        ("-", text) => Err(io::Error::other(text.to_owned())),
        ("$", length) => {
            let length: usize = length.parse().map_err(|_| unexpected())?;
            if length > ANSWER_BYTES_MAX {
                return Err(unexpected());
            }
            let mut text = vec![0; length];
            reader.read_exact(&mut text)?;
            String::from_utf8(text).map_err(|_| unexpected())
        }
        _ => Err(unexpected()),
    }
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn answers_are_read_by_kind() {
        assert_eq!(answer(&mut &b"+PONG\r\n"[..]).unwrap(), "PONG");
        assert_eq!(answer(&mut &b":7\r\n"[..]).unwrap(), "7");
        assert_eq!(answer(&mut &b"$4\r\na\r\nb\r\n"[..]).unwrap(), "a\r\nb");
        assert_eq!(answer(&mut &b"-LOADING data\r\n"[..]).unwrap_err().to_string(), "LOADING data");
    }

    #[test]
    fn broken_answers_are_errors() {
        for broken in
            [&b""[..], b"+PON", b"\r\n", b"$x\r\n", b"$9\r\nshort\r\n", b"$99999999999\r\n", b"*1\r\n"]
        {
            assert!(answer(&mut &broken[..]).is_err(), "{broken:?}");
        }
    }
}

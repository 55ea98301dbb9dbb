//! Asks a server whether it takes sessions, without a driver or a runtime.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// A starting server answers at once that it is starting; one that does not answer is not ready either.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);
/// Protocol 3.0.
const PROTOCOL: u32 = 3 << 16;

/// Whether a session of user `postgres` would be let in now.
pub(crate) fn takes_sessions(address: SocketAddr) -> bool {
    ask(address).is_ok_and(|answer| answer == b'R')
}

/// The type of the first message in answer to a start-up packet: `R` lets in, `E` refuses (still starting).
fn ask(address: SocketAddr) -> std::io::Result<u8> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.write_all(&startup_packet())?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    Ok(answer[0])
}

fn startup_packet() -> Vec<u8> {
    let body = b"user\0postgres\0database\0postgres\0\0";
    let length = u32::try_from(body.len() + 8).expect("a fixed body is short");
    [&length.to_be_bytes()[..], &PROTOCOL.to_be_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::{startup_packet, takes_sessions};

    #[test]
    fn packet_tells_its_own_length() {
        let packet = startup_packet();
        assert_eq!(packet[..4], u32::try_from(packet.len()).unwrap().to_be_bytes());
    }

    #[test]
    fn closed_port_takes_no_sessions() {
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(!takes_sessions(address));
    }
}

//! Free ports on the loopback interface.

use std::{
    hash::{BuildHasher, RandomState},
    net::TcpListener,
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::{Error, Result};

/// Below the range the kernel gives to outgoing connections (32768 and up): a server that restarts on its old port
/// would else find it taken by some client. A Redis Cluster listens on 10000 more too, which must stay below as well.
const FROM: u16 = 20_000;
const TO: u16 = 22_700;

/// Starts at random so that test processes running side by side try different ports.
static NEXT: LazyLock<AtomicU32> =
    LazyLock::new(|| AtomicU32::new(RandomState::new().hash_one(std::process::id()) as u32));

/// A port nobody listens on now. It may be taken before the caller binds it: callers try again with another.
pub(crate) fn free() -> Result<u16> {
    let width = u32::from(TO - FROM);
    for _ in 0..width {
        let offset = NEXT.fetch_add(1, Ordering::Relaxed) % width;
        let port = FROM + u16::try_from(offset).expect("an offset below 2700 fits 16 bits");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Error::NoPort { from: FROM, to: TO })
}

#[cfg(test)]
mod tests {
    use super::free;

    #[test]
    fn taken_port_is_not_given() {
        let first = free().unwrap();
        let _taken = std::net::TcpListener::bind(("127.0.0.1", first)).unwrap();
        assert!((0..100).all(|_| free().unwrap() != first));
    }
}

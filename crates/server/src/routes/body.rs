//! Bodies of requests: how long they may be, how long they may take, and how much of them there may be at once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::reply::Reply;

/// Bodies up to this length need no room of their own: the limit on connections bounds their sum.
const USUAL_BYTES: usize = 256_000;

/// How long a long body waits for others to be done.
const ROOM_TIMEOUT: Duration = Duration::from_secs(5);

/// What a permit stands for.
const ROOM_UNIT_BYTES: usize = 1_024;

/// How many bytes a body may have.
#[derive(Clone, Copy)]
pub(super) struct BodyLimit(usize);

impl BodyLimit {
    /// For what has no reason to be longer or shorter.
    pub(super) const USUAL: Self = Self(USUAL_BYTES);

    pub(super) const fn of(bytes: usize) -> Self {
        Self(bytes)
    }
}

/// As clients are told: in binary units where the number is one, else in decimal ones.
impl fmt::Display for BodyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, units) = match self.0 % 1024 {
            0 => (1024.0, ["KiB", "MiB"]),
            _ => (1000.0, ["KB", "MB"]),
        };
        #[expect(clippy::cast_precision_loss, reason = "limits are far below where that begins")]
        let bytes = self.0 as f64;
        match bytes / base {
            below if below < 1.0 => write!(f, "{}B", self.0),
            kilo if kilo < base => write!(f, "{kilo:.1}{}", units[0]),
            kilo => write!(f, "{:.1}{}", kilo / base, units[1]),
        }
    }
}

/// Reads bodies, and keeps the sum of the long ones in bounds.
#[derive(Clone)]
pub(crate) struct Bodies {
    room: Arc<Semaphore>,
    room_units: u32,
    room_timeout: Duration,
    timeout: Duration,
}

impl Bodies {
    /// `timeout` is for the next piece, not for the whole.
    pub(crate) fn new(bytes_max: usize, timeout: Duration) -> Self {
        let room_units = units(bytes_max);
        let room = Arc::new(Semaphore::new(room_units as usize));
        Bodies { room, room_units, room_timeout: ROOM_TIMEOUT, timeout }
    }

    /// The body, and the room that it takes for as long as it is in memory.
    pub(super) async fn read(
        &self,
        body: Body,
        limit: BodyLimit,
    ) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Reply> {
        let told = body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
        let room = self.room(told.unwrap_or(limit.0).min(limit.0)).await?;
        Ok((self.read_up_to(body, limit).await?, room))
    }

    async fn room(&self, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, Reply> {
        if bytes <= USUAL_BYTES {
            return Ok(None);
        }
        let wanted = self.room.clone().acquire_many_owned(units(bytes).min(self.room_units));
        let room = timeout(self.room_timeout, wanted).await.map_err(|_| Reply::overloaded())?;
        Ok(Some(room.expect("nobody closes it")))
    }

    async fn read_up_to(&self, mut body: Body, limit: BodyLimit) -> Result<Bytes, Reply> {
        let mut read = Bytes::new();
        loop {
            let next = timeout(self.timeout, body.frame()).await.map_err(|_| {
                let waited = leasehold_core::duration::format(self.timeout);
                Reply::transport_error(format!("reading the request body failed; nothing came for {waited}"))
            })?;
            let Some(frame) = next else { return Ok(read) };
            let frame =
                frame.map_err(|_| Reply::transport_error("reading the request body failed".to_owned()))?;
            let Ok(piece) = frame.into_data() else { continue };
            if read.len() + piece.len() > limit.0 {
                return Err(Reply::bad_request(format!("request body exceeds {limit} limit")));
            }
            read = match read.is_empty() {
                true => piece,
                false => appended(read, &piece),
            };
        }
    }
}

/// Most bodies are one piece, which is taken as it is.
fn appended(read: Bytes, piece: &[u8]) -> Bytes {
    let mut longer = BytesMut::from(read);
    longer.extend_from_slice(piece);
    longer.freeze()
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(ROOM_UNIT_BYTES)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn long_bodies_wait_for_room_and_then_are_told_to_come_again() {
        let bodies = Bodies { room_timeout: SECOND / 20, ..Bodies::new(1_000_000, SECOND) };
        let long = || Body::from(vec![0; 600_000]);
        let limit = BodyLimit::of(5_000_000);
        let (_, first) = bodies.read(long(), limit).await.expect("there is room");
        assert!(first.is_some());
        let refused = bodies.read(long(), limit).await.expect_err("there is none");
        assert_eq!(refused.message(), "server is overloaded; too many long requests at once, try again");
        let (_, small) = bodies.read(Body::from(vec![0; 256_000]), limit).await.expect("needs no room");
        assert!(small.is_none());
        drop(first);
        bodies.read(long(), limit).await.expect("there is room again");
        bodies.read(Body::from(vec![0; 5_000_000]), limit).await.expect("one alone may be longer than all");
    }

    #[test]
    fn limits_are_told_in_the_known_words() {
        for (bytes, text) in [
            (512, "512B"),
            (256_000, "250.0KiB"),
            (512_000, "500.0KiB"),
            (5_000_000, "5.0MB"),
            (64_000_000, "61.0MiB"),
        ] {
            assert_eq!(BodyLimit::of(bytes).to_string(), text);
        }
    }
}

//! Bodies of requests: how long they may be, how long they may take, and how much of them there may be at once.

use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::sync::OwnedSemaphorePermit;

use super::pace::Pace;
use super::room::{ROOM_TIMEOUT, Room, units};
use super::waiting_places::WaitingPlaces;
use crate::LimitsConfig;
use crate::reply::Reply;

/// Bodies up to this length share a room as large as if each connection had one of them. Over HTTP/1 it is never full.
pub(super) const USUAL_BYTES: usize = 256_000;

/// Bodies up to this length need no room: the limits on connections and on requests of each bound their sum.
pub(super) const SMALL_BYTES: usize = 4_096;

/// Room is taken in such steps, as a body comes: one that is announced and not sent must not keep others out.
const USUAL_STEP_BYTES: usize = 64 * 1_024;
const LONG_STEP_BYTES: usize = 1_024 * 1_024;

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

/// The last step may be more than there was.
fn shrunk(mut room: OwnedSemaphorePermit, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let needed = units(bytes) as usize;
    if bytes <= SMALL_BYTES {
        return None;
    }
    if let Some(over) = room.num_permits().checked_sub(needed) {
        drop(room.split(over));
    }
    Some(room)
}

/// Reads bodies, and keeps the sum of those in memory in bounds.
#[derive(Clone)]
pub(crate) struct Bodies {
    long: Room,
    usual: Room,
    room_timeout: Duration,
    timeout: Duration,
}

impl Bodies {
    /// `timeout` is for a part of a body, not for the whole: see [`Pace`].
    pub(crate) fn new(limits: &LimitsConfig, timeout: Duration) -> Self {
        let usual = Room::new(limits.connections.saturating_mul(USUAL_BYTES));
        Bodies { long: Room::new(limits.body_bytes), usual, room_timeout: ROOM_TIMEOUT, timeout }
    }

    /// The body, and the room that it takes for as long as it is in memory. Where it comes over a connection that others
    /// use as well, it waits for room in one of these places, or not at all.
    pub(super) async fn read(
        &self,
        mut body: impl Body<Data = Bytes> + Unpin,
        limit: BodyLimit,
        waiting: Option<&WaitingPlaces>,
    ) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Reply> {
        let told = body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
        let most = told.unwrap_or(limit.0).min(limit.0);
        let (mut read, mut room) = (Bytes::new(), None);
        let mut pace = Pace::new(self.timeout);
        while let Some(frame) = pace.next(body.frame()).await? {
            let frame =
                frame.map_err(|_| Reply::transport_error("reading the request body failed".to_owned()))?;
            let Ok(piece) = frame.into_data() else { continue };
            let bytes = read.len() + piece.len();
            if bytes > limit.0 {
                return Err(Reply::bad_request(format!("request body exceeds {limit} limit")));
            }
            pace.came(piece.len());
            room = self.grown(room, read.len(), bytes, most, waiting).await?;
            read = match read.is_empty() {
                true => piece,
                false => appended(read, &piece),
            };
        }
        let room = room.and_then(|room| shrunk(room, read.len()));
        Ok((read, room))
    }

    /// The permit for a body and for what it is decoded to, `bytes` together.
    pub(super) async fn cover_decoded(
        &self,
        room: Option<OwnedSemaphorePermit>,
        bytes: usize,
        waiting: Option<&WaitingPlaces>,
    ) -> Result<Option<OwnedSemaphorePermit>, Reply> {
        if bytes <= SMALL_BYTES {
            return Ok(room);
        }
        let place = waiting.map(WaitingPlaces::take);
        let wait = if let Some(None) = place { Duration::ZERO } else { self.room_timeout };
        let (long, usual) = match room {
            Some(room) if self.long.is_of(&room) => (Some(room), None),
            room => (None, room),
        };
        if long.is_none() && bytes <= USUAL_BYTES {
            return self.usual.grow(usual, bytes, wait).await.map(Some);
        }
        let grown = self.long.grow(long, bytes, wait).await;
        drop(usual);
        grown.map(Some)
    }

    /// The room of a body that has grown to so many bytes, of at most so many. One that may become long begins where those
    /// of usual length are: that much must have come before it takes any of what long ones share.
    async fn grown(
        &self,
        room: Option<OwnedSemaphorePermit>,
        before: usize,
        bytes: usize,
        most: usize,
        waiting: Option<&WaitingPlaces>,
    ) -> Result<Option<OwnedSemaphorePermit>, Reply> {
        let wanted = |step: usize, most: usize| bytes.next_multiple_of(step).min(most.max(bytes));
        if bytes <= SMALL_BYTES {
            return Ok(None);
        }
        let place = waiting.map(WaitingPlaces::take);
        let wait = if let Some(None) = place { Duration::ZERO } else { self.room_timeout };
        let is_long = |bytes: usize| most > USUAL_BYTES && bytes > USUAL_STEP_BYTES;
        if !is_long(bytes) {
            let wanted = wanted(USUAL_STEP_BYTES, most.min(USUAL_BYTES));
            return self.usual.grow(room, wanted, wait).await.map(Some);
        }
        let wanted = wanted(LONG_STEP_BYTES, most);
        let (had, left) = if is_long(before) { (room, None) } else { (None, room) };
        let grown = self.long.grow(had, wanted, wait).await;
        drop(left);
        grown.map(Some)
    }
}

/// Most bodies are one piece, which is taken as it is.
fn appended(read: Bytes, piece: &[u8]) -> Bytes {
    let mut longer = BytesMut::from(read);
    longer.extend_from_slice(piece);
    longer.freeze()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn long_bodies_wait_for_room_and_then_are_told_to_come_again() {
        let limits = LimitsConfig { body_bytes: 1_000_000, connections: 1, ..LimitsConfig::default() };
        let bodies = Bodies { room_timeout: SECOND / 20, ..Bodies::new(&limits, SECOND) };
        let long = || Body::from(vec![0; 600_000]);
        let limit = BodyLimit::of(5_000_000);
        let (_, first) = bodies.read(long(), limit, None).await.expect("there is room");
        assert!(first.is_some());
        let refused = bodies.read(long(), limit, None).await.expect_err("there is none");
        assert_eq!(refused.message(), "server is overloaded; too many long requests at once, try again");
        let usual = || Body::from(vec![0; 256_000]);
        let (_, second) = bodies.read(usual(), limit, None).await.expect("they have a room of their own");
        bodies.read(usual(), limit, None).await.expect_err("which has an end, too");
        let (_, small) = bodies.read(Body::from(vec![0; 4_096]), limit, None).await.expect("needs no room");
        assert!(small.is_none());
        drop((first, second));
        bodies.read(long(), limit, None).await.expect("there is room again");
        bodies
            .read(Body::from(vec![0; 5_000_000]), limit, None)
            .await
            .expect("one alone may be longer than all");
    }

    #[tokio::test]
    async fn body_that_does_not_say_its_length_gives_back_what_it_did_not_need() {
        let limits = LimitsConfig { body_bytes: 1_000_000, ..LimitsConfig::default() };
        let bodies = Bodies { room_timeout: SECOND / 20, ..Bodies::new(&limits, SECOND) };
        let limit = BodyLimit::of(1_000_000);
        let mut held = Vec::new();
        for bytes in [100, 10_000, 10_000] {
            let pieces = StreamBody::new(futures_util::stream::iter([Ok::<_, std::convert::Infallible>(
                Frame::data(Bytes::from(vec![0; bytes])),
            )]));
            let (read, room) = bodies.read(Body::new(pieces), limit, None).await.expect("there is room");
            assert_eq!(read.len(), bytes);
            held.push(room.map(|room| room.num_permits()));
        }
        assert_eq!(held, [None, Some(10), Some(10)]);
    }

    /// A body that brings so many bytes so often, so many times, and does not say its length.
    fn trickle(bytes: usize, pause: Duration, times: usize) -> Body {
        let pieces = futures_util::stream::unfold(0, move |sent| async move {
            if sent == times {
                return None;
            }
            if sent > 0 {
                tokio::time::sleep(pause).await;
            }
            Some((Ok::<_, std::convert::Infallible>(Frame::data(Bytes::from(vec![0; bytes]))), sent + 1))
        });
        Body::new(StreamBody::new(Box::pin(pieces)))
    }

    #[tokio::test]
    async fn long_bodies_that_are_announced_and_not_sent_take_no_room() {
        let limits = LimitsConfig { body_bytes: 1_000_000, ..LimitsConfig::default() };
        let bodies = Bodies { room_timeout: SECOND / 20, ..Bodies::new(&limits, 60 * SECOND) };
        let limit = BodyLimit::of(64_000_000);
        let slow: Vec<_> = (0..4)
            .map(|_| {
                let bodies = bodies.clone();
                tokio::spawn(async move { bodies.read(trickle(10_000, 60 * SECOND, 9), limit, None).await })
            })
            .collect();
        while bodies.usual.is_free() {
            tokio::task::yield_now().await;
        }
        bodies.read(Body::from(vec![0; 900_000]), limit, None).await.expect("there is room");
        assert!(slow.iter().all(|reading| !reading.is_finished()));
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_comes_too_slowly_is_refused_and_one_that_keeps_its_pace_is_not() {
        let bodies = Bodies::new(&LimitsConfig::default(), 30 * SECOND);
        let limit = BodyLimit::of(64_000_000);
        let refused = bodies.read(trickle(1, 25 * SECOND, 100), limit, None).await.expect_err("too slow");
        assert_eq!(refused.message(), "reading the request body failed; only 2 byte(s) came in 30s");
        let (read, _) =
            bodies.read(trickle(64_000, 25 * SECOND, 20), limit, None).await.expect("keeps its pace");
        assert_eq!(read.len(), 20 * 64_000);
        let stalled = bodies.read(trickle(64_000, 31 * SECOND, 2), limit, None).await.expect_err("stalls");
        assert_eq!(stalled.message(), "reading the request body failed; nothing came for 30s");
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_bodies_of_a_connection_wait_for_room() {
        let limits = LimitsConfig { body_bytes: 1_000_000, ..LimitsConfig::default() };
        let bodies = Bodies::new(&limits, 30 * SECOND);
        let limit = BodyLimit::of(5_000_000);
        let read = async |places: &WaitingPlaces| {
            let began = tokio::time::Instant::now();
            let read = bodies.read(Body::from(vec![0; 900_000]), limit, Some(places)).await;
            (read.map(|(_, room)| room).ok(), began.elapsed())
        };
        let (one, other) = (WaitingPlaces::new(1), WaitingPlaces::new(1));
        let (first, _) = read(&one).await;
        assert!(first.is_some(), "there is room");
        let (waits, refused, elsewhere) = tokio::join!(read(&one), read(&one), read(&other));
        assert!([&waits, &refused, &elsewhere].iter().all(|(room, _)| room.is_none()));
        let waited = [waits.1, refused.1, elsewhere.1];
        assert_eq!(waited, [ROOM_TIMEOUT, Duration::ZERO, ROOM_TIMEOUT]);
        drop(first);
        let (again, _) = read(&one).await;
        assert!(again.is_some(), "there is room again, and the place was given back");
    }

    #[tokio::test]
    async fn what_a_body_is_decoded_to_takes_room_like_a_body() {
        let limits = LimitsConfig { body_bytes: 1_000_000, connections: 1, ..LimitsConfig::default() };
        let bodies = Bodies { room_timeout: SECOND / 20, ..Bodies::new(&limits, SECOND) };
        let read = async |bytes| {
            let read = bodies.read(Body::from(vec![0; bytes]), BodyLimit::of(5_000_000), None).await;
            read.expect("there is room").1
        };
        let small = bodies.cover_decoded(read(10).await, SMALL_BYTES, None).await.expect("needs none");
        assert!(small.is_none());
        let usual = bodies.cover_decoded(read(10).await, 200_000, None).await.expect("there is room");
        assert!(!bodies.usual.is_free() && bodies.long.is_free());
        bodies.cover_decoded(None, 200_000, None).await.expect_err("there is no more");
        let long = bodies.cover_decoded(usual, 600_000, None).await.expect("there is room");
        assert!(bodies.usual.is_free(), "it has all its room where long ones are");
        bodies.cover_decoded(read(300_000).await, 600_000, None).await.expect_err("there is no more");
        drop(long);
        let grown = bodies.cover_decoded(read(300_000).await, 600_000, None).await.expect("there is again");
        assert_eq!(grown.map(|room| room.num_permits()), Some(586));
        assert!(bodies.usual.is_free() && bodies.long.is_free());
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

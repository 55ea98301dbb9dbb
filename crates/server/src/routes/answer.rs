//! What operations answer with, and what is kept until the last of it was taken.

use bytes::Bytes;
use leasehold_queue::Room;
use prost::{Message, Name};
use serde::Serialize;

/// A message, or one with what is to be kept as long as it is in memory.
pub(super) trait Answer {
    type Message: Message + Name + Serialize;

    fn into_parts(self) -> (Self::Message, Option<Room>);
}

impl<A: Message + Name + Serialize> Answer for A {
    type Message = A;

    fn into_parts(self) -> (A, Option<Room>) {
        (self, None)
    }
}

/// A message whose memory the engine counts.
pub(super) struct Counted<A> {
    pub(super) message: A,
    pub(super) room: Room,
}

impl<A: Message + Name + Serialize> Answer for Counted<A> {
    type Message = A;

    fn into_parts(self) -> (A, Option<Room>) {
        (self.message, Some(self.room))
    }
}

/// The text, with its share of whatever is limited for as long as any of it is in memory.
pub(super) fn held(text: Vec<u8>, share: impl Send + Sync + 'static) -> Bytes {
    Bytes::from_owner(Held { text, _share: share })
}

struct Held<S> {
    text: Vec<u8>,
    _share: S,
}

impl<S> AsRef<[u8]> for Held<S> {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

//! Messages to clients.

use bytes::{BufMut, BytesMut};
use leasehold_dsql_sim_core::{Failure, Outcome, Status};

/// Messages on their way to a client.
#[derive(Default)]
pub(crate) struct Replies {
    pub(crate) buffer: BytesMut,
}

impl Replies {
    /// A message of this type.
    pub(crate) fn put(&mut self, kind: u8, body: &[u8]) {
        self.buffer.put_u8(kind);
        self.buffer.put_u32(u32::try_from(body.len() + 4).unwrap_or(u32::MAX));
        self.buffer.put_slice(body);
    }

    pub(crate) fn failure(&mut self, failure: &Failure) {
        self.put(b'E', &failure.body());
    }

    pub(crate) fn ready(&mut self, status: Status) {
        let letter = match status {
            Status::Idle => b'I',
            Status::Open => b'T',
            Status::Failed => b'E',
        };
        self.put(b'Z', &[letter]);
    }

    pub(crate) fn parameter(&mut self, name: &str, value: &str) {
        self.put(b'S', &[name.as_bytes(), &[0], value.as_bytes(), &[0]].concat());
    }

    /// The end of a statement.
    pub(crate) fn tag(&mut self, tag: Option<&str>) {
        match tag {
            Some(tag) => self.put(b'C', &[tag.as_bytes(), &[0]].concat()),
            None => self.put(b'I', &[]),
        }
    }

    /// All of an outcome, as a simple query has it.
    pub(crate) fn outcome(&mut self, outcome: &Outcome) {
        if let Some(description) = &outcome.description {
            self.put(b'T', description);
        }
        for row in &outcome.rows {
            self.put(b'D', row);
        }
        self.tag(outcome.tag.as_deref());
    }
}

#[cfg(test)]
mod tests {
    use super::Replies;
    use leasehold_dsql_sim_core::Status;

    #[test]
    fn message_tells_its_length() {
        let mut replies = Replies::default();
        replies.ready(Status::Failed);
        assert_eq!(&replies.buffer[..], b"Z\0\0\0\x05E");
    }
}

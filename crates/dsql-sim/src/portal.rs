//! A bound statement, and what is left of its rows.

use std::{collections::VecDeque, sync::Arc};

use bytes::{Bytes, BytesMut};
use leasehold_dsql_sim_core::{Bound, Outcome, Prepared};

use crate::reply::Replies;

/// A statement with its values.
pub(crate) struct Portal {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) bound: Bound,
    /// Of a statement that was run.
    rest: Option<Rest>,
}

struct Rest {
    rows: VecDeque<Bytes>,
    tag: Option<String>,
}

impl Portal {
    pub(crate) fn new(prepared: Arc<Prepared>, bound: Bound) -> Portal {
        Portal { prepared, bound, rest: None }
    }

    /// Whether the statement was not run yet.
    pub(crate) fn is_new(&self) -> bool {
        self.rest.is_none()
    }

    pub(crate) fn ran(&mut self, outcome: Outcome) {
        self.rest = Some(Rest { rows: outcome.rows.into(), tag: outcome.tag });
    }

    /// The next rows: all for 0.
    pub(crate) fn send(&mut self, rows_max: usize, replies: &mut Replies) {
        let Some(rest) = &mut self.rest else { return };
        let mut sent = 0;
        while let Some(row) = rest.rows.pop_front() {
            replies.put(b'D', &row);
            sent += 1;
            if sent == rows_max {
                replies.put(b's', &[]);
                return;
            }
        }
        replies.tag(rest.tag.as_deref());
    }

    /// The description of its rows, in the formats it was bound with.
    pub(crate) fn description(&self) -> Option<Bytes> {
        self.prepared.description.as_ref().map(|description| formatted(description, &self.bound.formats))
    }
}

/// What follows the name of a field; the format is its last two bytes.
const FIELD_BYTES: usize = 18;

fn formatted(description: &Bytes, formats: &[i16]) -> Bytes {
    let mut body = BytesMut::from(&description[..]);
    let mut at = 2;
    let mut field = 0;
    while let Some(name) = body.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) {
        at += name + 1 + FIELD_BYTES;
        if at > body.len() {
            break;
        }
        let format = match formats {
            [] => 0,
            [one] => *one,
            many => many.get(field).copied().unwrap_or(0),
        };
        body[at - 2..at].copy_from_slice(&format.to_be_bytes());
        field += 1;
    }
    body.freeze()
}

#[cfg(test)]
mod tests {
    use super::{FIELD_BYTES, formatted};
    use bytes::Bytes;

    fn description(formats: [u8; 2]) -> Bytes {
        let field = |name: u8, format: u8| [&[name, 0][..], &[7; FIELD_BYTES - 1], &[format]].concat();
        let fields = [field(b'a', formats[0]), field(b'b', formats[1])].concat();
        let mut body = [&[0, 2][..], &fields].concat();
        // The upper byte of each format.
        for at in [2 + 2 + FIELD_BYTES - 2, 2 + 4 + 2 * FIELD_BYTES - 2] {
            body[at] = 0;
        }
        body.into()
    }

    #[test]
    fn portal_describes_its_own_formats() {
        assert_eq!(formatted(&description([0, 0]), &[]), description([0, 0]));
        assert_eq!(formatted(&description([0, 0]), &[1]), description([1, 1]));
        assert_eq!(formatted(&description([0, 0]), &[0, 1]), description([0, 1]));
    }
}

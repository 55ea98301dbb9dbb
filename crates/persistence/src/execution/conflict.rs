//! What is told of the current execution to a writer who expected another.

use std::collections::BTreeMap;

use leasehold_core::Timestamp;
use prost::Message;

use super::state::{ExecutionState, ExecutionStatus};
use crate::{Blob, Error, Result, RunId};

/// The type of the event that starts a workflow, and its id.
const STARTED: RequestIdInfo = RequestIdInfo { event_type: 1, event_id: 1 };

/// The current execution as it is, where it is not as a writer expected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CurrentConflict {
    /// Its run; none if there is no current execution.
    pub run_id: Option<RunId>,
    /// The requests that it answers, and the events they led to.
    pub request_ids: BTreeMap<String, RequestIdInfo>,
    /// How far it is.
    pub state: Option<ExecutionState>,
    /// How it ended.
    pub status: Option<ExecutionStatus>,
    /// The failover version of its last event.
    pub last_write_version: i64,
    /// When it started, if that is known.
    pub start_time: Option<Timestamp>,
    /// Its state as it is stored, where the record has it: for whoever knows more of its fields than this crate.
    pub blob: Option<Blob>,
}

/// The event that a request led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestIdInfo {
    /// The number of its type.
    pub event_type: i32,
    /// Its id.
    pub event_id: i64,
}

impl CurrentConflict {
    /// There is no current execution.
    pub(super) fn none() -> Self {
        Self {
            run_id: None,
            request_ids: BTreeMap::new(),
            state: None,
            status: None,
            last_write_version: 0,
            start_time: None,
            blob: None,
        }
    }
}

impl From<CurrentConflict> for Error {
    fn from(conflict: CurrentConflict) -> Self {
        Self::CurrentWorkflowConditionFailed(Box::new(conflict))
    }
}

/// The requests in a stored state. Records from before it was stored know only the request that made the run.
pub(super) fn request_ids(
    state: Option<&Blob>,
    create_request_id: &str,
) -> Result<BTreeMap<String, RequestIdInfo>> {
    let mut requests = match state {
        Some(blob) => decode(blob)?.request_ids,
        None => BTreeMap::new(),
    };
    let started = RequestIdMessage { event_type: STARTED.event_type, event_id: STARTED.event_id };
    requests.entry(create_request_id.to_owned()).or_insert(started);
    let info = |message: RequestIdMessage| RequestIdInfo {
        event_type: message.event_type,
        event_id: message.event_id,
    };
    Ok(requests.into_iter().map(|(id, message)| (id, info(message))).collect())
}

fn decode(blob: &Blob) -> Result<StateMessage> {
    let corrupt = |reason| Error::Corrupt { what: "state of the current execution".to_owned(), reason };
    if !blob.encoding().eq_ignore_ascii_case("proto3") {
        return Err(corrupt(format!("its encoding is {:?}, not Proto3", blob.encoding())));
    }
    StateMessage::decode(blob.data()).map_err(|error| corrupt(error.to_string()))
}

/// The fields of `WorkflowExecutionState` that are looked at; the others are skipped.
#[derive(Clone, PartialEq, Message)]
struct StateMessage {
    #[prost(btree_map = "string, message", tag = "7")]
    request_ids: BTreeMap<String, RequestIdMessage>,
}

/// `RequestIDInfo`.
#[derive(Clone, Copy, PartialEq, Message)]
struct RequestIdMessage {
    #[prost(int32, tag = "1")]
    event_type: i32,
    #[prost(int64, tag = "2")]
    event_id: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `create_request_id` "start", `run_id` "r", `state` 2, `status` 1, `start_time` 5 s, `request_ids` {"signal": (26, 9)},
    /// by hand: the fields between are there to be skipped.
    const STATE: &[u8] = b"\x0a\x05start\x12\x01r\x18\x02\x20\x01\x32\x02\x08\x05\x3a\x0e\x0a\x06signal\x12\x04\x08\x1a\x10\x09";

    #[test]
    fn requests_are_read_from_a_stored_state() {
        let requests = request_ids(Some(&Blob::proto3(STATE)), "start").expect("requests");
        let signal = RequestIdInfo { event_type: 26, event_id: 9 };
        assert_eq!(requests, BTreeMap::from([("signal".to_owned(), signal), ("start".to_owned(), STARTED)]));
    }

    #[test]
    fn record_without_a_state_knows_the_request_that_made_it() {
        let requests = request_ids(None, "start").expect("requests");
        assert_eq!(requests, BTreeMap::from([("start".to_owned(), STARTED)]));
    }

    #[test]
    fn what_cannot_be_read_is_corrupt() {
        for blob in [Blob::proto3(&b"\x3a\x7f"[..]), Blob::new(STATE, "Json").expect("a blob")] {
            assert_eq!(request_ids(Some(&blob), "start").expect_err("corrupt").code(), "state.corrupt");
        }
    }
}

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
    /// The run that its chain began with, its own or one that it continues. None where the record does not say, as those
    /// from before Temporal stored it: it must not be taken for the run itself then.
    pub first_execution_run_id: Option<RunId>,
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
            first_execution_run_id: None,
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

/// What a stored state tells that the columns beside it do not.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) request_ids: BTreeMap<String, RequestIdInfo>,
    pub(super) first_execution_run_id: Option<RunId>,
}

impl Told {
    /// What the state of a record tells.
    pub(super) fn by(state: &Blob) -> Result<Self> {
        let message = decode(state)?;
        let first_execution_run_id = match message.first_execution_run_id.as_str() {
            "" => None,
            text => Some(text.parse().map_err(|_| corrupt("its first run is no UUID".to_owned()))?),
        };
        let info = |message: RequestIdMessage| RequestIdInfo {
            event_type: message.event_type,
            event_id: message.event_id,
        };
        let request_ids = message.request_ids.into_iter().map(|(id, message)| (id, info(message)));
        let mut told = Self { request_ids: request_ids.collect(), first_execution_run_id };
        // States from before the requests were kept in them have it here alone.
        if !message.create_request_id.is_empty() {
            told.request_ids.entry(message.create_request_id).or_insert(STARTED);
        }
        Ok(told)
    }

    /// What is known where no state is stored: the request that made the run.
    pub(super) fn without_state(create_request_id: &str) -> Self {
        let request_ids = BTreeMap::from([(create_request_id.to_owned(), STARTED)]);
        Self { request_ids, first_execution_run_id: None }
    }
}

fn decode(blob: &Blob) -> Result<StateMessage> {
    if !blob.encoding().eq_ignore_ascii_case("proto3") {
        return Err(corrupt(format!("its encoding is {:?}, not Proto3", blob.encoding())));
    }
    StateMessage::decode(blob.data()).map_err(|error| corrupt(error.to_string()))
}

fn corrupt(reason: String) -> Error {
    Error::Corrupt { what: "state of the current execution".to_owned(), reason }
}

/// The fields of `WorkflowExecutionState` that are looked at; the others are skipped.
#[derive(Clone, PartialEq, Message)]
struct StateMessage {
    #[prost(string, tag = "1")]
    create_request_id: String,
    #[prost(btree_map = "string, message", tag = "7")]
    request_ids: BTreeMap<String, RequestIdMessage>,
    #[prost(string, tag = "8")]
    first_execution_run_id: String,
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

    /// `WorkflowExecutionState` with every field that it has, as Temporal's own code of version 1.32.1 and Go's protobuf
    /// wrote it: the run 6f96…, begun with the run 0f8f…, whose requests "start" and "attach" led to the events 1, of type 1,
    /// and 9, of type 55.
    const OF_TEMPORAL: &[u8] = b"\x0a\x05start\x12$6f9619ff-8b86-d011-b42d-00c04fc964ff\x18\x02 \x01*\x04\x08\x03\x10\x042\x05\x08\x05\x10\xf0.:\x0e\x0a\x06attach\x12\x04\x087\x10\x09:\x0d\x0a\x05start\x12\x04\x08\x01\x10\x01B$0f8fad5b-d9cb-469f-a165-70867728950e";
    /// The same with the fields 1 to 4 alone, as before the others were added.
    const OF_OLD_TEMPORAL: &[u8] = b"\x0a\x05start\x12$6f9619ff-8b86-d011-b42d-00c04fc964ff\x18\x02 \x01";

    #[test]
    fn state_that_temporal_wrote_is_read() {
        let told = Told::by(&Blob::proto3(OF_TEMPORAL)).expect("a state");
        let attach = RequestIdInfo { event_type: 55, event_id: 9 };
        assert_eq!(
            told.request_ids,
            BTreeMap::from([("attach".to_owned(), attach), ("start".to_owned(), STARTED)])
        );
        let first = "0f8fad5b-d9cb-469f-a165-70867728950e".parse().expect("a run");
        assert_eq!(told.first_execution_run_id, Some(first));
    }

    #[test]
    fn state_from_before_knows_the_request_that_made_the_run_and_no_first_run() {
        let told = Told::by(&Blob::proto3(OF_OLD_TEMPORAL)).expect("a state");
        assert_eq!(told, Told::without_state("start"));
        assert_eq!(told.request_ids, BTreeMap::from([("start".to_owned(), STARTED)]));
        assert_eq!(told.first_execution_run_id, None);
    }

    #[test]
    fn state_that_names_no_request_has_none() {
        assert_eq!(Told::by(&Blob::proto3(&b"\x18\x02"[..])).expect("a state").request_ids, BTreeMap::new());
    }

    #[test]
    fn what_cannot_be_read_is_corrupt() {
        for blob in [
            Blob::proto3(&b"\x3a\x7f"[..]),
            Blob::proto3(&b"\x42\x03run"[..]),
            Blob::new(OF_TEMPORAL, "Json").expect("a blob"),
        ] {
            assert_eq!(Told::by(&blob).expect_err("corrupt").code(), "state.corrupt");
        }
    }
}

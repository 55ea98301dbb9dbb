//! What is kept of a queue besides its messages: Temporal's protobuf message `Queue`.

use std::collections::HashMap;

use leasehold_txn::tokio_postgres::Row;
use prost::Message as _;

use crate::{Blob, Error, Result};

const ENCODING: &str = "Proto3";
/// There is one partition, and this is its number.
const PARTITION: i32 = 0;

#[derive(Clone, PartialEq, prost::Message)]
struct Stored {
    #[prost(map = "int32, message", tag = "1")]
    partitions: HashMap<i32, StoredPartition>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredPartition {
    #[prost(int64, tag = "1")]
    min_message_id: i64,
}

/// The metadata of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    /// No message below it is there for a reader.
    pub(super) min_message_id: i64,
}

impl Metadata {
    pub(super) fn of(row: &Row) -> Result<Self> {
        Self::read(&Blob::of_columns(row, "metadata_payload", "metadata_encoding")?)
    }

    fn read(blob: &Blob) -> Result<Self> {
        if blob.encoding() != ENCODING {
            return Err(corrupt(format!("its encoding is `{}`, not `{ENCODING}`", blob.encoding())));
        }
        let stored = Stored::decode(blob.data()).map_err(|error| corrupt(error.to_string()))?;
        match (stored.partitions.len(), stored.partitions.get(&PARTITION)) {
            (1, Some(partition)) => Ok(Self { min_message_id: partition.min_message_id }),
            (len, _) => {
                Err(corrupt(format!("it has {len} partitions, not the one with the number {PARTITION}")))
            }
        }
    }

    pub(super) fn blob(self) -> Blob {
        let partition = StoredPartition { min_message_id: self.min_message_id };
        let stored = Stored { partitions: HashMap::from([(PARTITION, partition)]) };
        Blob::proto3(stored.encode_to_vec())
    }
}

fn corrupt(reason: String) -> Error {
    Error::Corrupt { what: "the metadata of the queue".to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_as_temporal_writes_it() {
        let none = Metadata { min_message_id: 0 }.blob();
        // One entry of field 1, its key 0 and an empty message for a value: both may be left out, and are read either way.
        for bytes in [none.data(), &[0x0a, 0x00], &[0x0a, 0x04, 0x08, 0x00, 0x12, 0x00]] {
            assert_eq!(Metadata::read(&Blob::proto3(bytes.to_vec())).expect("metadata").min_message_id, 0);
        }
        let bytes = [0x0a, 0x07, 0x08, 0x00, 0x12, 0x03, 0x08, 0xac, 0x02];
        let read = Metadata::read(&Blob::proto3(bytes.to_vec())).expect("metadata");
        assert_eq!(read, Metadata { min_message_id: 300 });
        assert_eq!(Metadata::read(&read.blob()).expect("metadata"), read);
    }

    #[test]
    fn what_is_not_understood_is_not_written_over() {
        let two = [0x0a, 0x02, 0x08, 0x00, 0x0a, 0x02, 0x08, 0x01];
        for blob in [
            Blob::proto3(vec![]),
            Blob::proto3(two.to_vec()),
            Blob::proto3(vec![0x0a, 0x02, 0x08, 0x01]),
            Blob::proto3(vec![0xff]),
            Blob::new(vec![0x0a, 0x00], "Json").expect("a blob"),
        ] {
            assert_eq!(Metadata::read(&blob).expect_err("corrupt").code(), "state.corrupt", "{blob:?}");
        }
    }
}

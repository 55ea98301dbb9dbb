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

    /// `persistence.Queue` with partition 0 at the minimum 0 and at 300, as Temporal's own code of version 1.32.1 and Go's
    /// protobuf wrote them.
    const OF_TEMPORAL: [(&[u8], i64); 2] =
        [(b"\x0a\x04\x08\x00\x12\x00", 0), (b"\x0a\x07\x08\x00\x12\x03\x08\xac\x02", 300)];

    #[test]
    fn metadata_that_temporal_wrote_is_read() {
        for (bytes, min_message_id) in OF_TEMPORAL {
            let read = Metadata::read(&Blob::proto3(bytes)).expect("metadata");
            assert_eq!(read, Metadata { min_message_id });
            assert_eq!(Metadata::read(&read.blob()).expect("metadata"), read);
        }
    }

    /// Key and value of an entry may be left out where they are zero or empty.
    #[test]
    fn shortest_form_is_read_too() {
        let none = Metadata { min_message_id: 0 };
        for bytes in [none.blob().data(), &[0x0a, 0x00]] {
            assert_eq!(Metadata::read(&Blob::proto3(bytes.to_vec())).expect("metadata"), none);
        }
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

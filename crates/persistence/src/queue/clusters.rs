//! Ack levels as Temporal stores them: its message `QueueMetadata`, as protobuf or, since some version, as JSON.

use std::collections::BTreeMap;

use prost::Message as _;
use serde_json::Value;

use crate::{Blob, Error, Result};

/// The names of the field in the JSON of protobuf: the one that is written, and the one that is read as well.
const JSON_NAMES: [&str; 2] = ["clusterAckLevels", "cluster_ack_levels"];

#[derive(Clone, PartialEq, prost::Message)]
struct Stored {
    #[prost(btree_map = "string, int64", tag = "1")]
    of_clusters: BTreeMap<String, i64>,
}

/// The last message that each cluster has done with.
pub(crate) fn of_clusters(blob: &Blob) -> Result<BTreeMap<String, i64>> {
    if blob.encoding().eq_ignore_ascii_case("json") {
        return of_json(blob.data());
    }
    let stored = Stored::decode(blob.data()).map_err(|error| corrupt(error.to_string()))?;
    Ok(stored.of_clusters)
}

/// The first id that no cluster has done with. Levels in an encoding of the caller's own, which may be anything, forbid none;
/// nor does one with nothing above it, which Temporal stores when all dead letters are purged.
pub(super) fn first_above(blob: &Blob) -> i64 {
    let levels = of_clusters(blob).unwrap_or_default();
    levels.into_values().filter_map(|level| level.checked_add(1)).max().unwrap_or(0).max(0)
}

fn of_json(bytes: &[u8]) -> Result<BTreeMap<String, i64>> {
    let stored: Value = serde_json::from_slice(bytes).map_err(|error| corrupt(error.to_string()))?;
    let Some(levels) = JSON_NAMES.iter().find_map(|name| stored.get(name)) else {
        return Ok(BTreeMap::new());
    };
    let levels = levels.as_object().ok_or_else(|| corrupt("the levels are no object".to_owned()))?;
    // The JSON of protobuf has 64-bit numbers as strings, and may have them as numbers.
    let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    let level = |(cluster, value): (&String, &Value)| {
        let level = number(value).ok_or_else(|| corrupt("a level is no number".to_owned()))?;
        Ok((cluster.clone(), level))
    };
    levels.iter().map(level).collect()
}

fn corrupt(reason: String) -> Error {
    Error::Corrupt { what: "a row of queue_metadata".to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Blob {
        Blob::new(text.as_bytes().to_vec(), "Json").expect("a blob")
    }

    #[test]
    fn levels_are_read_in_both_encodings() {
        let wanted = BTreeMap::from([("eu".to_owned(), 12), ("us".to_owned(), -1)]);
        let proto = Blob::proto3(Stored { of_clusters: wanted.clone() }.encode_to_vec());
        for blob in [
            proto,
            json(r#"{"clusterAckLevels": {"eu": "12", "us": "-1"}}"#),
            json(r#"{"cluster_ack_levels": {"eu": 12, "us": -1}}"#),
        ] {
            assert_eq!(of_clusters(&blob).expect("levels"), wanted);
            assert_eq!(first_above(&blob), 13);
        }
        for blob in [json("{}"), Blob::proto3(vec![])] {
            assert_eq!(of_clusters(&blob).expect("levels"), BTreeMap::new());
            assert_eq!(first_above(&blob), 0);
        }
    }

    #[test]
    fn what_cannot_be_read_is_corrupt_and_forbids_no_id() {
        for blob in [
            Blob::proto3(vec![0xff]),
            json("{"),
            json(r#"{"clusterAckLevels": 7}"#),
            json(r#"{"clusterAckLevels": {"eu": "soon"}}"#),
        ] {
            assert_eq!(of_clusters(&blob).expect_err("corrupt").code(), "state.corrupt", "{blob:?}");
            assert_eq!(first_above(&blob), 0);
        }
    }

    #[test]
    fn level_with_nothing_above_it_forbids_no_id() {
        let purged = i64::MAX;
        assert_eq!(first_above(&json(&format!(r#"{{"clusterAckLevels": {{"eu": "{purged}"}}}}"#))), 0);
    }
}

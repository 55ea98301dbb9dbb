//! Messages, as protobuf and as JSON.

use std::fmt::Debug;

use leasehold_api::{for_every_message, from_json};
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const GOLDEN: [&str; 6] = [
    include_str!("../../api/tests/golden/access.json"),
    include_str!("../../api/tests/golden/lock.json"),
    include_str!("../../api/tests/golden/queue.json"),
    include_str!("../../api/tests/golden/queues.json"),
    include_str!("../../api/tests/golden/reply.json"),
    include_str!("../../api/tests/golden/storage.json"),
];

/// The same bytes as every message: most have the same shapes in different order.
pub(crate) fn protobuf(bytes: &[u8]) {
    macro_rules! each {
        ($($message:ty,)*) => { $(as_protobuf::<$message>(bytes);)* };
    }
    for_every_message!(each);
}

pub(crate) fn json(bytes: &[u8]) {
    macro_rules! each {
        ($($message:ty,)*) => { $(as_json::<$message>(bytes);)* };
    }
    for_every_message!(each);
}

fn as_protobuf<M: Message + Default + PartialEq + Debug + Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok(message) = M::decode(bytes) else { return };
    assert_eq!(M::decode(&*message.encode_to_vec()).expect("was read before"), message);
    // Protobuf has instants that JSON has no form for.
    if let Ok(text) = serde_json::to_vec(&message) {
        assert_eq!(from_json::<M>(&text).expect("is ours"), message);
    }
}

fn as_json<M: Message + Default + PartialEq + Debug + Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok(message) = from_json::<M>(bytes) else { return };
    let text = serde_json::to_vec(&message).expect("what came as JSON goes as JSON");
    assert_eq!(from_json::<M>(&text).expect("is ours"), message);
    assert_eq!(M::decode(&*message.encode_to_vec()).expect("is ours"), message);
}

fn golden_pairs() -> Vec<Value> {
    let files = GOLDEN.iter().map(|file| serde_json::from_str::<Value>(file).expect("a golden file"));
    files.flat_map(|file| file["pairs"].as_array().cloned().unwrap_or_default()).collect()
}

pub(crate) fn protobuf_seeds() -> Vec<Vec<u8>> {
    let digits = |pair: &Value| pair["protobuf"].as_str().unwrap_or_default().to_owned();
    let bytes = |digits: String| {
        let pairs = (0..digits.len() / 2).map(|at| &digits[at * 2..at * 2 + 2]);
        pairs.map(|pair| u8::from_str_radix(pair, 16).expect("two digits")).collect()
    };
    golden_pairs().iter().map(digits).map(bytes).collect()
}

pub(crate) fn json_seeds() -> Vec<Vec<u8>> {
    golden_pairs().iter().map(|pair| pair["json"].to_string().into_bytes()).collect()
}

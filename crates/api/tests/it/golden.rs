//! What is on the wire, message by message. The pairs were encoded from the tables of the interface by another program
//! than ours: a test that fails here means that clients of today would fail, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use leasehold_api::{for_every_message, from_json, openapi};
use prost::{Message, Name};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::Schemas;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Golden {
    pairs: Vec<Pair>,
    refused: Vec<Refused>,
}

/// The two forms of one message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    message: String,
    case: String,
    json: Value,
    /// In hexadecimal digits.
    protobuf: String,
    /// Other JSON that means the same.
    #[serde(default)]
    also: Vec<String>,
}

/// What is not that message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    message: String,
    case: String,
    json: Option<String>,
    protobuf: Option<String>,
}

fn golden() -> Vec<Golden> {
    let files = [
        include_str!("../golden/access.json"),
        include_str!("../golden/lock.json"),
        include_str!("../golden/queue.json"),
        include_str!("../golden/queues.json"),
        include_str!("../golden/reply.json"),
        include_str!("../golden/storage.json"),
    ];
    files.map(|file| serde_json::from_str(file).expect("a golden file")).into()
}

/// What can be done with a message whose type is known by name.
struct Codec {
    check: fn(&Pair),
    reads_json: fn(&[u8]) -> bool,
    reads_protobuf: fn(&[u8]) -> bool,
}

fn codec<M>() -> (String, Codec)
where
    M: Message + Name + Default + PartialEq + Debug + Serialize + DeserializeOwned,
{
    let codec = Codec {
        check: check::<M>,
        reads_json: |body| from_json::<M>(body).is_ok(),
        reads_protobuf: |body| M::decode(body).is_ok(),
    };
    (M::full_name(), codec)
}

fn codecs() -> BTreeMap<String, Codec> {
    macro_rules! codecs {
        ($($message:ty,)*) => { BTreeMap::from([$(codec::<$message>()),*]) };
    }
    for_every_message!(codecs)
}

fn check<M>(pair: &Pair)
where
    M: Message + Default + PartialEq + Debug + Serialize + DeserializeOwned,
{
    let Pair { message, case, json, protobuf, also } = pair;
    let bytes = bytes(protobuf);
    let read: M = M::decode(&*bytes).unwrap_or_else(|error| panic!("{message}, {case}: {error}"));
    let written = serde_json::to_value(&read).expect("is written");
    assert_eq!(&written, json, "{message}, {case}: protobuf to JSON");
    for text in [&json.to_string()].into_iter().chain(also) {
        let read = from_json::<M>(text.as_bytes());
        let read = read.unwrap_or_else(|error| panic!("{message}, {case}, {text}: {error}"));
        assert_eq!(hex(&read.encode_to_vec()), *protobuf, "{message}, {case}: {text} to protobuf");
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().map(|digit| digit.to_digit(16).expect("a hexadecimal digit")).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).expect("two digits")).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_pair_is_written_and_read_as_it_stands() {
    let codecs = codecs();
    for pair in golden().iter().flat_map(|file| &file.pairs) {
        let codec = codecs.get(&pair.message).unwrap_or_else(|| panic!("no message {}", pair.message));
        (codec.check)(pair);
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let codecs = codecs();
    for refused in golden().iter().flat_map(|file| &file.refused) {
        let Refused { message, case, json, protobuf } = refused;
        let codec = &codecs[message];
        assert!(json.is_some() || protobuf.is_some(), "{message}, {case}");
        if let Some(json) = json {
            assert!(!(codec.reads_json)(json.as_bytes()), "{message}, {case}: {json}");
        }
        if let Some(protobuf) = protobuf {
            assert!(!(codec.reads_protobuf)(&bytes(protobuf)), "{message}, {case}: {protobuf}");
        }
    }
}

#[test]
fn every_message_and_every_field_has_a_pair() {
    let document = openapi();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let known: BTreeSet<_> = codecs().into_keys().collect();
    let short = |name: &str| name.rsplit('.').next().expect("a name").to_owned();
    assert_eq!(
        known.iter().map(|name| short(name)).collect::<BTreeSet<_>>(),
        schemas.keys().cloned().collect()
    );
    let files = golden();
    let case_of = |message: &str, case: &str| {
        let mut pairs = files.iter().flat_map(|file| &file.pairs);
        let found = pairs.find(|pair| pair.message == message && pair.case == case);
        found.unwrap_or_else(|| panic!("{message} has no pair with {case}"))
    };
    for message in &known {
        case_of(message, "defaults are left out");
        let all = case_of(message, "every field").json.as_object().expect("an object");
        let fields = schemas[&short(message)]["properties"].as_object().expect("properties");
        assert_eq!(
            all.keys().collect::<BTreeSet<_>>(),
            fields.keys().collect::<BTreeSet<_>>(),
            "fields of {message}"
        );
    }
}

#[test]
fn every_pair_is_as_the_document_says() {
    let document = openapi();
    let schemas = Schemas::of(&document);
    for pair in golden().iter().flat_map(|file| &file.pairs) {
        let name = pair.message.rsplit('.').next().expect("a name");
        if let Err(reason) = schemas.check(name, &pair.json) {
            panic!("{}, {}: {reason}", pair.message, pair.case);
        }
    }
    assert!(schemas.check("QueueInfo", &serde_json::json!({"bogus": 1})).is_err(), "the check can fail");
    assert!(schemas.check("QueueInfo", &serde_json::json!({"queue_name": 1})).is_err(), "the check can fail");
}

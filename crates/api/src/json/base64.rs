//! Bytes as text: the standard alphabet with padding out; either alphabet in, padded or not.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD_IN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL_SAFE_IN: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

pub(crate) fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    deserializer.deserialize_any(Text)
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes as base64")
    }

    fn visit_unit<E: Error>(self) -> Result<Bytes, E> {
        Ok(Bytes::new())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
        let engine = if text.contains(['-', '_']) { &URL_SAFE_IN } else { &STANDARD_IN };
        engine.decode(text).map(Bytes::from).map_err(|_| E::custom("bytes are not base64"))
    }
}

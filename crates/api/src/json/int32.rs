//! Whole numbers: a number out; a number, a text of one, or a float without a fraction in.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
pub(crate) fn serialize<S: Serializer>(number: &i32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i32(*number)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    deserializer.deserialize_any(Number)
}

struct Number;

impl Visitor<'_> for Number {
    type Value = i32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of 32 bits")
    }

    fn visit_unit<E: Error>(self) -> Result<i32, E> {
        Ok(0)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i32, E> {
        i32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i32, E> {
        i32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<i32, E> {
        let whole = number.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number);
        match whole {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
            true => Ok(number as i32),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<i32, E> {
        match (text.parse::<i32>(), text.parse::<f64>()) {
            (Ok(number), _) if !text.starts_with('+') => Ok(number),
            (Err(_), Ok(number)) if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                self.visit_f64(number)
            }
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

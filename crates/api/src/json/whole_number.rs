//! Whole numbers: a number out; a number, a text of one, or a float without a fraction in.

use std::fmt;
use std::marker::PhantomData;
use std::num::{IntErrorKind, ParseIntError};

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serialize, Serializer};

/// 2^63: the first whole number above all that have a sign and 64 bits.
const ABOVE_ALL: f64 = 9_223_372_036_854_775_808.0;

pub(crate) fn serialize<S: Serializer, T: Serialize>(number: &T, serializer: S) -> Result<S::Ok, S::Error> {
    number.serialize(serializer)
}

pub(crate) fn deserialize<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i64> + Default,
{
    deserializer.deserialize_any(Number(PhantomData))
}

struct Number<T>(PhantomData<T>);

impl<T: TryFrom<i64> + Default> Visitor<'_> for Number<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number of {} bits", 8 * size_of::<T>())
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        T::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        match number.fract() == 0.0 && (-ABOVE_ALL..ABOVE_ALL).contains(&number) {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
            true => self.visit_i64(number as i64),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let is_float = |error: &ParseIntError| *error.kind() == IntErrorKind::InvalidDigit;
        match (text.parse::<i64>(), text.parse::<f64>()) {
            _ if !text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                Err(E::invalid_value(Unexpected::Str(text), &self))
            }
            (Ok(number), _) => self.visit_i64(number),
            (Err(error), Ok(number)) if is_float(&error) => self.visit_f64(number),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

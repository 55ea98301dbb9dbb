//! Locks and counters as documents, field by field as SyncGuard has them.

use std::collections::BTreeMap;

use leasehold_core::{Fence, Key, LockId, LockRecord, Timestamp};

use super::api::{Document, Value, ValueType, Version};

pub(super) const LOCK_ID: &str = "lockId";
pub(super) const EXPIRES_AT: &str = "expiresAtMs";
const ACQUIRED_AT: &str = "acquiredAtMs";
const KEY: &str = "key";
const FENCE: &str = "fence";
const KEY_DEBUG: &str = "keyDebug";

/// The fields of one document.
pub(super) type Fields = BTreeMap<String, Value>;

/// A lock document that was read, with the version that a later write proves to be unchanged.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) name: String,
    pub(super) version: Version,
    pub(super) record: LockRecord,
}

/// What stands where a lock or a counter should, and is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foreign;

/// All five fields, for a write that replaces the document.
pub(super) fn lock_fields(record: &LockRecord) -> Fields {
    fields([
        (LOCK_ID, text(record.lock_id.as_str())),
        (EXPIRES_AT, millis(record.expires_at)),
        (ACQUIRED_AT, millis(record.acquired_at)),
        (KEY, text(record.key.as_str())),
        (FENCE, text(&record.fence.to_string())),
    ])
}

/// Only what extend changes.
pub(super) fn expiry_fields(expires_at: Timestamp) -> Fields {
    fields([(EXPIRES_AT, millis(expires_at))])
}

/// Both fields, for a write that replaces the document.
pub(super) fn counter_fields(fence: Fence, key: &Key) -> Fields {
    fields([(FENCE, text(&fence.to_string())), (KEY_DEBUG, text(key.as_str()))])
}

/// Reads a lock.
pub(super) fn held(document: Document) -> Result<Held, Foreign> {
    let field = |name: &str| document.fields.get(name).and_then(|value| value.value_type.as_ref());
    let record = LockRecord {
        key: read_text(field(KEY)).and_then(|text| Key::parse(text).ok()).ok_or(Foreign)?,
        lock_id: read_text(field(LOCK_ID)).and_then(|text| LockId::parse(text).ok()).ok_or(Foreign)?,
        expires_at: read_number(field(EXPIRES_AT)).map(Timestamp::from_millis).ok_or(Foreign)?,
        acquired_at: read_number(field(ACQUIRED_AT)).map(Timestamp::from_millis).ok_or(Foreign)?,
        fence: read_count(field(FENCE)).and_then(|count| Fence::try_from(count).ok()).ok_or(Foreign)?,
    };
    Ok(Held { version: document.update_time.ok_or(Foreign)?, name: document.name, record })
}

/// Reads a counter: where it stands. Numbers and texts without leading zeros count, an absent or empty text is
/// zero: peers take them so.
pub(super) fn count(document: &Document) -> Result<u64, Foreign> {
    match document.fields.get(FENCE).and_then(|value| value.value_type.as_ref()) {
        None | Some(ValueType::NullValue(_)) => Ok(0),
        Some(ValueType::StringValue(text)) if text.is_empty() => Ok(0),
        found => read_count(found).ok_or(Foreign),
    }
}

/// A text value.
pub(super) fn text(text: &str) -> Value {
    Value { value_type: Some(ValueType::StringValue(text.to_owned())) }
}

/// An integer, never a double: peers filter and compare by type.
fn millis(at: Timestamp) -> Value {
    Value { value_type: Some(ValueType::IntegerValue(at.as_millis())) }
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Fields {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn read_text(value: Option<&ValueType>) -> Option<&str> {
    match value? {
        ValueType::StringValue(text) => Some(text),
        _ => None,
    }
}

/// JavaScript has one kind of number; a client that writes it as a double means the same.
fn read_number(value: Option<&ValueType>) -> Option<i64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_991.0;
    match value? {
        ValueType::IntegerValue(number) => Some(*number),
        ValueType::DoubleValue(number) if number.fract() == 0.0 && number.abs() <= EXACT_MAX => {
            Some(*number as i64)
        }
        _ => None,
    }
}

fn read_count(value: Option<&ValueType>) -> Option<u64> {
    match read_text(value) {
        Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        Some(_) => None,
        None => read_number(value).and_then(|number| u64::try_from(number).ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(value_type: ValueType) -> Value {
        Value { value_type: Some(value_type) }
    }

    fn document(fields: Fields) -> Document {
        let update_time = Some(Version { seconds: 7, nanos: 0 });
        Document { name: "n".into(), fields, create_time: None, update_time }
    }

    fn record() -> LockRecord {
        LockRecord {
            key: Key::parse("billing").unwrap(),
            lock_id: LockId::parse("AAAAAAAAAAAAAAAAAAAAAA").unwrap(),
            expires_at: Timestamp::from_millis(1_700_000_030_000),
            acquired_at: Timestamp::from_millis(1_700_000_000_000),
            fence: Fence::FIRST,
        }
    }

    #[test]
    fn lock_that_was_written_is_read_back() {
        let held = held(document(lock_fields(&record()))).unwrap();
        assert_eq!((held.record, held.version.seconds), (record(), 7));
    }

    #[test]
    fn times_may_be_whole_doubles_and_nothing_else() {
        for (found, expected) in [
            (value(ValueType::DoubleValue(1_700_000_030_000.0)), Ok(record().expires_at)),
            (value(ValueType::DoubleValue(0.5)), Err(Foreign)),
            (value(ValueType::DoubleValue(f64::NAN)), Err(Foreign)),
            (value(ValueType::DoubleValue(1e300)), Err(Foreign)),
            (text("1700000030000"), Err(Foreign)),
            (value(ValueType::BooleanValue(true)), Err(Foreign)),
        ] {
            let mut fields = lock_fields(&record());
            fields.insert(EXPIRES_AT.into(), found.clone());
            assert_eq!(held(document(fields)).map(|held| held.record.expires_at), expected, "{found:?}");
        }
    }

    #[test]
    fn document_that_lacks_a_field_or_holds_a_bad_one_is_foreign() {
        for name in [LOCK_ID, EXPIRES_AT, ACQUIRED_AT, KEY, FENCE] {
            let mut fields = lock_fields(&record());
            fields.remove(name);
            assert_eq!(held(document(fields.clone())).err(), Some(Foreign), "without {name}");
            fields.insert(name.into(), text(""));
            assert_eq!(held(document(fields)).err(), Some(Foreign), "empty {name}");
        }
        let mut fields = lock_fields(&record());
        fields.insert(LOCK_ID.into(), text("short"));
        assert_eq!(held(document(fields)).err(), Some(Foreign));
    }

    #[test]
    fn counter_is_read_in_every_form_a_peer_accepts() {
        for (found, expected) in [
            (Some(text("000000000000041")), Ok(41)),
            (Some(text("41")), Ok(41)),
            (Some(value(ValueType::IntegerValue(41))), Ok(41)),
            (Some(value(ValueType::DoubleValue(41.0))), Ok(41)),
            (Some(text("")), Ok(0)),
            (Some(value(ValueType::NullValue(0))), Ok(0)),
            (None, Ok(0)),
            (Some(text("-1")), Err(Foreign)),
            (Some(text("+1")), Err(Foreign)),
            (Some(text("4 1")), Err(Foreign)),
            (Some(text("99999999999999999999999")), Err(Foreign)),
            (Some(value(ValueType::IntegerValue(-1))), Err(Foreign)),
            (Some(value(ValueType::DoubleValue(1.5))), Err(Foreign)),
            (Some(value(ValueType::BooleanValue(true))), Err(Foreign)),
        ] {
            let fields = found.clone().map(|value| (FENCE.to_owned(), value)).into_iter().collect();
            assert_eq!(count(&document(fields)), expected, "{found:?}");
        }
    }
}

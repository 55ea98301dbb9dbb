//! A lock as Redis keeps it, and as replies give it back.

use leasehold_core::{Fence, Key, LockId, LockRecord, Timestamp};
use redis::Value;
use serde::Deserialize;

/// The JSON that both products write; unknown fields are others' business.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    key: String,
    lock_id: String,
    fence: String,
    /// A peer writes times after the year 5138 in exponent form.
    acquired_at_ms: f64,
    expires_at_ms: f64,
}

/// The lock in this text; `None` if it is not a lock.
pub(super) fn parse(text: &[u8]) -> Option<LockRecord> {
    let entry: Entry = serde_json::from_slice(text).ok()?;
    Some(LockRecord {
        key: Key::parse(&entry.key).ok()?,
        lock_id: LockId::parse(&entry.lock_id).ok()?,
        fence: Fence::parse(&entry.fence).ok()?,
        acquired_at: millis(entry.acquired_at_ms),
        expires_at: millis(entry.expires_at_ms),
    })
}

fn millis(number: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and JSON has no NaN")]
    Timestamp::from_millis(number as i64)
}

/// The key as a JSON text. Both products read it back as the same key.
pub(super) fn key_json(key: &Key) -> String {
    serde_json::to_string(key.as_str()).expect("a text can be written as JSON")
}

/// A whole number in a reply.
pub(super) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

/// A text in a reply.
pub(super) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "AAAAAAAAAAAAAAAAAAAAAA";

    fn entry(changed: (&str, &str)) -> String {
        let fields = [
            ("lockId", format!("\"{ID}\"")),
            ("expiresAtMs", "1700000030000".into()),
            ("acquiredAtMs", "1700000000000".into()),
            ("key", r#""a\/b""#.into()),
            ("fence", r#""000000000000042""#.into()),
        ];
        let fields = fields.map(|(name, value)| match name == changed.0 {
            true => format!("\"{name}\":{}", changed.1),
            false => format!("\"{name}\":{value}"),
        });
        format!("{{{}}}", fields.join(","))
    }

    #[test]
    fn peers_entry_is_read_with_its_escapes_and_extra_fields() {
        let text = entry(("", "")).replace('{', r#"{"note":[1,{"x":null}],"#);
        let found = parse(text.as_bytes()).unwrap();
        assert_eq!((found.key.as_str(), found.lock_id.as_str(), found.fence.as_u64()), ("a/b", ID, 42));
        assert_eq!(found.expires_at, Timestamp::from_millis(1_700_000_030_000));
        assert_eq!(found.acquired_at, Timestamp::from_millis(1_700_000_000_000));
    }

    #[test]
    fn time_in_exponent_form_is_read() {
        let found = parse(entry(("expiresAtMs", "1.7000000300001e+15")).as_bytes()).unwrap();
        assert_eq!(found.expires_at.as_millis(), 1_700_000_030_000_100);
    }

    #[test]
    fn what_is_not_a_lock_is_not_read_as_one() {
        for text in ["", "17", "syncguard:billing", "null", "[]", "{}", "{\"lockId\":1}"] {
            assert!(parse(text.as_bytes()).is_none(), "{text}");
        }
        for changed in [
            ("key", "\"\""),
            ("lockId", "\"x\""),
            ("fence", "42"),
            ("fence", "\"42\""),
            ("expiresAtMs", "\"1\""),
        ] {
            assert!(parse(entry(changed).as_bytes()).is_none(), "{changed:?}");
        }
        assert!(parse(&[0xff, 0xfe]).is_none());
    }

    #[test]
    fn key_survives_its_json_form() {
        let key = Key::parse("a\"b\\c\n\u{0}\u{7f}/鍵🔑").unwrap();
        assert_eq!(serde_json::from_str::<String>(&key_json(&key)).unwrap(), key.as_str());
    }
}

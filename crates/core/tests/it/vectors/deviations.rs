//! Where we answer otherwise than the reference, on purpose. Sections are those of the lock specification.

use serde_json::{Value, json};

use super::Outcome;

pub(crate) struct Deviation {
    pub(crate) function: &'static str,
    pub(crate) args: Value,
    pub(crate) ours: Outcome,
    pub(crate) reason: &'static str,
}

pub(crate) fn all() -> Vec<Deviation> {
    [types(), fencing(), names(), postgres_errors(), redis_errors(), homes()].into_iter().flatten().collect()
}

fn deviation(function: &'static str, args: Value, ours: Outcome, reason: &'static str) -> Deviation {
    Deviation { function, args, ours, reason }
}

fn codes(
    function: &'static str,
    reason: &'static str,
    code: &'static str,
    inputs: &[&'static str],
) -> Vec<Deviation> {
    inputs
        .iter()
        .map(|input| deviation(function, json!([input]), Outcome::Gives(code.into()), reason))
        .collect()
}

/// Arguments that only a dynamically typed API can receive.
fn types() -> Vec<Deviation> {
    let text = "§3.1, §3.2: only text can be passed";
    let integer = "§3.4: only an integer can be passed";
    let keys = [json!(null), json!(0), json!(42), json!(true), json!([]), json!({})];
    let lock_ids = [json!(null), json!(0), json!(1), json!([]), json!({})];
    let fences = [
        json!(0.9),
        json!(1.5),
        json!(1.999999),
        json!(-0.5),
        json!(-1.5),
        json!({"number": "-0"}),
        json!({"number": "NaN"}),
        json!({"number": "Infinity"}),
        json!({"number": "-Infinity"}),
    ];
    let entry =
        |function, reason| move |arg| deviation(function, json!([arg]), Outcome::Unrepresentable, reason);
    let keys = keys.into_iter().map(entry("normalizeAndValidateKey", text));
    let lock_ids = lock_ids.into_iter().map(entry("validateLockId", text));
    let fences = fences.into_iter().map(entry("formatFence", integer));
    keys.chain(lock_ids).chain(fences).collect()
}

/// Every backend has fences, so a record without one does not exist and info is never without one.
fn fencing() -> Vec<Deviation> {
    [
        ("resource:123", "e90a28c676a29a3291e2874a"),
        ("caf\u{e9}", "002e7a21248b3503a22cdb87"),
        ("cafe\u{301}", "002e7a21248b3503a22cdb87"),
        ("\u{1f512}", "001b0c75014469ff2f4d79d3"),
    ]
    .into_iter()
    .map(|(key, key_hash)| {
        let lock = json!({
            "key": key,
            "lockId": "AAAAAAAAAAAAAAAAAAAAAA",
            "expiresAtMs": 1_700_000_030_000_i64,
            "acquiredAtMs": 1_700_000_000_000_i64,
            "fence": "000000000000007",
        });
        let ours = json!({
            "keyHash": key_hash,
            "lockIdHash": "761621603f31b080201c6800",
            "expiresAtMs": 1_700_000_030_000_i64,
            "acquiredAtMs": 1_700_000_000_000_i64,
            "fence": "000000000000007",
        });
        let args = json!([lock, {"supportsFencing": false}]);
        deviation("sanitizeLockInfo", args, Outcome::Gives(ours), "§2: supportsFencing is always true")
    })
    .collect()
}

/// Names the reference accepts and then cannot work with.
fn names() -> Vec<Deviation> {
    let refused = || Outcome::Refuses("InvalidArgument".into());
    let table = "postgresConfig";
    let collection = "firestoreConfig";
    vec![
        deviation(
            table,
            json!([{"tableName": "T", "fenceTableName": "t"}]),
            refused(),
            "§7.1: upper case names another table when quoted than when not",
        ),
        deviation(
            table,
            json!([{"tableName": "x".repeat(80)}]),
            refused(),
            "§7.1: over 50 bytes the index names are cut and could coincide",
        ),
        deviation(collection, json!([{"collection": ""}]), refused(), "§9.1: empty names must be rejected"),
        deviation(
            collection,
            json!([{"collection": "a/b"}]),
            refused(),
            "§9.1: names with a slash must be rejected",
        ),
    ]
}

fn postgres_errors() -> Vec<Deviation> {
    let by_code = "postgresErrorByCode";
    let by_message = "postgresErrorByMessage";
    [
        codes(by_code, "§7.8: all of class 08", "ServiceUnavailable", &["08007", "08P01"]),
        codes(by_code, "§7.8: NUL in a key", "InvalidArgument", &["22021"]),
        codes(by_code, "§7.8, §16 row 8", "InvalidArgument", &["23000"]),
        codes(by_code, "§7.8: no permission", "AuthFailed", &["42501"]),
        codes(by_code, "§7.8: configured limit", "RateLimited", &["53400"]),
        codes(by_code, "§7.8: lock timeout", "NetworkTimeout", &["55P03"]),
        codes(by_code, "§7.8: the server is going", "ServiceUnavailable", &["57P01", "57P02", "57P03"]),
        codes(by_code, "§7.8: any I/O error", "ServiceUnavailable", &["ECONNREFUSED"]),
        codes(by_code, "§7.8: driver's connect timeout", "NetworkTimeout", &["CONNECT_TIMEOUT"]),
        codes(
            by_code,
            "§7.8: connection closed",
            "ServiceUnavailable",
            &["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED"],
        ),
        codes(
            by_message,
            "§7.8: driver's connect timeout",
            "NetworkTimeout",
            &["write CONNECT_TIMEOUT localhost:5432"],
        ),
        codes(
            by_message,
            "§7.8: connection closed",
            "ServiceUnavailable",
            &["write CONNECTION_CLOSED localhost:5432"],
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn redis_errors() -> Vec<Deviation> {
    let by_message = "redisErrorByMessage";
    [
        codes(by_message, "§8.8: timeout kind", "NetworkTimeout", &["Command timed out"]),
        codes(
            by_message,
            "§8.8: I/O kind",
            "ServiceUnavailable",
            &[
                "connect ETIMEDOUT",
                "Connection is closed.",
                "Reached the max retries per request limit (which is 20).",
            ],
        ),
        codes(
            by_message,
            "§8.8: the server cannot serve now",
            "ServiceUnavailable",
            &[
                "READONLY You can't write against a read only replica.",
                "CLUSTERDOWN The cluster is down",
                "LOADING Redis is loading the dataset in memory",
            ],
        ),
        codes(
            by_message,
            "§8.8: the server is at its limit",
            "RateLimited",
            &[
                "OOM command not allowed when used memory > 'maxmemory'.",
                "BUSY Redis is busy running a script.",
            ],
        ),
        codes(
            by_message,
            "§8.8: the prefix has no hash tag",
            "InvalidArgument",
            &["CROSSSLOT Keys in request don't hash to the same slot"],
        ),
        codes(
            by_message,
            "§8.8: by the kind of the error, not by a word in its text",
            "InvalidArgument",
            &["WRONGTYPE timeout"],
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Constants that live elsewhere: the words of the retry loop are kept beside it, with the locks.
fn homes() -> Vec<Deviation> {
    let ours = json!({
        "MAX_KEY_LENGTH_BYTES": 512,
        "BACKEND_LIMITS": {"REDIS": 1000, "POSTGRES": 1700, "FIRESTORE": 1500},
        "RESERVE_BYTES": {"REDIS": 26, "POSTGRES": 0, "FIRESTORE": 0},
        "BACKEND_DEFAULTS": {"ttlMs": 30_000},
        "FENCE_THRESHOLDS": {"MAX": "900000000000000", "WARN": "090000000000000"},
        "TIME_TOLERANCE_MS": 1000,
    });
    let reason = "§13: LOCK_DEFAULTS belong to lock(), not to the shared words";
    vec![deviation("constants", json!([]), Outcome::Gives(ours), reason)]
}

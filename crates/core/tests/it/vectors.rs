//! Runs every record of the golden vectors: what SyncGuard answered must be what we answer, except where
//! `deviations` says otherwise and why.
#![allow(
    clippy::unwrap_used,
    reason = "a vector of another shape than expected fails the test, and says where"
)]

use std::collections::BTreeMap;
use std::fmt;

use leasehold_core::postgres::TableNames;
use leasehold_core::redis::{KeyPrefix, server_time};
use leasehold_core::{
    Conditions, Error, Fence, Key, KeyHash, LockCode, LockId, LockInfo, LockRecord, Refusal, StorageKey,
    StorageKeySpace, TIME_TOLERANCE, Timestamp, Transport, Ttl, firestore, is_live,
};
use serde_json::{Value, json};

mod deviations;

const VECTORS: &str = include_str!("../vectors/locks.json");

/// How many records each function has, so that none can be skipped unseen.
const RECORDS: [(&str, usize); 21] = [
    ("calculateRedisServerTimeMs", 6),
    ("conditionsToOutcome", 8),
    ("constants", 1),
    ("fenceKey", 114),
    ("firestoreConfig", 8),
    ("firestoreErrorByMessage", 19),
    ("formatFence", 37),
    ("hashKey", 164),
    ("hashKeyUtf16", 8),
    ("isLive", 10),
    ("makeStorageKey", 198),
    ("normalizeAndValidateKey", 146),
    ("postgresConfig", 19),
    ("postgresErrorByCode", 43),
    ("postgresErrorByMessage", 8),
    ("redisCodeToOutcome", 6),
    ("redisConfig", 14),
    ("redisErrorByMessage", 26),
    ("redisIndexKey", 8),
    ("sanitizeLockInfo", 8),
    ("validateLockId", 35),
];

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Gives(Value),
    /// By lock code, or by error name where the reference failed without one.
    Refuses(String),
    /// Our types cannot hold the argument, so the call cannot be written.
    Unrepresentable,
}

impl<T: Into<Value>> From<Result<T, Error>> for Outcome {
    fn from(result: Result<T, Error>) -> Self {
        match result {
            Ok(value) => Self::Gives(value.into()),
            Err(error) => Self::Refuses(error.lock_code().to_string()),
        }
    }
}

impl From<LockCode> for Outcome {
    fn from(code: LockCode) -> Self {
        Self::Gives(code.as_str().into())
    }
}

#[test]
fn every_vector_passes_or_deviates_for_a_stated_reason() {
    let records: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    let deviations = deviations::all();
    let mut used = vec![false; deviations.len()];
    let mut counts = BTreeMap::new();
    let mut failures = Vec::new();

    for record in &records {
        let function = record["fn"].as_str().unwrap();
        let args = record["args"].as_array().unwrap();
        *counts.entry(function).or_insert(0) += 1;
        let reference = reference_outcome(function, record);
        let ours = call(function, args);
        let listed = deviations.iter().position(|d| d.function == function && d.args == record["args"]);
        let wanted = match listed {
            Some(index) => {
                used[index] = true;
                if deviations[index].ours == reference {
                    failures.push(format!("{function} {args:?} is listed as a deviation and is none"));
                }
                &deviations[index].ours
            }
            None => &reference,
        };
        if ours != *wanted {
            failures.push(format!("{function} {args:?}: wanted {wanted:?}, got {ours:?}"));
        }
    }
    for (deviation, used) in deviations.iter().zip(used) {
        if !used {
            failures.push(format!("no record for the listed deviation {deviation}"));
        }
    }

    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), RECORDS);
    assert_eq!(records.len(), 886);
}

/// What the reference answered, cut to what both products answer alike: the code of a mapped error, the names
/// of a configuration. Messages, clean-up and disposal options are each product's own.
fn reference_outcome(function: &str, record: &Value) -> Outcome {
    if let Some(error) = record.get("error") {
        let code = error.get("code").unwrap_or(&error["name"]);
        return Outcome::Refuses(code.as_str().unwrap().into());
    }
    let result = &record["result"];
    Outcome::Gives(match function {
        "postgresErrorByCode"
        | "postgresErrorByMessage"
        | "redisErrorByMessage"
        | "firestoreErrorByMessage" => result["code"].clone(),
        "redisConfig" => result["keyPrefix"].clone(),
        "postgresConfig" => json!([result["tableName"], result["fenceTableName"]]),
        "firestoreConfig" => json!([result["collection"], result["fenceCollection"]]),
        _ => result.clone(),
    })
}

fn call(function: &str, args: &[Value]) -> Outcome {
    match function {
        "hashKey" => Outcome::Gives(KeyHash::of(text(&args[0])).to_string().into()),
        "hashKeyUtf16" => {
            let units = args[0].as_array().unwrap().iter().map(|unit| u16::try_from(int(unit)).unwrap());
            Outcome::Gives(KeyHash::of_utf16(units).to_string().into())
        }
        "normalizeAndValidateKey" => match args[0].as_str() {
            Some(text) => Key::parse(text).map(|key| key.as_str().to_owned()).into(),
            None => Outcome::Unrepresentable,
        },
        "validateLockId" => match args[0].as_str() {
            Some(text) => LockId::parse(text).map(|_| Value::Null).into(),
            None => Outcome::Unrepresentable,
        },
        "makeStorageKey" => {
            StorageKey::derive(text(&args[0]), text(&args[1]), size(&args[2]), size(&args[3]))
                .map(|key| key.as_str().to_owned())
                .into()
        }
        "fenceKey" => fence_key(text(&args[0]), text(&args[1]), size(&args[2]), size(&args[3])).into(),
        "redisIndexKey" => redis_index_key(text(&args[0]), text(&args[1])).into(),
        "formatFence" => format_fence(&args[0]),
        "isLive" => {
            let [expires_at, now] = [&args[0], &args[1]].map(|ms| Timestamp::from_millis(int(ms)));
            let tolerance = std::time::Duration::from_millis(int(&args[2]).try_into().unwrap());
            Outcome::Gives(is_live(expires_at, now, tolerance).into())
        }
        "calculateRedisServerTimeMs" => {
            server_time(text(&args[0][0]), text(&args[0][1])).map(Timestamp::as_millis).into()
        }
        "sanitizeLockInfo" => sanitised(&args[0]).into(),
        "redisCodeToOutcome" => refusal(Refusal::from_redis_reply(int(&args[0]))),
        "conditionsToOutcome" => {
            let seen = |name: &str| args[0][name].as_bool().unwrap();
            refusal(Refusal::under(Conditions {
                exists: seen("documentExists"),
                owned: seen("ownershipValid"),
                live: seen("isLive"),
            }))
        }
        "redisConfig" => KeyPrefix::parse(option(&args[0], "keyPrefix", KeyPrefix::DEFAULT))
            .map(|prefix| prefix.as_str().to_owned())
            .into(),
        "postgresConfig" => {
            TableNames::parse(option(&args[0], "tableName", ""), option(&args[0], "fenceTableName", ""))
                .map(|names| json!([names.locks(), names.fences()]))
                .into()
        }
        "firestoreConfig" => firestore::Collections::parse(
            option(&args[0], "collection", firestore::Collections::DEFAULT_LOCKS),
            option(&args[0], "fenceCollection", firestore::Collections::DEFAULT_FENCES),
        )
        .map(|names| json!([names.locks(), names.fences()]))
        .into(),
        "postgresErrorByCode" | "postgresErrorByMessage" => match transport(text(&args[0])) {
            Some(failure) => LockCode::from_transport(failure).into(),
            None => LockCode::from_sqlstate(text(&args[0])).into(),
        },
        "redisErrorByMessage" => match transport(text(&args[0])) {
            Some(failure) => LockCode::from_transport(failure).into(),
            None => LockCode::from_redis_error(text(&args[0])).into(),
        },
        "firestoreErrorByMessage" => {
            let (status, message) = grpc(text(&args[0]));
            LockCode::from_grpc_status(status, message).into()
        }
        "constants" => Outcome::Gives(constants()),
        unknown => panic!("no implementation of {unknown}"),
    }
}

/// A fence key through the space a backend would use; keys over the limit of user keys, which no backend can
/// be given, through the two steps it takes.
fn fence_key(prefix: &str, key: &str, limit: usize, reserve: usize) -> Result<String, Error> {
    let fence = match Key::parse(key) {
        Ok(key) => StorageKeySpace::new(prefix, limit, reserve)?.fence(&key),
        Err(Error::KeyTooLong { .. }) => {
            let lock = StorageKey::derive(prefix, key, limit, reserve)?;
            StorageKey::derive(prefix, &format!("fence:{}", lock.as_str()), limit, reserve)?
        }
        Err(other) => return Err(other),
    };
    Ok(fence.as_str().to_owned())
}

fn redis_index_key(prefix: &str, lock_id: &str) -> Result<String, Error> {
    let space = StorageKeySpace::redis(&KeyPrefix::parse(prefix)?);
    Ok(space.index(&LockId::parse(lock_id)?).as_str().to_owned())
}

fn format_fence(value: &Value) -> Outcome {
    let integer = match value.get("bigint") {
        Some(digits) => text(digits).parse().ok(),
        None => value.as_i64(),
    };
    match integer {
        Some(integer) => Fence::try_from(integer).map(|fence: Fence| fence.to_string()).into(),
        None => Outcome::Unrepresentable,
    }
}

fn sanitised(raw: &Value) -> Result<Value, Error> {
    let info = LockInfo::from(&LockRecord {
        key: Key::parse(text(&raw["key"]))?,
        lock_id: LockId::parse(text(&raw["lockId"]))?,
        expires_at: Timestamp::from_millis(int(&raw["expiresAtMs"])),
        acquired_at: Timestamp::from_millis(int(&raw["acquiredAtMs"])),
        fence: Fence::parse(text(&raw["fence"]))?,
    });
    Ok(json!({
        "keyHash": info.key_hash.to_string(),
        "lockIdHash": info.lock_id_hash.to_string(),
        "expiresAtMs": info.expires_at.as_millis(),
        "acquiredAtMs": info.acquired_at.as_millis(),
        "fence": info.fence.to_string(),
    }))
}

fn refusal(refusal: Option<Refusal>) -> Outcome {
    Outcome::Gives(match refusal {
        None => json!({"ok": true}),
        Some(reason) => json!({"ok": false, "reason": reason.as_str()}),
    })
}

/// What a text of a Node driver stands for. Rust drivers give kinds, not texts, so this is no product code.
fn transport(message: &str) -> Option<Transport> {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&["Connection timeout", "Command timed out", "CONNECT_TIMEOUT"]) {
        Some(Transport::Timeout)
    } else if says(&["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT", "ECONNRESET"]) {
        Some(Transport::Io)
    } else if says(&["CONNECTION_", "Connection is closed", "max retries per request"]) {
        Some(Transport::Closed)
    } else {
        None
    }
}

/// Splits `7 PERMISSION_DENIED: text`, the way the Node client writes a status.
fn grpc(message: &str) -> (&str, &str) {
    match message.split_once(": ") {
        Some((status, text)) => (status.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' '), text),
        None => ("UNKNOWN", message),
    }
}

fn constants() -> Value {
    json!({
        "MAX_KEY_LENGTH_BYTES": Key::LEN_MAX,
        "BACKEND_LIMITS": {
            "REDIS": StorageKeySpace::REDIS_LIMIT,
            "POSTGRES": StorageKeySpace::POSTGRES_LIMIT,
            "FIRESTORE": StorageKeySpace::FIRESTORE_LIMIT,
        },
        "RESERVE_BYTES": {"REDIS": StorageKeySpace::REDIS_RESERVE, "POSTGRES": 0, "FIRESTORE": 0},
        "BACKEND_DEFAULTS": {"ttlMs": Ttl::DEFAULT.as_millis()},
        "FENCE_THRESHOLDS": {"MAX": Fence::MAX.to_string(), "WARN": Fence::WARN.to_string()},
        "TIME_TOLERANCE_MS": u64::try_from(TIME_TOLERANCE.as_millis()).unwrap(),
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn int(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

fn size(value: &Value) -> usize {
    usize::try_from(int(value)).unwrap()
}

fn option<'a>(options: &'a Value, name: &str, default: &'a str) -> &'a str {
    options.get(name).map_or(default, text)
}

impl fmt::Display for deviations::Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.function, self.args, self.reason)
    }
}

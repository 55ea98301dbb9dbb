//! The JSON of the lock messages, byte for byte.

use leasehold_api::lock::{
    LockAcquireRequest, LockAcquireResponse, LockInfo, LockIsLockedResponse, LockListResponse,
};
use leasehold_api::{from_json, reply::Reply};
use prost::Message;

#[test]
fn json_names_are_syncguards_and_times_are_numbers() {
    let granted = LockAcquireResponse {
        ok: true,
        reason: String::new(),
        lock_id: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        expires_at_ms: 1_700_000_030_000,
        fence: "000000000000001".to_owned(),
    };
    let json = r#"{"ok":true,"lockId":"AAAAAAAAAAAAAAAAAAAAAA","expiresAtMs":1700000030000,"fence":"000000000000001"}"#;
    assert_eq!(serde_json::to_string(&granted).unwrap(), json);
    assert_eq!(serde_json::from_str::<LockAcquireResponse>(json).unwrap(), granted);
    assert_eq!(LockAcquireResponse::decode(&*granted.encode_to_vec()).unwrap(), granted);
}

#[test]
fn what_is_false_is_said_and_what_is_empty_is_not() {
    let held = LockAcquireResponse { reason: "locked".to_owned(), ..LockAcquireResponse::default() };
    assert_eq!(serde_json::to_string(&held).unwrap(), r#"{"ok":false,"reason":"locked"}"#);
    let free = LockIsLockedResponse { locked: false };
    assert_eq!(serde_json::to_string(&free).unwrap(), r#"{"locked":false}"#);
    assert_eq!(serde_json::to_string(&LockInfo::default()).unwrap(), "{}");
    assert_eq!(serde_json::to_string(&LockListResponse::default()).unwrap(), "{}");
}

#[test]
fn either_name_and_null_are_taken() {
    let wanted = LockAcquireRequest { key: "a".to_owned(), ttl_ms: 5, ..LockAcquireRequest::default() };
    for json in [
        r#"{"key":"a","ttlMs":5}"#,
        r#"{"key":"a","ttl_ms":5}"#,
        r#"{"key":"a","ttlMs":5,"lockId":null,"request_timeout":null}"#,
        r#"{"key":"a","ttlMs":"5"}"#,
        r#"{"key":"a","ttlMs":5.0}"#,
        r#"{"key":"a","ttlMs":"5e0"}"#,
    ] {
        assert_eq!(from_json::<LockAcquireRequest>(json.as_bytes()).unwrap(), wanted, "{json}");
    }
}

#[test]
fn largest_and_smallest_numbers_are_taken_and_the_next_ones_refused() {
    for number in [i64::MAX, i64::MIN] {
        for json in [format!(r#"{{"ttlMs":{number}}}"#), format!(r#"{{"ttlMs":"{number}"}}"#)] {
            assert_eq!(from_json::<LockAcquireRequest>(json.as_bytes()).unwrap().ttl_ms, number, "{json}");
        }
    }
    for number in ["9223372036854775808", "\"9223372036854775808\"", "\"-9223372036854775809\"", "1e19"] {
        let json = format!(r#"{{"ttlMs":{number}}}"#);
        assert!(from_json::<LockAcquireRequest>(json.as_bytes()).is_err(), "{json}");
    }
}

#[test]
fn unknown_double_and_mistyped_fields_are_refused() {
    for json in [
        r#"{"key":"a","bogus":1}"#,
        r#"{"key":"a","key":"b"}"#,
        r#"{"key":"a","ttlMs":1,"ttl_ms":2}"#,
        r#"{"key":1}"#,
        r#"{"key":"a","ttlMs":"soon"}"#,
        r#"{"key":"a","ttlMs":"+5"}"#,
        r#"{"key":"a","ttlMs":5.5}"#,
        r#"{"key":"a","ttlMs":""}"#,
        r#"{"key":"a","ttlMs":99999999999999999999}"#,
        "[]",
        r#"["a",5]"#,
        r#"{"key":"a"} {}"#,
        "",
    ] {
        assert!(from_json::<LockAcquireRequest>(json.as_bytes()).is_err(), "{json}");
    }
}

#[test]
fn envelope_is_the_one_queue_clients_read() {
    let reply = Reply {
        code: 400,
        code_text: "Bad Request".to_owned(),
        message: "key is empty".to_owned(),
        details: [("code".to_owned(), "InvalidArgument".to_owned())].into(),
    };
    let json = r#"{"code":400,"code_text":"Bad Request","message":"key is empty","details":{"code":"InvalidArgument"}}"#;
    assert_eq!(serde_json::to_string(&reply).unwrap(), json);
    assert_eq!(serde_json::to_string(&Reply { code: 200, ..Reply::default() }).unwrap(), r#"{"code":200}"#);
}

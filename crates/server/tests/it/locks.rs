//! Locks on the wire: names, statuses and bodies that SyncGuard's words promise, as a plain HTTP client sees them.

use leasehold_api::lock::{LockAcquireRequest, LockAcquireResponse};
use prost::Message;
use serde_json::{Value, json};

use crate::wire::{Running, config};

/// Nothing in a test waits longer.
const PATIENCE: &str = "30s";

async fn server() -> Running {
    Running::start(config("memory:")).await
}

fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn contention_and_absence_are_answers_with_status_200() {
    let server = server().await;
    let granted = server.done("/v1/lock.acquire", json!({"key": "billing", "ttlMs": 30_000})).await;
    assert_eq!(names(&granted), ["expiresAtMs", "fence", "lockId", "ok"]);
    assert_eq!((&granted["ok"], &granted["fence"]), (&json!(true), &json!("000000000000001")));
    assert!(granted["expiresAtMs"].is_i64(), "{granted}");
    let refused = server.done("/v1/lock.acquire", json!({"key": "billing", "ttlMs": 30_000})).await;
    assert_eq!(refused, json!({"ok": false, "reason": "locked"}));
    assert_eq!(server.done("/v1/lock.isLocked", json!({"key": "billing"})).await, json!({"locked": true}));

    let found = server.done("/v1/lock.lookup", json!({"key": "billing"})).await;
    assert_eq!(names(&found), ["acquiredAtMs", "expiresAtMs", "fence", "keyHash", "lockIdHash"]);
    let by_id = server.done("/v1/lock.lookup", json!({"lockId": granted["lockId"]})).await;
    assert_eq!(by_id, found);
    let extend = json!({"lockId": granted["lockId"], "ttlMs": 60_000});
    let extended = server.done("/v1/lock.extend", extend.clone()).await;
    assert_eq!(names(&extended), ["expiresAtMs", "ok"]);

    let release = json!({"lockId": granted["lockId"]});
    assert_eq!(server.done("/v1/lock.release", release.clone()).await, json!({"ok": true}));
    let gone = json!({"ok": false, "reason": "not-found"});
    assert_eq!(server.done("/v1/lock.release", release).await, gone);
    assert_eq!(server.done("/v1/lock.extend", extend).await, gone);
    assert_eq!(server.done("/v1/lock.lookup", json!({"key": "billing"})).await, json!({}));
    assert_eq!(server.done("/v1/lock.isLocked", json!({"key": "billing"})).await, json!({"locked": false}));
}

#[tokio::test]
async fn what_cannot_be_asked_is_told_with_status_400_in_syncguards_word() {
    let server = server().await;
    for (path, body) in [
        ("/v1/lock.acquire", json!({"key": "", "ttlMs": 1})),
        ("/v1/lock.acquire", json!({"key": "k".repeat(513), "ttlMs": 1})),
        ("/v1/lock.acquire", json!({"key": "k", "ttlMs": 0})),
        ("/v1/lock.acquire", json!({"key": "k", "ttlMs": -1})),
        ("/v1/lock.acquire", json!({"key": "k", "ttlMs": 1, "lockId": "short"})),
        ("/v1/lock.release", json!({"lockId": "no lock id at all is 22"})),
        ("/v1/lock.extend", json!({"lockId": "AAAAAAAAAAAAAAAAAAAAAA", "ttlMs": 0})),
        ("/v1/lock.isLocked", json!({"key": ""})),
    ] {
        let answer = server.post(path, body.clone()).await;
        assert_eq!(answer.status, 400, "{path} {body}: {answer:?}");
        assert_eq!(answer.json()["details"]["code"], "InvalidArgument", "{path} {body}: {answer:?}");
    }
}

#[tokio::test]
async fn watch_tells_whether_the_key_may_be_free() {
    let server = server().await;
    let watch = |timeout: &str| json!({"key": "billing", "requestTimeout": timeout});
    assert_eq!(
        server.done("/v1/lock.watch", watch(PATIENCE)).await,
        json!({"freed": true}),
        "nobody holds it"
    );
    let held = server.done("/v1/lock.acquire", json!({"key": "billing", "ttlMs": 600_000})).await;
    for timeout in ["", "0s", "20ms"] {
        assert_eq!(server.done("/v1/lock.watch", watch(timeout)).await, json!({"freed": false}), "{timeout}");
    }
    // Whichever of them comes first: what is released before the watch is taken is free.
    let (one, two, released) = tokio::join!(
        server.done("/v1/lock.watch", watch(PATIENCE)),
        server.done("/v1/lock.watch", watch(PATIENCE)),
        server.done("/v1/lock.release", json!({"lockId": held["lockId"]}))
    );
    assert_eq!((one, two, released), (json!({"freed": true}), json!({"freed": true}), json!({"ok": true})));
    for body in [json!({"key": ""}), json!({"key": "billing", "requestTimeout": "soon"})] {
        assert_eq!(server.post("/v1/lock.watch", body.clone()).await.status, 400, "{body}");
    }
}

#[tokio::test]
async fn request_with_a_timeout_waits_for_the_release() {
    let server = server().await;
    let held = server.done("/v1/lock.acquire", json!({"key": "billing", "ttlMs": 600_000})).await;
    // In snake case, as the queue's clients write.
    let waiting = json!({"key": "billing", "ttl_ms": 600_000, "request_timeout": PATIENCE});
    let (granted, released) = tokio::join!(
        server.done("/v1/lock.acquire", waiting),
        server.done("/v1/lock.release", json!({"lock_id": held["lockId"]}))
    );
    assert_eq!(released, json!({"ok": true}));
    assert_eq!((&granted["ok"], &granted["fence"]), (&json!(true), &json!("000000000000002")));
    let late = json!({"key": "billing", "ttlMs": 1_000, "requestTimeout": "10ms"});
    assert_eq!(server.done("/v1/lock.acquire", late).await, json!({"ok": false, "reason": "locked"}));
}

#[tokio::test]
async fn protobuf_goes_in_and_comes_out() {
    let server = server().await;
    let asked =
        LockAcquireRequest { key: "billing".to_owned(), ttl_ms: 30_000, ..LockAcquireRequest::default() };
    let protobuf = || {
        let post = http::Request::post("/").header("content-type", "application/protobuf");
        post.header("accept", "application/protobuf")
    };
    let mut answers = Vec::new();
    for _ in 0..2 {
        let answer = server.request(protobuf(), "/v1/lock.acquire", asked.encode_to_vec()).await;
        assert_eq!((answer.status, answer.content_type.as_str()), (200, "application/protobuf"));
        answers.push(LockAcquireResponse::decode(answer.body).expect("a response"));
    }
    assert!(answers[0].ok && answers[0].lock_id.len() == 22, "{answers:?}");
    assert_eq!((answers[1].ok, answers[1].reason.as_str()), (false, "locked"));
}

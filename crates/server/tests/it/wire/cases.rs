//! What a queue client sees, whatever the store.

use prost::Message;
use serde_json::{Value, json};

use super::Running;

/// A test of each case; `$start` gives a server and what must outlive it.
macro_rules! queue_cases {
    ($start:path) => { queue_cases!($start, [allow(unused)]); };
    ($start:path, [$attribute:meta]) => {
        queue_cases!(@each $start, [$attribute],
            item_goes_through_produce_lease_and_complete,
            protobuf_goes_in_and_out_and_json_is_the_default_answer,
            bad_content_is_told_as_such,
            long_bodies_are_refused_with_their_limit,
            mistakes_in_hot_requests_are_told_in_order_and_in_the_known_words,
            mistakes_in_queues_are_told_in_the_known_words,
            record_is_shown_as_it_was_merged,
            deleted_queue_does_not_come_back_with_its_items,
            stored_items_look_as_clients_expect,
            list_beyond_its_limit_is_refused,
            instants_that_cannot_be_shown_are_refused,
            stats_are_true,
            extended_and_retried_items_behave,
            waiting_lease_is_answered_at_its_timeout_and_by_a_produce,
            stopping_server_answers_those_who_wait,
        );
    };
    (@each $start:path, [$attribute:meta], $($case:ident,)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[$attribute]
            async fn $case() {
                let (server, _kept) = $start().await;
                crate::wire::cases::$case(server).await;
            }
        )+
    };
}

pub(crate) use queue_cases;

fn id(item: &Value) -> &str {
    item["id"].as_str().expect("an id")
}

pub(crate) async fn item_goes_through_produce_lease_and_complete(server: Running) {
    server.queue("q1").await;
    server.produce("q1", &["hello"]).await;
    let items = server.lease("q1", "c1", 10).await;
    assert_eq!(
        (items.len(), items[0]["bytes"].as_str(), items[0]["attempts"].as_i64()),
        (1, Some("aGVsbG8="), Some(1))
    );
    assert!(items[0]["lease_deadline"].is_string());
    let complete =
        json!({"queue_name": "q1", "partition": 0, "request_timeout": "30s", "ids": [id(&items[0])]});
    assert_eq!(server.done("/v1/queue.complete", complete.clone()).await, json!({"code": 200}));
    let (code, message) = server.refused("/v1/queue.complete", complete).await;
    assert_eq!((code, message), (400, format!("invalid storage id; '{}' does not exist", id(&items[0]))));
    assert_eq!(server.done("/v1/storage/items.list", json!({"queue_name": "q1"})).await, json!({}));
}

pub(crate) async fn protobuf_goes_in_and_out_and_json_is_the_default_answer(server: Running) {
    use leasehold_api::queue::{
        QueueLeaseRequest, QueueLeaseResponse, QueueProduceItem, QueueProduceRequest,
    };
    server.queue("q1").await;
    let protobuf = || http::Request::post("/").header("content-type", "application/protobuf");
    let produce = QueueProduceRequest {
        queue_name: "q1".to_owned(),
        request_timeout: "1m".to_owned(),
        items: vec![QueueProduceItem {
            bytes: vec![0, 255].into(),
            utf8: "not used".to_owned(),
            ..Default::default()
        }],
    };
    let answer = server.request(protobuf(), "/v1/queue.produce", produce.encode_to_vec()).await;
    assert_eq!((answer.status, answer.content_type.as_str()), (200, "application/json"));
    assert_eq!(answer.json(), json!({"code": 200}));
    let lease = QueueLeaseRequest {
        queue_name: "q1".to_owned(),
        batch_size: 1,
        client_id: "c".to_owned(),
        request_timeout: "30s".to_owned(),
        ..Default::default()
    };
    let both = protobuf().header("accept", "application/protobuf; q=1");
    let answer = server.request(both, "/v1/queue.lease", lease.encode_to_vec()).await;
    assert_eq!((answer.status, answer.content_type.as_str()), (200, "application/protobuf"));
    let leased = QueueLeaseResponse::decode(answer.body).expect("a message");
    assert_eq!(leased.items[0].bytes.as_ref(), [0, 255]);
}

pub(crate) async fn bad_content_is_told_as_such(server: Running) {
    for (content_type, body, words) in [
        (
            "application/x-protobuf",
            "{}",
            "Content-Type header 'application/x-protobuf' is invalid format or unrecognized content type",
        ),
        ("application/json", "", ""),
        ("application/json", "[]", ""),
        ("application/json; charset=utf-8", r#"{"bogus":1}"#, "bogus"),
        ("application/json", r#"{"batch_size":1,"batchSize":1}"#, "duplicate field"),
        ("application/protobuf", "\u{1}", ""),
    ] {
        let request = http::Request::post("/").header("content-type", content_type);
        let answer = server.request(request, "/v1/queue.lease", body).await;
        assert_eq!(answer.status, 455, "{content_type} {body}: {answer:?}");
        assert!(answer.message().contains(words), "{}", answer.message());
    }
    let answer =
        server.request(http::Request::post("/").header("accept", "text/html"), "/v1/queue.stats", "{}").await;
    assert_eq!(answer.status, 455);
    assert!(answer.message().starts_with("Accept header 'text/html' is invalid format"), "{answer:?}");
    for (method, status, words) in [
        (http::Request::get("/"), 400, "http method 'GET' not allowed; only POST"),
        (http::Request::post("/"), 501, "no such method; /v1/queue.bogus"),
    ] {
        let answer = server.request(method, "/v1/queue.bogus", "").await;
        assert_eq!((answer.status, answer.message().as_str()), (status, words));
    }
}

pub(crate) async fn long_bodies_are_refused_with_their_limit(server: Running) {
    for (path, bytes, limit) in [
        ("/v1/queue.lease", 513, "512B"),
        ("/v1/queue.complete", 256_001, "250.0KiB"),
        ("/v1/queues.update", 512_001, "500.0KiB"),
        ("/v1/queue.produce", 5_000_001, "5.0MB"),
        ("/v1/storage/items.import", 64_000_001, "61.0MiB"),
    ] {
        let answer = server.request(http::Request::post("/"), path, vec![b' '; bytes]).await;
        assert_eq!(
            (answer.status, answer.message()),
            (400, format!("request body exceeds {limit} limit")),
            "{path}"
        );
    }
}

pub(crate) async fn mistakes_in_hot_requests_are_told_in_order_and_in_the_known_words(server: Running) {
    server.queue("q").await;
    let timeout = "request timeout is";
    for (path, body, words) in [
        ("produce", json!({}), "queue name is invalid; queue name cannot be empty".to_owned()),
        (
            "produce",
            json!({"queue_name": "a~b"}),
            "queue name is invalid; 'a~b' cannot contain '~' character".into(),
        ),
        ("produce", json!({"queue_name": "none"}), "queue does not exist; no such queue named 'none'".into()),
        ("lease", json!({"queue_name": "a b"}), "queue does not exist; no such queue named 'a b'".into()),
        (
            "produce",
            json!({"queue_name": "q"}),
            format!("{timeout} required; '5m' is recommended, 15m is the maximum"),
        ),
        (
            "produce",
            json!({"queue_name": "q", "request_timeout": "foo"}),
            format!("{timeout} invalid; time: invalid duration \"foo\" - expected format: 900ms, 5m or 15m"),
        ),
        (
            "produce",
            json!({"queue_name": "q", "request_timeout": "15m"}),
            format!("{timeout} invalid; maximum timeout is '15m' but '15m0s' was requested"),
        ),
        (
            "produce",
            json!({"queue_name": "q", "request_timeout": "10ms"}),
            format!("{timeout} invalid; minimum timeout is '10ms' but '10ms' was requested"),
        ),
        (
            "produce",
            json!({"queue_name": "q", "request_timeout": "1s"}),
            "items cannot be empty; at least one item is required".into(),
        ),
        (
            "produce",
            json!({"queue_name": "q", "request_timeout": "1s", "items": vec![json!({}); 1001]}),
            "items is invalid; max_produce_batch_size is 1000 but received 1001".into(),
        ),
        ("lease", json!({"queue_name": "q"}), "invalid client id; cannot be empty".into()),
        (
            "lease",
            json!({"queue_name": "q", "client_id": "c"}),
            "invalid batch size; must be greater than zero".into(),
        ),
        (
            "lease",
            json!({"queue_name": "q", "client_id": "c", "batch_size": 1001}),
            "invalid batch size; max_lease_batch_size is 1000, but 1001 was requested".into(),
        ),
        (
            "lease",
            json!({"queue_name": "q", "client_id": "c", "batch_size": 1, "request_timeout": "16m"}),
            format!("{timeout} invalid; maximum timeout is '15m' but '16m0s' was requested"),
        ),
        (
            "complete",
            json!({"queue_name": "q", "partition": 7, "request_timeout": "x"}),
            "partition is invalid; '7' is not a valid partition".into(),
        ),
        (
            "complete",
            json!({"queue_name": "q", "request_timeout": "x"}),
            format!("{timeout} invalid; time: invalid duration \"x\" - expected format: 900ms, 5m or 15m"),
        ),
        ("complete", json!({"queue_name": "q"}), "ids is invalid; list of ids cannot be empty".into()),
        (
            "complete",
            json!({"queue_name": "q", "ids": ["x"]}),
            format!("{timeout} required; '5m' is recommended, 15m is the maximum"),
        ),
        (
            "complete",
            json!({"queue_name": "q", "ids": ["x"], "request_timeout": "1s"}),
            "invalid storage id; 'x': Valid encoded KSUIDs are 27 characters".into(),
        ),
        (
            "retry",
            json!({"queue_name": "q", "partition": -1}),
            "partition is invalid; '-1' is not a valid partition".into(),
        ),
        ("retry", json!({"queue_name": "q"}), "items is invalid; list of items cannot be empty".into()),
        (
            "retry",
            json!({"queue_name": "q", "items": [{"id": "0ujtsYcgvSTl8PAuAdqWYSMnLOv"}]}),
            "invalid storage id; '0ujtsYcgvSTl8PAuAdqWYSMnLOv' does not exist".into(),
        ),
        (
            "clear",
            json!({"queue_name": "q"}),
            "invalid clear request; one of 'queue', 'scheduled' must be true".into(),
        ),
    ] {
        let (code, message) = server.refused(&format!("/v1/queue.{path}"), body.clone()).await;
        assert_eq!((code, message), (400, words), "{path} {body:.200}");
    }
}

pub(crate) async fn mistakes_in_queues_are_told_in_the_known_words(server: Running) {
    server.queue("dead").await;
    server.queue("taken").await;
    let good =
        json!({"queue_name": "q", "lease_timeout": "1m", "expire_timeout": "1h", "requested_partitions": 1});
    for (change, words) in [
        (json!({"queue_name": ""}), "queue name is invalid; queue name cannot be empty"),
        (json!({"queue_name": "a b"}), "queue name is invalid; 'a b' cannot contain whitespace"),
        (
            json!({"lease_timeout": "1000000000000000s"}),
            "lease timeout is invalid; cannot be greater than '15' characters",
        ),
        (
            json!({"expire_timeout": "x"}),
            "expire timeout is invalid; time: invalid duration \"x\" - expected format: 60m, 2h or 24h",
        ),
        (
            json!({"lease_timeout": "5"}),
            "lease timeout is invalid; time: missing unit in duration \"5\" - expected format: 8m, 15m or 1h",
        ),
        (json!({"lease_timeout": ""}), "lease timeout is invalid; cannot be empty"),
        (json!({"expire_timeout": ""}), "expire timeout is invalid; cannot be empty"),
        (json!({"expire_timeout": "-1h"}), "expire timeout is invalid; cannot be empty"),
        (
            json!({"lease_timeout": "2h"}),
            "lease timeout is too long; 2h0m0s cannot be greater than the expire timeout 1h0m0s",
        ),
        (json!({"max_attempts": -1}), "max attempts is invalid; cannot be negative number"),
        (json!({"max_attempts": 65_537}), "max attempts is invalid; cannot be greater than 65536"),
        (json!({"requested_partitions": 0}), "partitions is invalid; cannot be less than 1"),
        (
            json!({"reference": "x".repeat(2001)}),
            "reference field is invalid; cannot be greater than '2000' characters",
        ),
        (json!({"dead_queue": "q"}), "dead_queue cannot reference itself"),
        (json!({"dead_queue": "none"}), "dead_queue does not exist; 'none' was not found, create it first"),
        (json!({"queue_name": "taken"}), "invalid queue; 'taken' already exists"),
        (json!({"namespace": "a:b"}), "namespace name is invalid; 'a:b' cannot contain ':' character"),
    ] {
        let mut body = good.clone();
        body.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        let (code, message) = server.refused("/v1/queues.create", body).await;
        assert_eq!((code, message.as_str()), (400, words), "{change}");
    }
    let mut elsewhere = good.clone();
    elsewhere["namespace"] = json!("none");
    let refused = server.refused("/v1/queues.create", elsewhere).await;
    assert_eq!(refused, (453, "namespace does not exist; 'none' was not found".to_owned()));
    assert_eq!(
        server.refused("/v1/queues.info", json!({"queue_name": "q"})).await.0,
        400,
        "nothing was made"
    );
}

pub(crate) async fn record_is_shown_as_it_was_merged(server: Running) {
    server.queue("dead").await;
    server
        .done(
            "/v1/queues.create",
            json!({
                "queue_name": "q", "lease_timeout": "1m", "expire_timeout": "24h", "requested_partitions": 2,
                "max_attempts": 3, "reference": "r", "dead_queue": "dead",
            }),
        )
        .await;
    server.done("/v1/queues.update", json!({"queue_name": "q", "max_attempts": 5})).await;
    let info = server.done("/v1/queues.info", json!({"queue_name": "q"})).await;
    for (field, value) in [
        ("lease_timeout", json!("1m0s")),
        ("expire_timeout", json!("24h0m0s")),
        ("max_attempts", json!(5)),
        ("requested_partitions", json!(2)),
        ("namespace", json!("_system")),
        ("reference", Value::Null),
        ("dead_queue", Value::Null),
        ("partitions", Value::Null),
    ] {
        assert_eq!(info[field], value, "{field}");
    }
    let listed = server.done("/v1/queues.list", json!({"limit": 1, "pivot": "e"})).await;
    assert_eq!(listed["items"][0]["queue_name"], "q");
    server.done("/v1/queues.delete", json!({"queue_name": "q"})).await;
    let (code, message) = server.refused("/v1/queues.delete", json!({"queue_name": "q"})).await;
    assert_eq!((code, message.as_str()), (400, "queue does not exist; no such queue named 'q'"));
}

pub(crate) async fn deleted_queue_does_not_come_back_with_its_items(server: Running) {
    server.queue("q").await;
    server.produce("q", &["old"]).await;
    server.done("/v1/queues.delete", json!({"queue_name": "q"})).await;
    server.queue("q").await;
    assert_eq!(server.done("/v1/storage/items.list", json!({"queue_name": "q"})).await, json!({}));
}

pub(crate) async fn stored_items_look_as_clients_expect(server: Running) {
    server.queue("q").await;
    server.produce("q", &["a"]).await;
    let later = json!({"queue_name": "q", "request_timeout": "30s", "items": [{"utf8": "b", "enqueue_at": "2100-01-01T00:00:00.5Z"}]});
    server.done("/v1/queue.produce", later).await;
    let listed = server.done("/v1/storage/items.list", json!({"queue_name": "q"})).await;
    let item = &listed["items"][0];
    assert_eq!(item["lease_deadline"], "0001-01-01T00:00:00Z");
    assert_eq!(
        (&item["payload"], &item["is_leased"], &item["attempts"]),
        (&json!("YQ=="), &Value::Null, &Value::Null)
    );
    let scheduled = server.done("/v1/storage/scheduled.list", json!({"queue_name": "q"})).await;
    assert_eq!(scheduled["items"][0]["enqueue_at"], "2100-01-01T00:00:00.500Z");

    let import = json!({"queue_name": "q", "items": [
        {"source_id": "s", "payload": "Yw==", "kind": "k", "attempts": 2, "max_attempts": 9}, {"source_id": "s"},
    ]});
    let imported = server.done("/v1/storage/items.import", import).await;
    let items = imported["items"].as_array().expect("items");
    assert_eq!(items.len(), 2);
    assert_eq!(items[0]["id"], items[1]["id"], "the second is known by its source id");
    assert_eq!(items[0]["lease_deadline"], "1970-01-01T00:00:00Z");
    assert_eq!(items[0]["expire_deadline"], "1970-01-01T00:00:00Z");

    let (code, message) =
        server.refused("/v1/storage/items.delete", json!({"queue_name": "q", "ids": [id(item), "x"]})).await;
    assert_eq!(
        (code, message.as_str()),
        (400, "invalid storage id; 'x': Valid encoded KSUIDs are 27 characters")
    );
    server.done("/v1/storage/items.delete", json!({"queue_name": "q", "ids": [id(item)]})).await;
    let left = server.done("/v1/storage/items.list", json!({"queue_name": "q"})).await;
    assert_eq!(left["items"].as_array().expect("items").len(), 1);
}

/// The queue serves whatever readers ask for.
pub(crate) async fn list_beyond_its_limit_is_refused(server: Running) {
    server.queue("q").await;
    server.produce("q", &["a", "b"]).await;
    for path in ["/v1/storage/items.list", "/v1/storage/scheduled.list"] {
        for limit in [20_001, i32::MAX] {
            let refused = server.refused(path, json!({"queue_name": "q", "limit": limit})).await;
            assert_eq!(refused, (400, "limit is invalid; cannot be greater than 20000".to_owned()));
        }
    }
    let listed = server.done("/v1/storage/items.list", json!({"queue_name": "q", "limit": 20_000})).await;
    assert_eq!(listed["items"].as_array().expect("items").len(), 2);
    assert_eq!(server.lease("q", "c1", 10).await.len(), 2);
}

pub(crate) async fn stats_are_true(server: Running) {
    server.queue("q").await;
    let empty = server.done("/v1/queue.stats", json!({"queue_name": "q"})).await;
    assert_eq!(
        empty["logicalQueues"][0]["partitions"],
        json!([{"average_age": "0s", "average_leased_age": "0s"}])
    );
    server.produce("q", &["a", "b", "c"]).await;
    server.lease("q", "c", 1).await;
    let stats = server.done("/v1/queue.stats", json!({"queue_name": "q"})).await;
    let partition = &stats["logicalQueues"][0]["partitions"][0];
    assert_eq!((&partition["total"], &partition["total_leased"]), (&json!(3), &json!(1)));
}

pub(crate) async fn extended_and_retried_items_behave(server: Running) {
    server.queue("q").await;
    server.produce("q", &["a", "b"]).await;
    let first = server.lease("q", "c", 1).await;
    let extend =
        json!({"queue_name": "q", "ids": [id(&first[0])], "request_timeout": "30s", "lease_timeout": "30m"});
    let extended = server.done("/v1/queue.extend", extend.clone()).await;
    assert!(
        extended["lease_deadline"].as_str().expect("text")
            > first[0]["lease_deadline"].as_str().expect("text")
    );
    server.done("/v1/queue.retry", json!({"queue_name": "q", "items": [{"id": id(&first[0])}]})).await;
    let (code, message) = server.refused("/v1/queue.extend", extend).await;
    assert_eq!((code, message), (400, format!("invalid storage id; '{}' does not exist", id(&first[0]))));
    let rest = server.lease("q", "c", 2).await;
    let payloads: Vec<_> =
        rest.iter().map(|item| (item["bytes"].as_str(), item["attempts"].as_i64())).collect();
    assert_eq!(payloads, [(Some("Yg=="), Some(1)), (Some("YQ=="), Some(2))]);
}

pub(crate) async fn waiting_lease_is_answered_at_its_timeout_and_by_a_produce(server: Running) {
    server.queue("q").await;
    let waiting = json!({"queue_name": "q", "client_id": "c", "batch_size": 1, "request_timeout": "50ms"});
    let (code, message) = server.refused("/v1/queue.lease", waiting).await;
    assert_eq!((code, message.as_str()), (454, "request timeout; no items are in the queue, try again"));
    let (leased, ()) = tokio::join!(server.lease("q", "c", 1), server.produce("q", &["a"]));
    assert_eq!(leased.len(), 1);
}

pub(crate) async fn stopping_server_answers_those_who_wait(server: Running) {
    let server = std::sync::Arc::new(server);
    server.queue("q").await;
    let waiting = tokio::spawn({
        let server = server.clone();
        async move {
            let request =
                json!({"queue_name": "q", "client_id": "c", "batch_size": 1, "request_timeout": "1m"});
            server.refused("/v1/queue.lease", request).await
        }
    });
    let stats = json!({"queue_name": "q"});
    while server.done("/v1/queue.stats", stats.clone()).await["logicalQueues"][0]["lease_waiting"] != 1 {
        tokio::task::yield_now().await;
    }
    server.signal_stop();
    let (code, message) = waiting.await.expect("no panic");
    assert_eq!(code, 453);
    assert!(message.ends_with("is shutting down"), "{message}");
}

/// Only protobuf can say them; in JSON they are no instants.
pub(crate) async fn instants_that_cannot_be_shown_are_refused(server: Running) {
    use leasehold_api::queue::{
        QueueProduceItem, QueueProduceRequest, QueueRetryItem, QueueRetryRequest, StorageItem,
        StorageItemsImportRequest,
    };
    server.queue("q").await;
    let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    let protobuf = async |path: &str, request: Vec<u8>| {
        let sent = http::Request::post("/").header("content-type", "application/protobuf");
        let answer = server.request(sent, path, request).await;
        (answer.status, answer.message())
    };
    let produce = |enqueue_at| {
        let items = vec![QueueProduceItem { utf8: "later".to_owned(), enqueue_at, ..Default::default() }];
        let (queue_name, request_timeout) = ("q".to_owned(), "30s".to_owned());
        QueueProduceRequest { queue_name, request_timeout, items }.encode_to_vec()
    };
    let import = |lease_deadline, expire_deadline| {
        let item = StorageItem { lease_deadline, expire_deadline, ..Default::default() };
        let request =
            StorageItemsImportRequest { queue_name: "q".to_owned(), items: vec![item], ..Default::default() };
        request.encode_to_vec()
    };
    for seconds in [253_402_300_800, i64::MAX, i64::MIN] {
        let retried = QueueRetryItem { id: "x".to_owned(), retry_at: at(seconds), ..Default::default() };
        let retry =
            QueueRetryRequest { queue_name: "q".to_owned(), items: vec![retried], ..Default::default() };
        for (path, request, field) in [
            ("/v1/queue.produce", produce(at(seconds)), "enqueue_at"),
            ("/v1/queue.retry", retry.encode_to_vec(), "retry_at"),
            ("/v1/storage/items.import", import(at(seconds), None), "lease_deadline"),
            ("/v1/storage/items.import", import(None, at(seconds)), "expire_deadline"),
        ] {
            let words = format!("{field} is invalid; it must be from year 1 to year 9999");
            assert_eq!(protobuf(path, request).await, (400, words), "{path} {seconds}");
        }
    }
    assert_eq!(protobuf("/v1/queue.produce", produce(at(253_402_300_799))).await.0, 200, "the last second");
    assert_eq!(protobuf("/v1/storage/items.import", import(None, at(253_402_300_799))).await.0, 200);
    let scheduled = server.done("/v1/storage/scheduled.list", json!({"queue_name": "q"})).await;
    assert_eq!(scheduled["items"][0]["enqueue_at"], "9999-12-31T23:59:59Z");
    let stored = server.done("/v1/storage/items.list", json!({"queue_name": "q"})).await;
    assert_eq!(stored["items"][0]["expire_deadline"], "9999-12-31T23:59:59Z");
}

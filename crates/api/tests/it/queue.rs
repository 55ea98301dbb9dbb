//! The JSON of the queue messages, byte for byte, and the rules for reading it.

use leasehold_api::from_json;
use leasehold_api::queue::{
    QueueInfo, QueueLeaseItem, QueueLeaseRequest, QueueLeaseResponse, QueueLogicalStats, QueuePartitionStats,
    QueueProduceItem, QueueProduceRequest, QueueStatsResponse, StorageItem, StorageItemsImportResponse, User,
};
use prost::Message;
use prost_types::Timestamp;

fn at(seconds: i64, nanos: i32) -> Option<Timestamp> {
    Some(Timestamp { seconds, nanos })
}

#[test]
fn lease_reply_is_written_as_clients_know_it() {
    let reply = QueueLeaseResponse {
        queue_name: "q1".to_owned(),
        partition: 0,
        items: vec![QueueLeaseItem {
            kind: "k".to_owned(),
            id: "3M8JduQhcTnqQaxswEiQu6xNDyA".to_owned(),
            attempts: 1,
            lease_deadline: at(1_794_726_411, 741_312_466),
            bytes: "hello".into(),
            ..QueueLeaseItem::default()
        }],
    };
    assert_eq!(
        serde_json::to_string(&reply).unwrap(),
        r#"{"queue_name":"q1","items":[{"kind":"k","id":"3M8JduQhcTnqQaxswEiQu6xNDyA","attempts":1,"lease_deadline":"2026-11-15T07:06:51.741312466Z","bytes":"aGVsbG8="}]}"#
    );
}

#[test]
fn stats_keep_their_one_odd_name() {
    let partition = QueuePartitionStats {
        total: 2,
        average_age: "10.745444ms".to_owned(),
        average_leased_age: "0s".to_owned(),
        ..QueuePartitionStats::default()
    };
    let stats = QueueStatsResponse {
        queue_name: "q1".to_owned(),
        logical_queues: vec![QueueLogicalStats {
            partitions: vec![partition],
            ..QueueLogicalStats::default()
        }],
    };
    assert_eq!(
        serde_json::to_string(&stats).unwrap(),
        r#"{"queue_name":"q1","logicalQueues":[{"partitions":[{"total":2,"average_age":"10.745444ms","average_leased_age":"0s"}]}]}"#
    );
}

#[test]
fn import_reply_keeps_its_odd_number() {
    let reply = StorageItemsImportResponse { items: vec![StorageItem::default()] };
    assert_eq!(reply.encode_to_vec(), [0x12, 0]);
}

#[test]
fn instants_are_written_with_the_fewest_digits_that_lose_nothing() {
    for (deadline, text) in [
        (at(-62_135_596_800, 0), "0001-01-01T00:00:00Z"),
        (at(0, 0), "1970-01-01T00:00:00Z"),
        (at(-1, 500_000_000), "1969-12-31T23:59:59.500Z"),
        (at(1_700_000_000, 120_000_000), "2023-11-14T22:13:20.120Z"),
        (at(1_700_000_000, 1_000), "2023-11-14T22:13:20.000001Z"),
        (at(1_700_000_000, 1), "2023-11-14T22:13:20.000000001Z"),
        (at(253_402_300_799, 999_999_999), "9999-12-31T23:59:59.999999999Z"),
    ] {
        let item = StorageItem { lease_deadline: deadline, ..StorageItem::default() };
        let json = format!(r#"{{"lease_deadline":"{text}"}}"#);
        assert_eq!(serde_json::to_string(&item).unwrap(), json);
        assert_eq!(from_json::<StorageItem>(json.as_bytes()).unwrap(), item);
    }
}

#[test]
fn instants_are_read_with_any_offset_and_refused_in_any_other_form() {
    let read = |text: &str| {
        from_json::<QueueProduceItem>(format!(r#"{{"enqueue_at":"{text}"}}"#).as_bytes())
            .map(|item| item.enqueue_at)
    };
    for (text, expected) in [
        ("2023-11-14T22:13:20Z", at(1_700_000_000, 0)),
        ("2023-11-15T00:13:20+02:00", at(1_700_000_000, 0)),
        ("2023-11-14T17:43:20.5-04:30", at(1_700_000_000, 500_000_000)),
    ] {
        assert_eq!(read(text).unwrap(), expected, "{text}");
    }
    for text in [
        "",
        "now",
        "2023-11-14",
        "2023-11-14 22:13:20Z",
        "2023-11-14T22:13:20",
        "2023-11-14T22:13Z",
        "2023-11-14T22:13:20.Z",
        "2023-11-14T22:13:20.1234567890Z",
        "2023-13-14T22:13:20Z",
        "2023-11-14T22:13:20Z[UTC]",
        "0000-12-31T23:59:59Z",
        "20231114T221320Z",
        "2023-11-14T22:13:20+0200",
        "2023-11-14t22:13:20z",
        "-000001-01-01T00:00:00Z",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
    assert!(from_json::<QueueProduceItem>(br#"{"enqueue_at":5}"#).is_err());
}

#[test]
fn bytes_are_read_in_either_alphabet_with_or_without_padding() {
    for text in ["+/8=", "-_8=", "+/8", "-_8"] {
        let item = from_json::<QueueProduceItem>(format!(r#"{{"bytes":"{text}"}}"#).as_bytes()).unwrap();
        assert_eq!(item.bytes.as_ref(), [0xfb, 0xff], "{text}");
    }
    for text in ["+_8=", "a", "a b=", "===="] {
        assert!(
            from_json::<QueueProduceItem>(format!(r#"{{"bytes":"{text}"}}"#).as_bytes()).is_err(),
            "{text}"
        );
    }
}

#[test]
fn whole_numbers_are_read_as_number_text_or_whole_float() {
    for text in ["7", "\"7\"", "7.0", "0.7e1", "\"7e0\"", "70e-1"] {
        let request =
            from_json::<QueueLeaseRequest>(format!(r#"{{"batchSize":{text}}}"#).as_bytes()).unwrap();
        assert_eq!(request.batch_size, 7, "{text}");
    }
    for text in ["7.5", "\"seven\"", "2147483648", "-2147483649", "\"+7\"", "\"\"", "true", "[7]", "\"inf\""]
    {
        assert!(
            from_json::<QueueLeaseRequest>(format!(r#"{{"batchSize":{text}}}"#).as_bytes()).is_err(),
            "{text}"
        );
    }
}

#[test]
fn either_name_is_read_and_nothing_unknown_or_twice() {
    let wanted = QueueProduceRequest {
        queue_name: "q".to_owned(),
        request_timeout: "1m".to_owned(),
        items: vec![QueueProduceItem { utf8: "x".to_owned(), ..QueueProduceItem::default() }],
    };
    for json in [
        r#"{"queue_name":"q","request_timeout":"1m","items":[{"utf8":"x"}]}"#,
        r#"{"queueName":"q","requestTimeout":"1m","items":[{"utf8":"x","enqueueAt":null,"bytes":null}]}"#,
    ] {
        assert_eq!(from_json::<QueueProduceRequest>(json.as_bytes()).unwrap(), wanted);
    }
    for json in [
        r#"{"queue_name":"q","queueName":"q"}"#,
        r#"{"items":[{"bogus":1}]}"#,
        r#"{"items":[["x"]]}"#,
        r#"{"items":{}}"#,
        "",
    ] {
        assert!(from_json::<QueueProduceRequest>(json.as_bytes()).is_err(), "{json}");
    }
}

#[test]
fn empty_messages_are_empty_objects_and_no_bytes() {
    assert_eq!(serde_json::to_string(&QueueInfo::default()).unwrap(), "{}");
    assert_eq!(serde_json::to_string(&User::default()).unwrap(), "{}");
    assert_eq!(QueueInfo::decode(&[][..]).unwrap(), QueueInfo::default());
}

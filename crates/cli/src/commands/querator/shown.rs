//! The JSON of Querator's command line. It is not that of the wire: names are those of the `.proto` files, and
//! instants are seconds and nanoseconds.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use leasehold_api::queue::{QueueInfo, QueueLeaseItem, QueueLeaseResponse};
use prost_types::Timestamp;
use serde_json::{Map, Value, json};

pub(super) fn leased(response: &QueueLeaseResponse) -> Value {
    json!({
        "queue_name": response.queue_name,
        "partition": response.partition,
        "items": none_if_empty(response.items.iter().map(item).collect()),
    })
}

pub(super) fn queues(queues: &[QueueInfo]) -> Value {
    json!({
        "queues": none_if_empty(queues.iter().map(queue).collect()),
        "count": queues.len(),
    })
}

fn none_if_empty(list: Vec<Value>) -> Value {
    if list.is_empty() { Value::Null } else { Value::Array(list) }
}

fn item(item: &QueueLeaseItem) -> Value {
    object([
        ("encoding", json!(item.encoding)),
        ("kind", json!(item.kind)),
        ("reference", json!(item.reference)),
        ("id", json!(item.id)),
        ("attempts", json!(item.attempts)),
        ("leaseDeadline", instant(item.lease_deadline)),
        ("bytes", json!(BASE64_STANDARD.encode(&item.bytes))),
    ])
}

fn queue(queue: &QueueInfo) -> Value {
    let partitions = queue.partitions.iter().map(|info| object([("partition", json!(info.partition))]));
    object([
        ("queueName", json!(queue.queue_name)),
        ("createdAt", instant(queue.created_at)),
        ("updatedAt", instant(queue.updated_at)),
        ("deadQueue", json!(queue.dead_queue)),
        ("reference", json!(queue.reference)),
        ("leaseTimeout", json!(queue.lease_timeout)),
        ("expireTimeout", json!(queue.expire_timeout)),
        ("maxAttempts", json!(queue.max_attempts)),
        ("requestedPartitions", json!(queue.requested_partitions)),
        ("partitions", none_if_empty(partitions.collect())),
        ("namespace", json!(queue.namespace)),
    ])
}

fn instant(at: Option<Timestamp>) -> Value {
    at.map(|at| object([("seconds", json!(at.seconds)), ("nanos", json!(at.nanos))])).unwrap_or_default()
}

/// Without what has its default.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let is_default = |value: &Value| *value == json!("") || *value == json!(0) || value.is_null();
    let kept = fields.into_iter().filter(|(_, value)| !is_default(value));
    Value::Object(kept.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_has_proto_names_and_split_instants_and_leaves_defaults_out() {
        let response = QueueLeaseResponse {
            queue_name: "q".to_owned(),
            partition: 0,
            items: vec![QueueLeaseItem {
                id: "x".to_owned(),
                attempts: 1,
                lease_deadline: Some(Timestamp { seconds: 5, nanos: 0 }),
                bytes: "hello".into(),
                ..QueueLeaseItem::default()
            }],
        };
        let expected = json!({
            "queue_name": "q",
            "partition": 0,
            "items": [{"id": "x", "attempts": 1, "leaseDeadline": {"seconds": 5}, "bytes": "aGVsbG8="}],
        });
        assert_eq!(leased(&response), expected);
        assert_eq!(leased(&QueueLeaseResponse::default())["items"], Value::Null);
    }

    #[test]
    fn list_counts_its_queues() {
        let queue = QueueInfo { queue_name: "q".to_owned(), max_attempts: 3, ..QueueInfo::default() };
        assert_eq!(queues(&[queue]), json!({"queues": [{"queueName": "q", "maxAttempts": 3}], "count": 1}));
        assert_eq!(queues(&[]), json!({"queues": null, "count": 0}));
    }
}

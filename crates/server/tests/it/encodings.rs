//! Every endpoint, in both encodings: what is asked and answered in protobuf is what is asked and answered in JSON.

use std::collections::BTreeSet;

use leasehold_access::Driver;
use leasehold_api::{ENDPOINTS, endpoint, for_every_message, from_json};
use parking_lot::Mutex;
use prost::{Message, Name};
use serde_json::{Value, json};

use crate::wire::{Running, config};

#[derive(Clone, Copy)]
enum Encoding {
    Json,
    Protobuf,
}

/// A message of this name, from JSON to protobuf.
fn to_protobuf(name: &str, message: &Value) -> Vec<u8> {
    macro_rules! each {
        ($($message:ty,)*) => {
            $(if <$message>::full_name() == name {
                let read = from_json::<$message>(message.to_string().as_bytes());
                return read.unwrap_or_else(|error| panic!("{name}: {error}")).encode_to_vec();
            })*
        };
    }
    for_every_message!(each);
    panic!("there is no message {name}");
}

/// And back.
fn to_json(name: &str, bytes: &[u8]) -> Value {
    macro_rules! each {
        ($($message:ty,)*) => {
            $(if <$message>::full_name() == name {
                let read = <$message>::decode(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
                return serde_json::to_value(&read).expect("messages have only text keys");
            })*
        };
    }
    for_every_message!(each);
    panic!("there is no message {name}");
}

/// A server, a language, and what was said in it.
struct Talk {
    server: Running,
    encoding: Encoding,
    said: Mutex<Vec<(&'static str, Value)>>,
}

impl Talk {
    async fn start(encoding: Encoding) -> Self {
        let mut config = config("memory:");
        config.auth = Driver::Internal;
        Talk { server: Running::start(config).await, encoding, said: Mutex::default() }
    }

    /// Asks what must be answered with success.
    async fn ask(&self, path: &'static str, question: Value) -> Value {
        let endpoint = endpoint(path).expect("an endpoint");
        let (media_type, body) = match self.encoding {
            Encoding::Json => ("application/json", question.to_string().into_bytes()),
            Encoding::Protobuf => ("application/protobuf", to_protobuf(endpoint.request, &question)),
        };
        let request =
            http::Request::post("/").header("content-type", media_type).header("accept", media_type);
        let answer = self.server.request(request, path, body).await;
        assert_eq!((answer.status, answer.content_type.as_str()), (200, media_type), "{path}: {answer:?}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
        let told = match self.encoding {
            Encoding::Json => answer.json(),
            Encoding::Protobuf => to_json(endpoint.response, &answer.body),
        };
        self.said.lock().push((path, masked(&told)));
        told
    }

    /// Something of everything.
    async fn everything(&self) {
        let name = json!({"queue_name": "q"});
        self.ask("/v1/namespaces.create", json!({"name": "orders", "description": "d"})).await;
        self.ask("/v1/namespaces.update", json!({"name": "orders", "api_key_tag": "ord"})).await;
        self.ask("/v1/namespaces.list", json!({"limit": 2})).await;
        let queue = json!({
            "queue_name": "q", "namespace": "orders", "lease_timeout": "1m", "expire_timeout": "1h",
            "requested_partitions": 1, "reference": "r",
        });
        self.ask("/v1/queues.create", queue).await;
        self.ask("/v1/queues.update", json!({"queue_name": "q", "max_attempts": 7})).await;
        self.ask("/v1/queues.info", name.clone()).await;
        self.ask("/v1/queues.list", json!({"namespace": "orders"})).await;
        let items = json!([
            {"utf8": "one", "kind": "k"}, {"bytes": "AP8="}, {"utf8": "later", "enqueue_at": "2100-01-01T00:00:00Z"},
        ]);
        self.ask("/v1/queue.produce", json!({"queue_name": "q", "request_timeout": "5s", "items": items}))
            .await;
        self.ask("/v1/storage/items.list", name.clone()).await;
        self.ask("/v1/storage/scheduled.list", name.clone()).await;
        let lease = json!({"queue_name": "q", "client_id": "c", "batch_size": 2, "request_timeout": "5s"});
        let leased = self.ask("/v1/queue.lease", lease).await;
        let id = |index: usize| leased["items"][index]["id"].clone();
        let extend =
            json!({"queue_name": "q", "ids": [id(0)], "request_timeout": "5s", "lease_timeout": "2m"});
        self.ask("/v1/queue.extend", extend).await;
        self.ask("/v1/queue.retry", json!({"queue_name": "q", "items": [{"id": id(1)}]})).await;
        let complete = json!({"queue_name": "q", "ids": [id(0)], "request_timeout": "5s"});
        self.ask("/v1/queue.complete", complete).await;
        self.ask("/v1/queue.stats", name.clone()).await;
        let import = json!({"queue_name": "q", "items": [{"payload": "aGk=", "attempts": 3}]});
        let imported = self.ask("/v1/storage/items.import", import).await;
        let delete = json!({"queue_name": "q", "ids": [imported["items"][0]["id"]]});
        self.ask("/v1/storage/items.delete", delete).await;
        self.ask("/v1/queue.reload", name.clone()).await;
        self.ask("/v1/queue.clear", json!({"queue_name": "q", "queue": true, "scheduled": true})).await;
        self.ask("/v1/queues.delete", name).await;
        self.locks().await;
        self.access().await;
    }

    async fn locks(&self) {
        let held = self.ask("/v1/lock.acquire", json!({"key": "k", "ttlMs": 60_000})).await;
        self.ask("/v1/lock.acquire", json!({"key": "k", "ttlMs": 60_000})).await;
        self.ask("/v1/lock.isLocked", json!({"key": "k"})).await;
        self.ask("/v1/lock.lookup", json!({"key": "k", "raw": true})).await;
        self.ask("/v1/lock.list", json!({"raw": true})).await;
        self.ask("/v1/lock.extend", json!({"lockId": held["lockId"], "ttlMs": 60_000})).await;
        self.ask("/v1/lock.release", json!({"lockId": held["lockId"]})).await;
        self.ask("/v1/lock.watch", json!({"key": "k", "requestTimeout": "1s"})).await;
    }

    async fn access(&self) {
        let user =
            self.ask("/v1/users.create", json!({"username": "ann", "email": "a@b"})).await["id"].clone();
        self.ask("/v1/users.list", json!({})).await;
        let role = json!({"namespace": "orders", "name": "worker", "permissions": ["queue.lease"]});
        self.ask("/v1/roles.create", role.clone()).await;
        self.ask("/v1/roles.update", role).await;
        self.ask("/v1/roles.list", json!({"namespace": "orders"})).await;
        let binding = json!({"namespace": "orders", "role_name": "worker", "user_id": user});
        self.ask("/v1/rolebindings.create", binding.clone()).await;
        self.ask("/v1/rolebindings.list", json!({"namespace": "orders"})).await;
        let key = json!({"user_id": user, "name": "k", "namespace_scope": "orders", "expires_at": "2100-01-01T00:00:00Z"});
        let key = self.ask("/v1/apikeys.create", key).await;
        self.ask("/v1/apikeys.list", json!({"user_id": user})).await;
        self.ask("/v1/apikeys.delete", json!({"id": key["id"]})).await;
        self.ask("/v1/rolebindings.delete", binding).await;
        self.ask("/v1/roles.delete", json!({"namespace": "orders", "name": "worker"})).await;
        self.ask("/v1/users.delete", json!({"id": user})).await;
        self.ask("/v1/namespaces.delete", json!({"name": "orders"})).await;
    }
}

/// What differs from server to server: ids, secrets and instants, by their names; that they are there is not masked.
fn masked(answer: &Value) -> Value {
    match answer {
        Value::Array(elements) => elements.iter().map(masked).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), masked_field(name, field))).collect()
        }
        other => other.clone(),
    }
}

fn masked_field(name: &str, field: &Value) -> Value {
    let of_one_server = ["id", "user_id", "role_id", "key", "prefix", "lockId", "lockIdHash", "average_age"];
    let is_instant = ["_at", "_deadline", "AtMs", "_age"].iter().any(|end| name.ends_with(end));
    match field {
        Value::Array(_) | Value::Object(_) => masked(field),
        Value::String(text) if text == "anonymous" => field.clone(),
        _ if is_instant || of_one_server.contains(&name) => json!("masked"),
        other => other.clone(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn protobuf_says_what_json_says_at_every_endpoint() {
    let (json, protobuf) = (Talk::start(Encoding::Json).await, Talk::start(Encoding::Protobuf).await);
    json.everything().await;
    protobuf.everything().await;
    let (json, protobuf) = (json.said.into_inner(), protobuf.said.into_inner());
    assert_eq!(json.len(), protobuf.len());
    for ((path, in_json), (_, in_protobuf)) in json.iter().zip(&protobuf) {
        assert_eq!(in_json, in_protobuf, "{path}");
    }
    let visited: BTreeSet<&str> = json.iter().map(|(path, _)| *path).collect();
    let all: BTreeSet<&str> = ENDPOINTS.iter().map(|endpoint| endpoint.path).collect();
    assert_eq!(visited, all, "every endpoint was asked");
}

#[tokio::test]
async fn refusal_is_the_same_whatever_the_encoding_of_the_request() {
    let server = Running::start(config("memory:")).await;
    for endpoint in ENDPOINTS {
        let mut told = Vec::new();
        for (media_type, body) in [("application/json", "{}"), ("application/protobuf", "")] {
            let request = http::Request::post("/").header("content-type", media_type);
            let answer = server.request(request, endpoint.path, body).await;
            assert_eq!(answer.content_type, "application/json", "{}", endpoint.path);
            told.push((answer.status, answer.message()));
        }
        assert_eq!(told[0], told[1], "{}", endpoint.path);
    }
}

//! The client of queues against a real server: answers, refusals, long lists, waits.

use std::time::Duration;

use leasehold_api::queue::{
    QueueCompleteRequest, QueueInfo, QueueLeaseRequest, QueueProduceItem, QueueProduceRequest,
    QueueStatsRequest, QueuesListRequest, StorageItemsListRequest,
};
use leasehold_client::{Client, Error, Items, Options};
use leasehold_core::Class;
use leasehold_server::{Config, Server, StoreLocation};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use secrecy::SecretString;

async fn serve() -> std::net::SocketAddr {
    let config = Config { stop_timeout: Duration::ZERO, ..Config::new("127.0.0.1:0", StoreLocation::Memory) };
    let server = Server::bind(&config).await.expect("binds");
    let address = server.address();
    tokio::spawn(async move { server.run(std::future::pending()).await.expect("serves") });
    address
}

fn client(address: std::net::SocketAddr) -> Client {
    let endpoint = format!("http://{address}").parse().expect("is an endpoint");
    Client::new(endpoint, &Options::default()).expect("is a client")
}

fn queue(name: &str) -> QueueInfo {
    QueueInfo {
        queue_name: name.to_owned(),
        lease_timeout: "1m".to_owned(),
        expire_timeout: "1h".to_owned(),
        requested_partitions: 1,
        ..QueueInfo::default()
    }
}

fn produce(queue: &str, payloads: impl IntoIterator<Item = u32>) -> QueueProduceRequest {
    let item =
        |number: u32| QueueProduceItem { bytes: number.to_string().into(), ..QueueProduceItem::default() };
    QueueProduceRequest {
        queue_name: queue.to_owned(),
        request_timeout: "10s".to_owned(),
        items: payloads.into_iter().map(item).collect(),
    }
}

fn lease(queue: &str, timeout: &str) -> QueueLeaseRequest {
    QueueLeaseRequest {
        queue_name: queue.to_owned(),
        batch_size: 10,
        client_id: "me".to_owned(),
        request_timeout: timeout.to_owned(),
        lease_timeout: String::new(),
    }
}

#[tokio::test]
async fn items_go_through_their_life() {
    let client = client(serve().await);
    client.create_queue(&queue("q")).await.expect("creates");
    client.produce(&produce("q", 0..3)).await.expect("produces");
    let leased = client.lease(&lease("q", "5s")).await.expect("leases");
    assert_eq!(leased.items.len(), 3);
    let complete = QueueCompleteRequest {
        queue_name: "q".to_owned(),
        partition: leased.partition,
        request_timeout: "5s".to_owned(),
        ids: leased.items.into_iter().map(|item| item.id).collect(),
    };
    client.complete(&complete).await.expect("completes");
    let again = client.complete(&complete).await.expect_err("they are gone");
    assert_eq!(again.class(), Class::Rejected);
    let stats = client.stats(&QueueStatsRequest { queue_name: "q".to_owned() }).await.expect("counts");
    assert_eq!(stats.logical_queues[0].partitions[0].total, 0);
}

#[tokio::test]
async fn refusal_says_what_was_asked_and_how_it_was_answered() {
    let address = serve().await;
    let client = client(address);
    let Err(Error::Answered { url, status, code_text, message, details }) =
        client.lease(&lease("nope", "5s")).await
    else {
        panic!("there is no such queue")
    };
    assert_eq!(
        (url, status, code_text.as_str()),
        (format!("http://{address}/v1/queue.lease"), 400, "Bad Request")
    );
    assert_eq!(message, "queue does not exist; no such queue named 'nope'");
    assert_eq!(details.get("error").map(String::as_str), Some("queue.not_found"));
    client.create_queue(&queue("q")).await.expect("creates");
    let nothing = client.lease(&lease("q", "50ms")).await.expect_err("is empty");
    assert!(matches!(nothing, Error::Answered { status: 454, .. }), "{nothing:?}");
    assert_eq!(nothing.class(), Class::Unavailable);
}

#[tokio::test]
async fn wait_that_the_request_asks_for_does_not_count_against_the_timeout() {
    let address = serve().await;
    client(address).create_queue(&queue("q")).await.expect("creates");
    let endpoint = format!("http://{address}").parse().expect("is an endpoint");
    let impatient = Options { timeout: Duration::from_secs(2), ..Options::default() };
    let client = Client::new(endpoint, &impatient).expect("is a client");
    let answered = client.lease(&lease("q", "2500ms")).await.expect_err("is empty");
    assert!(matches!(answered, Error::Answered { status: 454, .. }), "{answered:?}");
}

#[tokio::test]
async fn long_lists_are_walked_without_gaps_or_repeats() {
    let client = client(serve().await);
    client.create_queue(&queue("q")).await.expect("creates");
    client.produce(&produce("q", 0..25)).await.expect("produces");
    let list = Items(StorageItemsListRequest { queue_name: "q".to_owned(), ..Default::default() });
    let number = |bytes: &[u8]| String::from_utf8_lossy(bytes).parse::<u32>().expect("is a number");
    for page_len in [1, 2, 7, 24, 25, 26] {
        let mut pages = client.pages(list.clone(), page_len);
        let mut seen = Vec::new();
        loop {
            let page = pages.next().await.expect("lists");
            assert!(page.len() <= usize::from(page_len));
            if page.is_empty() {
                break;
            }
            seen.extend(page.iter().map(|item| number(&item.payload)));
        }
        assert_eq!(seen, (0..25).collect::<Vec<_>>(), "in pages of {page_len}");
        client.produce(&produce("q", [25])).await.expect("produces");
        let added = pages.next().await.expect("lists");
        assert_eq!(
            added.iter().map(|item| number(&item.payload)).collect::<Vec<_>>(),
            [25],
            "what came later is seen"
        );
        let ids = added.into_iter().map(|item| item.id).collect();
        let delete =
            leasehold_api::queue::StorageItemsDeleteRequest { queue_name: "q".to_owned(), partition: 0, ids };
        client.delete_items(&delete).await.expect("deletes");
    }
    assert_eq!(client.pages(list, 10).take(12).await.expect("lists").len(), 12);
    client.create_queue(&queue("r")).await.expect("creates");
    let from_r = QueuesListRequest { pivot: "r".to_owned(), ..Default::default() };
    assert_eq!(client.pages(from_r, 10).take(12).await.expect("lists").len(), 1, "a pivot is where to begin");
}

#[tokio::test]
async fn lost_answer_to_a_produce_is_not_repeated_behind_our_back() {
    let address = serve().await;
    let direct = client(address);
    direct.create_queue(&queue("q")).await.expect("creates");
    let proxy = FaultProxy::start(address).await.expect("starts");
    let lost = proxy.add(Rule::on(Trigger::Request(b"queue.produce".to_vec())).then(Action::DropReply));
    let unknown =
        client(proxy.address()).produce(&produce("q", [1])).await.expect_err("the answer was dropped");
    lost.fired().await;
    assert_eq!(unknown.class(), Class::Indeterminate, "{unknown:?}");
    let stats = direct.stats(&QueueStatsRequest { queue_name: "q".to_owned() }).await.expect("counts");
    assert_eq!(stats.logical_queues[0].partitions[0].total, 1);
}

#[test]
fn key_is_never_printed_and_a_key_that_cannot_be_sent_is_refused() {
    let with = |key: &str| {
        let options = Options { api_key: Some(SecretString::from(key)), ..Options::default() };
        let client = Client::new("http://127.0.0.1:1".parse().expect("is an endpoint"), &options);
        assert!(!format!("{options:?} {client:?}").contains("hunter2"));
        client
    };
    assert!(with("qtr-live-hunter2").is_ok());
    let refused = with("hunter2\n").expect_err("has a line break");
    assert_eq!(refused.code(), "client.api_key");
    assert!(!refused.to_string().contains("hunter2"));
}

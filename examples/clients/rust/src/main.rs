//! Queues and locks of a server with `leasehold-client`.

use std::env::var;
use std::error::Error;
use std::sync::Arc;

use leasehold_api::queue::{
    QueueCompleteRequest, QueueInfo, QueueLeaseRequest, QueueProduceItem, QueueProduceRequest,
};
use leasehold_client::{Client, Endpoint, HttpBackend, Options};
use leasehold_core::{Key, Ttl};
use leasehold_locks::{Config, ExtendOutcome, Locks, ReleaseOutcome};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let named = |name: &str, otherwise: &str| var(name).unwrap_or_else(|_| otherwise.to_owned());
    let endpoint = named("LEASEHOLD_ENDPOINT", "http://127.0.0.1:2319");
    first_steps(&endpoint, &named("QUEUE", "mail"), &named("KEY", "billing"), |line| println!("{line}")).await
}

/// Prints what happens, where it is told to.
pub async fn first_steps(
    endpoint: &str,
    queue: &str,
    key: &str,
    print: impl Fn(String),
) -> Result<(), Box<dyn Error>> {
    let endpoint: Endpoint = endpoint.parse()?;
    let options = Options { api_key: var("LEASEHOLD_API_KEY").ok().map(Into::into), ..Options::default() };
    let client = Client::new(endpoint.clone(), &options)?;
    let (queue_name, request_timeout) = (queue.to_owned(), "5s".to_owned());
    client
        .create_queue(&QueueInfo {
            queue_name: queue_name.clone(),
            lease_timeout: "1m".to_owned(),
            expire_timeout: "24h".to_owned(),
            requested_partitions: 1,
            ..QueueInfo::default()
        })
        .await?;
    let item = |text: &str| QueueProduceItem { utf8: text.to_owned(), ..QueueProduceItem::default() };
    let items = ["one", "two", "three"].map(item).to_vec();
    let produce = QueueProduceRequest {
        queue_name: queue_name.clone(),
        request_timeout: request_timeout.clone(),
        items,
    };
    client.produce(&produce).await?;

    // Two items are ours for a minute. What is not completed by then comes again.
    let lease = QueueLeaseRequest {
        queue_name: queue_name.clone(),
        client_id: "me".to_owned(),
        batch_size: 2,
        request_timeout: request_timeout.clone(),
        ..QueueLeaseRequest::default()
    };
    let leased = client.lease(&lease).await?;
    for item in &leased.items {
        print(format!("leased {}", String::from_utf8_lossy(&item.bytes)));
    }
    let ids: Vec<String> = leased.items.into_iter().map(|item| item.id).collect();
    let done = format!("completed {}", ids.len());
    let partition = leased.partition;
    client.complete(&QueueCompleteRequest { queue_name, partition, request_timeout, ids }).await?;
    print(done);

    // A lock: carry its fence in every write that you make under it. `guard.keep` would extend it by itself.
    let locks =
        Locks::with_config(Arc::new(HttpBackend::with_options(endpoint, &options)?), Config::default());
    let (key, ttl) = (Key::parse(key)?, "1m".parse::<Ttl>()?);
    let guard = locks.try_acquire(&key, ttl).await?.ok_or("somebody else holds it")?;
    print(format!("acquired with fence {}", guard.fence()));
    if locks.try_acquire(&key, ttl).await?.is_none() {
        print("refused while held".to_owned());
    }
    if let ExtendOutcome::Extended { .. } = guard.extend(ttl).await? {
        print("extended".to_owned());
    }
    if guard.release().await? == ReleaseOutcome::Released {
        print("released".to_owned());
    }
    Ok(())
}

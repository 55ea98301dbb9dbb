//! Our own queues, in this process and through a server in it.

use std::sync::Arc;
use std::time::Duration;

use leasehold_api::queue::{
    QueueCompleteRequest, QueueInfo, QueueLeaseRequest, QueueProduceItem, QueueProduceRequest,
};
use leasehold_client::{Client, Endpoint, Options};
use leasehold_queue::store::postgres::{self, PostgresQueues, PostgresStore};
use leasehold_queue::{
    CompleteRequest, Config, Engine, LeaseRequest, NamedStore, Namespace, NewItem, ProduceRequest,
    QueueChange, QueueName,
};
use leasehold_server::Server;
use leasehold_txn::{ConnectionString, Pool};

use super::shapes::{Caller, Queue, measure};
use super::{Figures, Load, Outcome, PAYLOAD_BYTES};

const TIMEOUT: Duration = Duration::from_secs(30);
const TIMEOUT_TEXT: &str = "30s";
const QUEUE: &str = "nothing";
const NOTE: &str =
    "a completed item is deleted, on proof that its lease is the caller's; success means durable";
/// Partitions have tables of their own, named when they are made.
const LEFT: &str =
    "SELECT coalesce(sum((xpath('//n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I', relname),
                                         false, true, '')))[1]::text::bigint), 0)::bigint
                      FROM pg_class WHERE relkind = 'r' AND relname LIKE 'items\\_%'";

/// How a queue of ours is worked off.
#[derive(Clone, Copy, Debug)]
pub struct Leasehold {
    /// How many items a lease asks for.
    pub batch: u16,
    /// How many lease at the same time.
    pub workers: usize,
}

impl Leasehold {
    /// The engine in this process.
    ///
    /// # Errors
    /// The store failed.
    pub async fn library(self, url: &str, load: Load) -> Outcome<Figures> {
        let pool = Pool::new(leasehold_txn::Config::new(ConnectionString::parse(url)?).size_max(26))?;
        let config = postgres::Config::default();
        let queues = Arc::new(PostgresQueues::new(pool.clone(), &config));
        let store = Arc::new(PostgresStore::new(pool, config));
        let named = NamedStore { name: "bench".to_owned(), affinity: 1.0, store };
        let engine = Engine::new(Config::default(), queues, vec![named]);
        let change = QueueChange {
            lease_timeout: Duration::from_secs(600),
            expire_timeout: Duration::from_secs(86_400),
            requested_partitions: 1,
            ..QueueChange::default()
        };
        engine.create_queue(QUEUE.parse()?, Namespace::default(), change).await?;
        let library = Library { form: self, engine: engine.clone(), queue: QUEUE.parse()? };
        let rates = measure(&library, url, load).await;
        engine.shutdown().await;
        Ok(self.figures("in process", rates?))
    }

    /// A server in this process, over HTTP.
    ///
    /// # Errors
    /// The server failed, or refused.
    pub async fn served(self, url: &str, load: Load) -> Outcome<Figures> {
        let config = leasehold_server::Config::new("127.0.0.1:0", url.parse()?);
        let server = Server::bind(&config).await?;
        let endpoint: Endpoint = format!("http://{}", server.address()).parse()?;
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let serving = tokio::spawn(server.run(async move { drop(stopped.await) }));
        let client = Client::new(endpoint, &Options::default())?;
        let queue = QueueInfo {
            queue_name: QUEUE.to_owned(),
            lease_timeout: "10m".to_owned(),
            expire_timeout: "24h".to_owned(),
            requested_partitions: 1,
            ..QueueInfo::default()
        };
        client.create_queue(&queue).await?;
        let rates = measure(&Served { form: self, client }, url, load).await;
        drop(stop);
        serving.await??;
        Ok(self.figures("HTTP, protobuf", rates?))
    }

    fn figures(self, way: &str, rates: super::Rates) -> Figures {
        let Leasehold { workers, batch } = self;
        Figures {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: format!("{way}, 1 partition, {workers} workers, leases of {batch}"),
            note: NOTE.to_owned(),
            rates,
        }
    }
}

struct Library {
    form: Leasehold,
    engine: Engine,
    queue: QueueName,
}

impl Queue for Library {
    type Caller = LibraryCaller;

    fn workers(&self) -> usize {
        self.form.workers
    }

    fn left(&self) -> &'static str {
        LEFT
    }

    async fn caller(&self, number: usize) -> Outcome<LibraryCaller> {
        Ok(LibraryCaller {
            engine: self.engine.clone(),
            queue: self.queue.clone(),
            client_id: format!("client {number}"),
            batch: self.form.batch,
        })
    }
}

struct LibraryCaller {
    engine: Engine,
    queue: QueueName,
    client_id: String,
    batch: u16,
}

impl Caller for LibraryCaller {
    async fn add(&mut self, len: usize) -> Outcome {
        let item = NewItem { payload: vec![b'x'; PAYLOAD_BYTES].into(), ..NewItem::default() };
        let items = vec![item; len];
        self.engine.produce(ProduceRequest { queue: self.queue.clone(), timeout: TIMEOUT, items }).await?;
        Ok(())
    }

    async fn work(&mut self) -> Outcome<usize> {
        let lease = LeaseRequest {
            queue: self.queue.clone(),
            client_id: self.client_id.clone(),
            batch_size: self.batch.into(),
            timeout: TIMEOUT,
            lease_timeout: None,
        };
        let leased = self.engine.lease(lease).await?;
        let ids: Vec<_> = leased.items.into_iter().map(|item| item.id.into()).collect();
        let ended = ids.len();
        let (queue, partition) = (self.queue.clone(), leased.partition.into());
        self.engine.complete(CompleteRequest { queue, partition, timeout: TIMEOUT, ids }).await?;
        Ok(ended)
    }
}

struct Served {
    form: Leasehold,
    client: Client,
}

impl Queue for Served {
    type Caller = ServedCaller;

    fn workers(&self) -> usize {
        self.form.workers
    }

    fn left(&self) -> &'static str {
        LEFT
    }

    async fn caller(&self, number: usize) -> Outcome<ServedCaller> {
        let client_id = format!("client {number}");
        Ok(ServedCaller { client: self.client.clone(), client_id, batch: self.form.batch })
    }
}

struct ServedCaller {
    client: Client,
    client_id: String,
    batch: u16,
}

impl Caller for ServedCaller {
    async fn add(&mut self, len: usize) -> Outcome {
        let item =
            QueueProduceItem { bytes: vec![b'x'; PAYLOAD_BYTES].into(), ..QueueProduceItem::default() };
        let produce = QueueProduceRequest {
            queue_name: QUEUE.to_owned(),
            request_timeout: TIMEOUT_TEXT.to_owned(),
            items: vec![item; len],
        };
        Ok(self.client.produce(&produce).await?)
    }

    async fn work(&mut self) -> Outcome<usize> {
        let lease = QueueLeaseRequest {
            queue_name: QUEUE.to_owned(),
            batch_size: self.batch.into(),
            client_id: self.client_id.clone(),
            request_timeout: TIMEOUT_TEXT.to_owned(),
            lease_timeout: String::new(),
        };
        let leased = self.client.lease(&lease).await?;
        let ended = leased.items.len();
        let complete = QueueCompleteRequest {
            queue_name: QUEUE.to_owned(),
            partition: leased.partition,
            request_timeout: TIMEOUT_TEXT.to_owned(),
            ids: leased.items.into_iter().map(|item| item.id).collect(),
        };
        self.client.complete(&complete).await?;
        Ok(ended)
    }
}

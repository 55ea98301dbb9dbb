//! Locks and queues on the DSQL simulator against those on the PostgreSQL behind it, in turns: how many operations in a
//! second, and how many conflicts and retries each costs.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Parser;
use futures_util::future::BoxFuture;
use leasehold_bench::figures::total;
use leasehold_bench::rates::median;
use leasehold_dsql_sim::{Config as SimulatorConfig, Simulator};
use leasehold_locks::backend::dsql::{Config as DsqlConfig, DsqlBackend};
use leasehold_locks::backend::postgres::{Config as PostgresConfig, OptionalColumns, PostgresBackend};
use leasehold_locks::{AcquireRequest, Key, LockBackend, LockId, Ttl};
use leasehold_queue::store::{dsql, postgres};
use leasehold_queue::{
    CompleteRequest, Config, Engine, LeaseRequest, NamedStore, Namespace, NewItem, ProduceRequest,
    QueueChange, QueueName,
};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{ConnectionString, Dialect, Pool};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

const TIMEOUT: Duration = Duration::from_secs(30);
/// Keys a client goes through.
const KEYS: usize = 50;
const PAYLOAD_BYTES: usize = 100;
/// Connections of the queues: one loop writes a partition.
const QUEUE_CONNECTIONS: usize = 4;

/// Compares stores on the simulator with those on PostgreSQL.
#[derive(Debug, Parser)]
struct Arguments {
    /// How often every form is measured.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Clients, each waiting for its answer before it asks again; may be given several times.
    #[arg(long, default_values_t = [1, 8, 32])]
    clients: Vec<usize>,
    /// Without waiting for the disk.
    #[arg(long)]
    volatile: bool,
}

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// What a client does over and over.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// Acquire and release of keys of its own.
    KeysApart,
    /// Acquire of the one key that all want, and release if it was free.
    OneKey,
    /// Produce, lease and complete of one item, in one partition.
    Queue,
}

impl Work {
    const ALL: [Work; 3] = [Work::KeysApart, Work::OneKey, Work::Queue];

    fn name(self) -> &'static str {
        match self {
            Work::KeysApart => "acquire and release, keys apart",
            Work::OneKey => "acquire and release, one key for all",
            Work::Queue => "produce, lease, complete",
        }
    }
}

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, the figures mean nothing");
    }
    let recorder = PrometheusBuilder::new().install_recorder()?;
    let settings = if arguments.volatile { Settings::fast() } else { Settings::durable() };
    let cluster = Cluster::start(settings.with("shared_buffers", "256MB").with("max_connections", "300"))?;
    let (direct, behind) = (cluster.database().await, cluster.database().await);
    let simulator = Simulator::start(SimulatorConfig::new(behind.url().parse()?)).await?;
    let sides = [
        Side { url: direct.url().to_owned(), dialect: Dialect::POSTGRES },
        Side {
            url: format!("postgres://admin:any@{}/postgres", simulator.address()),
            dialect: Dialect::DSQL,
        },
    ];
    for side in &sides {
        side.set_up().await?;
    }
    println!(
        "stores on the DSQL simulator and on PostgreSQL {}; operations/s, median of {} round(s)",
        cluster.version(),
        arguments.rounds
    );
    println!(
        "| work | clients | PostgreSQL | simulator | simulator / PostgreSQL | conflicts each | retries each |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for work in Work::ALL {
        for clients in &arguments.clients {
            let row = measure(&arguments, &recorder, &sides, work, *clients).await?;
            println!("| {} | {clients} | {row} |", work.name());
        }
    }
    Ok(())
}

/// One of the two databases.
struct Side {
    url: String,
    dialect: Dialect,
}

impl Side {
    fn pool(&self, connections: usize) -> Outcome<Pool> {
        let connection: ConnectionString = self.url.parse()?;
        Ok(Pool::new(leasehold_txn::Config::new(connection).dialect(self.dialect).size_max(connections))?)
    }

    async fn set_up(&self) -> Outcome {
        let pool = self.pool(1)?;
        match self.dialect {
            Dialect::Dsql { .. } => DsqlBackend::new(pool, DsqlConfig::default()).setup_schema().await?,
            Dialect::Postgres { .. } => {
                let backend = PostgresBackend::new(pool, PostgresConfig::default());
                backend.setup_schema(OptionalColumns::Without).await?;
            }
        }
        Ok(())
    }

    fn locks(&self, connections: usize) -> Outcome<Arc<dyn LockBackend>> {
        let pool = self.pool(connections)?;
        Ok(match self.dialect {
            Dialect::Dsql { .. } => Arc::new(DsqlBackend::new(pool, DsqlConfig::default())),
            Dialect::Postgres { .. } => Arc::new(PostgresBackend::new(pool, PostgresConfig::default())),
        })
    }

    fn engine(&self) -> Outcome<Engine> {
        let pool = self.pool(QUEUE_CONNECTIONS)?;
        let named = |store| vec![NamedStore { name: "bench".to_owned(), affinity: 1.0, store }];
        Ok(match self.dialect {
            Dialect::Dsql { .. } => {
                let config = dsql::Config::default();
                let queues = dsql::DsqlQueues::new(pool.clone(), &config);
                let store = dsql::DsqlStore::new(pool, config);
                Engine::new(Config::default(), Arc::new(queues), named(Arc::new(store)))
            }
            Dialect::Postgres { .. } => {
                let config = postgres::Config::default();
                let queues = postgres::PostgresQueues::new(pool.clone(), &config);
                let store = postgres::PostgresStore::new(pool, config);
                Engine::new(Config::default(), Arc::new(queues), named(Arc::new(store)))
            }
        })
    }

    /// The clients, ready to work.
    async fn clients(&self, work: Work, clients: usize) -> Outcome<Vec<Client>> {
        Ok(match work {
            Work::KeysApart | Work::OneKey => {
                let locks = self.locks(clients)?;
                (0..clients).map(|client| holder(locks.clone(), work, client)).collect()
            }
            Work::Queue => {
                let engine = self.engine()?;
                let queue: QueueName = format!("with-{clients}").parse()?;
                let change = QueueChange {
                    lease_timeout: Duration::from_secs(600),
                    expire_timeout: Duration::from_secs(86_400),
                    requested_partitions: 1,
                    ..QueueChange::default()
                };
                engine.create_queue(queue.clone(), Namespace::default(), change).await?;
                (0..clients).map(|client| worker(engine.clone(), queue.clone(), client)).collect()
            }
        })
    }
}

/// Does its work once per call.
type Client = Box<dyn FnMut(usize) -> BoxFuture<'static, Outcome> + Send>;

fn holder(locks: Arc<dyn LockBackend>, work: Work, client: usize) -> Client {
    Box::new(move |turn| {
        let locks = locks.clone();
        let key = match work {
            Work::OneKey => "wanted by all".to_owned(),
            _ => format!("of {client}: {}", turn % KEYS),
        };
        Box::pin(async move {
            let lock_id = LockId::generate()?;
            let request = AcquireRequest { key: Key::parse(&key)?, lock_id, ttl: Ttl::DEFAULT };
            if locks.acquire(&request).await?.acquired().is_some() {
                assert!(locks.release(&request.lock_id).await?.is_released(), "it was held");
            }
            Ok(())
        })
    })
}

fn worker(engine: Engine, queue: QueueName, client: usize) -> Client {
    Box::new(move |_| {
        let (engine, queue) = (engine.clone(), queue.clone());
        Box::pin(async move {
            let item = NewItem { payload: Bytes::from(vec![b'x'; PAYLOAD_BYTES]), ..NewItem::default() };
            let produce = ProduceRequest { queue: queue.clone(), timeout: TIMEOUT, items: vec![item] };
            engine.produce(produce).await?;
            let lease = LeaseRequest {
                queue: queue.clone(),
                client_id: format!("client-{client}"),
                batch_size: 1,
                timeout: TIMEOUT,
                lease_timeout: None,
            };
            let leased = engine.lease(lease).await?;
            let ids = leased.items.iter().map(|item| item.id.into()).collect();
            let complete =
                CompleteRequest { queue, partition: leased.partition.into(), timeout: TIMEOUT, ids };
            Ok(engine.complete(complete).await?)
        })
    })
}

/// Figures of one work, measured on both sides in turns.
async fn measure(
    arguments: &Arguments,
    recorder: &PrometheusHandle,
    sides: &[Side; 2],
    work: Work,
    clients: usize,
) -> Outcome<String> {
    let slice = Duration::from_secs_f64(arguments.seconds);
    let mut at = Vec::new();
    for side in sides {
        let mut clients = side.clients(work, clients).await?;
        // Statements are prepared and tables made before anything counts.
        run(&mut clients, slice / 4).await?;
        at.push(clients);
    }
    let (mut rates, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
    let (mut conflicts, mut retries, mut operations) = (0.0, 0.0, 0.0);
    for _ in 0..arguments.rounds {
        let (plain, _) = run(&mut at[0], slice).await?;
        let before = recorder.render();
        let (tested, done) = run(&mut at[1], slice).await?;
        let after = recorder.render();
        let grown = |name| total(&after, name) - total(&before, name);
        conflicts += grown("dsql_tx_conflicts_total");
        retries += grown("dsql_tx_retries_total");
        operations += done;
        rates[0].push(plain);
        rates[1].push(tested);
        ratios.push(tested / plain);
    }
    Ok(format!(
        "{:.0} | {:.0} | {:.2} | {:.3} | {:.3}",
        median(&rates[0]),
        median(&rates[1]),
        median(&ratios),
        conflicts / operations,
        retries / operations
    ))
}

/// Has all clients work for the slice; how much they did in a second, and in all.
async fn run(clients: &mut Vec<Client>, slice: Duration) -> Outcome<(f64, f64)> {
    let started = Instant::now();
    let mut working = tokio::task::JoinSet::new();
    for mut client in clients.drain(..) {
        working.spawn(async move {
            let mut turns = 0_usize;
            while started.elapsed() < slice {
                client(turns).await?;
                turns += 1;
            }
            Outcome::Ok((client, turns))
        });
    }
    let mut done = 0.0;
    for worked in working.join_all().await {
        let (client, turns) = worked?;
        clients.push(client);
        done += turns as f64;
    }
    Ok((done / started.elapsed().as_secs_f64(), done))
}

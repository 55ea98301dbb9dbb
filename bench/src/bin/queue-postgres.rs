//! The store of queues on a durable PostgreSQL: cycles of produce, lease and complete, against the same cycle in the
//! fewest statements by hand, in turns.

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use clap::Parser;
use leasehold_bench::round_trips::{CountingProxy, Said};
use leasehold_core::Timestamp;
use leasehold_queue::store::postgres::{Config, PostgresStore};
use leasehold_queue::store::{Change, PartitionId, Pick, Verdict};
use leasehold_queue::{Item, ItemId, ItemIds, PartitionStore, Store};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{ConnectionString, Pool};
use tokio_postgres::{Client, NoTls, Statement};

/// Items that wait while the cycles go on.
const BACKLOG: usize = 5_000;

/// Measures the store of queues on PostgreSQL.
#[derive(Debug, Parser)]
struct Arguments {
    /// How often every form is measured.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Items at once; may be given several times.
    #[arg(long, default_values_t = [1, 10, 100, 1_000])]
    batch: Vec<usize>,
    /// Bytes of a payload.
    #[arg(long, default_value_t = 100)]
    payload: usize,
    /// After the rounds: cycle so many items through the store, and show how rate, lease and table drift; 0 leaves it
    /// out.
    #[arg(long, default_value_t = 1_000_000)]
    drift: u64,
    /// As many more with a transaction open beside them, which keeps every dead row alive; 0 leaves it out.
    #[arg(long, default_value_t = 300_000)]
    held_back: u64,
}

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    let cluster = Cluster::start(Settings::durable().with("shared_buffers", "1GB"))?;
    let url = cluster.url("postgres");
    let beside = connect(&url).await?;
    println!(
        "cycle of produce, lease, complete; items/s, median (lowest to highest round); PostgreSQL {}",
        cluster.version()
    );
    println!("| batch | by hand | store | store / by hand | WAL bytes per item |");
    println!("| --- | --- | --- | --- | --- |");
    for batch in &arguments.batch {
        let payload = vec![b'x'; arguments.payload];
        let mut raw = Raw::start(&url, *batch, payload.clone()).await?;
        let mut store = Ours::start(&url, *batch, payload).await?;
        let (mut raws, mut ours) = (Vec::new(), Vec::new());
        let mut wal = Vec::new();
        for _ in 0..arguments.rounds {
            let slice = Duration::from_secs_f64(arguments.seconds);
            raws.push(rate(&mut raw, *batch, slice).await?);
            let before = wal_bytes(&beside).await?;
            ours.push(rate(&mut store, *batch, slice).await?);
            let items = ours.last().copied().unwrap_or_default() * arguments.seconds;
            wal.push((wal_bytes(&beside).await? - before) / items.max(1.0));
        }
        let ratios: Vec<f64> = ours.iter().zip(&raws).map(|(ours, raw)| ours / raw).collect();
        println!(
            "| {batch} | {} | {} | {:.2} | {:.0} |",
            shown(&raws),
            shown(&ours),
            median(&ratios),
            median(&wal)
        );
        raw.client.batch_execute("DROP TABLE raw_items").await?;
        store.store.drop_partition(&store.partition).await?;
    }
    round_trips(&cluster, arguments.payload).await?;
    drift(&url, &beside, arguments.drift, arguments.payload, "nothing else open").await?;
    if arguments.held_back > 0 {
        let open = connect(&url).await?;
        open.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").await?;
        drift(&url, &beside, arguments.held_back, arguments.payload, "a transaction open all the time")
            .await?;
    }
    Ok(())
}

/// What the store says to the database, counted between the two once all statements are prepared.
async fn round_trips(cluster: &Cluster, payload: usize) -> Outcome {
    const CYCLES: u32 = 200;
    let proxy = CountingProxy::start(cluster.address()).await?;
    let url = format!("postgres://{}@{}/postgres?sslmode=disable", cluster.user(), proxy.address());
    println!("what the store sends, over {CYCLES} cycles; BEGIN and COMMIT are statements too");
    println!("| batch | operation | statements per batch | round trips per batch | round trips per item |");
    println!("| --- | --- | --- | --- | --- |");
    for batch in [1, 100] {
        let mut store = Ours::start(&url, batch, vec![b'x'; payload]).await?;
        for _ in 0..20 {
            store.cycle().await?;
        }
        let mut sums = [Said::default(); 3];
        for _ in 0..CYCLES {
            let mut before = proxy.said();
            let mut take = |sum: &mut Said| {
                let said = proxy.said();
                sum.statements += (said - before).statements;
                sum.round_trips += (said - before).round_trips;
                before = said;
            };
            store.place(batch).await?;
            take(&mut sums[0]);
            let ready = store.lease().await?;
            take(&mut sums[1]);
            store.complete(&ready).await?;
            take(&mut sums[2]);
        }
        for (operation, said) in ["produce", "lease", "complete"].into_iter().zip(sums) {
            let per_batch = |count: u64| count as f64 / f64::from(CYCLES);
            let (statements, trips) = (per_batch(said.statements), per_batch(said.round_trips));
            println!(
                "| {batch} | {operation} | {statements:.2} | {trips:.2} | {:.4} |",
                trips / batch as f64
            );
        }
        store.store.drop_partition(&store.partition).await?;
    }
    Ok(())
}

/// Cycles items in batches of 100 and shows ten windows of them.
async fn drift(url: &str, beside: &Client, items: u64, payload: usize, when: &str) -> Outcome {
    const BATCH: u64 = 100;
    if items == 0 {
        return Ok(());
    }
    let mut store = Ours::start(url, usize::try_from(BATCH)?, vec![b'x'; payload]).await?;
    println!("{when}: batches of {BATCH}");
    println!("| items cycled | items/s | lease p50 in ms | dead rows | table and indexes in MB |");
    println!("| --- | --- | --- | --- | --- |");
    for window in 1..=10_u64 {
        let (started, mut leases) = (Instant::now(), Vec::new());
        for _ in 0..items / 10 / BATCH {
            leases.push(store.timed_cycle().await?.as_secs_f64() * 1_000.0);
        }
        let rate = (items / 10) as f64 / started.elapsed().as_secs_f64();
        let row = beside
            .query_one(
                "SELECT n_dead_tup::float8, pg_total_relation_size(relid)::float8 / 1e6 FROM pg_stat_user_tables
                  WHERE relname LIKE 'items\\_%' ORDER BY 2 DESC LIMIT 1",
                &[],
            )
            .await?;
        let (dead, megabytes): (f64, f64) = (row.get(0), row.get(1));
        println!(
            "| {} | {rate:.0} | {:.2} | {dead:.0} | {megabytes:.1} |",
            window * items / 10,
            median(&leases)
        );
    }
    store.store.drop_partition(&store.partition).await?;
    Ok(())
}

async fn wal_bytes(client: &Client) -> Outcome<f64> {
    let row = client.query_one("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8", &[]).await?;
    Ok(row.get(0))
}

trait Cycle {
    /// Produces, leases and completes one batch.
    async fn cycle(&mut self) -> Outcome;
}

async fn rate(form: &mut impl Cycle, batch: usize, slice: Duration) -> Outcome<f64> {
    let (started, mut cycles) = (Instant::now(), 0_u32);
    while started.elapsed() < slice {
        form.cycle().await?;
        cycles += 1;
    }
    Ok(f64::from(cycles) * batch as f64 / started.elapsed().as_secs_f64())
}

/// The statements by hand, on a table of the same columns; nothing is judged, nobody is fenced. It finds ready items by a
/// partial index on the id, one index more than the store's table has.
struct Raw {
    client: Client,
    ids: ItemIds,
    batch: usize,
    payload: Vec<u8>,
    cursor: String,
    produce: Statement,
    lease: Statement,
    complete: Statement,
}

impl Raw {
    async fn start(url: &str, batch: usize, payload: Vec<u8>) -> Outcome<Self> {
        let client = connect(url).await?;
        client
            .batch_execute(
                "CREATE TABLE raw_items (id TEXT COLLATE \"C\" PRIMARY KEY, source_id TEXT,
                     is_leased BOOLEAN NOT NULL DEFAULT false, lease_deadline TIMESTAMPTZ,
                     expire_deadline TIMESTAMPTZ NOT NULL, enqueue_at TIMESTAMPTZ, created_at TIMESTAMPTZ NOT NULL,
                     attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER NOT NULL DEFAULT 0,
                     reference TEXT NOT NULL DEFAULT '', encoding TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT '',
                     payload BYTEA);
                 CREATE UNIQUE INDEX ON raw_items (source_id) WHERE source_id IS NOT NULL;
                 CREATE INDEX ON raw_items (enqueue_at) WHERE enqueue_at IS NOT NULL;
                 CREATE INDEX ON raw_items (lease_deadline) WHERE is_leased;
                 CREATE INDEX ON raw_items (expire_deadline);
                 CREATE INDEX ON raw_items (id) WHERE NOT is_leased AND enqueue_at IS NULL;",
            )
            .await?;
        let produce = client
            .prepare(
                "INSERT INTO raw_items (id, expire_deadline, created_at, reference, encoding, kind, payload)
                 SELECT id, now() + '1 h', now(), '', '', '', payload FROM unnest($1::text[], $2::bytea[]) AS new (id, payload)",
            )
            .await?;
        let lease = client
            .prepare(
                "UPDATE raw_items SET is_leased = true, lease_deadline = now() + '1 min', attempts = attempts + 1
                  WHERE id = ANY (ARRAY (SELECT id FROM raw_items WHERE NOT is_leased AND enqueue_at IS NULL AND id > $2
                                          ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
                 RETURNING *",
            )
            .await?;
        let complete = client
            .prepare("DELETE FROM raw_items WHERE id = ANY ($1::text[]) AND is_leased::int = 1 RETURNING id")
            .await?;
        let ids = ItemIds::default();
        let mut raw = Raw { client, ids, batch, payload, cursor: String::new(), produce, lease, complete };
        for _ in 0..BACKLOG / 1_000 {
            raw.place(1_000).await?;
        }
        Ok(raw)
    }

    async fn place(&mut self, len: usize) -> Outcome {
        let ids: Vec<String> = (0..len).map(|_| self.ids.next().to_string()).collect();
        let payloads = vec![&self.payload[..]; len];
        self.client.execute(&self.produce, &[&ids, &payloads]).await?;
        Ok(())
    }
}

impl Cycle for Raw {
    async fn cycle(&mut self) -> Outcome {
        self.place(self.batch).await?;
        let len = i64::try_from(self.batch)?;
        let rows = self.client.query(&self.lease, &[&len, &self.cursor]).await?;
        let mut ids: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(ids.len(), self.batch);
        ids.sort_unstable();
        assert_eq!(self.client.query(&self.complete, &[&ids]).await?.len(), self.batch);
        self.cursor = ids[ids.len() - 1].to_owned();
        Ok(())
    }
}

/// The store.
struct Ours {
    store: PostgresStore,
    partition: PartitionId,
    owner: Box<dyn PartitionStore>,
    ids: ItemIds,
    batch: usize,
    payload: bytes::Bytes,
}

impl Ours {
    async fn start(url: &str, batch: usize, payload: Vec<u8>) -> Outcome<Self> {
        let pool = Pool::new(leasehold_txn::Config::new(ConnectionString::parse(url)?).size_max(2))?;
        let store = PostgresStore::new(pool, Config::default());
        let partition = PartitionId { queue: "bench".parse()?, number: 0 };
        let mut owner = store.partition(&partition);
        let opened = owner.open().await?;
        let ids = ItemIds::after(&opened, now())?;
        let mut ours = Ours { store, partition, owner, ids, batch, payload: payload.into() };
        for _ in 0..BACKLOG / 1_000 {
            ours.place(1_000).await?;
        }
        Ok(ours)
    }

    async fn place(&mut self, len: usize) -> Outcome {
        let now = now();
        let item = |id: ItemId| Item {
            id,
            source_id: None,
            is_leased: false,
            lease_deadline: None,
            expire_deadline: now.saturating_add(Duration::from_secs(3_600)),
            enqueue_at: None,
            created_at: now,
            attempts: 0,
            max_attempts: 0,
            reference: String::new(),
            encoding: String::new(),
            kind: String::new(),
            payload: self.payload.clone(),
        };
        let items: Vec<Item> = (0..len).map(|_| item(self.ids.next())).collect();
        self.owner.produce(&items).await?;
        Ok(())
    }
}

impl Cycle for Ours {
    async fn cycle(&mut self) -> Outcome {
        self.timed_cycle().await.map(drop)
    }
}

impl Ours {
    /// One cycle; how long its lease took.
    async fn timed_cycle(&mut self) -> Outcome<Duration> {
        self.place(self.batch).await?;
        let asked = Instant::now();
        let leased = self.lease().await?;
        let took = asked.elapsed();
        self.complete(&leased).await?;
        Ok(took)
    }

    async fn lease(&mut self) -> Outcome<Vec<ItemId>> {
        let now = now();
        let limit = NonZeroUsize::new(self.batch).ok_or("no batch")?;
        let deadline = now.saturating_add(Duration::from_secs(60));
        let ready = self.owner.next_ready(limit, now).await?;
        let picks: Vec<_> = ready.iter().map(|ready| Pick { id: ready.id, deadline }).collect();
        assert_eq!(self.owner.lease(&picks).await?.len(), self.batch);
        Ok(picks.into_iter().map(|pick| pick.id).collect())
    }

    async fn complete(&mut self, leased: &[ItemId]) -> Outcome {
        let changes: Vec<_> = leased.iter().map(|id| Change::Complete { id: *id }).collect();
        assert_eq!(self.owner.change(&[&changes]).await?, [Verdict::Done]);
        Ok(())
    }
}

fn now() -> Timestamp {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    Timestamp::EPOCH.saturating_add(since)
}

async fn connect(url: &str) -> Outcome<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn shown(rates: &[f64]) -> String {
    let (low, high) =
        rates.iter().fold((f64::MAX, f64::MIN), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    format!("{:>7.0} ({low:.0} to {high:.0})", median(rates))
}

//! What a server costs that nobody asks anything: the time until it is well, a processor while it is idle, memory for each
//! connection and for each lease that waits.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use clap::Parser;
use leasehold_bench::places::Kind;
use leasehold_bench::rates::median;
use leasehold_bench::round_trips::CountingProxy;
use leasehold_bench::served::{Outcome, Served};
use leasehold_testkit::postgres::{Cluster, Settings};

/// How long the server may take to have noticed what it was sent.
const NOTICE_MAX: Duration = Duration::from_secs(30);

/// Measures a server that is idle.
#[derive(Debug, Parser)]
struct Arguments {
    /// Stores to measure; may be given several times.
    #[arg(long, value_enum, default_values_t = [Kind::Memory, Kind::Embedded, Kind::Postgres])]
    store: Vec<Kind>,
    /// How often the server is started.
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..))]
    starts: u16,
    /// How long it is watched while it is idle, in seconds.
    #[arg(long, default_value_t = 15.0)]
    idle: f64,
    /// Connections, and waiting leases.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..))]
    clients: u16,
}

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, the figures mean nothing");
    }
    println!(
        "a server by itself: start to /health, median of {} (lowest to highest); idle for {} s with one open queue; memory \
         per client with {} of them",
        arguments.starts, arguments.idle, arguments.clients
    );
    println!(
        "| store | start, new store, ms | start again, ms | memory at rest, MB | idle, % of a core | idle, statements/s \
         | KB per idle connection | KB per waiting lease, its connection included |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for kind in &arguments.store {
        let mut place = StorePlace::start(*kind).await?;
        let (mut new, mut again) = (Vec::new(), Vec::new());
        for _ in 0..arguments.starts {
            let store = place.fresh_store().await?;
            new.push(millis(Served::start(&store)?.start_took));
            again.push(millis(Served::start(&store)?.start_took));
        }
        let store = place.fresh_store().await?;
        let served = Served::start(&store)?;
        use_once(&served)?;
        let rest = served.resident_bytes()? as f64 / 1e6;
        let idle = idle(&served, &place, Duration::from_secs_f64(arguments.idle)).await?;
        let connection = per_connection(&served, arguments.clients)?;
        // A server that has not had those connections: what they leave behind would be used again.
        drop(served);
        let served = Served::start(&place.fresh_store().await?)?;
        use_once(&served)?;
        let waiting = per_waiting_lease(&served, arguments.clients)?;
        println!(
            "| {kind:?} | {} | {} | {rest:.1} | {:.2} | {} | {connection:.1} | {waiting:.1} |",
            shown(&new),
            shown(&again),
            idle.processor_percent,
            idle.statements.map_or_else(|| "–".to_owned(), |rate| format!("{rate:.2}")),
        );
    }
    Ok(())
}

/// Where stores can be made that nobody has used.
struct StorePlace {
    kind: Kind,
    folder: tempfile::TempDir,
    database: Option<(Cluster, CountingProxy)>,
    stores: u32,
}

impl StorePlace {
    async fn start(kind: Kind) -> Outcome<Self> {
        let database = match kind {
            Kind::Postgres => {
                let cluster = Cluster::start(Settings::durable())?;
                let proxy = CountingProxy::start(cluster.address()).await?;
                Some((cluster, proxy))
            }
            Kind::Memory | Kind::Embedded => None,
        };
        Ok(StorePlace { kind, folder: tempfile::tempdir()?, database, stores: 0 })
    }

    async fn fresh_store(&mut self) -> Outcome<String> {
        self.stores += 1;
        let name = format!("store_{}", self.stores);
        match (&self.database, self.kind) {
            (Some((cluster, proxy)), _) => {
                let url = cluster.url("postgres");
                let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
                tokio::spawn(connection);
                client.batch_execute(&format!("CREATE DATABASE {name}")).await?;
                Ok(format!("postgres://{}@{}/{name}?sslmode=disable", cluster.user(), proxy.address()))
            }
            (None, Kind::Memory) => Ok("memory:".to_owned()),
            (None, _) => Ok(self.folder.path().join(name).display().to_string()),
        }
    }
}

/// One queue that was used, as every server that is worth running has.
fn use_once(served: &Served) -> Outcome {
    served.post(
        "/v1/queues.create",
        r#"{"queue_name":"q","lease_timeout":"1m","expire_timeout":"1h","requested_partitions":1}"#,
    )?;
    served
        .post("/v1/queue.produce", r#"{"queue_name":"q","request_timeout":"5s","items":[{"utf8":"x"}]}"#)?;
    served.post("/v1/queue.clear", r#"{"queue_name":"q","queue":true,"destructive":true}"#)?;
    Ok(())
}

struct Idle {
    processor_percent: f64,
    /// Per second, where there is a database.
    statements: Option<f64>,
}

async fn idle(served: &Served, place: &StorePlace, watched: Duration) -> Outcome<Idle> {
    let proxy = place.database.as_ref().map(|(_, proxy)| proxy);
    let (before, said, started) = (served.cpu_time()?, proxy.map(CountingProxy::said), Instant::now());
    tokio::time::sleep(watched).await;
    let seconds = started.elapsed().as_secs_f64();
    let spent = served.cpu_time()?.saturating_sub(before);
    let statements = proxy.zip(said).map(|(proxy, said)| (proxy.said() - said).statements as f64 / seconds);
    Ok(Idle { processor_percent: spent.as_secs_f64() / seconds * 100.0, statements })
}

/// Kilobytes for each client that was answered once and stays.
fn per_connection(served: &Served, clients: u16) -> Outcome<f64> {
    let before = served.resident_bytes()?;
    let mut connected = Vec::new();
    for _ in 0..clients {
        let mut stream = TcpStream::connect(served.address())?;
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        let mut answer = [0; 1_024];
        let len = stream.read(&mut answer)?;
        if !answer[..len].starts_with(b"HTTP/1.1 200") {
            return Err("a client was not answered".into());
        }
        connected.push(stream);
    }
    grown(served, before, clients)
}

/// Kilobytes for each client that waits for an item.
fn per_waiting_lease(served: &Served, clients: u16) -> Outcome<f64> {
    let before = served.resident_bytes()?;
    let mut waiting = Vec::new();
    for client in 0..clients {
        let body = format!(
            r#"{{"queue_name":"q","client_id":"client-{client}","batch_size":1,"request_timeout":"5m"}}"#
        );
        let mut stream = TcpStream::connect(served.address())?;
        write!(
            stream,
            "POST /v1/queue.lease HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        waiting.push(stream);
    }
    let line = format!("leasehold_queue_lease_waiting{{queue=\"q\"}} {clients}");
    let started = Instant::now();
    while !served.get("/metrics")?.lines().any(|found| found == line) {
        if started.elapsed() > NOTICE_MAX {
            return Err(format!("not all {clients} leases wait").into());
        }
    }
    grown(served, before, clients)
}

fn grown(served: &Served, before: u64, clients: u16) -> Outcome<f64> {
    let bytes = served.resident_bytes()?.saturating_sub(before);
    Ok(bytes as f64 / 1_024.0 / f64::from(clients))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

fn shown(values: &[f64]) -> String {
    let (low, high) =
        values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    format!("{:.1} ({low:.1} to {high:.1})", median(values))
}

//! What HTTP costs: `leasehold bench` with one item a request against the server on each store, against a handler that does
//! nothing, and against the library on the same store; in turns, in one run.

use std::error::Error;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{get, post};
use clap::Parser;
use leasehold_api::reply::Reply;
use leasehold_bench::places::{Kind, Place};
use leasehold_bench::rates::median;
use leasehold_bench::served::{Outcome, Served, binary};
use leasehold_queue::{
    CompleteRequest, Engine, LeaseRequest, Namespace, NewItem, ProduceRequest, QueueChange, QueueName,
};
use leasehold_testkit::postgres::{Cluster, Settings};
use prost::Message;
use serde_json::Value;
use tokio::task::JoinSet;

const TIMEOUT: Duration = Duration::from_secs(30);

/// Requests of a cycle: produce, lease, complete.
const CYCLE_REQUESTS: f64 = 3.0;

/// Measures the server against a handler that does nothing and against the library.
#[derive(Debug, Parser)]
struct Arguments {
    /// Stores to measure; may be given several times.
    #[arg(long, value_enum, default_values_t = [Kind::Memory, Kind::Embedded, Kind::Postgres])]
    store: Vec<Kind>,
    /// Clients; may be given several times.
    #[arg(long, default_values_t = [64, 256])]
    clients: Vec<u16>,
    /// Bytes of a payload.
    #[arg(long, default_value_t = 100)]
    payload: usize,
    /// How often each form is measured.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Be the handler that does nothing, at this address. For the benchmark itself.
    #[arg(long, hide = true)]
    hello: Option<SocketAddr>,
}

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    if let Some(address) = arguments.hello {
        return hello(address).await;
    }
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, the figures mean nothing");
    }
    println!(
        "one item of {} bytes a request; medians of {} rounds of {} s; load generator and server share the machine",
        arguments.payload, arguments.rounds, arguments.seconds
    );
    println!("hello: an axum handler that takes the body of a produce and answers as a server does");
    println!(
        "| store | clients | hello, requests/s | produce, items/s | produce / hello | cycle, items/s | cycle requests / hello \
         | library cycle, items/s | cycle / library |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let ceiling = start_hello()?;
    for kind in &arguments.store {
        let place = ServedPlace::start(*kind)?;
        for clients in &arguments.clients {
            let mut rounds = Rounds::default();
            for _ in 0..arguments.rounds {
                let load = |served: &Served, mode| load(served, mode, *clients, &arguments);
                rounds.hello.push(load(&ceiling, "produce")?);
                rounds.produce.push(load(&place.served, "produce")?);
                rounds.cycle.push(load(&place.served, "cycle")?);
                rounds.library.push(library(*kind, *clients, &arguments).await?);
            }
            println!("| {kind:?} | {clients} | {} |", rounds.row());
        }
    }
    Ok(())
}

/// Rates of the rounds, form by form.
#[derive(Default)]
struct Rounds {
    hello: Vec<f64>,
    produce: Vec<f64>,
    cycle: Vec<f64>,
    library: Vec<f64>,
}

impl Rounds {
    fn row(&self) -> String {
        let ratio = |of: &[f64], to: &[f64], times: f64| {
            median(&of.iter().zip(to).map(|(of, to)| of * times / to).collect::<Vec<_>>())
        };
        format!(
            "{:.0} | {:.0} | {:.2} | {:.0} | {:.2} | {:.0} | {:.2}",
            median(&self.hello),
            median(&self.produce),
            ratio(&self.produce, &self.hello, 1.0),
            median(&self.cycle),
            ratio(&self.cycle, &self.hello, CYCLE_REQUESTS),
            median(&self.library),
            ratio(&self.cycle, &self.library, 1.0)
        )
    }
}

/// A server and what its store needs, which ends after it.
struct ServedPlace {
    served: Served,
    _cluster: Option<Cluster>,
    _folder: tempfile::TempDir,
}

impl ServedPlace {
    fn start(kind: Kind) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let cluster = match kind {
            Kind::Postgres => Some(Cluster::start(Settings::durable().with("shared_buffers", "1GB"))?),
            Kind::Memory | Kind::Embedded => None,
        };
        let store = match (kind, &cluster) {
            (_, Some(cluster)) => cluster.url("postgres"),
            (Kind::Embedded, None) => folder.path().join("data").display().to_string(),
            (_, None) => "memory:".to_owned(),
        };
        Ok(ServedPlace { served: Served::start(&store)?, _cluster: cluster, _folder: folder })
    }
}

/// Items per second as `leasehold bench` measures them.
fn load(served: &Served, mode: &str, clients: u16, arguments: &Arguments) -> Outcome<f64> {
    let duration = format!("{}ms", (arguments.seconds * 1_000.0).round());
    let (clients, payload) = (clients.to_string(), arguments.payload.to_string());
    let ran = Command::new(binary()?)
        .args(["bench", "--json", "--mode", mode, "--clients", &clients, "--payload", &payload])
        .args(["--duration", &duration, "--endpoint", &served.endpoint()])
        .stderr(Stdio::inherit())
        .output()?;
    if !ran.status.success() {
        return Err(format!("leasehold bench: {}", ran.status).into());
    }
    let report: Value = serde_json::from_slice(&ran.stdout)?;
    Ok(report["items_per_second"].as_f64().ok_or("no rate in the report")?)
}

/// The same cycles without a server between.
async fn library(kind: Kind, clients: u16, arguments: &Arguments) -> Outcome<f64> {
    let place = Place::start(kind)?;
    let engine = place.engine();
    let queue: QueueName = "bench".parse()?;
    let change = QueueChange {
        lease_timeout: Duration::from_secs(60),
        expire_timeout: Duration::from_secs(3_600),
        requested_partitions: 1,
        ..QueueChange::default()
    };
    engine.create_queue(queue.clone(), Namespace::default(), change).await?;
    let started = Instant::now();
    let until = started + Duration::from_secs_f64(arguments.seconds);
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        tasks.spawn(cycles(engine.clone(), queue.clone(), client, arguments.payload, until));
    }
    let mut items = 0;
    while let Some(done) = tasks.join_next().await {
        items += done??;
    }
    let rate = items as f64 / started.elapsed().as_secs_f64();
    engine.shutdown().await;
    Ok(rate)
}

async fn cycles(
    engine: Engine,
    queue: QueueName,
    client: u16,
    payload: usize,
    until: Instant,
) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let item = NewItem { payload: vec![b'x'; payload].into(), ..NewItem::default() };
    let mut items = 0;
    while Instant::now() < until {
        let produce = ProduceRequest { queue: queue.clone(), timeout: TIMEOUT, items: vec![item.clone()] };
        engine.produce(produce).await?;
        let lease = LeaseRequest {
            queue: queue.clone(),
            client_id: format!("client {client}"),
            batch_size: 1,
            timeout: TIMEOUT,
            lease_timeout: None,
        };
        let leased = engine.lease(lease).await?;
        let complete = CompleteRequest {
            queue: queue.clone(),
            partition: leased.partition.into(),
            timeout: TIMEOUT,
            ids: leased.items.into_iter().map(|item| item.id.into()).collect(),
        };
        engine.complete(complete).await?;
        items += 1;
    }
    Ok(items)
}

/// The ceiling, in a process of its own as a server is.
fn start_hello() -> Outcome<Served> {
    Served::spawn(Command::new(std::env::current_exe()?), "--hello", tempfile::tempdir()?)
}

/// Says to everything that it is done.
async fn hello(address: SocketAddr) -> Outcome {
    let done = Bytes::from(Reply { code: 200, ..Reply::default() }.encode_to_vec());
    let answer = move |_taken: Bytes| {
        let done = done.clone();
        async move { ([(CONTENT_TYPE, "application/protobuf")], done) }
    };
    let router = Router::new().route("/health", get(|| async { "" })).route("/v1/{operation}", post(answer));
    let listener = tokio::net::TcpListener::bind(address).await?;
    axum::serve(listener, router).await?;
    Ok(())
}

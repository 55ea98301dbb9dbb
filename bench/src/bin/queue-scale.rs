//! What a long line and many queues cost: the same cycles over a short and a long line, over one queue and many, in
//! turns.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use leasehold_bench::places::{Kind, Place};
use leasehold_bench::rates::median;
use leasehold_queue::{
    CompleteRequest, Engine, LeaseRequest, Namespace, NewItem, ProduceRequest, QueueChange, QueueName,
};

const TIMEOUT: Duration = Duration::from_secs(60);
/// Items of one request while a line is filled.
const FILL: usize = 1_000;

/// Measures how queues scale.
#[derive(Debug, Parser)]
struct Arguments {
    /// Stores to measure; may be given several times.
    #[arg(long, value_enum, default_values_t = [Kind::Memory, Kind::Embedded, Kind::Postgres])]
    store: Vec<Kind>,
    /// Items in the short line.
    #[arg(long, default_value_t = 10_000)]
    short: usize,
    /// Items in the long line; 0 leaves this comparison out.
    #[arg(long, default_value_t = 10_000_000)]
    long: usize,
    /// Queues to compare one queue with; 0 leaves this comparison out.
    #[arg(long, default_value_t = 1_000)]
    queues: usize,
    /// Items in a request.
    #[arg(long, default_value_t = 100)]
    batch: usize,
    /// Bytes of a payload.
    #[arg(long, default_value_t = 100)]
    payload: usize,
    /// Clients, each waiting for its answer before it asks again.
    #[arg(long, default_value_t = 8)]
    clients: usize,
    /// How often each form is measured.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
}

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, the figures mean nothing");
    }
    println!(
        "cycles of {} items, {} clients, items/s: median (lowest to highest round)",
        arguments.batch, arguments.clients
    );
    println!("| store | few | | many | | many / few |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for kind in &arguments.store {
        let place = Place::start(*kind)?;
        let engine = place.engine();
        if arguments.long > 0 {
            let (short, long) = (queue(&engine, "short").await?, queue(&engine, "long").await?);
            fill(&engine, &short, arguments.short, &arguments).await?;
            let started = Instant::now();
            fill(&engine, &long, arguments.long, &arguments).await?;
            eprintln!("{kind:?}: {} items produced in {:.0?}", arguments.long, started.elapsed());
            let few = (format!("{} items in the line", arguments.short), vec![short]);
            let many = (format!("{} items in the line", arguments.long), vec![long]);
            compare(*kind, &engine, few, many, &arguments).await?;
        }
        if arguments.queues > 0 {
            let only = vec![queue(&engine, "only").await?];
            let mut crowd = Vec::with_capacity(arguments.queues);
            for number in 0..arguments.queues {
                crowd.push(queue(&engine, &format!("crowd-{number}")).await?);
            }
            let many = (format!("{} queues", arguments.queues), crowd);
            compare(*kind, &engine, ("1 queue".to_owned(), only), many, &arguments).await?;
        }
        engine.shutdown().await;
    }
    Ok(())
}

async fn queue(engine: &Engine, name: &str) -> Outcome<QueueName> {
    let name: QueueName = name.parse()?;
    let change = QueueChange {
        lease_timeout: Duration::from_secs(600),
        expire_timeout: Duration::from_secs(86_400),
        requested_partitions: 1,
        ..QueueChange::default()
    };
    engine.create_queue(name.clone(), Namespace::default(), change).await?;
    Ok(name)
}

/// Four requests at a time, so that the store always has the next one.
async fn fill(engine: &Engine, queue: &QueueName, count: usize, arguments: &Arguments) -> Outcome {
    let left = Arc::new(AtomicUsize::new(count.div_ceil(FILL)));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (engine, queue, left, payload) = (engine.clone(), queue.clone(), left.clone(), arguments.payload);
        tasks.spawn(async move {
            let takes = |left: usize| left.checked_sub(1);
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, takes).is_ok() {
                produce(&engine, &queue, FILL, payload).await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

/// Both forms in turns, the first alternating.
async fn compare(
    kind: Kind,
    engine: &Engine,
    few: (String, Vec<QueueName>),
    many: (String, Vec<QueueName>),
    arguments: &Arguments,
) -> Outcome {
    let forms = [(few.0, Arc::new(few.1)), (many.0, Arc::new(many.1))];
    let mut rates = [Vec::new(), Vec::new()];
    for (_, queues) in &forms {
        cycles(engine, queues, arguments).await?;
    }
    for round in 0..usize::from(arguments.rounds) {
        for turn in 0..2 {
            let form = (round + turn) % 2;
            rates[form].push(cycles(engine, &forms[form].1, arguments).await?);
        }
    }
    let ratios: Vec<f64> = rates[1].iter().zip(&rates[0]).map(|(many, few)| many / few).collect();
    let [few, many] = &rates;
    println!(
        "| {kind:?} | {} | {} | {} | {} | {:.2} |",
        forms[0].0,
        shown(few),
        forms[1].0,
        shown(many),
        median(&ratios)
    );
    Ok(())
}

/// Items per second of clients that each go from queue to queue.
async fn cycles(engine: &Engine, queues: &Arc<Vec<QueueName>>, arguments: &Arguments) -> Outcome<f64> {
    let started = Instant::now();
    let until = started + Duration::from_secs_f64(arguments.seconds);
    let mut tasks = tokio::task::JoinSet::new();
    for client in 0..arguments.clients {
        let (engine, queues) = (engine.clone(), queues.clone());
        let (clients, batch, payload) = (arguments.clients, arguments.batch, arguments.payload);
        tasks.spawn(async move {
            let mut items = 0;
            for turn in (client..).step_by(clients) {
                if Instant::now() >= until {
                    break;
                }
                items += cycle(&engine, &queues[turn % queues.len()], client, batch, payload).await?;
            }
            Outcome::Ok(items)
        });
    }
    let mut items = 0;
    while let Some(done) = tasks.join_next().await {
        items += done??;
    }
    Ok(items as f64 / started.elapsed().as_secs_f64())
}

async fn cycle(
    engine: &Engine,
    queue: &QueueName,
    client: usize,
    batch: usize,
    payload: usize,
) -> Outcome<usize> {
    produce(engine, queue, batch, payload).await?;
    let request = LeaseRequest {
        queue: queue.clone(),
        client_id: format!("client {client}"),
        batch_size: i64::try_from(batch)?,
        timeout: TIMEOUT,
        lease_timeout: None,
    };
    let leased = engine.lease(request).await?;
    let ids: Vec<_> = leased.items.into_iter().map(|item| item.id.into()).collect();
    let completed = ids.len();
    let (queue, partition) = (queue.clone(), leased.partition.into());
    engine.complete(CompleteRequest { queue, partition, timeout: TIMEOUT, ids }).await?;
    Ok(completed)
}

async fn produce(engine: &Engine, queue: &QueueName, count: usize, payload: usize) -> Outcome {
    let items = vec![NewItem { payload: vec![b'x'; payload].into(), ..NewItem::default() }; count];
    engine.produce(ProduceRequest { queue: queue.clone(), timeout: TIMEOUT, items }).await?;
    Ok(())
}

fn shown(rates: &[f64]) -> String {
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    format!("{:.0} ({low:.0} to {high:.0})", median(rates))
}

//! The engine of queues on every store: produce, lease, complete, and the whole cycle, through the library as a service
//! would use it.

use std::error::Error;
use std::time::{Duration, Instant};

use clap::Parser;
use hdrhistogram::Histogram;
use leasehold_bench::places::{Kind, Place};
use leasehold_queue::{
    CompleteRequest, Engine, LeaseRequest, Namespace, NewItem, ProduceRequest, QueueChange, QueueName,
};

const TIMEOUT: Duration = Duration::from_secs(30);

/// Measures the engine of queues.
#[derive(Debug, Parser)]
struct Arguments {
    /// Stores to measure; may be given several times.
    #[arg(long, value_enum, default_values_t = [Kind::Memory, Kind::Embedded, Kind::Postgres])]
    store: Vec<Kind>,
    /// Items in a request; may be given several times.
    #[arg(long, default_values_t = [1, 10, 100, 1_000])]
    batch: Vec<usize>,
    /// Bytes of a payload; may be given several times.
    #[arg(long, default_values_t = [100, 1_024])]
    payload: Vec<usize>,
    /// Partitions of the queue; may be given several times.
    #[arg(long, default_values_t = [1, 8])]
    partitions: Vec<u32>,
    /// Clients, each waiting for its answer before it asks again.
    #[arg(long, default_value_t = 8)]
    clients: usize,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
}

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    println!("engine, {} clients; items/s and milliseconds per request, median and 99 %", arguments.clients);
    println!(
        "| store | partitions | payload | batch | produce/s | lease/s | complete/s | cycle/s | p50 | p99 |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for kind in &arguments.store {
        let place = Place::start(*kind)?;
        for partitions in &arguments.partitions {
            for payload in &arguments.payload {
                for batch in &arguments.batch {
                    let run = Run::start(&place, *partitions, *payload, *batch, &arguments).await?;
                    println!("{}", run.measure(*kind).await?);
                }
            }
        }
    }
    Ok(())
}

#[derive(Clone)]
struct Run {
    engine: Engine,
    queue: QueueName,
    partitions: u32,
    payload: usize,
    batch: usize,
    clients: usize,
    slice: Duration,
}

impl Run {
    async fn start(
        place: &Place,
        partitions: u32,
        payload: usize,
        batch: usize,
        arguments: &Arguments,
    ) -> Outcome<Self> {
        let engine = place.engine();
        let queue: QueueName = format!("q-{partitions}-{payload}-{batch}").parse()?;
        let change = QueueChange {
            lease_timeout: Duration::from_secs(600),
            expire_timeout: Duration::from_secs(86_400),
            requested_partitions: partitions.into(),
            ..QueueChange::default()
        };
        engine.create_queue(queue.clone(), Namespace::default(), change).await?;
        let slice = Duration::from_secs_f64(arguments.seconds);
        Ok(Run { engine, queue, partitions, payload, batch, clients: arguments.clients, slice })
    }

    async fn measure(self, kind: Kind) -> Outcome<String> {
        let started = Instant::now();
        let produced = self.all(|run, _, until| async move {
            let mut items = 0;
            while Instant::now() < until {
                items += run.produce().await?;
            }
            Ok((items, Vec::new(), Vec::new()))
        });
        let produced = produced.await?;
        let produce_rate = rate(produced.items, started);

        let started = Instant::now();
        let leased = self.all(|run, client, until| async move {
            let (mut items, mut held) = (0, Vec::new());
            while Instant::now() < until {
                match run.lease(client, Duration::from_millis(50)).await? {
                    Some((partition, ids)) => {
                        items += ids.len();
                        held.push((partition, ids));
                    }
                    None => break,
                }
            }
            Ok((items, held, Vec::new()))
        });
        let leased = leased.await?;
        let lease_rate = rate(leased.items, started);

        let started = Instant::now();
        let mut completed = 0;
        let mut tasks = tokio::task::JoinSet::new();
        for share in leased.held.chunks(leased.held.len().div_ceil(self.clients).max(1)) {
            let (run, share) = (self.clone(), share.to_vec());
            tasks.spawn(async move {
                let mut items = 0;
                for (partition, ids) in share {
                    items += ids.len();
                    run.complete(partition, ids).await?;
                }
                Outcome::Ok(items)
            });
        }
        while let Some(done) = tasks.join_next().await {
            completed += done??;
        }
        let complete_rate = rate(completed, started);

        self.engine
            .clear(
                &self.queue,
                leasehold_queue::ClearRequest { queue: true, destructive: true, scheduled: true },
            )
            .await?;
        let started = Instant::now();
        let cycled = self.all(|run, client, until| async move {
            let (mut items, mut latencies) = (0, Vec::new());
            while Instant::now() < until {
                let asked = Instant::now();
                run.produce().await?;
                if let Some((partition, ids)) = run.lease(client, TIMEOUT).await? {
                    items += ids.len();
                    run.complete(partition, ids).await?;
                }
                latencies.push(asked.elapsed());
            }
            Ok((items, Vec::new(), latencies))
        });
        let cycled = cycled.await?;
        let cycle_rate = rate(cycled.items, started);
        let mut histogram = Histogram::<u64>::new(3)?;
        for latency in &cycled.latencies {
            histogram.record(u64::try_from(latency.as_micros())?.max(1))?;
        }
        let millis = |quantile| histogram.value_at_quantile(quantile) as f64 / 1_000.0;
        self.engine.delete_queue(&self.queue).await?;
        self.engine.shutdown().await;
        Ok(format!(
            "| {kind:?} | {} | {} | {} | {produce_rate:.0} | {lease_rate:.0} | {complete_rate:.0} | {cycle_rate:.0} | {:.2} | {:.2} |",
            self.partitions,
            self.payload,
            self.batch,
            millis(0.5),
            millis(0.99)
        ))
    }

    /// Every client does the work at the same time.
    async fn all<F>(&self, work: impl Fn(Run, usize, Instant) -> F) -> Outcome<Done>
    where
        F: Future<Output = Outcome<(usize, Vec<Held>, Vec<Duration>)>> + Send + 'static,
    {
        let until = Instant::now() + self.slice;
        let mut tasks = tokio::task::JoinSet::new();
        for client in 0..self.clients {
            tasks.spawn(work(self.clone(), client, until));
        }
        let mut done = Done::default();
        while let Some(one) = tasks.join_next().await {
            let (items, held, latencies) = one??;
            done.items += items;
            done.held.extend(held);
            done.latencies.extend(latencies);
        }
        Ok(done)
    }

    async fn produce(&self) -> Outcome<usize> {
        let item = NewItem { payload: vec![b'x'; self.payload].into(), ..NewItem::default() };
        let items = vec![item; self.batch];
        self.engine.produce(ProduceRequest { queue: self.queue.clone(), timeout: TIMEOUT, items }).await?;
        Ok(self.batch)
    }

    async fn lease(&self, client: usize, timeout: Duration) -> Outcome<Option<Held>> {
        let request = LeaseRequest {
            queue: self.queue.clone(),
            client_id: format!("client {client}"),
            batch_size: i64::try_from(self.batch)?,
            timeout,
            lease_timeout: None,
        };
        match self.engine.lease(request).await {
            Ok(leased) => {
                Ok(Some((leased.partition, leased.items.into_iter().map(|item| item.id).collect())))
            }
            Err(leasehold_queue::Error::LeaseTimeout) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn complete(&self, partition: u32, ids: Vec<leasehold_queue::ItemId>) -> Outcome {
        let ids = ids.into_iter().map(Into::into).collect();
        let request =
            CompleteRequest { queue: self.queue.clone(), partition: partition.into(), timeout: TIMEOUT, ids };
        Ok(self.engine.complete(request).await?)
    }
}

type Held = (u32, Vec<leasehold_queue::ItemId>);

#[derive(Default)]
struct Done {
    items: usize,
    held: Vec<Held>,
    latencies: Vec<Duration>,
}

fn rate(items: usize, started: Instant) -> f64 {
    items as f64 / started.elapsed().as_secs_f64()
}

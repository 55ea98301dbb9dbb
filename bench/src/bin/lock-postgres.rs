//! Locks on a durable PostgreSQL: pairs of acquire and release, refusals, and hand-over to a waiter, against the form in
//! which every statement is a round trip.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use futures_util::future::{BoxFuture, join_all};
use leasehold_bench::by_hand::{Least, Naive};
use leasehold_bench::rates::{Form, Rates};
use leasehold_locks::backend::postgres::{
    Config, FusedBackend, FusedConfig, Mode, OptionalColumns, PostgresBackend,
};
use leasehold_locks::{AcquireOptions, AcquireRequest, Key, LockBackend, LockId, Locks, Retry, Ttl};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{ConnectionString, Pool};
use serde_json::json;
use tokio_postgres::{Client, NoTls};

/// Keys a task goes through, so that each finds its counter and no lock, as in steady work.
const KEYS: usize = 50;
const TASKS_FUSED: usize = 128;
const FUNCTIONS: &str = "syncguard_locks_acquire_3, syncguard_locks_acquires_1, syncguard_locks_release_2, syncguard_locks_releases_2, \
    syncguard_locks_extend_1, syncguard_locks_lookup_key_1, syncguard_locks_lookup_id_1";

/// Measures locks on PostgreSQL.
#[derive(Debug, Parser)]
struct Arguments {
    /// How often every form is measured.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Only the forms of these names, as tables show them; the one that others are compared with is always there.
    #[arg(long)]
    form: Vec<String>,
    /// Only with these numbers of connections.
    #[arg(long, default_values_t = [1, 8, 32])]
    connections: Vec<usize>,
    /// How many hand-overs are timed.
    #[arg(long, default_value_t = 300)]
    hand_overs: usize,
    /// Without waiting for the disk: shows what the processors do where the disk is busy with other things.
    #[arg(long)]
    volatile: bool,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    let settings = if arguments.volatile { Settings::fast() } else { Settings::durable() };
    let cluster = Cluster::start(settings.with("shared_buffers", "256MB"))?;
    let bench = Bench { url: cluster.url("postgres"), slice: Duration::from_secs_f64(arguments.seconds) };
    bench.backend(Mode::Shared, 1)?.setup_schema(OptionalColumns::Without).await?;
    let outside = bench.client().await?;
    outside.batch_execute("CREATE TABLE raw_commits (id bigserial PRIMARY KEY, text text)").await?;

    let mut pairs = Rates::new("acquire + release, pairs/s", "13 round trips");
    let mut refusals = Rates::new("refusals of a held key, 1/s", "13 round trips");
    let asked_for = |form: &Form| {
        *form == Form::Naive
            || arguments.form.is_empty()
            || arguments.form.iter().any(|name| name == form.name())
    };
    for _ in 0..arguments.rounds {
        for &connections in &arguments.connections {
            for form in Form::ALL.into_iter().filter(asked_for) {
                let rate = bench.pairs(form, connections, &outside).await?;
                pairs.add(form, connections, rate);
            }
        }
        for &connections in arguments.connections.iter().filter(|connections| **connections < 32) {
            let forms = [Form::Naive, Form::Shared, Form::SharedByStatements, Form::Exclusive];
            for form in forms.into_iter().filter(asked_for) {
                refusals.add(form, connections, bench.refusals(form, connections, &outside).await?);
            }
        }
    }
    let hand_over = bench.hand_over(arguments.hand_overs).await?;
    if arguments.json {
        let report = json!({
            "pairs": pairs.json(), "refusals": refusals.json(), "hand_over_ms": hand_over.json(),
            "postgres": cluster.version(), "rounds": arguments.rounds, "seconds": arguments.seconds,
            "durable": !arguments.volatile,
        });
        println!("{report:#}");
    } else {
        println!("{}\n{}\n{hand_over}", pairs.table(), refusals.table());
    }
    Ok(())
}

/// Times of hand-overs, in milliseconds, sorted.
struct HandOver(Vec<f64>);

impl HandOver {
    fn at(&self, part: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * part) as usize]
    }

    fn json(&self) -> serde_json::Value {
        json!({"median": self.at(0.5), "p99": self.at(0.99), "max": self.at(1.0), "count": self.0.len()})
    }
}

impl std::fmt::Display for HandOver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (median, p99, max) = (self.at(0.5), self.at(0.99), self.at(1.0));
        write!(
            f,
            "hand-over to a waiter in another process, ms: median {median:.2}, p99 {p99:.2}, max {max:.2}"
        )
    }
}

struct Bench {
    url: String,
    slice: Duration,
}

impl Bench {
    async fn client(&self) -> Outcome<Client> {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    fn backend(&self, mode: Mode, connections: usize) -> Outcome<PostgresBackend> {
        let connection = ConnectionString::parse(&self.url)?;
        let pool = Pool::new(leasehold_txn::Config::new(connection).size_max(connections))?;
        Ok(PostgresBackend::new(pool, Config { mode, ..Config::default() }))
    }

    /// A backend in the shape of the form.
    async fn shaped(
        &self,
        form: Form,
        connections: usize,
        outside: &Client,
    ) -> Outcome<Arc<dyn LockBackend>> {
        let mode = match form {
            Form::Exclusive | Form::FusedExclusive | Form::FusedCallersExclusive => Mode::Exclusive,
            _ => Mode::Shared,
        };
        if form == Form::SharedByStatements {
            outside.batch_execute(&format!("DROP FUNCTION IF EXISTS {FUNCTIONS}")).await?;
        } else {
            self.backend(mode, 1)?.setup_schema(OptionalColumns::Without).await?;
        }
        Ok(match form {
            Form::FusedShared | Form::FusedExclusive | Form::FusedCallers | Form::FusedCallersExclusive => {
                Arc::new(FusedBackend::new(Arc::new(self.backend(mode, 4)?), FusedConfig::default()))
            }
            _ => Arc::new(self.backend(mode, connections)?),
        })
    }

    async fn pairs(&self, form: Form, connections: usize, outside: &Client) -> Outcome<f64> {
        let tasks: Vec<Task> = match form {
            Form::Commits => self.commits(connections).await?,
            Form::Naive => self.naive(connections).await?,
            Form::Least => self.least(connections).await?,
            Form::FusedShared | Form::FusedExclusive => {
                tasks(&self.shaped(form, connections, outside).await?, TASKS_FUSED)
            }
            _ => tasks(&self.shaped(form, connections, outside).await?, connections),
        };
        self.rate(tasks).await
    }

    /// Runs every task over and over: once through its keys before it counts, then for the slice.
    async fn rate(&self, tasks: Vec<Task>) -> Outcome<f64> {
        let warm = join_all(tasks.into_iter().map(|mut task| async {
            for turn in 0..KEYS {
                task(turn).await;
            }
            task
        }));
        let (tasks, started) = (warm.await, Instant::now());
        let until = started + self.slice;
        let running = tasks.into_iter().map(|mut task| {
            tokio::spawn(async move {
                let mut count = 0;
                while Instant::now() < until {
                    task(count).await;
                    count += 1;
                }
                count
            })
        });
        let mut count = 0;
        for done in join_all(running).await {
            count += done?;
        }
        Ok(count as f64 / started.elapsed().as_secs_f64())
    }

    async fn refusals(&self, form: Form, connections: usize, outside: &Client) -> Outcome<f64> {
        let held = self.backend(Mode::Shared, 1)?;
        let holds: Vec<AcquireRequest> =
            (0..connections).map(|task| request(&format!("held:{task}"))).collect();
        for hold in &holds {
            held.acquire(hold).await?;
        }
        let mut tasks: Vec<Task> = Vec::new();
        let backend = self.shaped(form, connections, outside).await?;
        for task in 0..connections {
            let text = format!("held:{task}");
            if form == Form::Naive {
                let naive = Arc::new(Naive::prepare(self.client().await?).await?);
                tasks.push(Box::new(move |_| {
                    let (naive, text) = (naive.clone(), text.clone());
                    Box::pin(
                        async move { assert!(naive.acquire(&text, &lock_id()).await.is_none(), "is held") },
                    )
                }));
            } else {
                let backend = backend.clone();
                tasks.push(Box::new(move |_| {
                    let (backend, asked) = (backend.clone(), request(&text));
                    Box::pin(async move {
                        let outcome = backend.acquire(&asked).await.expect("answers");
                        assert!(outcome.acquired().is_none(), "is held");
                    })
                }));
            }
        }
        let rate = self.rate(tasks).await?;
        for hold in &holds {
            held.release(&hold.lock_id).await?;
        }
        Ok(rate)
    }

    async fn commits(&self, connections: usize) -> Outcome<Vec<Task>> {
        let mut tasks: Vec<Task> = Vec::new();
        for _ in 0..connections {
            let client = Arc::new(self.client().await?);
            let insert = client.prepare("INSERT INTO raw_commits (text) VALUES ('one row')").await?;
            tasks.push(Box::new(move |_| {
                let (client, insert) = (client.clone(), insert.clone());
                Box::pin(async move { assert_eq!(client.execute(&insert, &[]).await.expect("inserts"), 1) })
            }));
        }
        Ok(tasks)
    }

    async fn naive(&self, connections: usize) -> Outcome<Vec<Task>> {
        let mut tasks: Vec<Task> = Vec::new();
        for task in 0..connections {
            let naive = Arc::new(Naive::prepare(self.client().await?).await?);
            tasks.push(Box::new(move |turn| {
                let naive = naive.clone();
                Box::pin(async move {
                    let lock_id = lock_id();
                    let granted = naive.acquire(&format!("naive:{task}:{}", turn % KEYS), &lock_id).await;
                    assert!(granted.is_some(), "is free");
                    naive.release(&lock_id).await;
                })
            }));
        }
        Ok(tasks)
    }

    async fn least(&self, connections: usize) -> Outcome<Vec<Task>> {
        let mut tasks: Vec<Task> = Vec::new();
        for task in 0..connections {
            let keys: Arc<Vec<String>> =
                Arc::new((0..KEYS).map(|turn| format!("least:{task}:{turn}")).collect());
            let least = Arc::new(Least::prepare(self.client().await?, &keys).await?);
            tasks.push(Box::new(move |turn| {
                let (least, keys) = (least.clone(), keys.clone());
                Box::pin(async move { least.pair(&keys[turn % KEYS], &lock_id()).await })
            }));
        }
        Ok(tasks)
    }

    /// From the moment the holder asks for the release to the moment the waiter, in another process, has the key.
    async fn hand_over(&self, count: usize) -> Outcome<HandOver> {
        let sides = [Locks::new(self.backend(Mode::Shared, 2)?), Locks::new(self.backend(Mode::Shared, 2)?)];
        let slow = Retry { delay: Duration::from_secs(600), ..Retry::default() };
        let options = AcquireOptions::default().timeout(Duration::from_secs(60)).retry(slow);
        let key = Key::parse("handed over")?;
        let mut guard = sides[0].acquire(&key, &options).await?;
        let mut times = Vec::with_capacity(count);
        for turn in 0..count {
            let (waiter, key, options) = (sides[(turn + 1) % 2].clone(), key.clone(), options.clone());
            let waiting = tokio::spawn(async move {
                let guard = waiter.acquire(&key, &options).await;
                (guard, Instant::now())
            });
            // Long enough that the waiter waits; what is measured begins after it.
            tokio::time::sleep(Duration::from_millis(20)).await;
            let released = Instant::now();
            guard.release().await?;
            let (next, got) = waiting.await?;
            guard = next?;
            times.push(got.duration_since(released).as_secs_f64() * 1e3);
        }
        guard.release().await?;
        times.sort_by(f64::total_cmp);
        Ok(HandOver(times))
    }
}

type Task = Box<dyn FnMut(usize) -> BoxFuture<'static, ()> + Send>;

fn tasks(backend: &Arc<dyn LockBackend>, count: usize) -> Vec<Task> {
    let task = |task: usize| -> Task {
        let backend = backend.clone();
        Box::new(move |turn| {
            let backend = backend.clone();
            Box::pin(async move {
                let asked = request(&format!("ours:{task}:{}", turn % KEYS));
                let outcome = backend.acquire(&asked).await.expect("answers");
                assert!(outcome.acquired().is_some(), "is free");
                assert!(backend.release(&asked.lock_id).await.expect("answers").is_released());
            })
        })
    };
    (0..count).map(task).collect()
}

fn lock_id() -> LockId {
    LockId::generate().expect("random bytes")
}

fn request(text: &str) -> AcquireRequest {
    AcquireRequest { key: Key::parse(text).expect("a key"), lock_id: lock_id(), ttl: Ttl::DEFAULT }
}

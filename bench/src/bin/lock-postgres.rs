//! Locks on a durable PostgreSQL: pairs of acquire and release, refusals, and hand-over to a waiter, against the form in
//! which every statement is a round trip.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use futures_util::future::{BoxFuture, join_all};
use leasehold_bench::rates::{Form, Rates};
use leasehold_locks::backend::postgres::{
    Config, FusedBackend, FusedConfig, Mode, OptionalColumns, PostgresBackend,
};
use leasehold_locks::{AcquireOptions, AcquireRequest, Key, LockBackend, LockId, Locks, Retry, Ttl};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{ConnectionString, Pool};
use serde_json::json;
use tokio_postgres::{Client, NoTls, Statement};

/// Keys a task goes through, so that each finds its counter and no lock, as in steady work.
const KEYS: usize = 50;
const TASKS_FUSED: usize = 128;
const FUNCTIONS: &str = "syncguard_locks_acquire_2, syncguard_locks_acquires_1, syncguard_locks_release_1, syncguard_locks_releases_1";

/// Measures locks on PostgreSQL.
#[derive(Debug, Parser)]
struct Arguments {
    /// How often every form is measured.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
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
    for _ in 0..arguments.rounds {
        for connections in [1, 8, 32] {
            for form in Form::ALL {
                let rate = bench.pairs(form, connections, &outside).await?;
                pairs.add(form, connections, rate);
            }
        }
        for connections in [1, 8] {
            for form in [Form::Naive, Form::Shared, Form::SharedByStatements, Form::Exclusive] {
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
            Form::Exclusive | Form::FusedExclusive => Mode::Exclusive,
            _ => Mode::Shared,
        };
        if form == Form::SharedByStatements {
            outside.batch_execute(&format!("DROP FUNCTION IF EXISTS {FUNCTIONS}")).await?;
        } else {
            self.backend(mode, 1)?.setup_schema(OptionalColumns::Without).await?;
        }
        Ok(match form {
            Form::FusedShared | Form::FusedExclusive => {
                // Two workers, each with a statement for acquires and one for releases.
                Arc::new(FusedBackend::new(Arc::new(self.backend(mode, 4)?), FusedConfig::default()))
            }
            _ => Arc::new(self.backend(mode, connections)?),
        })
    }

    async fn pairs(&self, form: Form, connections: usize, outside: &Client) -> Outcome<f64> {
        let tasks: Vec<Task> = match form {
            Form::Commits => self.commits(connections).await?,
            Form::Naive => self.naive(connections).await?,
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

/// Every statement a round trip: eight to acquire, five to release.
struct Naive {
    client: Client,
    clock: Statement,
    advisory: Statement,
    read: Statement,
    insert: Statement,
    count: Statement,
    upsert: Statement,
    read_by_id: Statement,
    delete: Statement,
}

impl Naive {
    async fn prepare(client: Client) -> Outcome<Self> {
        let sql = async |sql: &str| client.prepare(sql).await;
        Ok(Naive {
            clock: sql("SELECT floor(extract(epoch FROM now()) * 1000)::bigint").await?,
            advisory: sql("SELECT pg_advisory_xact_lock(hashtext($1))").await?,
            read: sql("SELECT expires_at_ms FROM syncguard_locks WHERE key = $1 FOR UPDATE").await?,
            insert: sql("INSERT INTO syncguard_fence_counters (fence_key, fence, key_debug)
                         VALUES ($1, 0, $2) ON CONFLICT (fence_key) DO NOTHING")
            .await?,
            count: sql(
                "UPDATE syncguard_fence_counters SET fence = fence + 1 WHERE fence_key = $1 RETURNING fence",
            )
            .await?,
            upsert: sql(
                "INSERT INTO syncguard_locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
                         VALUES ($1, $2, $3, $4, $5, $1)
                         ON CONFLICT (key) DO UPDATE SET lock_id = EXCLUDED.lock_id,
                            expires_at_ms = EXCLUDED.expires_at_ms, acquired_at_ms = EXCLUDED.acquired_at_ms,
                            fence = EXCLUDED.fence, user_key = EXCLUDED.user_key",
            )
            .await?,
            read_by_id: sql("SELECT key, expires_at_ms FROM syncguard_locks WHERE lock_id = $1 FOR UPDATE")
                .await?,
            delete: sql("DELETE FROM syncguard_locks WHERE key = $1").await?,
            client,
        })
    }

    async fn acquire(&self, key: &str, lock_id: &LockId) -> Option<i64> {
        let (client, fence_key) = (&self.client, format!("fence:{key}"));
        client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await.expect("begins");
        let now: i64 = client.query_one(&self.clock, &[]).await.expect("a clock").get(0);
        client.query_one(&self.advisory, &[&key]).await.expect("locks");
        let held = client.query_opt(&self.read, &[&key]).await.expect("reads");
        if held.is_some_and(|row| row.get::<_, i64>(0) > now - 1_000) {
            client.batch_execute("COMMIT").await.expect("commits");
            return None;
        }
        client.execute(&self.insert, &[&fence_key, &key]).await.expect("inserts");
        let fence: i64 = client.query_one(&self.count, &[&fence_key]).await.expect("counts").get(0);
        let (text, until) = (format!("{fence:015}"), now + 30_000);
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
            [&key, &lock_id.as_str(), &until, &now, &text];
        client.execute(&self.upsert, &values).await.expect("upserts");
        client.batch_execute("COMMIT").await.expect("commits");
        Some(fence)
    }

    async fn release(&self, lock_id: &LockId) {
        let client = &self.client;
        client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await.expect("begins");
        client.query_one(&self.clock, &[]).await.expect("a clock");
        let row = client.query_one(&self.read_by_id, &[&lock_id.as_str()]).await.expect("is held");
        client.execute(&self.delete, &[&row.get::<_, &str>(0)]).await.expect("deletes");
        client.batch_execute("COMMIT").await.expect("commits");
    }
}

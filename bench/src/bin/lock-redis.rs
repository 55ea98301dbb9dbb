//! What our Redis backend costs over its own two scripts sent by hand, and beside another lock crate.
//!
//! All three use one multiplexed connection and take turns in slices, so that what else the machine does hits all of
//! them. `rslock` is the peer: one `SET NX`, no fence, no lookup by id.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use leasehold_locks::backend::redis::{RedisBackend, RedisConfig};
use leasehold_locks::{
    AcquireOptions, AcquireOutcome, AcquireRequest, Config, Key, LockBackend, LockId, Locks, Retry, Ttl,
};
use leasehold_testkit::redis::{Server, Settings};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Script, Value};
use serde_json::json;

const ACQUIRE: &str = include_str!("../../../crates/locks/src/backend/redis/lua/acquire.lua");
const RELEASE: &str = include_str!("../../../crates/locks/src/backend/redis/lua/release.lua");
const TASKS: [usize; 3] = [1, 32, 128];
const TTL: Duration = Duration::from_secs(30);

/// Compares lock operations on Redis.
#[derive(Parser)]
struct Arguments {
    /// A server to use; a throw-away one without persistence unless given.
    #[arg(long)]
    url: Option<String>,
    /// Rounds; the table shows medians over them.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u16).range(5..))]
    rounds: u16,
    /// Milliseconds of one slice.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(10..))]
    slice: u64,
    /// Hand-overs to measure.
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(10..))]
    hand_overs: u32,
    /// Print JSON in place of the table.
    #[arg(long)]
    json: bool,
}

type Done<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Done {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, the figures mean nothing");
    }
    let server = match &arguments.url {
        Some(_) => None,
        None => Some(Server::start(Settings::volatile())?),
    };
    let url = match (&arguments.url, &server) {
        (Some(url), _) => url.clone(),
        (None, Some(server)) => server.url(),
        (None, None) => return Err("no server".into()),
    };
    let contenders = Arc::new(Contenders::connect(&url).await?);
    let mut report = Report { json: arguments.json, rows: Vec::new() };
    let slice = Duration::from_millis(arguments.slice);
    for work in [Work::Pair, Work::Refusal] {
        for tasks in TASKS {
            let mut rates: [Vec<f64>; 3] = Default::default();
            let mut costs: [Vec<f64>; 3] = Default::default();
            for round in 0..usize::from(arguments.rounds) {
                for turn in 0..3 {
                    let who = Who::ALL[(round + turn) % 3];
                    let before = cpu_micros()?;
                    let (count, seconds) = run(&contenders, who, work, tasks, slice).await?;
                    rates[who as usize].push(count / seconds);
                    costs[who as usize].push((cpu_micros()? - before) / count);
                }
            }
            report.rates(work, tasks, &rates, &costs);
        }
    }
    let (ours, theirs) = hand_overs(&url, arguments.hand_overs).await?;
    report.hand_over("leasehold", ours);
    report.hand_over("rslock", theirs);
    report.print();
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Who {
    Ours,
    Raw,
    Rslock,
}

impl Who {
    const ALL: [Who; 3] = [Who::Ours, Who::Raw, Who::Rslock];
}

#[derive(Clone, Copy, PartialEq)]
enum Work {
    /// Acquire a free key and release it.
    Pair,
    /// Be told that the key is held.
    Refusal,
}

struct Contenders {
    ours: RedisBackend,
    raw: MultiplexedConnection,
    acquire: Script,
    release: Script,
    rslock: rslock::LockManager,
}

impl Contenders {
    async fn connect(url: &str) -> Done<Self> {
        // As our backend has it.
        let config = AsyncConnectionConfig::new()
            .set_pipeline_buffer_size(1_024)
            .set_response_timeout(Some(Duration::from_secs(5)));
        let raw = redis::Client::open(url)?.get_multiplexed_async_connection_with_config(&config).await?;
        let mut rslock = rslock::LockManager::new(vec![url]);
        rslock.set_retry(1, Duration::ZERO);
        let contenders = Contenders {
            ours: RedisBackend::connect(&RedisConfig::new(url)).await?,
            raw,
            acquire: Script::new(ACQUIRE),
            release: Script::new(RELEASE),
            rslock,
        };
        contenders.acquire.load_async(&mut contenders.raw.clone()).await?;
        contenders.release.load_async(&mut contenders.raw.clone()).await?;
        // Held for the whole run, for those who are to be refused.
        for key in ["held-ours", "held-raw"] {
            let ttl = Ttl::from_millis(3_600_000)?;
            let request = AcquireRequest { key: Key::parse(key)?, lock_id: LockId::generate()?, ttl };
            contenders.ours.acquire(&request).await?;
        }
        contenders.rslock.lock("held-rslock", Duration::from_secs(3_600)).await?;
        Ok(contenders)
    }

    async fn once(&self, who: Who, work: Work, key: &Key, raw: &mut RawKeys) -> Done<Once> {
        match who {
            Who::Ours => {
                let request =
                    AcquireRequest { key: key.clone(), lock_id: LockId::generate()?, ttl: Ttl::DEFAULT };
                match (self.ours.acquire(&request).await?, work) {
                    (AcquireOutcome::Acquired(grant), Work::Pair) => {
                        if !self.ours.release(&grant.lock_id).await?.is_released() {
                            return Err("the hold was lost".into());
                        }
                    }
                    (AcquireOutcome::Held { .. }, Work::Refusal) => {}
                    (outcome, _) => return Err(format!("unexpected {outcome:?}").into()),
                }
            }
            Who::Raw => {
                let id = LockId::generate()?;
                let index = format!("syncguard:id:{}", id.as_str());
                let mut command = redis::cmd("EVALSHA");
                command.arg(self.acquire.get_hash()).arg(3).arg(&raw.lock).arg(&index).arg(&raw.fence);
                command.arg(id.as_str()).arg("30000").arg("1000").arg(&raw.json).arg("900000000000000");
                let answer: Value = command.query_async(&mut raw.connection).await?;
                let Value::Array(answer) = answer else { return Err("unexpected answer".into()) };
                match (&answer[0], work) {
                    (Value::Int(1), Work::Pair) => {
                        let mut command = redis::cmd("EVALSHA");
                        command.arg(self.release.get_hash()).arg(1).arg(&index);
                        command.arg(id.as_str()).arg("1000").arg("syncguard:freed");
                        let released: i64 = command.query_async(&mut raw.connection).await?;
                        if released != 1 {
                            return Err("the hold was lost".into());
                        }
                    }
                    (Value::Int(0), Work::Refusal) => {}
                    other => return Err(format!("unexpected {:?}", other.0).into()),
                }
            }
            Who::Rslock => match (self.rslock.lock(key.as_str(), TTL).await, work) {
                (Ok(lock), Work::Pair) => self.rslock.unlock(&lock).await,
                (Err(rslock::LockError::Unavailable), Work::Refusal) => {}
                // It says so too when its own timeout of half a second has passed; then the key may stay held.
                (Err(rslock::LockError::Unavailable), Work::Pair) => return Ok(Once::Lost),
                (Ok(_), Work::Refusal) => return Err("rslock got a held key".into()),
                (Err(error), _) => return Err(error.into()),
            },
        }
        Ok(Once::Done)
    }
}

enum Once {
    Done,
    Lost,
}

/// What a hand-written client would keep ready for its key.
struct RawKeys {
    connection: MultiplexedConnection,
    lock: String,
    fence: String,
    json: String,
}

/// Processor time of this process. What else the machine does changes rates more than costs.
fn cpu_micros() -> Done<f64> {
    let nanos: f64 = std::fs::read_dir("/proc/self/task")?
        .map(|task| {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            Ok(text.split(' ').next().unwrap_or_default().parse::<f64>()?)
        })
        .sum::<Done<f64>>()?;
    Ok(nanos / 1_000.0)
}

/// Operations done, and the seconds they took.
async fn run(
    contenders: &Arc<Contenders>,
    who: Who,
    work: Work,
    tasks: usize,
    slice: Duration,
) -> Done<(f64, f64)> {
    let started = Instant::now();
    let mut running = Vec::new();
    for task in 0..tasks {
        let contenders = contenders.clone();
        let text = match (work, who) {
            (Work::Pair, Who::Ours) => format!("ours-{task}"),
            (Work::Pair, Who::Raw) => format!("raw-{task}"),
            (Work::Pair, Who::Rslock) => format!("rslock-{task}"),
            (Work::Refusal, Who::Ours) => "held-ours".to_owned(),
            (Work::Refusal, Who::Raw) => "held-raw".to_owned(),
            (Work::Refusal, Who::Rslock) => "held-rslock".to_owned(),
        };
        running.push(tokio::spawn(async move {
            let mut key = Key::parse(&text)?;
            let lock = format!("syncguard:{text}");
            let fence = format!("syncguard:fence:{lock}");
            let json = format!("\"{text}\"");
            let mut raw = RawKeys { connection: contenders.raw.clone(), lock, fence, json };
            let mut count = 0_u32;
            while started.elapsed() < slice {
                match contenders.once(who, work, &key, &mut raw).await? {
                    Once::Done => count += 1,
                    Once::Lost => key = Key::parse(&format!("{}+", key.as_str()))?,
                }
            }
            Done::Ok(count)
        }));
    }
    let mut total = 0.0;
    for task in running {
        total += f64::from(task.await??);
    }
    Ok((total, started.elapsed().as_secs_f64()))
}

/// From the call of release to the waiter's grant, each in a client of its own.
async fn hand_overs(url: &str, count: u32) -> Done<(Vec<Duration>, Vec<Duration>)> {
    let config = RedisConfig::new(url);
    let holder = Locks::new(RedisBackend::connect(&config).await?);
    let waiter = Locks::with_config(Arc::new(RedisBackend::connect(&config).await?), Config::default());
    // Never asks by itself within the run: whoever gets the key was told.
    let retry = Retry { delay: Duration::from_secs(3_600), retries_max: u32::MAX, ..Retry::default() };
    let options = AcquireOptions::default().timeout(Duration::from_secs(3_600)).retry(retry);
    let key = Key::parse("hand-over")?;
    let mut ours = Vec::new();
    for _ in 0..count {
        let held = holder.acquire(&key, &options).await?;
        let waiting = async {
            let guard = waiter.acquire(&key, &options).await?;
            let got_at = Instant::now();
            guard.release().await?;
            Done::Ok(got_at)
        };
        let release = async { held.release().await.map(|_| ()).map_err(Into::into) };
        ours.push(measured(waiting, release).await?);
    }
    let (holder, waiter) = (rslock::LockManager::new(vec![url]), rslock::LockManager::new(vec![url]));
    let mut theirs = Vec::new();
    // Polls at its default of up to 200 ms: a tenth of the hand-overs is enough.
    for _ in 0..count / 10 {
        let held = holder.lock("hand-over-rslock", TTL).await?;
        let waiting = async {
            let lock = waiter.acquire_no_guard("hand-over-rslock", TTL).await?;
            let got_at = Instant::now();
            waiter.unlock(&lock).await;
            Done::Ok(got_at)
        };
        let release = async {
            holder.unlock(&held).await;
            Ok(())
        };
        theirs.push(measured(waiting, release).await?);
    }
    Ok((ours, theirs))
}

async fn measured(
    waiting: impl Future<Output = Done<Instant>>,
    release: impl Future<Output = Done>,
) -> Done<Duration> {
    let (got_at, released_at) = tokio::try_join!(waiting, async {
        // Time for the waiter to be refused and to begin its wait.
        tokio::time::sleep(Duration::from_millis(10)).await;
        let released_at = Instant::now();
        release.await?;
        Ok(released_at)
    })?;
    Ok(got_at.saturating_duration_since(released_at))
}

struct Report {
    json: bool,
    rows: Vec<(String, serde_json::Value)>,
}

impl Report {
    fn rates(&mut self, work: Work, tasks: usize, rates: &[Vec<f64>; 3], costs: &[Vec<f64>; 3]) {
        let name = if work == Work::Pair { "acquire + release" } else { "refusal" };
        let ratio = |figures: &[Vec<f64>; 3], other: Who| {
            let pairs = figures[Who::Ours as usize].iter().zip(&figures[other as usize]);
            median(pairs.map(|(ours, other)| ours / other).collect())
        };
        let [ours, raw, rslock] = rates.clone().map(median);
        let [our_cost, raw_cost, rslock_cost] = costs.clone().map(median);
        let (of_raw, of_rslock) = (ratio(rates, Who::Raw), ratio(rates, Who::Rslock));
        self.rows.push((
            format!(
                "{name:<18} {tasks:>4} tasks  ours {ours:>7.0}/s  raw EVALSHA {raw:>7.0}/s  rslock {rslock:>7.0}/s  \
                 ours/raw {of_raw:.3}  ours/rslock {of_rslock:.3}  client µs {our_cost:.1} {raw_cost:.1} {rslock_cost:.1}"
            ),
            json!({"work": name, "tasks": tasks, "ours_per_s": ours, "raw_per_s": raw, "rslock_per_s": rslock,
                   "ours_to_raw": of_raw, "ours_to_rslock": of_rslock, "ours_client_us": our_cost,
                   "raw_client_us": raw_cost, "rslock_client_us": rslock_cost}),
        ));
    }

    fn hand_over(&mut self, who: &str, mut times: Vec<Duration>) {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1_000.0;
        let (median, p99) = (at(50), at(99));
        self.rows.push((
            format!("hand-over          {who:<10}  median {median:.3} ms  p99 {p99:.3} ms  ({} times)", times.len()),
            json!({"work": "hand-over", "who": who, "median_ms": median, "p99_ms": p99, "count": times.len()}),
        ));
    }

    fn print(self) {
        if self.json {
            let rows: Vec<_> = self.rows.into_iter().map(|(_, row)| row).collect();
            println!("{}", serde_json::Value::Array(rows));
            return;
        }
        for (line, _) in self.rows {
            println!("{line}");
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

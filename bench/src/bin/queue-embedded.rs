//! The cycle of an item (produce, lease, complete) in the embedded store, against the engine doing the same by hand:
//! a record of 140 bytes and a lease of 8, three synced commits. Also what a ready item costs in memory, and how long
//! a partition takes to open.

use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::Bound;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Parser;
use leasehold_bench::tables::tables;
use leasehold_core::Timestamp;
use leasehold_queue::store::embedded::EmbeddedStore;
use leasehold_queue::store::{Change, PartitionId, PartitionStore, Pick, Store};
use leasehold_queue::{Item, ItemIds};
use redb::{Database, ReadableTable, TableDefinition};
use serde_json::{Value, json};

/// Makes the stored record as long as the raw one.
const PAYLOAD_BYTES: usize = 102;
const RECORD_BYTES: usize = 140;

/// Measures queues in the embedded store.
#[derive(Debug, Parser)]
struct Arguments {
    /// Items produced, leased and completed at once.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 100, 1_000])]
    batches: Vec<usize>,
    /// How often each form is measured.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Items in the line when its memory and its opening are measured; 0 leaves that out.
    #[arg(long, default_value_t = 1_000_000)]
    items: usize,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let arguments = Arguments::parse();
    let mut report = Vec::new();
    for batch in &arguments.batches {
        report.push(cycles(*batch, &arguments).await?);
    }
    if arguments.items > 0 {
        report.push(line(arguments.items).await?);
    }
    match arguments.json {
        true => println!("{}", Value::from(report)),
        false => print!("{}", tables(&report)),
    }
    Ok(())
}

async fn cycles(batch: usize, arguments: &Arguments) -> Outcome<Value> {
    let slice = Duration::from_secs_f64(arguments.seconds);
    let (raw_folder, store_folder) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let mut raw = Raw::open(raw_folder.path())?;
    let mut stored = Stored::open(store_folder.path()).await?;
    let (mut raw_rates, mut rates, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=arguments.rounds {
        let raw_rate = {
            let (started, mut items) = (Instant::now(), 0);
            while started.elapsed() < slice {
                raw.cycle(batch)?;
                items += batch;
            }
            items as f64 / started.elapsed().as_secs_f64()
        };
        let rate = {
            let (started, mut items) = (Instant::now(), 0);
            while started.elapsed() < slice {
                stored.cycle(batch).await?;
                items += batch;
            }
            items as f64 / started.elapsed().as_secs_f64()
        };
        // The first round fills caches and files.
        if round > 0 {
            raw_rates.push(raw_rate);
            rates.push(rate);
            ratios.push(rate / raw_rate);
        }
    }
    Ok(json!({
        "batch": batch,
        "raw_items_per_second": median(&mut raw_rates).round(),
        "items_per_second": median(&mut rates).round(),
        "ratio": (median(&mut ratios) * 100.0).round() / 100.0,
        "ratio_lowest": (ratios[0] * 100.0).round() / 100.0,
        "ratio_highest": (ratios[ratios.len() - 1] * 100.0).round() / 100.0,
    }))
}

/// Sorts them, too.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

type Key = [u8; 28];
const ITEMS: TableDefinition<'_, Key, &[u8]> = TableDefinition::new("items");
const LEASES: TableDefinition<'_, Key, u64> = TableDefinition::new("leases");

/// The engine by hand.
struct Raw {
    database: Database,
    next: u64,
}

impl Raw {
    fn open(folder: &Path) -> Outcome<Self> {
        Ok(Raw { database: Database::create(folder.join("raw.redb"))?, next: 0 })
    }

    fn cycle(&mut self, batch: usize) -> Outcome {
        let key = |number: u64| {
            let mut key = [7; 28];
            key[20..].copy_from_slice(&number.to_be_bytes());
            key
        };
        let first = self.next;
        self.next += u64::try_from(batch)?;
        let write = self.database.begin_write()?;
        {
            let mut items = write.open_table(ITEMS)?;
            for number in first..self.next {
                items.insert(key(number), [1; RECORD_BYTES].as_slice())?;
            }
        }
        write.commit()?;

        let write = self.database.begin_write()?;
        let mut leased = Vec::with_capacity(batch);
        {
            let items = write.open_table(ITEMS)?;
            let mut leases = write.open_table(LEASES)?;
            for entry in items.range::<Key>((Bound::Included(key(first)), Bound::Unbounded))?.take(batch) {
                let (key, record) = entry?;
                leases.insert(key.value(), 1_u64)?;
                leased.push((key.value(), record.value().to_vec()));
            }
        }
        write.commit()?;

        let write = self.database.begin_write()?;
        {
            let mut items = write.open_table(ITEMS)?;
            let mut leases = write.open_table(LEASES)?;
            for (key, _) in &leased {
                items.remove(key)?;
                leases.remove(key)?;
            }
        }
        write.commit()?;
        Ok(())
    }
}

/// The store.
struct Stored {
    partition: Box<dyn PartitionStore>,
    ids: ItemIds,
}

fn now() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

impl Stored {
    async fn open(folder: &Path) -> Outcome<Self> {
        Stored::over(&EmbeddedStore::open(leasehold_embedded::Store::open(folder)?)?, 0).await
    }

    async fn over(store: &EmbeddedStore, number: u32) -> Outcome<Self> {
        let mut partition = store.partition(&PartitionId { queue: "bench".parse()?, number });
        let opened = partition.open().await?;
        Ok(Stored { partition, ids: ItemIds::after(&opened, now())? })
    }

    async fn fill(&mut self, items: usize) -> Outcome {
        let mut left = items;
        while left > 0 {
            let batch = self.items(left.min(1_000));
            self.partition.produce(&batch).await?;
            left -= batch.len();
        }
        Ok(())
    }

    fn items(&mut self, batch: usize) -> Vec<Item> {
        let item = |ids: &mut ItemIds| Item {
            id: ids.next(),
            source_id: None,
            is_leased: false,
            lease_deadline: None,
            expire_deadline: now().saturating_add(Duration::from_secs(86_400)),
            enqueue_at: None,
            created_at: now(),
            attempts: 0,
            max_attempts: 0,
            reference: String::new(),
            encoding: String::new(),
            kind: String::new(),
            payload: PAYLOAD.as_slice().into(),
        };
        (0..batch).map(|_| item(&mut self.ids)).collect()
    }

    async fn cycle(&mut self, batch: usize) -> Outcome {
        let items = self.items(batch);
        self.partition.produce(&items).await?;
        let limit = NonZeroUsize::new(batch).ok_or("an empty batch")?;
        let deadline = now().saturating_add(Duration::from_secs(60));
        let ready = self.partition.next_ready(limit, now()).await?;
        let picks: Vec<_> = ready.into_iter().map(|ready| Pick { id: ready.id, deadline }).collect();
        let leased = self.partition.lease(&picks).await?;
        let changes: Vec<_> = leased.iter().map(|item| Change::Complete { id: item.id }).collect();
        self.partition.change(&[&changes]).await?;
        Ok(())
    }
}

static PAYLOAD: [u8; PAYLOAD_BYTES] = [b'x'; PAYLOAD_BYTES];

/// Memory of a line that was filled, and of one that was found in the file. The first partition fills the engine's
/// cache, so that the second shows what a line takes.
async fn line(items: usize) -> Outcome<Value> {
    let folder = tempfile::tempdir()?;
    let per_item = |before: u64, after: u64| {
        Ok::<_, Box<dyn Error + Send + Sync>>(after.saturating_sub(before) / u64::try_from(items)?)
    };
    let produced = {
        let store = EmbeddedStore::open(leasehold_embedded::Store::open(folder.path())?)?;
        let mut first = Stored::over(&store, 0).await?;
        first.fill(items).await?;
        let before = resident_bytes()?;
        let mut second = Stored::over(&store, 1).await?;
        second.fill(items).await?;
        per_item(before, resident_bytes()?)?
    };
    let store = EmbeddedStore::open(leasehold_embedded::Store::open(folder.path())?)?;
    let _first = Stored::over(&store, 0).await?;
    let (before, started) = (resident_bytes()?, Instant::now());
    let _second = Stored::over(&store, 1).await?;
    Ok(json!({
        "items": items,
        "open_seconds": started.elapsed().as_secs_f64(),
        "bytes_per_item_produced": produced,
        "bytes_per_item_opened": per_item(before, resident_bytes()?)?,
        "file_bytes_per_item": fs::metadata(folder.path().join("leasehold.redb"))?.len() / u64::try_from(2 * items)?,
    }))
}

/// Of this process, by the kernel.
fn resident_bytes() -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1024)
}

//! What all sessions of a simulated cluster share.

mod builds;
mod control;
mod counters;
mod give_way;
mod seat;
mod worker;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(crate) use builds::Build;
pub use counters::{Count, Counters};
pub(crate) use give_way::Push;
pub(crate) use seat::Seat;
pub(crate) use worker::{Entry, Mode, Performed, UNDO, Work, Worker};

use crate::{
    backend::Connection,
    catalogue::Catalogue,
    config::Config,
    failure::Failure,
    faults::Faults,
    intents::{Intent, Intents, Strength, Xid},
};

const SCHEMA: &str = include_str!("schema.sql");

/// A simulated cluster: any number of sessions on one stock PostgreSQL. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) catalogue: Catalogue,
    /// Asks PostgreSQL who waits for whom.
    monitor: tokio::sync::Mutex<Connection>,
    /// Commits that bring key-share intents, or do their writes only now, are alone; others that bring intents may
    /// share.
    gate: RwLock<()>,
    pub(crate) intents: Intents,
    pub(crate) counters: Counters,
    pub(crate) faults: Faults,
    control: control::Control,
    builds: builds::Builds,
    heat: give_way::Heat,
    seats: Mutex<HashMap<u64, Arc<Seat>>>,
    next_seat: AtomicU64,
}

/// Held from the check of a commit to its end.
pub(crate) enum Passage<'a> {
    Free,
    Shared { _guard: RwLockReadGuard<'a, ()> },
    Alone { _guard: RwLockWriteGuard<'a, ()> },
}

impl Engine {
    /// Connects to the stock PostgreSQL and makes what DSQL has and PostgreSQL has not (`sys.jobs`).
    ///
    /// # Errors
    /// What PostgreSQL answers, or that it cannot be reached.
    pub async fn start(config: Config) -> Result<Engine, Failure> {
        let mut monitor = Connection::open(&config.backing, "").await?;
        monitor.simple(SCHEMA).await?.all()?;
        let catalogue = Catalogue::new(Connection::open(&config.backing, "").await?);
        let control = control::Control::new(&catalogue).await?;
        let faults = Faults::new(config.seed);
        let shared = Shared {
            config,
            catalogue,
            monitor: tokio::sync::Mutex::new(monitor),
            gate: RwLock::new(()),
            intents: Intents::default(),
            counters: Counters::default(),
            faults,
            control,
            builds: builds::Builds::default(),
            heat: give_way::Heat::default(),
            seats: Mutex::default(),
            next_seat: AtomicU64::new(0),
        };
        Ok(Engine { shared: Arc::new(shared) })
    }

    /// How it was built.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// What happened so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    /// What is made to fail.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }
}

impl Shared {
    pub(crate) fn take_seat(&self, worker: Worker) -> Arc<Seat> {
        let id = self.next_seat.fetch_add(1, Ordering::Relaxed);
        let seat = Arc::new(Seat::new(id, worker));
        self.seats.lock().insert(id, seat.clone());
        seat
    }

    pub(crate) fn leave_seat(&self, id: u64) {
        self.seats.lock().remove(&id);
    }

    fn seat_of(&self, pid: i32) -> Option<Arc<Seat>> {
        self.seats.lock().values().find(|seat| seat.pid == pid).cloned()
    }

    /// Whether a write of these tables is likely to be in somebody's way.
    pub(crate) fn is_contended(&self, tables: &[u32]) -> bool {
        self.heat.is_warm(tables)
    }

    /// Waits for a turn to commit. Key-share intents and key writes are compared with each other in one order of
    /// commits, so those who bring the former are alone.
    pub(crate) async fn passage(&self, intents: &[Intent], is_late: bool) -> Passage<'_> {
        let key_shares = intents.iter().any(|intent| intent.strength == Strength::KeyShare);
        if key_shares || is_late {
            Passage::Alone { _guard: self.gate.write().await }
        } else if intents.is_empty() {
            Passage::Free
        } else {
            Passage::Shared { _guard: self.gate.read().await }
        }
    }

    /// The same, unless somebody is in the way.
    pub(crate) fn try_passage(&self, intents: &[Intent], is_late: bool) -> Option<Passage<'_>> {
        let key_shares = intents.iter().any(|intent| intent.strength == Strength::KeyShare);
        Some(if key_shares || is_late {
            Passage::Alone { _guard: self.gate.try_write().ok()? }
        } else if intents.is_empty() {
            Passage::Free
        } else {
            Passage::Shared { _guard: self.gate.try_read().ok()? }
        })
    }

    /// Remembers committed intents for as long as a transaction is open that they may concern.
    pub(crate) fn remember(&self, intents: &[Intent], xid: Xid) {
        if !intents.is_empty() {
            let oldest = self.seats.lock().values().map(|seat| seat.snapshot()).min().unwrap_or(u64::MAX);
            self.intents.committed(intents, xid, oldest);
        }
    }
}

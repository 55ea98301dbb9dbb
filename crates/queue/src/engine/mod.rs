//! The engine: finds the queue that a request is about, and opens it on first use.

mod cold;
mod config;
mod figures;
mod gate;
mod hot;
mod manage;
mod placement;

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use leasehold_core::Timestamp;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{OnceCell, mpsc};
use tokio::task::{JoinHandle, JoinSet};

use crate::queue::{GatedStore, Queue, Record};
use crate::store::PartitionId;
use crate::undertaker::{self, UndertakerHandle};
use crate::{Error, PartitionInfo, QueueInfo, QueueName, QueueStore, Result, Store, StoreError};

use figures::RequestFigures;
use gate::StoreGate;

pub(crate) use gate::{Gate, OpenPermit};

pub use cold::ListItems;
pub use config::{Backoff, Config, Limits, NamedStore, UnknownStores};
pub use placement::{PinnedPartition, Placement};

/// Serves queues. Clones are handles on the same engine; it is stopped by [`shutdown`](Self::shutdown).
#[derive(Clone, Debug)]
pub struct Engine {
    inner: Arc<Inner>,
}

/// A queue that is open, or being opened by the first who needs it.
type Cell = Arc<OnceCell<Arc<Queue>>>;

/// What handles share.
pub(crate) struct Inner {
    config: Arc<Config>,
    stores: Vec<NamedStore>,
    /// Of each store.
    gates: Vec<Arc<StoreGate>>,
    records: Arc<dyn QueueStore>,
    queues: RwLock<HashMap<QueueName, Cell>>,
    /// Queues that are being deleted, and must not be opened now.
    closed: Mutex<HashSet<QueueName>>,
    /// See [`Inner::given_store_name`].
    given_store_name: OnceCell<Option<String>>,
    /// Queues are created, changed and deleted one at a time.
    managing: tokio::sync::Mutex<()>,
    /// No queue is created at this instant or before: one that was deleted here may have been, and a clock may stand still.
    deleted: Mutex<Timestamp>,
    stopping: AtomicBool,
    /// Bytes of answers to leases that nobody has let go of yet.
    answers: Arc<AtomicUsize>,
    figures: RequestFigures,
    undertaker: Mutex<Option<(UndertakerHandle, JoinHandle<()>)>>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("stores", &self.stores).finish_non_exhaustive()
    }
}

/// Why a queue was not opened.
enum NotOpened {
    Because(Error),
    /// Somebody else opened or closed it meanwhile: look again.
    LookAgain,
}

impl Engine {
    /// An engine over these stores. Touches none of them: queues are opened when they are used.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn new(config: Config, records: Arc<dyn QueueStore>, stores: Vec<NamedStore>) -> Self {
        let (sender, moves) = mpsc::unbounded_channel();
        let inner = Arc::new_cyclic(|engine| Inner {
            config: Arc::new(config),
            gates: stores.iter().map(|_| Arc::default()).collect(),
            stores,
            records,
            queues: RwLock::default(),
            closed: Mutex::default(),
            given_store_name: OnceCell::new(),
            managing: tokio::sync::Mutex::default(),
            deleted: Mutex::new(Timestamp::MIN),
            stopping: AtomicBool::new(false),
            answers: Arc::default(),
            figures: RequestFigures::default(),
            undertaker: Mutex::new(Some((
                UndertakerHandle(sender),
                tokio::spawn(undertaker::run(engine.clone(), moves)),
            ))),
        });
        Engine { inner }
    }

    /// How much one request may carry.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.inner.config.limits
    }

    /// The time that judges leases, schedules and expiry.
    #[must_use]
    pub fn clock(&self) -> &crate::EngineClock {
        &self.inner.config.clock
    }

    /// The record that a queue runs with, or, if it is not open, would. Does not open it: whoever only asks takes no
    /// partition from its owner. Cheap for an open queue.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`], [`Error::EngineStopping`], or what the store said.
    pub async fn queue(&self, name: &QueueName) -> Result<Arc<QueueInfo>> {
        if let Some(queue) = self.inner.opened(name) {
            return Ok(queue.info());
        }
        self.inner.check_not_closed(name)?;
        self.queue_info(name).await.map(Arc::new)
    }

    /// Stops: refuses new requests, answers those that wait, finishes what is being written, closes the partitions.
    /// What takes longer than the grace is cut. A second call does nothing and returns at once.
    ///
    /// Dropped midway, the engine keeps refusing, and tasks end by themselves.
    pub async fn shutdown(&self) {
        let inner = &self.inner;
        if inner.stopping.swap(true, Ordering::AcqRel) {
            return;
        }
        let grace = inner.config.shutdown_grace;
        let cells: Vec<Cell> = inner.queues.write().drain().map(|(_, cell)| cell).collect();
        let mut stops = JoinSet::new();
        for cell in cells {
            stops.spawn(async move { stop(&cell, grace).await });
        }
        while stops.join_next().await.is_some() {}
        // What is being created, changed or deleted ends, or is left to itself.
        drop(tokio::time::timeout(grace, inner.managing.lock()).await);
        let undertaker = inner.undertaker.lock().take();
        if let Some((handle, mut task)) = undertaker {
            drop(handle);
            if tokio::time::timeout(grace, &mut task).await.is_err() {
                task.abort();
            }
        }
    }
}

/// Stops a queue, also one that is just being opened.
async fn stop(cell: &Cell, grace: std::time::Duration) {
    let opened = cell.get_or_try_init(|| async { Err(()) }).await;
    if let Ok(queue) = opened {
        queue.stop(grace).await;
    }
}

fn unknown_store(queue: &QueueName, partition: &PartitionInfo) -> Error {
    Error::StoreUnknown { queue: queue.clone(), partition: partition.number, store: partition.store.clone() }
}

impl Inner {
    /// The queue, opened if need be; those who need it at the same time open it once.
    pub(crate) async fn open(&self, name: &QueueName) -> Result<Arc<Queue>> {
        loop {
            if self.stopping.load(Ordering::Acquire) {
                return Err(Error::EngineStopping);
            }
            let cell = self.queues.read().get(name).cloned();
            let cell = match cell {
                Some(cell) => cell,
                None => self.queues.write().entry(name.clone()).or_default().clone(),
            };
            if let Some(queue) = cell.get() {
                if !queue.is_gone() {
                    return Ok(queue.clone());
                }
                self.forget(name, &cell);
                continue;
            }
            let unopened = Unopened { engine: self, name, cell: &cell };
            let opened = cell.get_or_try_init(|| self.start(name, &cell)).await.cloned();
            drop(unopened);
            match opened {
                Ok(queue) => return Ok(queue),
                Err(NotOpened::Because(error)) => return Err(error),
                Err(NotOpened::LookAgain) => {}
            }
        }
    }

    async fn start(&self, name: &QueueName, cell: &Cell) -> Result<Arc<Queue>, NotOpened> {
        self.check_not_closed(name).map_err(NotOpened::Because)?;
        let because = NotOpened::Because;
        let found = self.look("get", self.records.get(name)).await.map_err(because)?;
        let mut info = found.ok_or_else(|| because(Error::QueueNotFound { name: name.clone() }))?;
        info.partitions.sort_by_key(|partition| partition.number);
        let gates: Vec<Gate> = self.gates.iter().map(Gate::new).collect();
        let stores: Result<Vec<_>> =
            info.partitions.iter().map(|partition| self.partition_store(&info, partition, &gates)).collect();
        let stores = stores.map_err(because)?;
        let Some((undertaker, _)) = &*self.undertaker.lock() else {
            return Err(because(Error::EngineStopping));
        };
        // Whoever closes a queue takes its cell away first: a cell that is still here may be filled.
        let queues = self.queues.write();
        if !queues.get(name).is_some_and(|current| Arc::ptr_eq(current, cell)) {
            return Err(NotOpened::LookAgain);
        }
        let record = Record::new(info, self.records.clone(), self.config.storage_timeout);
        Ok(Queue::start(record, stores, &self.config, undertaker, &self.answers))
    }

    /// Looks for the queue again when it is used next.
    fn forget(&self, name: &QueueName, cell: &Cell) {
        let mut queues = self.queues.write();
        if queues.get(name).is_some_and(|current| Arc::ptr_eq(current, cell)) {
            queues.remove(name);
        }
    }

    /// The queue if it is open.
    fn opened(&self, name: &QueueName) -> Option<Arc<Queue>> {
        let queue = self.queues.read().get(name).and_then(|cell| cell.get().cloned());
        queue.filter(|queue| !queue.is_gone())
    }

    /// All that are open.
    fn open_queues(&self) -> Vec<Arc<Queue>> {
        self.queues.read().values().filter_map(|cell| cell.get().cloned()).collect()
    }

    fn check_not_closed(&self, name: &QueueName) -> Result<()> {
        if self.closed.lock().contains(name) { Err(Error::QueueStopping) } else { Ok(()) }
    }

    fn store(&self, queue: &QueueName, partition: &PartitionInfo) -> Result<&Arc<dyn Store>> {
        self.store_index(queue, partition).map(|index| &self.stores[index].store)
    }

    fn store_index(&self, queue: &QueueName, partition: &PartitionInfo) -> Result<usize> {
        let named = self.stores.iter().position(|named| named.name == partition.store);
        let stand_in = match self.config.unknown_stores {
            UnknownStores::First if !self.stores.is_empty() => Some(0),
            UnknownStores::First | UnknownStores::Refused => None,
        };
        named.or(stand_in).ok_or_else(|| unknown_store(queue, partition))
    }

    fn partition_store(
        &self,
        info: &QueueInfo,
        partition: &PartitionInfo,
        gates: &[Gate],
    ) -> Result<GatedStore> {
        let id = PartitionId { queue: info.name.clone(), number: partition.number };
        let index = self.store_index(&info.name, partition)?;
        Ok((self.stores[index].store.partition_of(&id, info.created_at), gates[index].clone()))
    }

    /// A look into the store of records or of partitions, with a limit on how long it may take: beyond it, nothing happened.
    async fn look<T>(
        &self,
        operation: &'static str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T> {
        let looked = tokio::time::timeout(self.config.storage_timeout, call).await;
        looked
            .unwrap_or_else(|elapsed| Err(StoreError::Unavailable { operation, source: elapsed.into() }))
            .map_err(Error::Storage)
    }

    /// A change of the store of records or of partitions, with a limit on how long it may take: beyond it, nobody knows.
    async fn timed<T>(
        &self,
        operation: &'static str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T> {
        match tokio::time::timeout(self.config.storage_timeout, call).await {
            Ok(Err(source @ StoreError::Indeterminate { .. })) => {
                Err(Error::Indeterminate { operation, source })
            }
            Ok(outcome) => outcome.map_err(Error::Storage),
            Err(elapsed) => {
                let source = StoreError::Indeterminate { operation, source: elapsed.into() };
                Err(Error::Indeterminate { operation, source })
            }
        }
    }
}

/// A cell that nobody filled is forgotten: names of queues that do not exist must not pile up.
struct Unopened<'a> {
    engine: &'a Inner,
    name: &'a QueueName,
    cell: &'a Cell,
}

impl Drop for Unopened<'_> {
    fn drop(&mut self) {
        if self.cell.initialized() {
            return;
        }
        let mut queues = self.engine.queues.write();
        if queues
            .get(self.name)
            .is_some_and(|current| Arc::ptr_eq(current, self.cell) && !current.initialized())
        {
            queues.remove(self.name);
        }
    }
}

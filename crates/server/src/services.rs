use std::collections::HashMap;
use std::future;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use leasehold_access::{Access, DeadQueues, Driver, Permission, Principal};
use leasehold_locks::backend::dsql::{self, DsqlBackend};
use leasehold_locks::backend::embedded::EmbeddedBackend;
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::backend::postgres::{self, FusedBackend, FusedConfig, OptionalColumns, PostgresBackend};
use leasehold_locks::backend::{BackendLocation, BackendOptions};
use leasehold_locks::{LockBackend, Locks};
use leasehold_queue::{
    DEFAULT_NAMESPACE, Engine, Error, NamedStore, Namespace, QueueInfo, QueueName, Refusal, UnknownStores,
};
use leasehold_txn::{Pool, Registry};

use crate::first_tries::{FirstTries, FirstTry};
use crate::observed_locks::ObservedLocks;
use crate::reply::Reply;
use crate::routes::{Bodies, Hosts, LongAnswers};
use crate::spans::Spans;
use crate::store::{CHECK_TIMEOUT, Store};
use crate::{Config, HostName, LimitsConfig, QueueConfig, Result};

/// How long to wait before asking again a database that could not be prepared.
const PREPARE_PAUSE: Duration = Duration::from_secs(2);

/// The name of the one place for partitions, where none are configured.
const ONLY_STORE: &str = "main";

/// The faces over the open store: what routes call. Every layer of every request has a clone.
#[derive(Clone)]
pub(crate) struct Services(Arc<Faces>);

impl Deref for Services {
    type Target = Faces;

    fn deref(&self) -> &Faces {
        &self.0
    }
}

pub(crate) struct Faces {
    /// All that are open, behind whichever face.
    stores: Vec<Store>,
    pub(crate) engine: Engine,
    pub(crate) access: Access,
    pub(crate) locks: ObservedLocks,
    pub(crate) limits: LimitsConfig,
    pub(crate) metrics_enabled: bool,
    pub(crate) bodies: Bodies,
    pub(crate) long_answers: LongAnswers,
    pub(crate) spans: Spans,
    pub(crate) hosts: Hosts,
    #[cfg(feature = "test-hooks")]
    pub(crate) test_clock: crate::test_hooks::TestClock,
    /// A backend whose tables may have to be made.
    unprepared: Option<Unprepared>,
    first_tries: FirstTries,
    /// To be made once the store can be reached.
    configured_queues: Arc<[QueueConfig]>,
}

impl Services {
    /// Everything lives where the store does, unless the configuration says otherwise.
    pub(crate) async fn open(config: &Config) -> Result<Self> {
        let store = Store::open(&config.store, None, config.must_exist).await?;
        let (locks, unprepared) = open_locks(&store, config).await?;
        Services::over(store, config, locks, unprepared).await
    }

    /// As [`Services::open`], with locks in a backend of the caller's.
    pub(crate) async fn open_with_locks(config: &Config, locks: Arc<dyn LockBackend>) -> Result<Self> {
        let store = Store::open(&config.store, None, config.must_exist).await?;
        Services::over(store, config, locks, None).await
    }

    async fn over(
        store: Store,
        config: &Config,
        locks: Arc<dyn LockBackend>,
        unprepared: Option<Unprepared>,
    ) -> Result<Self> {
        config.queues.check_placements()?;
        let mut opened = OpenStores::new(config, &store);
        let records = match &config.queues.records {
            Some(location) => opened.open(location, None).await?,
            None => store.clone(),
        };
        let records_at = config.queues.records.as_ref().unwrap_or(&config.store);
        let mut partitions = Vec::new();
        for place in &config.queues.partitions {
            let has_records = place.store.is_same(records_at);
            let store = opened.open(&place.store, place.connections_max).await?.partitions(has_records)?;
            partitions.push(NamedStore { name: place.name.clone(), affinity: place.affinity, store });
        }
        let mut engine_config = engine_config(&config.limits);
        if partitions.is_empty() {
            let has_records = config.queues.records.is_none() || config.store.is_same(records_at);
            let store = store.partitions(has_records)?;
            partitions.push(NamedStore { name: ONLY_STORE.to_owned(), affinity: 1.0, store });
            // A database that Querator filled has names of its own for its only place.
            engine_config.unknown_stores = UnknownStores::First;
        }
        #[cfg(feature = "test-hooks")]
        let test_clock = crate::test_hooks::TestClock::default();
        #[cfg(feature = "test-hooks")]
        if config.test_hooks.is_some() {
            engine_config.clock = leasehold_queue::EngineClock::new(Arc::new(test_clock.clone()));
        }
        let access = match &config.queues.access {
            Some(location) => opened.open(location, None).await?,
            None => store.clone(),
        };
        let access = access.access()?;
        engine_config.dead_queue_rule = Some(Arc::new(DeadQueues::new(&access, config.auth)));
        let engine = Engine::new(engine_config, records.queues()?, partitions);
        let access = Access::new(
            access,
            leasehold_access::Config {
                driver: config.auth,
                namespace_use: Arc::new(QueuesOf(engine.clone())),
                ..leasehold_access::Config::default()
            },
        );
        Ok(Services(Arc::new(Faces {
            stores: opened.by_location.into_values().collect(),
            engine,
            access,
            locks: ObservedLocks::new(Locks::with_config(locks, leasehold_locks::Config::default())),
            limits: config.limits,
            metrics_enabled: config.metrics_enabled,
            #[cfg(feature = "test-hooks")]
            test_clock,
            spans: Spans::open(config.tracing.as_ref())?,
            hosts: hosts(config),
            bodies: Bodies::new(&config.limits, config.timeouts.body),
            long_answers: LongAnswers::new(&config.limits),
            unprepared,
            first_tries: FirstTries::new(),
            configured_queues: config.queues.queues.clone().into(),
        })))
    }

    /// Whether the caller may do this with the queue. One who may not learns nothing of whether it exists.
    pub(crate) async fn permit(
        &self,
        caller: &Principal,
        queue: &QueueName,
        permission: Permission,
    ) -> Result<(), Reply> {
        if self.access.driver() == Driver::None {
            return Ok(());
        }
        let found = self.engine.queue(queue).await;
        let namespace = found.as_ref().map_or(DEFAULT_NAMESPACE, |info| info.namespace.as_str());
        self.permit_in(caller, namespace, permission, queue).await?;
        found.map(drop).map_err(Reply::from)
    }

    /// Whether the caller may do this with queues of the namespace. That one may not change or delete them is audited.
    pub(crate) async fn permit_in(
        &self,
        caller: &Principal,
        namespace: &str,
        permission: Permission,
        queue: &QueueName,
    ) -> Result<(), Reply> {
        use Permission::{QueueClear, QueueCreate, QueueDelete, QueueUpdate};
        let permitted = self.access.authorise(caller, namespace, permission).await;
        let is_change = matches!(permission, QueueClear | QueueCreate | QueueDelete | QueueUpdate);
        if is_change && matches!(permitted, Err(leasehold_access::Error::Denied)) {
            self.access.audit_denied(caller, permission, queue.as_str());
        }
        Ok(permitted?)
    }

    /// Returns the dead queue that is named for a queue in the namespace, if the caller may name it. A queue that does not
    /// exist is none: the engine refuses it.
    pub(crate) async fn permit_dead_queue(
        &self,
        caller: &Principal,
        namespace: &Namespace,
        queue: Option<&QueueInfo>,
        dead_queue: Option<&QueueName>,
    ) -> Result<Option<QueueInfo>, Reply> {
        let Some(name) = dead_queue else { return Ok(None) };
        let dead_queue = match self.engine.queue_info(name).await {
            Ok(found) => found,
            Err(Error::QueueNotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        self.access.permit_dead_queue(caller, namespace, queue, &dead_queue).await?;
        Ok(Some(dead_queue))
    }

    /// Forgets the dead queue that was permitted to a queue. What stays because the store failed permits nothing: it names a
    /// queue that was deleted, or a dead queue that is not asked for.
    pub(crate) async fn forget_dead_queue(&self, queue: &QueueName) {
        if let Err(error) = self.access.forget_dead_queue(queue).await {
            let chain = &error as &(dyn std::error::Error + 'static);
            tracing::warn!(code = error.code(), error = chain, "a permitted dead queue is not forgotten");
        }
    }

    /// Whether the records of queues can be read now, wherever they are, the store answers, and what is made at the start was
    /// tried. The reason goes to the log, not to whoever asked.
    pub(crate) async fn is_healthy(&self) -> bool {
        let (has_records, has_store, has_tried) =
            tokio::join!(self.has_records(), self.has_stores(), self.has_tried());
        has_records && has_store && has_tried
    }

    async fn has_stores(&self) -> bool {
        for store in &self.stores {
            if !store.is_healthy().await {
                return false;
            }
        }
        true
    }

    async fn has_tried(&self) -> bool {
        let tried = tokio::time::timeout(CHECK_TIMEOUT, self.first_tries.done()).await;
        if tried.is_err() {
            tracing::warn!(timeout = ?CHECK_TIMEOUT, "what is made at the start is still being made");
        }
        tried.is_ok()
    }

    async fn has_records(&self) -> bool {
        match tokio::time::timeout(CHECK_TIMEOUT, self.engine.list_queues(None, "", 1)).await {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => {
                let chain = &error as &(dyn std::error::Error + 'static);
                tracing::warn!(code = error.code(), error = chain, "the records of queues cannot be read");
                false
            }
            Err(_elapsed) => {
                tracing::warn!(timeout = ?CHECK_TIMEOUT, "the records of queues were not read in time");
                false
            }
        }
    }

    /// Mistakes in the partition are told before those in what follows it.
    pub(crate) async fn partition_exists(&self, queue: &QueueName, partition: i64) -> Result<(), Reply> {
        let info = self.engine.queue(queue).await?;
        let known = info.partitions.iter().any(|known| i64::from(known.number) == partition);
        known.then_some(()).ok_or_else(|| Error::from(Refusal::PartitionUnknown { partition }).into())
    }

    /// Whether queues may be made there.
    pub(crate) async fn namespace_exists(&self, namespace: &Namespace) -> Result<(), Reply> {
        Ok(self.access.namespace_exists(namespace).await?)
    }

    /// Prepares what needs the store, however long that takes; then stays, for whoever runs it beside the server.
    /// Requests that come before are answered as the store answers them.
    pub(crate) async fn prepare(&self) -> std::convert::Infallible {
        tokio::join!(self.prepare_locks(), self.prepare_access(), self.make_queues());
        future::pending().await
    }

    async fn prepare_locks(&self) {
        let mut first = self.first_tries.one();
        let Some(backend) = &self.unprepared else { return first.tried() };
        while let Err(error) = backend.set_up().await {
            first.tried();
            log_unprepared("the lock tables are not ready; trying again", error.code(), &error);
            tokio::time::sleep(PREPARE_PAUSE).await;
        }
        first.tried();
    }

    async fn prepare_access(&self) {
        let mut first = self.first_tries.one();
        while let Err(error) = self.access.bootstrap().await {
            first.tried();
            log_unprepared("the access store is not ready; trying again", error.code(), &error);
            tokio::time::sleep(PREPARE_PAUSE).await;
        }
        first.tried();
    }

    /// Dead queues before those that name them, whatever the order of the file.
    async fn make_queues(&self) {
        let (plain, with_dead): (Vec<_>, Vec<_>) =
            self.configured_queues.iter().partition(|queue| queue.change.dead_queue.is_none());
        let mut first = self.first_tries.one();
        for queue in plain.into_iter().chain(with_dead) {
            self.make_queue(queue, &mut first).await;
        }
        first.tried();
    }

    async fn make_queue(&self, queue: &QueueConfig, first: &mut FirstTry<'_>) {
        loop {
            let (name, change) = (queue.name.clone(), queue.change.clone());
            let created =
                self.engine.create_placed_queue(name, Namespace::default(), change, &queue.placement).await;
            match created {
                Ok(queue) => return self.permit_configured(&queue).await,
                Err(Error::QueueExists { .. }) => return self.compare_placement(queue).await,
                Err(error) if error.class() == leasehold_core::Class::Rejected => {
                    let queue = queue.name.as_str();
                    tracing::error!(queue, %error, "a configured queue cannot be made");
                    return;
                }
                Err(error) => {
                    first.tried();
                    log_unprepared("a configured queue is not made yet; trying again", error.code(), &error);
                    tokio::time::sleep(PREPARE_PAUSE).await;
                }
            }
        }
    }

    /// Permits the dead queue of a configured queue: the configuration may name any.
    async fn permit_configured(&self, queue: &QueueInfo) {
        let Some(name) = &queue.options.dead_queue else { return };
        let Ok(dead_queue) = self.engine.queue_info(name).await else { return };
        if let Err(error) = self.access.remember_dead_queue(queue, Some(&dead_queue)).await {
            let chain = &error as &(dyn std::error::Error + 'static);
            tracing::warn!(
                code = error.code(),
                error = chain,
                "the dead queue of a configured queue is not permitted"
            );
        }
    }

    /// Items do not move by themselves: a queue that is there stays where it is, and whoever wanted it elsewhere is told.
    async fn compare_placement(&self, queue: &QueueConfig) {
        let Ok(info) = self.engine.queue_info(&queue.name).await else { return };
        if !queue.placement.holds_for(&info.partitions) {
            let queue = queue.name.as_str();
            tracing::warn!(
                queue,
                "a configured queue is there, with partitions placed otherwise; they stay so"
            );
        }
    }

    #[cfg(feature = "test-hooks")]
    pub(crate) fn test_hooks(&self) -> crate::test_hooks::TestHooks {
        crate::test_hooks::TestHooks { engine: self.engine.clone(), clock: self.test_clock.clone() }
    }

    /// Answers those who wait, finishes what runs, and lets go of the stores.
    pub(crate) async fn close(&self) {
        self.engine.shutdown().await;
        self.access.close().await;
    }
}

/// Where the server listens by a name, it is reached by that name.
fn hosts(config: &Config) -> Hosts {
    let addresses = [Some(&config.address), config.admin_address.as_ref()];
    let of_addresses = addresses.into_iter().flatten().filter_map(|address| HostName::of_address(address));
    Hosts::new(config.allowed_hosts.iter().cloned().chain(of_addresses).collect(), config.tls.is_some())
}

fn engine_config(limits: &LimitsConfig) -> leasehold_queue::Config {
    leasehold_queue::Config {
        limits: leasehold_queue::Limits {
            produce_items_max: limits.produce_items,
            lease_items_max: limits.lease_items,
            complete_items_max: limits.complete_items,
        },
        requests_max: limits.requests_per_queue,
        answer_bytes_max: limits.lease_answer_bytes,
        answers_bytes_max: limits.answer_bytes,
        ..leasehold_queue::Config::default()
    }
}

/// One open store per place: a folder can be opened only once.
struct OpenStores {
    by_location: HashMap<String, Store>,
    must_exist: bool,
}

impl OpenStores {
    fn new(config: &Config, store: &Store) -> Self {
        let by_location = HashMap::from([(config.store.to_string(), store.clone())]);
        OpenStores { by_location, must_exist: config.must_exist }
    }

    async fn open(
        &mut self,
        location: &crate::StoreLocation,
        connections_max: Option<usize>,
    ) -> Result<Store> {
        match location {
            // Each its own, as nothing tells one memory from another; a database is shared by its pool.
            crate::StoreLocation::Memory
            | crate::StoreLocation::Postgres(_)
            | crate::StoreLocation::Dsql(_) => Store::open(location, connections_max, self.must_exist).await,
            crate::StoreLocation::Folder(_) => {
                let place = location.to_string();
                if !self.by_location.contains_key(&place) {
                    let opened = Store::open(location, None, self.must_exist).await?;
                    self.by_location.insert(place.clone(), opened);
                }
                Ok(self.by_location[&place].clone())
            }
        }
    }
}

/// Tells whether a namespace has queues.
struct QueuesOf(Engine);

#[async_trait::async_trait]
impl leasehold_access::NamespaceUse for QueuesOf {
    async fn has_queues(
        &self,
        namespace: &Namespace,
    ) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        Ok(!self.0.list_queues(Some(namespace), "", 1).await?.is_empty())
    }
}

/// Locks whose tables may not be there yet.
#[derive(Clone)]
pub(crate) enum Unprepared {
    Postgres(Arc<PostgresBackend>),
    Dsql(Arc<DsqlBackend>),
}

impl Unprepared {
    async fn set_up(&self) -> leasehold_locks::Result<()> {
        match self {
            Unprepared::Postgres(backend) => backend.setup_schema(OptionalColumns::Without).await,
            Unprepared::Dsql(backend) => backend.setup_schema().await,
        }
    }
}

async fn open_locks(store: &Store, config: &Config) -> Result<(Arc<dyn LockBackend>, Option<Unprepared>)> {
    let options = BackendOptions { must_exist: config.must_exist, ..config.locks.options.clone() };
    Ok(match (&config.locks.backend, store) {
        (Some(BackendLocation::Postgres(connection)), _) => {
            let pool = Registry::of_process().pool(leasehold_txn::Config::new((**connection).clone()))?;
            postgres_locks(pool, &options)
        }
        (Some(BackendLocation::Dsql(connection)), _) => {
            let pool = Registry::of_process().pool(leasehold_txn::Config::new((**connection).clone()))?;
            dsql_locks(pool, &options)
        }
        (Some(location), _) => (location.open_with(&options).await?, None),
        (None, Store::Memory(_)) => (Arc::new(MemoryBackend::default()), None),
        (None, Store::Embedded(opened)) => (Arc::new(EmbeddedBackend::open(opened.clone())?), None),
        (None, Store::Postgres(pool)) => postgres_locks(pool.clone(), &options),
        (None, Store::Dsql(pool)) => dsql_locks(pool.clone(), &options),
    })
}

/// Many clients, few statements.
fn postgres_locks(pool: Pool, options: &BackendOptions) -> (Arc<dyn LockBackend>, Option<Unprepared>) {
    let backend = Arc::new(PostgresBackend::new(pool, postgres::Config::of(options)));
    (
        Arc::new(FusedBackend::new(backend.clone(), FusedConfig::default())),
        Some(Unprepared::Postgres(backend)),
    )
}

fn dsql_locks(pool: Pool, options: &BackendOptions) -> (Arc<dyn LockBackend>, Option<Unprepared>) {
    let backend = Arc::new(DsqlBackend::new(pool, dsql::Config::of(options)));
    (backend.clone(), Some(Unprepared::Dsql(backend)))
}

fn log_unprepared(what: &str, code: &str, error: &(dyn std::error::Error + 'static)) {
    tracing::warn!(code, error, "{what}");
}

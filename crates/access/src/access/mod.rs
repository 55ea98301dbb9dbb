//! [`Access`]: every request is judged here, and everything it is judged by is kept from here.

mod api_keys;
mod audit;
mod authenticate;
mod authorise;
mod bootstrap;
mod caches;
mod dead_queues;
mod fields;
mod grant;
mod namespace_use;
mod namespaces;
mod recover;
mod role_bindings;
mod roles;
mod users;

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use leasehold_core::{Clock, SystemClock};
use leasehold_queue::{DEFAULT_NAMESPACE, ItemId};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use self::bootstrap::Bootstrap;
use self::caches::Caches;
use crate::store::{
    ApiKeyStore, Change, NamespaceStore, Result as StoreResult, RoleBindingStore, RoleStore, StoreError,
    UserStore,
};
use crate::{Error, Kind, Result, Stores};

pub use self::api_keys::{ApiKeyRequest, CreatedApiKey};
pub use self::dead_queues::DeadQueues;
pub use self::namespace_use::{NamespaceUse, NoQueues};
pub use self::namespaces::NamespaceRequest;
pub use self::recover::Recovered;
pub use self::role_bindings::RoleBindingRequest;
pub use self::roles::RoleRequest;
pub use self::users::UserRequest;

/// How long one look into the store may take that a request waits for.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether requests are judged at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// Everybody is anonymous and may do everything.
    #[default]
    None,
    /// By the keys, roles and bindings in the stores.
    Internal,
}

/// How requests are judged.
#[derive(Clone)]
pub struct Config {
    /// Whether they are.
    pub driver: Driver,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Knows which namespaces have queues.
    pub namespace_use: Arc<dyn NamespaceUse>,
}

/// Nobody is judged, and there are no queues.
impl Default for Config {
    fn default() -> Self {
        Self { driver: Driver::None, clock: Arc::new(SystemClock), namespace_use: Arc::new(NoQueues) }
    }
}

/// Who may do what. Clones are handles on the same.
///
/// Every operation that changes something goes on when its caller is dropped, so that what is cached never outlives
/// what is stored.
#[derive(Clone)]
pub struct Access(Arc<Shared>);

struct Shared {
    driver: Driver,
    clock: Arc<dyn Clock>,
    namespace_use: Arc<dyn NamespaceUse>,
    stores: Stores,
    caches: Arc<Caches>,
    bootstrap: Bootstrap,
    /// Hears of changes that others make.
    hearing: OnceLock<AbortOnDropHandle<()>>,
    /// Writes under way, until [`Access::close`] waits for them.
    background: TaskTracker,
}

impl Access {
    /// Over these stores. Touches nothing yet.
    #[must_use]
    pub fn new(stores: Stores, config: Config) -> Self {
        Self(Arc::new(Shared {
            driver: config.driver,
            clock: config.clock,
            namespace_use: config.namespace_use,
            stores,
            caches: Arc::default(),
            bootstrap: Bootstrap::default(),
            hearing: OnceLock::new(),
            background: TaskTracker::new(),
        }))
    }

    /// Whether requests are judged.
    #[must_use]
    pub fn driver(&self) -> Driver {
        self.0.driver
    }

    /// Waits for writes that are under way. Dropping the call leaves them to end by themselves.
    pub async fn close(&self) {
        self.0.background.close();
        self.0.background.wait().await;
    }

    fn namespaces(&self) -> Result<&Arc<dyn NamespaceStore>> {
        self.0.stores.namespaces.as_ref().ok_or(Error::NotConfigured { kind: Kind::Namespace })
    }

    fn users(&self) -> Result<&Arc<dyn UserStore>> {
        self.0.stores.users.as_ref().ok_or(Error::NotConfigured { kind: Kind::User })
    }

    fn api_keys(&self) -> Result<&Arc<dyn ApiKeyStore>> {
        self.0.stores.api_keys.as_ref().ok_or(Error::NotConfigured { kind: Kind::ApiKey })
    }

    fn roles(&self) -> Result<&Arc<dyn RoleStore>> {
        self.0.stores.roles.as_ref().ok_or(Error::NotConfigured { kind: Kind::Role })
    }

    fn role_bindings(&self) -> Result<&Arc<dyn RoleBindingStore>> {
        self.0.stores.role_bindings.as_ref().ok_or(Error::NotConfigured { kind: Kind::RoleBinding })
    }

    /// A fresh id.
    fn id(&self) -> String {
        ItemId::random(self.0.clock.now()).to_string()
    }

    /// Writes what may make cached answers wrong, and forgets those whatever came of it, also when the caller is gone
    /// by then.
    async fn write<T: Send + 'static>(
        &self,
        operation: &'static str,
        change: Change,
        write: impl Future<Output = StoreResult<T>> + Send + 'static,
    ) -> StoreResult<T> {
        let caches = self.0.caches.clone();
        let writing = self.0.background.spawn(async move {
            let written = write.await;
            caches.forget(&change);
            written
        });
        writing.await.unwrap_or_else(|lost| Err(StoreError::Indeterminate { operation, source: lost.into() }))
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("driver", &self.0.driver).finish_non_exhaustive()
    }
}

/// The namespace that a request means which may name none.
fn or_default(namespace: &str) -> &str {
    if namespace.is_empty() { DEFAULT_NAMESPACE } else { namespace }
}

//! A server over memory, and short ways to ask it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_access::store::Cause;
use leasehold_access::store::memory::MemoryStore;
use leasehold_access::{
    Access, ApiKeyRequest, Config, CreatedApiKey, Driver, Error, NamespaceRequest, NamespaceUse, Permission,
    Principal, Result, RoleBindingRequest, RoleRequest, Stores, UserRequest,
};
use leasehold_core::ManualClock;
use leasehold_queue::Namespace;

/// Nothing in a test waits longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The namespace that has queues.
pub(crate) const WITH_QUEUES: &str = "with-queues";

struct Queues;

#[async_trait]
impl NamespaceUse for Queues {
    async fn has_queues(&self, namespace: &Namespace) -> Result<bool, Cause> {
        Ok(namespace.as_str() == WITH_QUEUES)
    }
}

pub(crate) struct Server {
    pub(crate) access: Access,
    pub(crate) clock: ManualClock,
}

impl std::ops::Deref for Server {
    type Target = Access;

    fn deref(&self) -> &Access {
        &self.access
    }
}

/// With the door open.
pub(crate) fn server() -> Server {
    over(Stores::of(Arc::new(MemoryStore::new())), Driver::Internal)
}

pub(crate) fn over(stores: Stores, driver: Driver) -> Server {
    let clock = ManualClock::default();
    let config = Config { driver, clock: Arc::new(clock.clone()), namespace_use: Arc::new(Queues) };
    Server { access: Access::new(stores, config), clock }
}

/// Who may do everything while the door is open.
pub(crate) fn anyone() -> Principal {
    Principal::anonymous()
}

/// Who may do nothing.
pub(crate) fn nobody() -> Principal {
    Principal::user("nobody", None)
}

impl Server {
    pub(crate) async fn namespace(&self, name: &str) {
        self.create_namespace(&anyone(), &namespace(name)).await.expect("creates");
    }

    pub(crate) async fn user(&self, username: &str) -> String {
        self.create_user(&anyone(), &user(username)).await.expect("creates")
    }

    pub(crate) async fn key(&self, user_id: &str) -> CreatedApiKey {
        let request = ApiKeyRequest { user_id: user_id.to_owned(), ..ApiKeyRequest::default() };
        self.create_api_key(&anyone(), &request).await.expect("creates")
    }

    pub(crate) async fn role(&self, namespace: &str, name: &str, permissions: &[Permission]) -> String {
        self.create_role(&anyone(), &role(namespace, name, permissions)).await.expect("creates")
    }

    pub(crate) async fn bind(&self, namespace: &str, role_name: &str, user_id: &str) -> String {
        self.create_role_binding(&anyone(), &binding(namespace, role_name, user_id)).await.expect("binds")
    }

    pub(crate) async fn sent(&self, key: &CreatedApiKey) -> Result<Principal> {
        self.authenticate(Some(header(key).as_bytes())).await
    }
}

pub(crate) fn header(key: &CreatedApiKey) -> String {
    format!("Bearer {}", key.key.expose())
}

pub(crate) fn namespace(name: &str) -> NamespaceRequest {
    NamespaceRequest { name: name.to_owned(), ..NamespaceRequest::default() }
}

pub(crate) fn user(username: &str) -> UserRequest {
    UserRequest { username: username.to_owned(), ..UserRequest::default() }
}

pub(crate) fn role(namespace: &str, name: &str, permissions: &[Permission]) -> RoleRequest {
    RoleRequest {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        permissions: permissions.iter().map(ToString::to_string).collect(),
    }
}

pub(crate) fn binding(namespace: &str, role_name: &str, user_id: &str) -> RoleBindingRequest {
    RoleBindingRequest {
        namespace: namespace.to_owned(),
        role_name: role_name.to_owned(),
        user_id: user_id.to_owned(),
    }
}

/// The reply code and the text of a refusal.
pub(crate) fn refusal<T: std::fmt::Debug>(answer: Result<T>) -> (u16, String) {
    let error: Error = answer.expect_err("is refused");
    (error.reply_code(), error.to_string())
}

/// Expects a refusal with this code and text.
#[macro_export]
macro_rules! assert_refused {
    ($answer:expr, $code:literal, $text:expr) => {
        assert_eq!($crate::service::fixture::refusal($answer), ($code, $text.to_string()));
    };
}

//! Who may do what.
//!
//! A request is made by a [`Principal`]: the user of the key that came with it, or nobody in particular. [`Access`]
//! finds out who that is, and whether it may. It also keeps what that is judged by: namespaces, users, keys, roles, and
//! bindings of roles to users, in any store that fulfils the contract of [`store`].

mod access;
mod api_key;
mod api_key_hash;
mod api_key_text;
mod cache;
#[cfg(feature = "conformance")]
pub mod conformance;
mod dead_queue_pair;
mod error;
mod namespace_info;
mod page;
mod permission;
mod principal;
mod refusal;
mod role;
mod role_binding;
pub mod store;
mod tag;
mod user;

pub use access::{
    Access, ApiKeyRequest, Config, CreatedApiKey, DeadQueues, Driver, NamespaceRequest, NamespaceUse,
    NoQueues, Recovered, RoleBindingRequest, RoleRequest, UserRequest,
};
pub use api_key::ApiKey;
pub use api_key_hash::ApiKeyHash;
pub use api_key_text::ApiKeyText;
pub use dead_queue_pair::DeadQueuePair;
pub use error::{Error, Kind, Result};
pub use namespace_info::NamespaceInfo;
pub use page::Page;
pub use permission::{Permission, PermissionSet};
pub use principal::Principal;
pub use refusal::Refusal;
pub use role::{Role, StandardRole};
pub use role_binding::RoleBinding;
pub use store::{StoreError, Stores};
pub use tag::Tag;
pub use user::{ANONYMOUS, User};

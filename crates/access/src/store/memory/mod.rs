//! Everything in memory: the reference for the other stores, and gone with the process.

mod api_keys;
mod namespaces;
mod role_bindings;
mod roles;
mod users;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use parking_lot::RwLock;

use crate::{ApiKey, ApiKeyHash, NamespaceInfo, Role, RoleBinding, User};

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: RwLock<Tables>,
}

impl MemoryStore {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[derive(Debug, Default)]
struct Tables {
    namespaces: BTreeMap<String, NamespaceInfo>,
    users: BTreeMap<String, User>,
    api_keys: BTreeMap<String, ApiKey>,
    api_key_ids: HashMap<ApiKeyHash, String>,
    roles: BTreeMap<String, Role>,
    role_bindings: BTreeMap<String, RoleBinding>,
    marks: BTreeSet<String>,
}

fn page<'a, T: Clone>(
    records: &'a BTreeMap<String, T>,
    pivot: &str,
    limit: usize,
    wanted: impl Fn(&T) -> bool + 'a,
) -> Vec<T> {
    let from_pivot = records.range::<str, _>((Bound::Included(pivot), Bound::Unbounded));
    from_pivot.map(|(_, record)| record).filter(|record| wanted(record)).take(limit).cloned().collect()
}

//! Everything in memory: the reference for the other stores, and gone with the process.

mod api_keys;
mod dead_queues;
mod namespaces;
mod role_bindings;
mod roles;
mod users;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use leasehold_core::Timestamp;
use leasehold_queue::{Namespace, QueueName};
use parking_lot::RwLock;

use super::Withdrawn;
use super::administration::{SystemRole, administrators, is_administered};
use crate::{ApiKey, ApiKeyHash, DeadQueuePair, NamespaceInfo, Role, RoleBinding, User};

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

    /// Takes rights away by a change that says whether it found what it changes.
    fn withdraw(&self, now: Timestamp, change: impl FnOnce(&mut Tables) -> bool) -> Withdrawn {
        let mut tables = self.tables.write();
        let mut after = tables.clone();
        if !change(&mut after) {
            return Withdrawn::Missing;
        }
        if tables.is_administered(now) && !after.is_administered(now) {
            return Withdrawn::LastAdministrator;
        }
        *tables = after;
        Withdrawn::Done
    }
}

impl Tables {
    fn is_administered(&self, now: Timestamp) -> bool {
        let system = Namespace::default();
        let bound = self.role_bindings.values().filter(|binding| binding.namespace == system);
        let roles = bound.filter_map(|binding| {
            let role = self.roles.get(&binding.role_id)?;
            Some(SystemRole {
                binding_id: binding.id.clone(),
                user_id: binding.user_id.clone(),
                permissions: role.permissions.iter().collect(),
            })
        });
        let administrators = administrators(roles);
        let counts = |key: &&ApiKey| key.namespace_scope.is_none() && administrators.contains(&key.user_id);
        let expiries = self.api_keys.values().filter(counts).map(|key| key.expires_at);
        is_administered(&administrators, expiries, now)
    }
}

#[derive(Clone, Debug, Default)]
struct Tables {
    namespaces: BTreeMap<String, NamespaceInfo>,
    users: BTreeMap<String, User>,
    api_keys: BTreeMap<String, ApiKey>,
    api_key_ids: HashMap<ApiKeyHash, String>,
    roles: BTreeMap<String, Role>,
    role_bindings: BTreeMap<String, RoleBinding>,
    marks: BTreeSet<String>,
    dead_queues: BTreeMap<QueueName, DeadQueuePair>,
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

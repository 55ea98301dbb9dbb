use std::collections::HashMap;

use leasehold_core::{Fence, Key, KeyHash};
use parking_lot::Mutex;

/// The newest fences that this process has seen: for a resource that one process alone writes to, such as a file, a
/// device, or a service that answers HTTP.
///
/// Keeps one number per resource for as long as it lives. A resource that outlives the process keeps its newest fence
/// beside its data instead.
#[derive(Debug, Default)]
pub struct FenceGate {
    newest: Mutex<HashMap<Key, Fence>>,
}

/// The fence is older than one that was seen: its holder has lost the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("fence {fence} of {resource} is stale: {newest} was seen")]
pub struct Stale {
    /// What was to be written to.
    pub resource: KeyHash,
    /// The fence that came.
    pub fence: Fence,
    /// The newest that has come.
    pub newest: Fence,
}

impl FenceGate {
    /// Runs the write if no newer fence was seen. Nobody else passes meanwhile, so that the write and the decision are
    /// one step; it should therefore be short.
    pub fn write<T>(&self, resource: &Key, fence: Fence, write: impl FnOnce() -> T) -> Result<T, Stale> {
        let mut newest = self.newest.lock();
        match newest.get(resource) {
            Some(&newest) if newest > fence => Err(Stale { resource: resource.key_hash(), fence, newest }),
            _ => {
                newest.insert(resource.clone(), fence);
                Ok(write())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(counter: u64) -> Fence {
        Fence::from_counter(counter).unwrap()
    }

    #[test]
    fn older_fence_is_refused_and_writes_nothing() {
        let (gate, account) = (FenceGate::default(), Key::parse("account").unwrap());
        let mut written = Vec::new();
        assert_eq!(gate.write(&account, fence(1), || written.push("first")), Ok(()));
        assert_eq!(gate.write(&account, fence(2), || written.push("second")), Ok(()));
        let stale = gate.write(&account, fence(1), || written.push("late")).unwrap_err();
        assert_eq!((stale.fence, stale.newest), (fence(1), fence(2)));
        assert_eq!(written, ["first", "second"]);
    }

    #[test]
    fn same_holder_may_write_again_and_other_resources_are_not_touched() {
        let gate = FenceGate::default();
        let (account, ledger) = (Key::parse("account").unwrap(), Key::parse("ledger").unwrap());
        assert_eq!(gate.write(&account, fence(7), || 1), Ok(1));
        assert_eq!(gate.write(&account, fence(7), || 2), Ok(2));
        assert_eq!(gate.write(&ledger, fence(1), || 3), Ok(3));
    }
}

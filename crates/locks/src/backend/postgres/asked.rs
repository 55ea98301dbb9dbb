//! Many requests as the arrays of one statement.

use leasehold_txn::tokio_postgres::types::{ToSql, Type};

use super::Mode;
use super::acquire::{millis, storage_keys};
use crate::AcquireRequest;

/// One array for each column of the requests, and whether SyncGuard's locks are to be taken.
pub(super) struct Asked<'a> {
    keys: Vec<String>,
    fence_keys: Vec<String>,
    user_keys: Vec<&'a str>,
    lock_ids: Vec<&'a str>,
    ttls: Vec<i64>,
    advisory: bool,
}

impl<'a> Asked<'a> {
    pub(super) fn of(requests: &[&'a AcquireRequest], mode: Mode) -> Self {
        let storage_keys = requests.iter().map(|request| storage_keys(&request.key));
        let (keys, fence_keys) = storage_keys
            .map(|(key, fence_key)| (key.as_str().to_owned(), fence_key.as_str().to_owned()))
            .unzip();
        Asked {
            keys,
            fence_keys,
            user_keys: requests.iter().map(|request| request.key.as_str()).collect(),
            lock_ids: requests.iter().map(|request| request.lock_id.as_str()).collect(),
            ttls: requests.iter().map(|request| millis(request.ttl)).collect(),
            advisory: mode == Mode::Shared,
        }
    }

    /// The keys as they are stored.
    pub(super) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// In the order of the statements' parameters.
    pub(super) fn values(&self) -> [(&(dyn ToSql + Sync), Type); 6] {
        [
            (&self.keys, Type::TEXT_ARRAY),
            (&self.fence_keys, Type::TEXT_ARRAY),
            (&self.user_keys, Type::TEXT_ARRAY),
            (&self.lock_ids, Type::TEXT_ARRAY),
            (&self.ttls, Type::INT8_ARRAY),
            (&self.advisory, Type::BOOL),
        ]
    }
}

use leasehold_core::redis::server_time;
use leasehold_core::{Key, LockId, LockRecord, Timestamp};
use redis::Value;

use super::super::rules;
use super::entry::{self, text};
use super::errors::{Effect, malformed};
use super::{RedisBackend, script};
use crate::{Error, LookupBy, Result};

/// What was found under a key, live or not, and when.
pub(super) struct Found {
    pub(super) record: LockRecord,
    pub(super) read_at: Timestamp,
}

pub(super) async fn lookup(backend: &RedisBackend, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
    let found = match by {
        LookupBy::Key(key) => of_key(backend, "lookup", key).await?,
        LookupBy::LockId(lock_id) => of_lock_id(backend, lock_id).await?,
    };
    Ok(found.filter(|found| rules::live(&found.record, found.read_at)).map(|found| found.record))
}

/// The hold of a key.
pub(super) async fn of_key(
    backend: &RedisBackend,
    operation: &'static str,
    key: &Key,
) -> Result<Option<Found>> {
    backend.reserved_keys.admit(key)?;
    let lock = backend.space.lock(key);
    let reply = script::LOOKUP_KEY
        .run(&backend.connection, backend.deadline(), &[lock.as_str()], &[])
        .await
        .map_err(|failure| failure.into_error_of_key(operation, Effect::Reads, key.key_hash()))?;
    let Value::Array(reply) = reply else { return Err(malformed(operation)) };
    match &reply[..] {
        [Value::Nil, _, _] => Ok(None),
        [Value::BulkString(entry), seconds, micros] => {
            let foreign = || Error::Foreign { operation, key_hash: key.key_hash() };
            let record = entry::parse(entry).ok_or_else(foreign)?;
            Ok(Some(Found { record, read_at: time(seconds, micros)? }))
        }
        _ => Err(malformed(operation)),
    }
}

async fn of_lock_id(backend: &RedisBackend, lock_id: &LockId) -> Result<Option<Found>> {
    const OPERATION: &str = "lookup";
    let index = backend.space.index(lock_id);
    let reply = script::LOOKUP_ID
        .run(&backend.connection, backend.deadline(), &[index.as_str()], &[])
        .await
        .map_err(|failure| failure.into_error(OPERATION, Effect::Reads))?;
    let reply = match reply {
        Value::Nil => return Ok(None),
        Value::Array(reply) => reply,
        _ => return Err(malformed(OPERATION)),
    };
    match &reply[..] {
        [Value::Nil, _, _, _] => Ok(None),
        [Value::BulkString(entry), seconds, micros, lock] => {
            let record = entry::parse(entry).ok_or_else(|| backend.foreign(OPERATION, lock))?;
            let read_at = time(seconds, micros)?;
            // The index may be of an earlier hold: the entry says whose it is.
            Ok((record.lock_id == *lock_id).then_some(Found { record, read_at }))
        }
        _ => Err(malformed(OPERATION)),
    }
}

/// The server's time, from its two parts in a reply.
pub(super) fn time(seconds: &Value, micros: &Value) -> Result<Timestamp> {
    Ok(server_time(text(seconds).unwrap_or_default(), text(micros).unwrap_or_default())?)
}

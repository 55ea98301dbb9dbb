use leasehold_core::{LockId, Refusal};
use redis::Value;

use super::entry::integer;
use super::errors::{Effect, malformed};
use super::{RedisBackend, script};
use crate::{ReleaseOutcome, Result};

const OPERATION: &str = "release";

pub(super) async fn release(backend: &RedisBackend, lock_id: &LockId) -> Result<ReleaseOutcome> {
    let index = backend.space.index(lock_id);
    let arguments = [lock_id.as_str(), script::TOLERANCE, backend.news.channel()];
    let reply = script::RELEASE
        .run(&backend.connection, backend.deadline(), &[index.as_str()], &arguments)
        .await
        .map_err(|failure| failure.into_error(OPERATION, Effect::Writes))?;
    match &reply {
        Value::Int(code) => Ok(match Refusal::from_redis_reply(*code) {
            None => ReleaseOutcome::Released,
            Some(refusal) => ReleaseOutcome::Refused(refusal),
        }),
        Value::Array(reply) => match &reply[..] {
            [code, lock] if integer(code) == Some(-3) => Err(backend.foreign(OPERATION, lock)),
            _ => Err(malformed(OPERATION)),
        },
        _ => Err(malformed(OPERATION)),
    }
}

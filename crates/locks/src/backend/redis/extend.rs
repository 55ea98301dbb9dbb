use leasehold_core::{Refusal, Timestamp};
use redis::Value;

use super::acquire::ttl_millis;
use super::entry::integer;
use super::errors::{Effect, malformed};
use super::{RedisBackend, script};
use crate::{ExtendOutcome, ExtendRequest, Result};

const OPERATION: &str = "extend";

pub(super) async fn extend(backend: &RedisBackend, request: &ExtendRequest) -> Result<ExtendOutcome> {
    let index = backend.space.index(&request.lock_id);
    let arguments = [request.lock_id.as_str(), script::TOLERANCE, &ttl_millis(request.ttl)?];
    let suspect = backend.connection.suspect();
    let reply =
        script::EXTEND.run(&backend.connection, backend.deadline(), &[index.as_str()], &arguments).await;
    suspect.answered();
    let reply = reply.map_err(|failure| failure.into_error(OPERATION, Effect::Writes))?;
    match &reply {
        Value::Int(code) => {
            let refusal = Refusal::from_redis_reply(*code).ok_or_else(|| malformed(OPERATION))?;
            Ok(ExtendOutcome::Refused(refusal))
        }
        Value::Array(reply) => match (reply.first().and_then(integer), &reply[..]) {
            (Some(1), [_, expires_at]) => {
                let millis = integer(expires_at).ok_or_else(|| malformed(OPERATION))?;
                Ok(ExtendOutcome::Extended { expires_at: Timestamp::from_millis(millis) })
            }
            (Some(-3), [_, lock]) => Err(backend.foreign(OPERATION, lock)),
            _ => Err(malformed(OPERATION)),
        },
        _ => Err(malformed(OPERATION)),
    }
}

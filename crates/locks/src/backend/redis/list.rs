use std::collections::BTreeSet;
use std::time::Duration;

use leasehold_core::{Key, LockCode, LockRecord};
use redis::{Cmd, Value};
use tokio::time::Instant;

use super::super::rules;
use super::entry::{self, text};
use super::errors::{Effect, Failure, malformed};
use super::{RedisBackend, lookup};
use crate::{Error, ListRequest, Result};

const OPERATION: &str = "list";
/// Redis has no order to page by: every page looks at all keys under the prefix, which must therefore be few.
const HOLDS_MAX: usize = 100_000;
/// Keys that one step of the scan looks at; Redis serves nobody else meanwhile.
const SCAN_STEP: usize = 1_000;
/// The longest prefix under which keys are kept by their own text, and so in their own order.
const PREFIX_BYTES_MAX: usize = 461;
/// Scanning a database of millions of other keys takes many steps, each with the timeout of an operation.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) async fn list(backend: &RedisBackend, request: &ListRequest) -> Result<Vec<LockRecord>> {
    if backend.lead.len() > PREFIX_BYTES_MAX + 1 {
        return Err(refused(format!("listing needs a key prefix of at most {PREFIX_BYTES_MAX} bytes")));
    }
    let page_len = request.page_len();
    if page_len == 0 {
        return Ok(Vec::new());
    }
    let keys = scan(backend, request.after.as_ref()).await?;
    let keys: Vec<Key> = keys.into_iter().collect();
    let mut page = Vec::new();
    for some in keys.chunks(page_len) {
        page.extend(read(backend, some).await?);
        if page.len() >= page_len {
            break;
        }
    }
    page.truncate(page_len);
    Ok(page)
}

/// All keys after this one that have an entry, in order. Redis may name a key twice, and may miss or name one that
/// comes or goes meanwhile.
async fn scan(backend: &RedisBackend, after: Option<&Key>) -> Result<BTreeSet<Key>> {
    let pattern = pattern(&backend.lead);
    let ends_at = Instant::now() + LIST_TIMEOUT;
    let mut keys = BTreeSet::new();
    let mut cursor = "0".to_owned();
    loop {
        let mut command = redis::cmd("SCAN");
        command.arg(&cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCAN_STEP);
        let Value::Array(reply) = ask(backend, &command, ends_at).await? else {
            return Err(malformed(OPERATION));
        };
        let [next, Value::Array(names)] = &reply[..] else { return Err(malformed(OPERATION)) };
        let found = names.iter().filter_map(|name| Key::parse(text(name)?.strip_prefix(&backend.lead)?).ok());
        keys.extend(
            found.filter(|key| {
                backend.reserved_keys.admit(key).is_ok() && after.is_none_or(|after| key > after)
            }),
        );
        if keys.len() > HOLDS_MAX {
            return Err(refused(format!("more than {HOLDS_MAX} keys are held under this prefix")));
        }
        match text(next) {
            Some("0") => return Ok(keys),
            Some(next) => next.clone_into(&mut cursor),
            None => return Err(malformed(OPERATION)),
        }
    }
}

/// The live holds among these keys; whatever else is kept there is not listed.
async fn read(backend: &RedisBackend, keys: &[Key]) -> Result<Vec<LockRecord>> {
    let ends_at = Instant::now() + LIST_TIMEOUT;
    let Value::Array(time) = ask(backend, &redis::cmd("TIME"), ends_at).await? else {
        return Err(malformed(OPERATION));
    };
    let [seconds, micros] = &time[..] else { return Err(malformed(OPERATION)) };
    let now = lookup::time(seconds, micros)?;
    let mut command = redis::cmd("MGET");
    for key in keys {
        command.arg(backend.space.lock(key).as_str());
    }
    let Value::Array(entries) = ask(backend, &command, ends_at).await? else {
        return Err(malformed(OPERATION));
    };
    let records = entries.iter().filter_map(|entry| match entry {
        Value::BulkString(entry) => entry::parse(entry),
        _ => None,
    });
    Ok(records.filter(|record| rules::live(record, now)).collect())
}

async fn ask(backend: &RedisBackend, command: &Cmd, ends_at: Instant) -> Result<Value> {
    let deadline = backend.deadline().min(ends_at);
    let answer = backend.connection.send(command, deadline).await;
    answer.map_err(|failure: Failure| failure.into_error(OPERATION, Effect::Reads))
}

/// Everything that begins with this text, which may itself have characters that mean something in a pattern.
fn pattern(lead: &str) -> String {
    let mut pattern = String::with_capacity(lead.len() + 1);
    for character in lead.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '\\' | '^' | '-') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern + "*"
}

fn refused(reason: String) -> Error {
    Error::Store { operation: OPERATION, lock_code: LockCode::InvalidArgument, source: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn prefix_is_matched_as_it_is_written() {
        assert_eq!(pattern("a*[b]?\\:"), "a\\*\\[b\\]\\?\\\\:*");
        assert_eq!(pattern(""), "*");
    }
}

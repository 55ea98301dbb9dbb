//! How the server itself is, for whoever looks after it. Everything here only reads.

use std::collections::BTreeMap;
use std::time::Duration;

use redis::Value;

use super::RedisBackend;
use super::entry::text;
use super::errors::{Effect, Failure, malformed};
use crate::Result;

const OPERATION: &str = "inspect";

/// What a Redis says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The fields of `INFO`.
    pub info: BTreeMap<String, String>,
    /// When its file is written through to the disk (`appendfsync`); `None` where it does not say.
    pub appendfsync: Option<String>,
}

impl RedisBackend {
    /// Asks the server how it is: on a cluster, the primary that has the locks.
    pub async fn inspect(&self) -> Result<Condition> {
        let info = self.connection.send(&redis::cmd("INFO"), self.deadline()).await;
        let info = info.map_err(|failure| failure.into_error(OPERATION, Effect::Reads))?;
        let info = fields(text(&info).ok_or_else(|| malformed(OPERATION))?);
        let mut command = redis::cmd("CONFIG");
        command.arg("GET").arg("appendfsync");
        let appendfsync = match self.connection.send(&command, self.deadline()).await {
            Ok(Value::Array(pair)) => pair.get(1).and_then(|value| Some(text(value)?.to_owned())),
            // Hosted servers keep their settings to themselves.
            Ok(_) | Err(Failure::Refused(_)) => None,
            Err(failure) => return Err(failure.into_error(OPERATION, Effect::Reads)),
        };
        Ok(Condition { info, appendfsync })
    }

    /// The server's clock, since 1970.
    pub async fn server_time(&self) -> Result<Duration> {
        let time = self.connection.send(&redis::cmd("TIME"), self.deadline()).await;
        let time = time.map_err(|failure| failure.into_error(OPERATION, Effect::Reads))?;
        let Value::Array(parts) = &time else { return Err(malformed(OPERATION)) };
        let part = |part: usize| text(parts.get(part)?)?.parse::<u64>().ok();
        match (part(0), part(1)) {
            (Some(seconds), Some(micros)) => {
                Ok(Duration::from_secs(seconds).saturating_add(Duration::from_micros(micros)))
            }
            _ => Err(malformed(OPERATION)),
        }
    }
}

/// `name:value` lines, without their headings.
fn fields(info: &str) -> BTreeMap<String, String> {
    info.lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| !name.starts_with('#'))
        .map(|(name, value)| (name.to_owned(), value.trim_end().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_without_headings() {
        let read = fields("# Server\r\nredis_version:7.0.15\r\n\r\n# Keyspace\r\ndb0:keys=1,expires=1\r\n");
        assert_eq!(read["redis_version"], "7.0.15");
        assert_eq!(read["db0"], "keys=1,expires=1");
        assert_eq!(read.len(), 2);
    }
}

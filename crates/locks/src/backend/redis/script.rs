//! Scripts, by their hash where Redis knows them already.

use std::sync::LazyLock;

use redis::{Cmd, ServerErrorKind, Value};
use tokio::time::Instant;

use super::connection::Connection;
use super::errors::Failure;

pub(super) static ACQUIRE: Script = Script(LazyLock::new(|| Loaded::new(include_str!("lua/acquire.lua"))));
pub(super) static EXTEND: Script = Script(LazyLock::new(|| Loaded::new(include_str!("lua/extend.lua"))));
pub(super) static RELEASE: Script = Script(LazyLock::new(|| Loaded::new(include_str!("lua/release.lua"))));
pub(super) static LOOKUP_KEY: Script =
    Script(LazyLock::new(|| Loaded::new(include_str!("lua/lookup_key.lua"))));
pub(super) static LOOKUP_ID: Script =
    Script(LazyLock::new(|| Loaded::new(include_str!("lua/lookup_id.lua"))));
pub(super) static CLEANUP: Script = Script(LazyLock::new(|| Loaded::new(include_str!("lua/cleanup.lua"))));

/// The tolerance of the contract, in milliseconds, as scripts take it.
pub(super) const TOLERANCE: &str = "1000";

/// A script of ours.
pub(super) struct Script(LazyLock<Loaded>);

struct Loaded {
    code: &'static str,
    hash: String,
}

impl Loaded {
    fn new(code: &'static str) -> Self {
        Loaded { code, hash: redis::Script::new(code).get_hash().to_owned() }
    }
}

impl Script {
    /// Runs it: by hash, and by its text if the server does not know it yet, which then it does.
    pub(super) async fn run(
        &self,
        connection: &Connection,
        deadline: Instant,
        keys: &[&str],
        arguments: &[&str],
    ) -> Result<Value, Failure> {
        let by_hash = command("EVALSHA", &self.0.hash, keys, arguments);
        match connection.send(&by_hash, deadline).await {
            Err(failure) if failure.is_reply(ServerErrorKind::NoScript) => {
                let in_full = command("EVAL", self.0.code, keys, arguments);
                Box::pin(connection.send(&in_full, deadline)).await
            }
            answer => answer,
        }
    }
}

fn command(verb: &str, script: &str, keys: &[&str], arguments: &[&str]) -> Cmd {
    let bytes = script.len() + keys.iter().chain(arguments).map(|text| text.len()).sum::<usize>();
    let mut command = Cmd::with_capacity(3 + keys.len() + arguments.len(), bytes + 16);
    command.arg(verb).arg(script).arg(keys.len());
    for text in keys.iter().chain(arguments) {
        command.arg(*text);
    }
    command
}

#[cfg(test)]
mod tests {
    use leasehold_core::TIME_TOLERANCE;

    use super::TOLERANCE;

    #[test]
    fn tolerance_is_that_of_the_contract() {
        assert_eq!(TOLERANCE, TIME_TOLERANCE.as_millis().to_string());
    }
}

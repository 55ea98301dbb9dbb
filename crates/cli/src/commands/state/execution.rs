use clap::Args;
use leasehold_persistence::{CurrentRun, ExecutionTokens, Inspector, NamespaceId, RunId};
use serde_json::{Map, Value, json};

use super::target::Target;
use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, print};
use crate::table::Table;

/// Show what the next write of an execution must match, and how much is kept of it.
#[derive(Debug, Args)]
pub(super) struct Execution {
    /// The namespace, by name or id
    namespace: String,

    /// The workflow id
    workflow: String,

    /// The run; the current one unless given
    run: Option<RunId>,
}

impl Execution {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let inspector = Inspector::new(target.database().await?);
        let namespace_id = match self.namespace.parse::<NamespaceId>() {
            Ok(id) => id,
            Err(_) => inspector.namespace(&self.namespace).await?,
        };
        let tokens = inspector.execution(namespace_id, &self.workflow, self.run).await?;
        let is_current = tokens.current.as_ref().is_some_and(|current| current.run_id == tokens.run_id);
        let maps: Map<String, Value> =
            tokens.maps.iter().map(|map| (map.name.to_owned(), map.len.into())).collect();
        let answer = json!({
            "namespace_id": namespace_id.to_string(),
            "workflow_id": self.workflow,
            "run_id": tokens.run_id.to_string(),
            "shard_id": tokens.shard_id,
            "range_id": tokens.range_id,
            "next_event_id": tokens.next_event_id,
            "db_record_version": tokens.db_record_version,
            "last_write_version": tokens.last_write_version,
            "is_current": is_current,
            "current": tokens.current.as_ref().map(current),
            "maps": maps,
        });
        print(target.json, &answer, || text(&tokens, is_current))?;
        Ok(Done::Yes)
    }
}

fn current(current: &CurrentRun) -> Value {
    json!({
        "run_id": current.run_id.to_string(),
        "create_request_id": current.create_request_id,
        "state": state(current.state),
        "status": status(current.status),
        "started_at": current.started_at.and_then(instant::show_exactly),
        "last_write_version": current.last_write_version,
    })
}

fn text(tokens: &ExecutionTokens, is_current: bool) -> String {
    let mut table = Table::new(&["WHAT", "VALUE"]);
    table.row([&"shard", &tokens.shard_id]);
    table.row([&"range of the shard", &tokens.range_id]);
    table.row([&"run", &tokens.run_id]);
    table.row([&"next event", &tokens.next_event_id]);
    table.row([&"record version", &tokens.db_record_version]);
    table.row([&"last write version", &tokens.last_write_version]);
    match &tokens.current {
        Some(current) => {
            table.row([&"current run", if is_current { &"this one" } else { &current.run_id }]);
            table.row([&"state", &state(current.state)]);
            table.row([&"status", &status(current.status)]);
        }
        None => table.row([&"current run", &"none"]),
    }
    for map in &tokens.maps {
        table.row([&map.name.replace('_', " "), &map.len]);
    }
    table.to_string()
}

/// Temporal's names for its numbers; a number that came later is shown as it is.
fn state(number: i32) -> String {
    named(number, &["created", "running", "completed", "zombie", "void", "corrupted"])
}

fn status(number: i32) -> String {
    named(
        number,
        &[
            "running",
            "completed",
            "failed",
            "canceled",
            "terminated",
            "continued_as_new",
            "timed_out",
            "paused",
        ],
    )
}

/// Numbers count from 1.
fn named(number: i32, names: &[&str]) -> String {
    let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    at.and_then(|at| names.get(at)).map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_temporals_names_or_stay_numbers() {
        assert_eq!(
            (state(1), state(3), state(0), state(9)),
            ("created".into(), "completed".into(), "0".into(), "9".into())
        );
        assert_eq!((status(1), status(7), status(-1)), ("running".into(), "timed_out".into(), "-1".into()));
    }
}

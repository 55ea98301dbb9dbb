//! Every write while it conflicts with others, as the simulator can be told to.

use super::execution_faults::{WRITES, expected, prepare};
use crate::fixture::Fixture;
use crate::fixture::runs::tables_of;

macro_rules! execution_conflict_cases {
    ($target:ident) => {
        $target!(
            execution_conflicts:
            conflict_at_any_point_is_not_seen,
        );
    };
}

/// Property 3: conflict retry. A conflict at the n-th statement, for every n, or at COMMIT, and the write is as without it.
pub(crate) async fn conflict_at_any_point_is_not_seen(fixture: &Fixture) {
    let mut shards = 1..;
    let mut next_shard = move || shards.next().expect("another shard");
    let (executions, outside) = (fixture.executions(), &fixture.outside().await);
    for write in &WRITES {
        let name = write.name;
        let (_, after) = expected(fixture, outside, write, next_shard()).await;
        for (action, step) in
            [("conflict_at_statement", 1), ("schema_conflict_at_statement", 7), ("conflict_at_commit", 1)]
        {
            for nth in (1..).step_by(step) {
                let shard_id = next_shard();
                prepare(fixture, outside, shard_id).await;
                fixture.arm(&format!(r#"{{"name": "a", "action": "{action}", "nth": {nth}}}"#));
                (write.run)(&executions, shard_id).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                let fired = fixture.fired();
                fixture.disarm();
                assert!(tables_of(outside, shard_id).await == after, "{name} {action} at {nth}");
                if fired == 0 {
                    assert!(nth > 1, "{name} {action}");
                    break;
                }
            }
        }
    }
}

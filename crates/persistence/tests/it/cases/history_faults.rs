//! History, task queues and user data while others are faster, as the simulator can be told to pretend.

use leasehold_persistence::{AppendNode, Blob, Order};

use super::history::{node, read};
use super::whole_writes::{WRITES, content, seed};
use crate::fixture::Fixture;
use crate::fixture::runs::branch;

macro_rules! history_fault_cases {
    ($target:ident) => {
        $target!(
            history_faults:
            body_that_runs_again_writes_the_same_transaction,
            conflicts_leave_what_one_run_leaves,
        );
    };
}

const CONFLICTS: [&str; 4] = [
    "conflict_at_commit",
    "conflict_at_statement",
    "schema_conflict_at_commit",
    "schema_conflict_at_statement",
];

/// Property 3: a conflict at any point, several times over, and what is stored is what one run stores.
pub(crate) async fn body_that_runs_again_writes_the_same_transaction(fixture: &Fixture) {
    let history = fixture.history();
    let mut tree = 0;
    for action in CONFLICTS {
        for table in ["history_node", "history_tree"] {
            for times in 1..=5 {
                tree += 1;
                let branch = branch(1, tree, 1);
                let node = node(1, i64::from(times) + 40, 7);
                fixture.arm(&format!(
                    r#"{{"name": "a", "action": "{action}", "table": "{table}", "times": {times}}}"#
                ));
                let append = AppendNode::new_branch(branch, node.clone(), Blob::proto3(vec![1]));
                history.append(&append).await.unwrap_or_else(|error| panic!("{action}: {error:?}"));
                if table == "history_node" {
                    fixture.arm(&format!(r#"{{"name": "a", "action": "{action}", "times": {times}}}"#));
                    let append = AppendNode::existing(branch, node.clone());
                    history.append(&append).await.unwrap_or_else(|error| panic!("{action}: {error:?}"));
                }
                fixture.disarm();
                let stored = read(&history, branch, 1..9, Order::Ascending, 10).await;
                assert_eq!(stored, [node], "{action} of {table}, {times} times");
            }
        }
    }
}

/// Property 3: whatever is written, by however many runs, is what one run writes.
pub(crate) async fn conflicts_leave_what_one_run_leaves(fixture: &Fixture) {
    for write in WRITES {
        seed(fixture).await;
        write.run(fixture.database.clone()).await.expect("a write");
        let after = content(fixture).await;
        for action in CONFLICTS {
            for times in 1..=3 {
                seed(fixture).await;
                fixture.arm(&format!(r#"{{"name": "a", "action": "{action}", "times": {times}}}"#));
                let answer = write.run(fixture.database.clone()).await;
                assert_eq!(fixture.fired(), times, "{write:?}");
                fixture.disarm();
                answer.unwrap_or_else(|error| panic!("{action} of {write:?}: {error:?}"));
                assert_eq!(content(fixture).await, after, "{action} of {write:?}, {times} times");
            }
        }
    }
}

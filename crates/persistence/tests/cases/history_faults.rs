//! History while the database refuses, conflicts and falls silent, as the simulator can be told to.

#![allow(dead_code, unused_macros)] // Not on PostgreSQL, which cannot.

use leasehold_persistence::{AppendNode, Blob, Error, Order, TreeBranch};

use super::history::{branch, node, read};
use crate::fixture::Fixture;

macro_rules! history_fault_cases {
    ($target:ident) => {
        $target!(
            history_faults:
            body_that_runs_again_writes_the_same_transaction,
            first_node_and_branch_are_both_there_or_neither,
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

/// Property 6: an answer lost around COMMIT leaves the state before or the whole state after, and says that it does not
/// know; appending again is right in both.
pub(crate) async fn first_node_and_branch_are_both_there_or_neither(fixture: &Fixture) {
    let history = fixture.history();
    for (tree, (action, happened)) in
        [("cut_before_commit", false), ("cut_after_commit", true)].into_iter().enumerate()
    {
        let branch = branch(1, u8::try_from(tree).expect("small"), 1);
        let info = Blob::proto3(vec![1]);
        let append = AppendNode::new_branch(branch, node(1, 4, 0), info.clone());
        fixture
            .arm(&format!(r#"{{"name": "a", "action": "{action}", "table": "history_tree", "times": 1}}"#));
        let error = history.append(&append).await.expect_err("no answer");
        assert!(matches!(error, Error::UnknownOutcome { .. }), "{action}: {error:?}");
        fixture.disarm();
        let nodes = read(&history, branch, 1..9, Order::Ascending, 10).await;
        let tree = history.tree(1, branch.tree_id).await.expect("a tree");
        assert_eq!((nodes.len(), tree.len()), if happened { (1, 1) } else { (0, 0) }, "{action}");
        history.append(&append).await.expect("an append");
        assert_eq!(read(&history, branch, 1..9, Order::Ascending, 10).await, [node(1, 4, 0)]);
        let tree = history.tree(1, branch.tree_id).await.expect("a tree");
        assert_eq!(tree, [TreeBranch { branch, info }]);
    }
}

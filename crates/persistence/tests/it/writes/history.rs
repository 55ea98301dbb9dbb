//! History: nodes, branches, trees.

use leasehold_persistence::{
    AppendNode, Blob, Branch, BranchId, BranchRange, History, HistoryNode, NodeInfo, TreeId,
};

use super::{Write, bytes, prepared, writes};

fn branch(seed: u16) -> Branch {
    Branch { shard_id: 1, tree_id: TreeId::from_bytes(bytes(seed)), branch_id: BranchId::from_bytes([1; 16]) }
}

fn blob(data: u8) -> Blob {
    Blob::proto3(vec![data])
}

fn node(node_id: i64) -> HistoryNode {
    HistoryNode { info: NodeInfo::new(node_id, 5, 0).expect("a place"), events: blob(1) }
}

fn first(seed: u16) -> AppendNode {
    AppendNode::new_branch(branch(seed), node(1), blob(2))
}

writes! {
    "history.append_first", None, |_database, seed| {
        prepared(move |database| async move { History::new(database).append(&first(seed)).await })
    };
    "history.append", None, |database, seed| {
        History::new(database).append(&first(seed)).await.expect("a node");
        prepared(move |database| async move {
            History::new(database).append(&AppendNode::existing(branch(seed), node(2))).await
        })
    };
    "history.fork", None, |database, seed| {
        History::new(database).append(&first(seed)).await.expect("a node");
        prepared(move |database| async move {
            let forked = Branch { branch_id: BranchId::from_bytes([2; 16]), ..branch(seed) };
            History::new(database).fork(&forked, &blob(3)).await
        })
    };
    "history.delete_node", None, |database, seed| {
        History::new(database).append(&first(seed)).await.expect("a node");
        prepared(move |database| async move { History::new(database).delete_node(&branch(seed), 1, 5).await })
    };
    "history.delete_branch", None, |database, seed| {
        History::new(database).append(&first(seed)).await.expect("a node");
        prepared(move |database| async move {
            let range = BranchRange { branch_id: branch(seed).branch_id, begin_node_id: 1 };
            History::new(database).delete_branch(&branch(seed), &[range]).await
        })
    };
}

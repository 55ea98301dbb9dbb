//! History: appended again and again to the same effect, read whole in either direction, and told apart from what failed
//! writers left.

use std::time::Duration;

use leasehold_persistence::{
    AppendNode, Blob, Branch, BranchRange, Chain, Error, History, HistoryNode, NodeInfo, Order, PageSize,
    PageToken, ReadBranch, TreeBranch, TreeId,
};

use crate::fixture::runs::branch;
use crate::fixture::{Dice, Fixture, all_pages};

macro_rules! history_cases {
    ($target:ident) => {
        $target!(
            history:
            appended_node_reads_back,
            first_node_makes_its_branch_known,
            node_appended_again_is_replaced,
            transactions_are_stored_negated_and_the_request_is_not_changed,
            forked_branch_is_known_to_its_tree,
            deleted_node_is_gone_and_others_are_not,
            deleted_branch_takes_its_ranges_along,
            branch_of_more_nodes_than_a_transaction_takes_is_deleted,
            pages_hold_every_node_once_at_any_size,
            list_of_branches_holds_every_branch_once_at_any_size,
            token_of_another_list_is_refused,
            picked_nodes_are_what_was_written,
            append_without_an_answer_in_time_says_so_and_is_repeated,
        );
    };
}

impl Fixture {
    pub(crate) fn history(&self) -> History {
        History::new(self.database.clone())
    }
}

pub(crate) fn node(node_id: i64, txn_id: i64, prev_txn_id: i64) -> HistoryNode {
    let events = Blob::proto3(format!("events of {node_id} by {txn_id}").into_bytes());
    HistoryNode { info: NodeInfo::new(node_id, txn_id, prev_txn_id).expect("a place"), events }
}

async fn append(history: &History, branch: Branch, nodes: &[HistoryNode]) {
    for node in nodes {
        history.append(&AppendNode::existing(branch, node.clone())).await.expect("an append");
    }
}

pub(crate) async fn read(
    history: &History,
    branch: Branch,
    nodes: std::ops::Range<i64>,
    order: Order,
    size: usize,
) -> Vec<HistoryNode> {
    all_pages(size, |page_size, token| {
        let request = ReadBranch::new(branch, nodes.clone(), page_size).expect("a request");
        let request = match token {
            Some(token) => request.after(token),
            None => request,
        };
        async move { history.read_branch(&request, order).await.expect("a page") }
    })
    .await
}

async fn whole(history: &History, branch: Branch) -> Vec<HistoryNode> {
    read(history, branch, 1..i64::MAX, Order::Ascending, 1000).await
}

async fn count_nodes(fixture: &Fixture) -> i64 {
    let rows = fixture.outside().await.query_one("SELECT count(*) FROM history_node", &[]).await;
    rows.expect("a number").get(0)
}

pub(crate) async fn appended_node_reads_back(fixture: &Fixture) {
    let history = fixture.history();
    let nodes = [node(1, 10, 0), node(4, 11, 10), node(9, 15, 11)];
    append(&history, branch(1, 1, 1), &nodes).await;
    append(&history, branch(1, 1, 2), &[node(1, 10, 0)]).await;
    assert_eq!(whole(&history, branch(1, 1, 1)).await, nodes);
    assert_eq!(read(&history, branch(1, 1, 1), 4..9, Order::Ascending, 10).await, nodes[1..2]);
    let infos: Vec<_> = nodes.iter().map(|node| node.info).collect();
    let request = ReadBranch::new(branch(1, 1, 1), 1..10, PageSize::MAX).expect("a request");
    assert_eq!(history.read_branch_info(&request).await.expect("a page").items, infos);
    assert_eq!(history.tree(1, TreeId::from_bytes([1; 16])).await.expect("a tree"), []);
}

pub(crate) async fn first_node_makes_its_branch_known(fixture: &Fixture) {
    let history = fixture.history();
    for (txn_id, info) in [(1, "first"), (2, "second")] {
        let info = Blob::proto3(info.as_bytes().to_vec());
        let append = AppendNode::new_branch(branch(3, 1, 1), node(1, txn_id, 0), info.clone());
        history.append(&append).await.expect("an append");
        let tree = history.tree(3, TreeId::from_bytes([1; 16])).await.expect("a tree");
        assert_eq!(tree, [TreeBranch { branch: branch(3, 1, 1), info }]);
    }
    assert_eq!(whole(&history, branch(3, 1, 1)).await, [node(1, 2, 0), node(1, 1, 0)]);
}

pub(crate) async fn node_appended_again_is_replaced(fixture: &Fixture) {
    let history = fixture.history();
    let again = HistoryNode {
        info: NodeInfo::new(1, 7, 3).expect("a place"),
        events: Blob::new(vec![9], "Json").expect("a blob"),
    };
    append(&history, branch(1, 1, 1), &[node(1, 7, 0), again.clone()]).await;
    assert_eq!(whole(&history, branch(1, 1, 1)).await, [again]);
}

pub(crate) async fn transactions_are_stored_negated_and_the_request_is_not_changed(fixture: &Fixture) {
    let history = fixture.history();
    let request = AppendNode::existing(branch(1, 1, 1), node(1, i64::MAX, 5));
    let before = request.clone();
    history.append(&request).await.expect("an append");
    assert_eq!(request, before);
    let row = fixture.outside().await.query_one("SELECT txn_id, prev_txn_id FROM history_node", &[]).await;
    let row = row.expect("a row");
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (-i64::MAX, 5));
    assert_eq!(whole(&history, branch(1, 1, 1)).await, [node(1, i64::MAX, 5)]);
}

pub(crate) async fn forked_branch_is_known_to_its_tree(fixture: &Fixture) {
    let history = fixture.history();
    let info = Blob::proto3(b"from 5 on".to_vec());
    for _ in 0..2 {
        history.fork(&branch(1, 1, 2), &info).await.expect("a fork");
    }
    history.fork(&branch(1, 1, 1), &info).await.expect("a fork");
    history.fork(&branch(2, 1, 3), &info).await.expect("a fork");
    let tree = history.tree(1, TreeId::from_bytes([1; 16])).await.expect("a tree");
    let wanted = [1, 2].map(|id| TreeBranch { branch: branch(1, 1, id), info: info.clone() });
    assert_eq!(tree, wanted);
}

pub(crate) async fn deleted_node_is_gone_and_others_are_not(fixture: &Fixture) {
    let history = fixture.history();
    append(&history, branch(1, 1, 1), &[node(1, 1, 0), node(3, 2, 1), node(3, 5, 1)]).await;
    for _ in 0..2 {
        history.delete_node(&branch(1, 1, 1), 3, 2).await.expect("a deletion");
    }
    assert_eq!(whole(&history, branch(1, 1, 1)).await, [node(1, 1, 0), node(3, 5, 1)]);
}

pub(crate) async fn deleted_branch_takes_its_ranges_along(fixture: &Fixture) {
    let history = fixture.history();
    let (ancestor, forked, other) = (branch(1, 1, 1), branch(1, 1, 2), branch(1, 2, 1));
    for branch in [ancestor, forked, other] {
        append(&history, branch, &[node(1, 1, 0), node(5, 2, 1), node(9, 3, 2)]).await;
        history.fork(&branch, &Blob::proto3(vec![1])).await.expect("a branch");
    }
    let ranges = [
        BranchRange { branch_id: ancestor.branch_id, begin_node_id: 6 },
        BranchRange { branch_id: forked.branch_id, begin_node_id: 5 },
    ];
    for _ in 0..2 {
        history.delete_branch(&forked, &ranges).await.expect("a deletion");
    }
    assert_eq!(whole(&history, ancestor).await, [node(1, 1, 0), node(5, 2, 1)]);
    assert_eq!(whole(&history, forked).await, [node(1, 1, 0)]);
    assert_eq!(whole(&history, other).await.len(), 3);
    let left = history.tree(1, ancestor.tree_id).await.expect("a tree");
    assert_eq!(left.iter().map(|left| left.branch).collect::<Vec<_>>(), [ancestor]);

    let ranges = vec![ranges[0]; 1001];
    let error = history.delete_branch(&forked, &ranges).await.expect_err("too many");
    assert!(matches!(error, Error::InvalidRequest { field: "ranges", .. }), "{error:?}");
}

pub(crate) async fn branch_of_more_nodes_than_a_transaction_takes_is_deleted(fixture: &Fixture) {
    let history = fixture.history();
    let (long, other) = (branch(1, 1, 1), branch(1, 1, 2));
    for branch in [long, other] {
        let first = AppendNode::new_branch(branch, node(1, 1, 0), Blob::proto3(vec![]));
        history.append(&first).await.expect("an append");
    }
    let many = "INSERT INTO history_node SELECT shard_id, tree_id, branch_id, node_id + more, txn_id, 0, data, \
                data_encoding FROM history_node, generate_series(1, 3000) AS more";
    fixture.outside().await.batch_execute(many).await.expect("many nodes");
    assert_eq!(count_nodes(fixture).await, 6002);

    let ranges = [BranchRange { branch_id: long.branch_id, begin_node_id: 1 }];
    history.delete_branch(&long, &ranges).await.expect("a deletion");
    assert_eq!(count_nodes(fixture).await, 3001);
    assert_eq!(history.tree(1, long.tree_id).await.expect("a tree").len(), 1);
}

/// Property 2: what is listed is what is stored, at any size of page, in both directions, within any range.
pub(crate) async fn pages_hold_every_node_once_at_any_size(fixture: &Fixture) {
    let history = fixture.history();
    let mut dice = Dice(11);
    for tree in 0..8 {
        let branch = branch(1, tree, 1);
        let mut nodes = Vec::new();
        for _ in 0..dice.between(0..=20) {
            let place = NodeInfo::new(dice.between(1..=6), dice.between(0..=9), dice.between(0..=9));
            let place = place.expect("a place");
            nodes.retain(|(node_id, newest_first, _)| {
                (*node_id, *newest_first) != (place.node_id, -place.txn_id)
            });
            nodes.push((place.node_id, -place.txn_id, place.prev_txn_id));
            append(&history, branch, &[node(place.node_id, place.txn_id, place.prev_txn_id)]).await;
        }
        nodes.sort_unstable();
        for _ in 0..8 {
            let start = dice.between(1..=6);
            let range = start..start + dice.between(1..=6);
            let size = usize::try_from(dice.between(1..=7)).expect("a size");
            let mut wanted: Vec<_> = nodes
                .iter()
                .filter(|(node_id, ..)| range.contains(node_id))
                .map(|&(node_id, newest_first, prev_txn_id)| node(node_id, -newest_first, prev_txn_id))
                .collect();
            assert_eq!(read(&history, branch, range.clone(), Order::Ascending, size).await, wanted);
            wanted.reverse();
            assert_eq!(read(&history, branch, range, Order::Descending, size).await, wanted);
        }
    }
}

pub(crate) async fn list_of_branches_holds_every_branch_once_at_any_size(fixture: &Fixture) {
    let history = fixture.history();
    let (mut dice, mut wanted) = (Dice(5), std::collections::BTreeSet::new());
    for _ in 0..40 {
        let [shard_id, tree, id] = [(); 3].map(|()| u8::try_from(dice.roll(4)).expect("small"));
        let branch = branch(i32::from(shard_id) - 1, tree, id);
        history.fork(&branch, &Blob::proto3(vec![tree, id])).await.expect("a branch");
        wanted.insert(branch);
    }
    for size in [1, 2, 3, 7, wanted.len(), 1000] {
        let history = &history;
        let listed = all_pages(size, |page_size, token| async move {
            history.list_branches(page_size, token.as_ref()).await.expect("a page")
        })
        .await;
        assert!(listed.iter().map(|listed| &listed.branch).eq(&wanted), "{listed:?}");
    }
}

pub(crate) async fn token_of_another_list_is_refused(fixture: &Fixture) {
    let history = fixture.history();
    let token = PageToken::from_bytes(vec![1, 2, 3]);
    let error = history.list_branches(PageSize::MAX, Some(&token)).await.expect_err("no token");
    assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    let request = ReadBranch::new(branch(1, 1, 1), 1..9, PageSize::MAX).expect("a request").after(token);
    for order in [Order::Ascending, Order::Descending] {
        let error = history.read_branch(&request, order).await.expect_err("no token");
        assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    }
}

/// Property 2: a writer appends batches, fails now and then after some of them, tries again with new transactions, and
/// repeats calls; readers see what it succeeded in, whichever way they read and however they page.
pub(crate) async fn picked_nodes_are_what_was_written(fixture: &Fixture) {
    let history = fixture.history();
    for seed in 0..16 {
        let mut dice = Dice(seed);
        let branch = branch(1, u8::try_from(seed).expect("small"), 1);
        let (mut written, mut next_node_id, mut txn_id, mut last_txn_id) = (Vec::new(), 1, 0, 0);
        for _ in 0..dice.between(1..=12) {
            let (mut batch, mut node_id, mut prev_txn_id) = (Vec::new(), next_node_id, last_txn_id);
            for _ in 0..dice.between(1..=3) {
                txn_id += dice.between(1..=3);
                batch.push(node(node_id, txn_id, prev_txn_id));
                (node_id, prev_txn_id) = (node_id + dice.between(1..=3), txn_id);
            }
            append(&history, branch, &batch).await;
            if dice.once_in(4) {
                append(&history, branch, &batch).await;
            }
            if !dice.once_in(3) {
                written.extend(batch);
                (next_node_id, last_txn_id) = (node_id, txn_id);
            }
        }
        if written.is_empty() {
            continue;
        }
        for _ in 0..4 {
            let size = usize::try_from(dice.between(1..=9)).expect("a size");
            // A reader knows from the execution where its history ends.
            let nodes = read(&history, branch, 1..next_node_id, Order::Ascending, size).await;
            assert_eq!(Chain::ascending(0).pick(nodes).expect("in order"), written, "seed {seed}");
            let nodes = read(&history, branch, 1..next_node_id, Order::Descending, size).await;
            let mut picked = Chain::descending(last_txn_id).pick(nodes).expect("in order");
            picked.reverse();
            assert_eq!(picked, written, "seed {seed}");
        }
    }
}

pub(crate) async fn append_without_an_answer_in_time_says_so_and_is_repeated(fixture: &Fixture) {
    let patient = fixture.history();
    // Much shorter than the stall.
    let hasty = History::new(fixture.with_timeout(Duration::from_millis(500)).await);
    let (existing, info) = (node(1, 1, 0), Blob::proto3(vec![1]));
    append(&patient, branch(1, 1, 1), std::slice::from_ref(&existing)).await;
    let appends = [
        AppendNode::existing(branch(1, 1, 1), existing.clone()),
        AppendNode::new_branch(branch(1, 1, 1), existing.clone(), info),
    ];
    for append in appends {
        let mut outside = fixture.outside().await;
        let stalled = if fixture.is_dsql() {
            fixture.arm(
                r#"{"name": "a", "action": "delay", "delay_ms": 20000, "table": "history_node", "times": 1}"#,
            );
            None
        } else {
            let locked = outside.transaction().await.expect("a transaction");
            locked.query("SELECT 1 FROM history_node FOR UPDATE", &[]).await.expect("a lock");
            Some(locked)
        };
        let error = hasty.append(&append).await.expect_err("no answer");
        assert!(matches!(error, Error::AppendHistoryTimeout { .. }), "{error:?}");
        assert!(error.may_have_been_committed());
        drop(stalled);
        patient.append(&append).await.expect("an append");
        assert_eq!(whole(&patient, branch(1, 1, 1)).await, std::slice::from_ref(&existing));
    }
}

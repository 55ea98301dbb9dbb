//! Which of the nodes that were appended are the history.

use super::{HistoryNode, NodeInfo};
use crate::{Error, Result};

/// Picks the nodes that count out of pages of all nodes, in the order in which they are read. It remembers where it is
/// from page to page.
///
/// Ascending, the newest transaction of a node counts, and a node older than the one before it is what a writer left behind
/// that failed. Descending, each node names the transaction of the one before it.
#[derive(Clone, Debug)]
pub struct Chain {
    last_node_id: Option<i64>,
    link: Link,
}

#[derive(Clone, Copy, Debug)]
enum Link {
    /// The transaction that the next node must not be older than.
    NotBefore(i64),
    /// The transaction that the next node must be of.
    Exactly(i64),
}

impl Chain {
    /// For pages that are read ascending from the beginning of a branch, or on from a node whose transaction is known.
    #[must_use]
    pub fn ascending(after_txn_id: i64) -> Self {
        Self { last_node_id: None, link: Link::NotBefore(after_txn_id) }
    }

    /// For pages that are read descending, from the node that this transaction wrote.
    #[must_use]
    pub fn descending(last_txn_id: i64) -> Self {
        Self { last_node_id: None, link: Link::Exactly(last_txn_id) }
    }

    /// What counts of the next page.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the nodes are not in the order of the chain.
    pub fn pick(&mut self, page: Vec<HistoryNode>) -> Result<Vec<HistoryNode>> {
        let mut picked = Vec::new();
        for node in page {
            if self.counts(&node.info)? {
                picked.push(node);
            }
        }
        Ok(picked)
    }

    fn counts(&mut self, node: &NodeInfo) -> Result<bool> {
        let (is_next, is_in_order, link) = match self.link {
            Link::NotBefore(txn_id) => (
                node.txn_id >= txn_id,
                self.last_node_id.is_none_or(|last| node.node_id > last),
                Link::NotBefore(node.txn_id),
            ),
            Link::Exactly(txn_id) => (
                node.txn_id == txn_id,
                self.last_node_id.is_none_or(|last| node.node_id < last),
                Link::Exactly(node.prev_txn_id),
            ),
        };
        if !is_next {
            return Ok(false);
        }
        if !is_in_order {
            let reason = format!("node {} of transaction {} is out of order", node.node_id, node.txn_id);
            return Err(Error::Corrupt { what: "history".to_owned(), reason });
        }
        (self.last_node_id, self.link) = (Some(node.node_id), link);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Blob;

    fn nodes(infos: &[(i64, i64, i64)]) -> Vec<HistoryNode> {
        let node = |&(node_id, txn_id, prev_txn_id): &(i64, i64, i64)| HistoryNode {
            info: NodeInfo { node_id, txn_id, prev_txn_id },
            events: Blob::proto3(vec![]),
        };
        infos.iter().map(node).collect()
    }

    fn picked(chain: &mut Chain, infos: &[(i64, i64, i64)]) -> Vec<(i64, i64)> {
        let picked = chain.pick(nodes(infos)).expect("in order");
        picked.iter().map(|node| (node.info.node_id, node.info.txn_id)).collect()
    }

    /// A writer failed with nodes 3 and 5 of transactions 20 and 21; the next wrote node 3 anew, longer.
    const LEFT_BEHIND: [(i64, i64, i64); 5] =
        [(1, 10, 0), (3, 30, 10), (3, 20, 10), (5, 21, 20), (6, 31, 30)];

    #[test]
    fn ascending_leaves_out_what_failed_writers_left() {
        assert_eq!(picked(&mut Chain::ascending(0), &LEFT_BEHIND), [(1, 10), (3, 30), (6, 31)]);
    }

    #[test]
    fn descending_follows_the_transactions_back() {
        let mut reversed = LEFT_BEHIND;
        reversed.reverse();
        assert_eq!(picked(&mut Chain::descending(31), &reversed), [(6, 31), (3, 30), (1, 10)]);
    }

    #[test]
    fn pages_are_one_chain() {
        let mut chain = Chain::ascending(0);
        assert_eq!(picked(&mut chain, &LEFT_BEHIND[..2]), [(1, 10), (3, 30)]);
        assert_eq!(picked(&mut chain, &LEFT_BEHIND[2..]), [(6, 31)]);
    }

    #[test]
    fn disorder_is_corruption() {
        for (chain, infos) in [
            (Chain::ascending(0), [(3, 10, 0), (3, 11, 10)]),
            (Chain::ascending(0), [(3, 10, 0), (1, 11, 10)]),
            (Chain::descending(11), [(3, 11, 10), (5, 10, 0)]),
        ] {
            let error = chain.clone().pick(nodes(&infos)).expect_err("out of order");
            assert_eq!(error.code(), "state.corrupt", "{infos:?}");
        }
    }
}

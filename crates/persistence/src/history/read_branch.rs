//! Reads the nodes of a branch, a page at a time, in either direction.

use std::ops::Range;

use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;

use super::{Branch, History, HistoryNode, NodeInfo};
use crate::sql::Sql;
use crate::{Error, Page, PageSize, PageToken, Result};

const READ: Operation = Operation::new("state.read_history");
const READ_INFO: Operation = Operation::new("state.read_history_info");
const SELECT_NODES: Sql = Sql::same(include_str!("sql/select_nodes.sql"));
const SELECT_NODES_DESCENDING: Sql = Sql::same(include_str!("sql/select_nodes_descending.sql"));
const SELECT_NODE_INFO: Sql = Sql::same(include_str!("sql/select_node_info.sql"));

/// Which end is read first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The lowest node first; of one node the newest transaction first.
    Ascending,
    /// The exact reverse.
    Descending,
}

/// Which nodes of a branch are read.
#[derive(Clone, Debug)]
pub struct ReadBranch {
    branch: Branch,
    nodes: Range<i64>,
    page_size: PageSize,
    after: Option<PageToken>,
}

impl ReadBranch {
    /// The first page of `nodes`, a range of node ids.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the range is empty.
    pub fn new(branch: Branch, nodes: Range<i64>, page_size: PageSize) -> Result<Self> {
        if nodes.is_empty() {
            let reason = format!("must not be empty, is {} to {}", nodes.start, nodes.end);
            return Err(Error::invalid("nodes", reason));
        }
        Ok(Self { branch, nodes, page_size, after: None })
    }

    /// The page that begins at a token.
    #[must_use]
    pub fn after(self, token: PageToken) -> Self {
        Self { after: Some(token), ..self }
    }

    /// Node and stored transaction that the page lies behind, in its order.
    fn last(&self, order: Order) -> Result<(i64, i64)> {
        let first_page = match order {
            Order::Ascending => (self.nodes.start, i64::MIN),
            Order::Descending => (self.nodes.end, i64::MIN),
        };
        let Some(token) = &self.after else { return Ok(first_page) };
        let [node_id, stored_txn_id] = token.numbers()?;
        if !self.nodes.contains(&node_id) {
            return Err(PageToken::malformed());
        }
        Ok((node_id, stored_txn_id))
    }
}

impl History {
    /// Every node of the range that was ever appended and not deleted, those that do not count included: [`Chain`] tells
    /// them apart.
    ///
    /// [`Chain`]: super::Chain
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the token is not of this list.
    pub async fn read_branch(&self, request: &ReadBranch, order: Order) -> Result<Page<HistoryNode>> {
        let (sql, other_end) = match order {
            Order::Ascending => (SELECT_NODES, request.nodes.end),
            Order::Descending => (SELECT_NODES_DESCENDING, request.nodes.start),
        };
        let last = request.last(order)?;
        let rows = self.rows(READ, sql, request, last, other_end).await?;
        let nodes = rows.iter().map(HistoryNode::of).collect::<Result<_>>()?;
        Ok(Page::new(nodes, request.page_size, |last: &HistoryNode| Some(token_after(&last.info))))
    }

    /// [`read_branch`](Self::read_branch) without the events, ascending.
    ///
    /// # Errors
    /// The same.
    pub async fn read_branch_info(&self, request: &ReadBranch) -> Result<Page<NodeInfo>> {
        let last = request.last(Order::Ascending)?;
        let rows = self.rows(READ_INFO, SELECT_NODE_INFO, request, last, request.nodes.end).await?;
        let nodes = rows.iter().map(NodeInfo::of).collect::<Result<_>>()?;
        Ok(Page::new(nodes, request.page_size, |last: &NodeInfo| Some(token_after(last))))
    }

    async fn rows(
        &self,
        operation: Operation,
        sql: Sql,
        request: &ReadBranch,
        (last_node_id, last_stored_txn_id): (i64, i64),
        other_end: i64,
    ) -> Result<Vec<Row>> {
        let Branch { shard_id, tree_id, branch_id } = &request.branch;
        let limit = request.page_size.limit();
        let values: leasehold_txn::Parameters<'_> =
            &[shard_id, tree_id, branch_id, &last_node_id, &last_stored_txn_id, &other_end, &limit];
        self.database.read(operation, sql, values).await
    }
}

fn token_after(last: &NodeInfo) -> PageToken {
    PageToken::of_numbers([last.node_id, last.stored_txn_id()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BranchId, TreeId};

    fn request(nodes: Range<i64>) -> Result<ReadBranch> {
        let branch = Branch {
            shard_id: 1,
            tree_id: TreeId::from_bytes([1; 16]),
            branch_id: BranchId::from_bytes([2; 16]),
        };
        ReadBranch::new(branch, nodes, PageSize::MAX)
    }

    #[test]
    fn empty_range_is_refused() {
        for nodes in [1..1, Range { start: 5, end: 2 }] {
            assert!(matches!(request(nodes), Err(Error::InvalidRequest { field: "nodes", .. })));
        }
    }

    #[test]
    fn token_from_outside_the_range_is_refused() {
        for (node_id, is_taken) in [(4, false), (5, true), (8, true), (9, false)] {
            let request = request(5..9).expect("a request").after(PageToken::of_numbers([node_id, -3]));
            assert_eq!(request.last(Order::Ascending).is_ok(), is_taken, "{node_id}");
        }
        let request = request(5..9).expect("a request").after(PageToken::from_bytes(vec![1]));
        assert!(request.last(Order::Descending).is_err());
    }
}

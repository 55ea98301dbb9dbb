//! A node: a batch of events under the id of its first.

use leasehold_txn::tokio_postgres::Row;

use crate::sql::column;
use crate::{Blob, Error, Result};

/// Where a node stands: which event it begins with, who wrote it, and after what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeInfo {
    /// The id of its first event.
    pub node_id: i64,
    /// The transaction that wrote it. Of two nodes with the same id the one with the larger transaction counts.
    pub txn_id: i64,
    /// The transaction that wrote the node before it; 0 at the beginning.
    pub prev_txn_id: i64,
}

/// A batch of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryNode {
    /// Where it stands.
    pub info: NodeInfo,
    /// The events.
    pub events: Blob,
}

impl NodeInfo {
    /// A place.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the node's id is below 1 or a transaction's below 0.
    pub fn new(node_id: i64, txn_id: i64, prev_txn_id: i64) -> Result<Self> {
        if node_id < 1 {
            return Err(Error::invalid("node_id", format!("must be at least 1, is {node_id}")));
        }
        for (field, id) in [("txn_id", txn_id), ("prev_txn_id", prev_txn_id)] {
            if id < 0 {
                return Err(Error::invalid(field, format!("must be at least 0, is {id}")));
            }
        }
        Ok(Self { node_id, txn_id, prev_txn_id })
    }

    pub(super) fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            node_id: column(row, "node_id")?,
            txn_id: given(column(row, "txn_id")?),
            prev_txn_id: column(row, "prev_txn_id")?,
        })
    }

    /// The transaction as the table keeps it.
    pub(super) fn stored_txn_id(&self) -> i64 {
        stored(self.txn_id)
    }
}

impl HistoryNode {
    pub(super) fn of(row: &Row) -> Result<Self> {
        Ok(Self { info: NodeInfo::of(row)?, events: Blob::of(row)? })
    }
}

/// Negated, so that an ascending scan meets the newest transaction of a node first. A value is made from a value: whoever
/// runs again negates what the caller gave, not what the run before left.
pub(super) fn stored(txn_id: i64) -> i64 {
    txn_id.saturating_neg()
}

fn given(stored_txn_id: i64) -> i64 {
    stored_txn_id.saturating_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_transactions_are_stored_before_older() {
        let ids = [0, 1, 2, i64::MAX];
        for pair in ids.windows(2) {
            assert!(stored(pair[1]) < stored(pair[0]), "{pair:?}");
        }
        for id in ids {
            assert_eq!(given(stored(id)), id);
        }
    }

    #[test]
    fn impossible_ids_are_refused_by_name() {
        assert!(NodeInfo::new(1, 0, 0).is_ok());
        for (node_id, txn_id, prev_txn_id, name) in
            [(0, 1, 0, "node_id"), (1, -1, 0, "txn_id"), (1, 1, -1, "prev_txn_id")]
        {
            let error = NodeInfo::new(node_id, txn_id, prev_txn_id).expect_err("impossible");
            assert!(matches!(error, Error::InvalidRequest { field, .. } if field == name), "{error}");
        }
    }
}

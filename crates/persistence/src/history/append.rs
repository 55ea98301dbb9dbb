//! Appends a node to a branch.

use leasehold_txn::{Operation, Parameters};

use super::{Branch, History, HistoryNode, UPSERT_BRANCH, UPSERT_NODE};
use crate::{Blob, Error, Result};

const APPEND: Operation = Operation::new("state.append_history");

/// A node on its way to a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendNode {
    branch: Branch,
    node: HistoryNode,
    new_branch: Option<Blob>,
}

impl AppendNode {
    /// To a branch that is there.
    #[must_use]
    pub fn existing(branch: Branch, node: HistoryNode) -> Self {
        Self { branch, node, new_branch: None }
    }

    /// To a branch that begins with it; `info` is what its tree keeps of the branch.
    #[must_use]
    pub fn new_branch(branch: Branch, node: HistoryNode, info: Blob) -> Self {
        Self { branch, node, new_branch: Some(info) }
    }

    /// The branch.
    #[must_use]
    pub fn branch(&self) -> &Branch {
        &self.branch
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> &HistoryNode {
        &self.node
    }
}

impl History {
    /// Appends a node. The same transaction may append the same node again: the last one stays, so a call whose outcome is
    /// not known is simply repeated.
    ///
    /// Dropping the call leaves open whether the node is there.
    ///
    /// # Errors
    /// [`Error::AppendHistoryTimeout`] when there was no answer in time.
    pub async fn append(&self, append: &AppendNode) -> Result<()> {
        let AppendNode { branch, node, new_branch } = append;
        let stored_txn_id = node.info.stored_txn_id();
        let node: Parameters<'_> = &[
            &branch.shard_id,
            &branch.tree_id,
            &branch.branch_id,
            &node.info.node_id,
            &stored_txn_id,
            &node.info.prev_txn_id,
            &node.events.data(),
            &node.events.encoding(),
        ];
        let answer = match new_branch {
            None => self.database.write(APPEND, UPSERT_NODE, node).await.map(drop),
            Some(info) => self.append_first(branch, node, info).await,
        };
        answer.map_err(timed_out)
    }

    async fn append_first(&self, branch: &Branch, node: Parameters<'_>, info: &Blob) -> Result<()> {
        let (upsert_node, upsert_branch) =
            (self.database.words(UPSERT_NODE), self.database.words(UPSERT_BRANCH));
        self.database
            .run(APPEND, |tx| {
                Box::pin(async move {
                    let branch: Parameters<'_> = &[
                        &branch.shard_id,
                        &branch.tree_id,
                        &branch.branch_id,
                        &info.data(),
                        &info.encoding(),
                    ];
                    tx.execute_all(&[(upsert_node, node), (upsert_branch, branch)]).await?;
                    Ok(())
                })
            })
            .await
    }
}

/// No answer in time: the node is there or is not, and appending it again is right either way.
fn timed_out(error: Error) -> Error {
    use leasehold_txn::Error as Txn;
    const CANCELLED: &str = "57014";
    match error {
        Error::UnknownOutcome { source: source @ Txn::UnknownOutcome { source: None, .. }, .. }
        | Error::Unavailable { source: Some(source @ Txn::DeadlinePassed { .. }), .. } => {
            Error::AppendHistoryTimeout { source }
        }
        Error::Unavailable { source: Some(source), .. } if source.sqlstate() == Some(CANCELLED) => {
            Error::AppendHistoryTimeout { source }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_silence_is_a_timeout() {
        use leasehold_txn::Error as Txn;
        for (source, code) in [
            (Txn::UnknownOutcome { operation: APPEND, source: None }, "state.append_history_timeout"),
            (Txn::DeadlinePassed { operation: APPEND }, "state.append_history_timeout"),
            (Txn::PoolClosed, "state.unavailable"),
            (Txn::ConnectionLost { operation: APPEND, source: None }, "state.unavailable"),
        ] {
            assert_eq!(timed_out(Error::of(APPEND, source)).code(), code);
        }
    }
}

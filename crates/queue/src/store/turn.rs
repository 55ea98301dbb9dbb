//! All that one turn of a partition's owner writes.

use super::{Change, PartitionStore, Pick, Placement, Result, StoreError, Verdict};
use crate::Item;

/// Produces, leases and changes that may share one write. No item is in two of them, so that it does not matter which
/// happens first; a part may be empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn<'a> {
    /// To add, as [`produce`](PartitionStore::produce) does.
    pub items: &'a [Item],
    /// To lease, as [`lease`](PartitionStore::lease) does.
    pub picks: &'a [Pick],
    /// To change, as [`change`](PartitionStore::change) does.
    pub requests: &'a [&'a [Change]],
}

/// What became of a turn: the answer of each part that is done, an empty one included.
#[derive(Debug, Default)]
pub struct Turned {
    /// Of the items.
    pub placements: Option<Vec<Placement>>,
    /// Of the picks.
    pub leased: Option<Vec<Item>>,
    /// Of the requests.
    pub verdicts: Option<Vec<Verdict>>,
    /// Why the parts without an answer have none; what it says of a write holds for each of them.
    pub error: Option<StoreError>,
}

impl Turned {
    /// None of the parts is done.
    #[must_use]
    pub fn failed(error: StoreError) -> Self {
        Turned { error: Some(error), ..Turned::default() }
    }
}

/// Writes the parts one after another. What comes after one that failed is not tried.
pub(crate) async fn one_by_one<S: PartitionStore + ?Sized>(store: &mut S, turn: &Turn<'_>) -> Turned {
    let mut turned = Turned::default();
    turned.error = write(store, turn, &mut turned).await.err();
    turned
}

async fn write<S: PartitionStore + ?Sized>(
    store: &mut S,
    turn: &Turn<'_>,
    turned: &mut Turned,
) -> Result<()> {
    turned.placements =
        Some(if turn.items.is_empty() { Vec::new() } else { store.produce(turn.items).await? });
    turned.leased = Some(if turn.picks.is_empty() { Vec::new() } else { store.lease(turn.picks).await? });
    turned.verdicts =
        Some(if turn.requests.is_empty() { Vec::new() } else { store.change(turn.requests).await? });
    Ok(())
}

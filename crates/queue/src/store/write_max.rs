//! How much one write of a store may hold.

use crate::{Item, Refusal};

/// What fits into one write. The engine makes its batches no larger, and refuses a request that is larger by itself: what
/// happens as a whole must fit as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteMax {
    /// Items of a produce, of a lease, of the changes of one request.
    pub items: usize,
    /// Bytes of all items of a produce.
    pub bytes: usize,
    /// Bytes of one item.
    pub item_bytes: usize,
    /// Bytes of a source id.
    pub source_id_bytes: usize,
}

impl WriteMax {
    /// Nothing is too large.
    pub const NONE: Self = WriteMax {
        items: usize::MAX,
        bytes: usize::MAX,
        item_bytes: usize::MAX,
        source_id_bytes: usize::MAX,
    };

    /// Why items of these sizes cannot be written together.
    pub(crate) fn refuse(&self, sizes: impl ExactSizeIterator<Item = usize>) -> Result<(), Refusal> {
        let (items, mut bytes, mut largest) = (sizes.len(), 0_usize, 0);
        for size in sizes {
            bytes = bytes.saturating_add(size);
            largest = largest.max(size);
        }
        for (unit, limit, received) in [
            ("items", self.items, items),
            ("bytes in one item", self.item_bytes, largest),
            ("bytes in one request", self.bytes, bytes),
        ] {
            if received > limit {
                return Err(Refusal::StoreLimit { unit, limit, received });
            }
        }
        Ok(())
    }

    /// How many of the first items fit into one write; at least one, however large it is.
    pub(crate) fn fitting(&self, items: &[Item]) -> usize {
        let mut bytes = 0_usize;
        let fits = |item: &&Item| {
            bytes = bytes.saturating_add(item.bytes());
            bytes <= self.bytes
        };
        items.iter().take(self.items).take_while(fits).count().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: WriteMax = WriteMax { items: 3, bytes: 100, item_bytes: 50, source_id_bytes: 10 };

    #[test]
    fn what_is_too_large_is_told_with_its_limit() {
        assert_eq!(SMALL.refuse([50, 50].into_iter()), Ok(()));
        for (sizes, told) in [
            (vec![1; 4], "the store takes at most 3 items, received 4"),
            (vec![51], "the store takes at most 50 bytes in one item, received 51"),
            (vec![40; 3], "the store takes at most 100 bytes in one request, received 120"),
        ] {
            let refusal = SMALL.refuse(sizes.into_iter()).expect_err("too large");
            assert_eq!(refusal.to_string(), format!("items is invalid; {told}"));
        }
        assert_eq!(WriteMax::NONE.refuse([usize::MAX, usize::MAX].into_iter()), Ok(()));
    }
}

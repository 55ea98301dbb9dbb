//! An ordered set that takes little more memory than its values, when they mostly come in order.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// Values in a chunk, at most.
const CHUNK_LEN_MAX: usize = 128;
/// Below this a chunk is joined to a neighbour, if both fit well into one.
const CHUNK_LEN_MIN: usize = CHUNK_LEN_MAX / 4;

/// A set in chunks. A B-tree of single values leaves almost half of its memory unused after ascending inserts, which
/// is how items come.
#[derive(Debug)]
pub(super) struct SortedSet<T> {
    /// By a bound that is not above its first value and above all values of chunks before it; none is empty.
    chunks: BTreeMap<T, VecDeque<T>>,
    len: usize,
}

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        SortedSet { chunks: BTreeMap::new(), len: 0 }
    }
}

impl<T: Ord + Copy> SortedSet<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn first(&self) -> Option<&T> {
        self.chunks.first_key_value().and_then(|(_, chunk)| chunk.front())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.values().flatten()
    }

    /// From the first that is not below the value.
    pub(super) fn iter_from(&self, value: T) -> impl Iterator<Item = &T> {
        let bound = self.bound_of(value).unwrap_or(value);
        let mut chunks = self.chunks.range(bound..).map(|(_, chunk)| chunk);
        let first = chunks.next();
        let begins = first.map_or(0, |chunk| chunk.partition_point(|one| *one < value));
        first.into_iter().flat_map(move |chunk| chunk.range(begins..)).chain(chunks.flatten())
    }

    /// Adds a value, unless it is there.
    pub(super) fn insert(&mut self, value: T) {
        let Some(bound) = self.bound_of(value) else {
            self.len += 1;
            return self.insert_first(value);
        };
        let chunk = self.chunks.get_mut(&bound).expect("bounds have chunks");
        let Some(at) = place_of(chunk, &value) else { return };
        self.len += 1;
        if chunk.len() < CHUNK_LEN_MAX {
            return chunk.insert(at, value);
        }
        // A value above all starts a chunk, so that chunks stay full; another one splits them in halves. Not one value
        // more is put into a full one: it would take twice the memory.
        let half = CHUNK_LEN_MAX / 2;
        let mut upper = chunk.split_off(if at == CHUNK_LEN_MAX { at } else { half });
        match at {
            CHUNK_LEN_MAX => upper.push_back(value),
            at if at <= half => chunk.insert(at, value),
            at => upper.insert(at - half, value),
        }
        self.chunks.insert(upper[0], upper);
    }

    /// Removes a value; whether it was there.
    pub(super) fn remove(&mut self, value: T) -> bool {
        let Some(bound) = self.bound_of(value) else { return false };
        let chunk = self.chunks.get_mut(&bound).expect("bounds have chunks");
        let Ok(at) = chunk.binary_search(&value) else { return false };
        chunk.remove(at);
        self.len -= 1;
        if chunk.len() < CHUNK_LEN_MIN {
            self.join(bound);
        }
        true
    }

    /// Of the chunk a value is in, or would be in.
    fn bound_of(&self, value: T) -> Option<T> {
        self.chunks.range(..=value).next_back().map(|(bound, _)| *bound)
    }

    /// Below all bounds.
    fn insert_first(&mut self, value: T) {
        match self.chunks.pop_first() {
            Some((_, mut chunk)) if chunk.len() < CHUNK_LEN_MAX => {
                chunk.push_front(value);
                self.chunks.insert(value, chunk);
            }
            full => {
                self.chunks.extend(full);
                self.chunks.insert(value, VecDeque::from([value]));
            }
        }
    }

    /// Joins a chunk that has become short to a neighbour, and drops one that is empty.
    fn join(&mut self, bound: T) {
        if self.chunks[&bound].is_empty() {
            self.chunks.remove(&bound);
            return;
        }
        let before = self.chunks.range(..bound).next_back().map(|(before, _)| *before);
        let behind =
            self.chunks.range((Bound::Excluded(bound), Bound::Unbounded)).next().map(|(behind, _)| *behind);
        for (lower, upper) in [(before, Some(bound)), (Some(bound), behind)] {
            let (Some(lower), Some(upper)) = (lower, upper) else { continue };
            if self.chunks[&lower].len() + self.chunks[&upper].len() <= CHUNK_LEN_MAX - CHUNK_LEN_MIN {
                let mut taken = self.chunks.remove(&upper).expect("was just seen");
                self.chunks.get_mut(&lower).expect("was just seen").append(&mut taken);
                return;
            }
        }
    }
}

/// Where a value goes; none if it is there. Mostly it goes to the end.
fn place_of<T: Ord>(chunk: &VecDeque<T>, value: &T) -> Option<usize> {
    match chunk.back() {
        Some(last) if last >= value => chunk.binary_search(value).err(),
        _ => Some(chunk.len()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn answers_as_an_ordered_set_does(
            steps in prop::collection::vec((any::<bool>(), 0_u32..2_000), 0..4_000),
            ascending in 0_u32..1_500,
        ) {
            let (mut set, mut model) = (SortedSet::default(), BTreeSet::new());
            for value in 0..ascending {
                set.insert(value);
                model.insert(value);
            }
            for (inserts, value) in steps {
                if inserts {
                    set.insert(value);
                    model.insert(value);
                } else {
                    prop_assert_eq!(set.remove(value), model.remove(&value));
                }
                prop_assert_eq!(set.first(), model.first());
                prop_assert_eq!(set.len(), model.len());
            }
            prop_assert!(set.iter().eq(model.iter()));
            for value in (0..2_001).step_by(97) {
                prop_assert!(set.iter_from(value).eq(model.range(value..)), "from {}", value);
            }
        }
    }

    #[test]
    fn ascending_values_fill_their_chunks() {
        let mut set = SortedSet::default();
        (0..10_000).for_each(|value| set.insert(value));
        assert_eq!(set.chunks.len(), 10_000_usize.div_ceil(CHUNK_LEN_MAX));
        assert!(set.chunks.values().all(|chunk| chunk.capacity() <= CHUNK_LEN_MAX));
    }

    #[test]
    fn chunks_that_lose_most_of_their_values_are_joined() {
        let mut set = SortedSet::default();
        (0..128_000).for_each(|value| set.insert(value));
        for value in (0..128_000).filter(|value| value % 64 != 0) {
            assert!(set.remove(value));
        }
        let least = 2_000 / CHUNK_LEN_MAX;
        assert!(set.chunks.len() <= 4 * least, "{} chunks for 2000 values", set.chunks.len());
        assert!(set.iter().copied().eq((0..128_000).step_by(64)));
    }

    #[test]
    fn descending_values_share_chunks() {
        let mut set = SortedSet::default();
        (0..10_000).rev().for_each(|value| set.insert(value));
        assert!(set.chunks.len() <= 200, "{} chunks", set.chunks.len());
        assert!(set.iter().copied().eq(0..10_000));
    }
}

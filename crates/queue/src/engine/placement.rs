//! Which store keeps which partition.

use std::collections::BTreeSet;

use crate::queue_info::PARTITIONS_MAX;
use crate::{PartitionInfo, Refusal};

/// A partition of a new queue about which something is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinnedPartition {
    /// Its number.
    pub number: u32,
    /// The store that keeps it; none leaves that to the weights of the stores.
    pub store: Option<String>,
    /// Whether items may only be taken out.
    pub read_only: bool,
}

/// What is chosen about the partitions of a new queue, each of them at most once. The rest is placed by weight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement(Vec<PinnedPartition>);

impl Placement {
    /// Takes them in any order.
    ///
    /// # Errors
    /// A number that no partition can have, or that is there twice.
    pub fn new(mut pinned: Vec<PinnedPartition>) -> Result<Self, Refusal> {
        pinned.sort_by_key(|partition| partition.number);
        let bad = pinned.iter().find(|partition| partition.number >= PARTITIONS_MAX);
        if let Some(bad) = bad {
            return Err(Refusal::PartitionUnknown { partition: bad.number.into() });
        }
        let twice = pinned.windows(2).find(|pair| pair[0].number == pair[1].number);
        match twice {
            Some(pair) => Err(Refusal::PartitionTwice { partition: pair[0].number }),
            None => Ok(Placement(pinned)),
        }
    }

    /// In the order of their numbers.
    #[must_use]
    pub fn pinned(&self) -> &[PinnedPartition] {
        &self.0
    }

    /// Whether these partitions are as they were chosen.
    #[must_use]
    pub fn holds_for(&self, partitions: &[PartitionInfo]) -> bool {
        self.0.iter().all(|pinned| {
            partitions.iter().any(|partition| {
                partition.number == pinned.number
                    && partition.read_only == pinned.read_only
                    && pinned.store.as_ref().is_none_or(|store| *store == partition.store)
            })
        })
    }
}

/// How many of `total` each weight gets: its share, cut, and one more for the largest fractions until all are handed
/// out. Equal fractions go to the earlier. Weights that are not above zero get none, unless all are so.
pub(crate) fn shares(weights: &[f64], total: u32) -> Vec<u32> {
    let usable: Vec<f64> = weights
        .iter()
        .map(|weight| if weight.is_finite() && *weight > 0.0 { *weight } else { 0.0 })
        .collect();
    let sum: f64 = usable.iter().sum();
    if weights.is_empty() {
        return Vec::new();
    }
    if sum == 0.0 {
        return shares(&vec![1.0; weights.len()], total);
    }
    let exact: Vec<f64> = usable.iter().map(|weight| weight / sum * f64::from(total)).collect();
    // A share is at most the total, which is a `u32`.
    let mut shares: Vec<u32> = exact.iter().map(|share| share.floor() as u32).collect();
    let left = total.saturating_sub(shares.iter().sum());
    let mut by_fraction: Vec<usize> = (0..exact.len()).filter(|index| usable[*index] > 0.0).collect();
    by_fraction.sort_by(|one, other| exact[*other].fract().total_cmp(&exact[*one].fract()));
    for index in by_fraction.iter().cycle().take(left as usize) {
        shares[*index] += 1;
    }
    shares
}

/// The partitions of a new queue: those that are pinned, and the lowest numbers beside them up to so many. What is left
/// to the stores goes to them in their order.
pub(crate) fn place<'a>(
    stores: impl IntoIterator<Item = (&'a str, f64)>,
    placement: &Placement,
    partitions: u32,
) -> Result<Vec<PartitionInfo>, Refusal> {
    let (names, weights): (Vec<&str>, Vec<f64>) = stores.into_iter().unzip();
    let pinned = placement.pinned();
    let taken: BTreeSet<u32> = pinned.iter().map(|partition| partition.number).collect();
    let others = (partitions as usize).saturating_sub(pinned.len());
    let others = (0..).filter(|number| !taken.contains(number)).take(others);
    let others = others.map(|number| PinnedPartition { number, ..PinnedPartition::default() });
    let mut wanted: Vec<PinnedPartition> = pinned.iter().cloned().chain(others).collect();
    wanted.sort_by_key(|partition| partition.number);
    if wanted.is_empty() || names.is_empty() {
        return Err(Refusal::PartitionsTooFew);
    }
    let by_weight = wanted.iter().filter(|partition| partition.store.is_none()).count();
    // Numbers are below a limit, so there are no more of them.
    let shares = shares(&weights, u32::try_from(by_weight).unwrap_or(u32::MAX));
    let mut by_weight = names.iter().zip(shares).flat_map(|(name, share)| (0..share).map(move |_| *name));
    let placed = wanted.into_iter().map(|PinnedPartition { number, store, read_only }| {
        let store = store.or_else(|| by_weight.next().map(str::to_owned));
        PartitionInfo { number, store: store.expect("there are as many shares as partitions"), read_only }
    });
    Ok(placed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_vectors_with_the_remainder_handed_out() {
        for (weights, expected) in [
            (vec![1.0, 1.0, 1.0, 1.0], vec![25, 25, 25, 25]),
            (vec![1.0, 1.0, 1.0, 0.0], vec![34, 33, 33, 0]),
            (vec![1.0, 0.5, 0.3, 0.1], vec![53, 26, 16, 5]),
            (vec![1.0], vec![100]),
        ] {
            assert_eq!(shares(&weights, 100), expected, "{weights:?}");
        }
    }

    #[test]
    fn no_partition_is_lost_when_there_are_more_stores_than_partitions() {
        assert_eq!(shares(&[1.0, 1.0, 1.0], 2), [1, 1, 0]);
    }

    #[test]
    fn stores_without_weight_share_equally_when_none_has_one() {
        assert_eq!(shares(&[0.0, 0.0], 4), [2, 2]);
        assert_eq!(shares(&[-1.0, f64::NAN], 3), [2, 1]);
    }

    #[test]
    fn partitions_are_numbered_in_the_order_of_the_stores() {
        let placed = place([("a", 1.0), ("b", 2.0)], &Placement::default(), 3).expect("partitions");
        let placed: Vec<_> = placed.iter().map(|info| (info.number, info.store.as_str())).collect();
        assert_eq!(placed, [(0, "a"), (1, "b"), (2, "b")]);
    }

    #[test]
    fn queue_without_a_partition_is_refused() {
        assert_eq!(place([], &Placement::default(), 3), Err(Refusal::PartitionsTooFew));
        assert_eq!(place([("a", 1.0)], &Placement::default(), 0), Err(Refusal::PartitionsTooFew));
    }

    fn pinned(number: u32, store: Option<&str>, read_only: bool) -> PinnedPartition {
        PinnedPartition { number, store: store.map(str::to_owned), read_only }
    }

    #[test]
    fn pinned_partitions_are_where_they_are_wanted_and_the_rest_is_placed_by_weight() {
        let pins = vec![pinned(3, Some("b"), true), pinned(0, Some("b"), false), pinned(1, None, true)];
        let placement = Placement::new(pins).expect("a placement");
        let placed = place([("a", 1.0), ("b", 1.0)], &placement, 5).expect("partitions");
        let shown: Vec<_> =
            placed.iter().map(|info| (info.number, info.store.as_str(), info.read_only)).collect();
        let wanted = [(0, "b", false), (1, "a", true), (2, "a", false), (3, "b", true), (4, "b", false)];
        assert_eq!(shown, wanted);
        assert!(placement.holds_for(&placed));
    }

    #[test]
    fn queue_has_all_its_pinned_partitions_however_few_were_asked_for() {
        let placement = Placement::new(vec![pinned(7, Some("b"), false), pinned(1, Some("a"), false)]);
        let placed = place([("a", 1.0), ("b", 1.0)], &placement.expect("a placement"), 1);
        let placed = placed.expect("partitions");
        let shown: Vec<_> = placed.iter().map(|info| (info.number, info.store.as_str())).collect();
        assert_eq!(shown, [(1, "a"), (7, "b")]);
    }

    #[test]
    fn partition_that_is_pinned_twice_or_has_no_number_of_one_is_refused() {
        let twice =
            Placement::new(vec![pinned(1, None, false), pinned(0, None, false), pinned(1, None, true)]);
        assert_eq!(twice, Err(Refusal::PartitionTwice { partition: 1 }));
        let far = Placement::new(vec![pinned(PARTITIONS_MAX, None, false)]);
        assert_eq!(far, Err(Refusal::PartitionUnknown { partition: PARTITIONS_MAX.into() }));
    }

    #[test]
    fn placement_does_not_hold_for_another_store_use_or_number() {
        let placement = Placement::new(vec![pinned(0, Some("a"), false)]).expect("a placement");
        let info =
            |number, store: &str, read_only| PartitionInfo { number, store: store.to_owned(), read_only };
        assert!(placement.holds_for(&[info(0, "a", false), info(1, "b", true)]));
        for other in [info(0, "b", false), info(0, "a", true), info(1, "a", false)] {
            assert!(!placement.holds_for(std::slice::from_ref(&other)), "{other:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_partition_is_placed(weights in proptest::collection::vec(0.0..10.0_f64, 1..8), total in 1..500_u32) {
            proptest::prop_assert_eq!(shares(&weights, total).iter().sum::<u32>(), total);
        }
    }
}

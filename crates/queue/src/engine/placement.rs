//! Which store keeps which partition.

use crate::{PartitionInfo, Refusal};

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

/// The partitions of a new queue, numbered consecutively in the order of the stores.
pub(crate) fn place<'a>(
    stores: impl IntoIterator<Item = (&'a str, f64)>,
    partitions: u32,
) -> Result<Vec<PartitionInfo>, Refusal> {
    let (names, weights): (Vec<&str>, Vec<f64>) = stores.into_iter().unzip();
    let shares = shares(&weights, partitions);
    let stores = names.iter().zip(shares).flat_map(|(name, share)| (0..share).map(move |_| *name));
    let placed: Vec<_> = (0..)
        .zip(stores)
        .map(|(number, store)| PartitionInfo { number, store: store.to_owned(), read_only: false })
        .collect();
    if placed.is_empty() { Err(Refusal::PartitionsTooFew) } else { Ok(placed) }
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
        let placed = place([("a", 1.0), ("b", 2.0)], 3).expect("partitions");
        let placed: Vec<_> = placed.iter().map(|info| (info.number, info.store.as_str())).collect();
        assert_eq!(placed, [(0, "a"), (1, "b"), (2, "b")]);
    }

    #[test]
    fn queue_without_a_partition_is_refused() {
        assert_eq!(place([], 3), Err(Refusal::PartitionsTooFew));
        assert_eq!(place([("a", 1.0)], 0), Err(Refusal::PartitionsTooFew));
    }

    proptest::proptest! {
        #[test]
        fn every_partition_is_placed(weights in proptest::collection::vec(0.0..10.0_f64, 1..8), total in 1..500_u32) {
            proptest::prop_assert_eq!(shares(&weights, total).iter().sum::<u32>(), total);
        }
    }
}

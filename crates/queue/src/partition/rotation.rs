//! How items are shared among the leases that wait for them.

use std::collections::VecDeque;

/// What requests get.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shares {
    /// For each of the first items, in order, the request that gets it.
    pub(super) requests: Vec<usize>,
    /// How many bytes each of the first requests gets. Those behind them get nothing.
    pub(super) bytes: Vec<usize>,
    /// There was no room for the next item.
    pub(super) is_full: bool,
}

/// Shares items of these sizes, in order, one at a time in rotation. Each request wants at least one.
///
/// A request is done when it has all it wants, and before the first item that would make it more than `answer_bytes`; but
/// its first item is its own, however large. An item that does not fit into the `room` there is for all ends it all: no
/// later one may pass it.
pub(super) fn share(
    sizes: impl Iterator<Item = usize>,
    wanted: &[usize],
    answer_bytes: usize,
    mut room: usize,
) -> Shares {
    let most = sizes.size_hint().1.unwrap_or(0).min(wanted.iter().sum());
    let mut shares = Shares {
        requests: Vec::with_capacity(most),
        bytes: Vec::with_capacity(wanted.len()),
        is_full: false,
    };
    let mut left = wanted.to_vec();
    let mut line: VecDeque<usize> = (0..wanted.len()).collect();
    for size in sizes {
        let takes = |request: &usize| {
            let has = shares.bytes.get(*request);
            has.is_none_or(|has| has.saturating_add(size) <= answer_bytes)
        };
        while line.front().is_some_and(|request| !takes(request)) {
            line.pop_front();
        }
        let Some(request) = line.pop_front() else {
            break;
        };
        if size > room {
            shares.is_full = true;
            break;
        }
        room -= size;
        match shares.bytes.get_mut(request) {
            Some(bytes) => *bytes += size,
            None => shares.bytes.push(size),
        }
        shares.requests.push(request);
        left[request] -= 1;
        if left[request] > 0 {
            line.push_back(request);
        }
    }
    shares
}

/// Hands items to requests as [`share`] says.
pub(super) fn deal<T>(items: impl IntoIterator<Item = (usize, T)>, requests: usize) -> Vec<Vec<T>> {
    let mut hands: Vec<Vec<T>> = (0..requests).map(|_| Vec::new()).collect();
    for (request, item) in items {
        hands[request].push(item);
    }
    hands
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of items of one byte, with room for all.
    fn counts(items: usize, wanted: &[usize]) -> Vec<usize> {
        let shares = share(std::iter::repeat_n(1, items), wanted, usize::MAX, usize::MAX);
        let dealt = deal(shares.requests.into_iter().map(|request| (request, ())), wanted.len());
        dealt.iter().map(Vec::len).collect()
    }

    fn shared(sizes: &[usize], wanted: &[usize], answer_bytes: usize, room: usize) -> Shares {
        share(sizes.iter().copied(), wanted, answer_bytes, room)
    }

    #[test]
    fn twenty_three_over_three_requests() {
        assert_eq!(counts(23, &[20, 6, 1]), [16, 6, 1]);
    }

    #[test]
    fn ten_over_five_give_two_each() {
        assert_eq!(counts(10, &[10; 5]), [2; 5]);
    }

    #[test]
    fn nobody_gets_more_than_wanted_and_the_first_come_first() {
        assert_eq!(counts(100, &[3, 4]), [3, 4]);
        assert_eq!(counts(2, &[5, 5, 5]), [1, 1, 0]);
        assert_eq!(counts(0, &[5]), [0]);
        assert_eq!(counts(5, &[]), Vec::<usize>::new());
    }

    #[test]
    fn items_of_one_request_stay_in_order() {
        assert_eq!(shared(&[1; 5], &[3, 2], 99, 99).requests, [0, 1, 0, 1, 0]);
    }

    #[test]
    fn request_ends_before_the_item_that_is_too_much_and_the_next_takes_it() {
        let shares = shared(&[4, 4, 4, 7, 2, 2], &[9, 9], 10, 99);
        assert_eq!(shares, Shares { requests: vec![0, 1, 0], bytes: vec![8, 4], is_full: false });
        let shares = shared(&[4, 4, 4, 6, 1], &[9, 9], 10, 99);
        assert_eq!(shares, Shares { requests: vec![0, 1, 0, 1, 0], bytes: vec![9, 10], is_full: false });
    }

    #[test]
    fn first_item_of_a_request_is_its_own_however_large() {
        let shares = shared(&[50, 60, 1], &[9, 9], 10, 200);
        assert_eq!(shares, Shares { requests: vec![0, 1], bytes: vec![50, 60], is_full: false });
    }

    #[test]
    fn item_without_room_ends_it_all() {
        let shares = shared(&[5, 5, 6, 1], &[9, 9, 9], 10, 15);
        assert_eq!(shares, Shares { requests: vec![0, 1], bytes: vec![5, 5], is_full: true });
        let shares = shared(&[5, 5], &[9], 99, 0);
        assert_eq!(shares, Shares { requests: vec![], bytes: vec![], is_full: true });
        assert!(!shared(&[5, 5], &[1], 99, 5).is_full, "nobody wants what does not fit");
    }

    proptest::proptest! {
        #[test]
        fn as_much_as_possible_is_handed_out(items in 0..200_usize, wanted in proptest::collection::vec(1..30_usize, 0..20)) {
            let given = counts(items, &wanted);
            proptest::prop_assert!(given.iter().zip(&wanted).all(|(given, wanted)| given <= wanted));
            proptest::prop_assert_eq!(given.iter().sum::<usize>(), items.min(wanted.iter().sum()));
        }

        #[test]
        fn bytes_are_bounded_and_nobody_is_passed_over(
            sizes in proptest::collection::vec(0..20_usize, 0..100),
            wanted in proptest::collection::vec(1..10_usize, 1..12),
            answer_bytes in 0..60_usize,
            room in 0..400_usize,
        ) {
            let Shares { requests, bytes, is_full } = shared(&sizes, &wanted, answer_bytes, room);
            let hands = deal(requests.iter().copied().zip(sizes.iter().copied()), wanted.len());
            let sums: Vec<usize> = hands.iter().map(|hand| hand.iter().sum()).collect();
            // What is told of each is what it got, and those without anything come last.
            let served = bytes.len();
            proptest::prop_assert_eq!(&sums[..served], &bytes[..]);
            proptest::prop_assert!(hands[..served].iter().all(|hand| !hand.is_empty()));
            proptest::prop_assert!(hands[served..].iter().all(Vec::is_empty));
            // No limit is passed.
            proptest::prop_assert!(sums.iter().sum::<usize>() <= room);
            for ((hand, sum), wanted) in hands.iter().zip(&sums).zip(&wanted) {
                proptest::prop_assert!(hand.len() <= *wanted);
                proptest::prop_assert!(hand.len() < 2 || *sum <= answer_bytes);
            }
            // What is left could not be given: there was no room for it, or everybody was done.
            let Some(next) = sizes.get(requests.len()) else {
                proptest::prop_assert!(!is_full);
                return Ok(());
            };
            if is_full {
                proptest::prop_assert!(sums.iter().sum::<usize>() + next > room);
                return Ok(());
            }
            for ((hand, sum), wanted) in hands.iter().zip(&sums).zip(&wanted) {
                let was_ended = || sizes[..=requests.len()].iter().any(|size| sum + size > answer_bytes);
                proptest::prop_assert!(hand.len() == *wanted || (!hand.is_empty() && was_ended()));
            }
        }
    }
}

//! How items are shared among the leases that wait for them.

/// For each of `items`, in order, the request that gets it: one at a time in rotation, until a request has all it
/// wants. Shorter than `items` if all have.
pub(super) fn share(items: usize, wanted: &[usize]) -> Vec<usize> {
    let mut shares = Vec::with_capacity(items);
    let mut left = wanted.to_vec();
    let mut hungry: Vec<usize> = (0..wanted.len()).collect();
    while shares.len() < items {
        hungry.retain(|request| left[*request] > 0);
        if hungry.is_empty() {
            break;
        }
        for request in &hungry {
            if shares.len() == items {
                break;
            }
            shares.push(*request);
            left[*request] -= 1;
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

    fn counts(items: usize, wanted: &[usize]) -> Vec<usize> {
        let dealt = deal(share(items, wanted).into_iter().map(|request| (request, ())), wanted.len());
        dealt.iter().map(Vec::len).collect()
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
        assert_eq!(share(5, &[3, 2]), [0, 1, 0, 1, 0]);
    }

    proptest::proptest! {
        #[test]
        fn as_much_as_possible_is_handed_out(items in 0..200_usize, wanted in proptest::collection::vec(0..30_usize, 0..20)) {
            let given = counts(items, &wanted);
            proptest::prop_assert!(given.iter().zip(&wanted).all(|(given, wanted)| given <= wanted));
            proptest::prop_assert_eq!(given.iter().sum::<usize>(), items.min(wanted.iter().sum()));
        }
    }
}

//! Neighbouring keys, found without asking the table: a partition's ids are numbers that count up.

use super::tables::ItemKey;

/// Below this many keys a run is not worth a pass of its own.
const LEN_MIN: usize = 4;
/// Keys that may lie between those of a run, for each of them: a pass looks at all.
const STRANGERS_MAX: u64 = 3;

/// Keys of a table, ascending.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Run<'a> {
    /// Each by itself.
    Scattered(&'a [ItemKey]),
    /// From the first to the last there is little else.
    Dense(&'a [ItemKey]),
}

/// Cuts ascending keys into runs.
pub(super) fn runs(mut keys: &[ItemKey]) -> impl Iterator<Item = Run<'_>> {
    std::iter::from_fn(move || {
        let len = dense_len(keys);
        let (run, rest) = keys.split_at(len);
        keys = rest;
        match run.len() {
            0 => None,
            len if len < LEN_MIN => Some(Run::Scattered(run)),
            _ => Some(Run::Dense(run)),
        }
    })
}

/// How many keys from the first on make a run.
fn dense_len(keys: &[ItemKey]) -> usize {
    let mut strangers_allowed = 0;
    let neighbours = keys.windows(2).take_while(|pair| {
        strangers_allowed += STRANGERS_MAX;
        match strangers_between(&pair[0], &pair[1]) {
            Some(strangers) if strangers <= strangers_allowed => {
                strangers_allowed -= strangers;
                true
            }
            _ => false,
        }
    });
    keys.len().min(1 + neighbours.count())
}

/// How many keys there can be between two; none for more than can be counted.
fn strangers_between(one: &ItemKey, next: &ItemKey) -> Option<u64> {
    let split = |key: &ItemKey| -> ([u8; 20], u64) {
        let (prefix, number) = key.split_at(20);
        let prefix = prefix.try_into().expect("20 of 28 bytes");
        (prefix, u64::from_be_bytes(number.try_into().expect("8 of 28 bytes")))
    };
    let ((prefix, number), (next_prefix, next_number)) = (split(one), split(next));
    (prefix == next_prefix).then(|| next_number.checked_sub(number)?.checked_sub(1)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(numbers: impl IntoIterator<Item = u64>) -> Vec<ItemKey> {
        let key = |number: u64| {
            let mut key = [3; 28];
            key[20..].copy_from_slice(&number.to_be_bytes());
            key
        };
        numbers.into_iter().map(key).collect()
    }

    #[test]
    fn neighbours_make_one_run_although_a_few_are_missing() {
        let keys = keys([1, 2, 3, 5, 6, 9, 10]);
        assert_eq!(runs(&keys).collect::<Vec<_>>(), [Run::Dense(&keys)]);
    }

    #[test]
    fn far_keys_are_taken_one_by_one() {
        let keys = keys([1, 1_000, 2_000]);
        let expected: Vec<_> = keys.chunks(1).map(Run::Scattered).collect();
        assert_eq!(runs(&keys).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn long_gap_cuts_a_run_and_other_partitions_end_it() {
        let mut keys = keys((0..10).chain(1_000..1_010));
        let mut other = keys[19];
        other[7] += 1;
        keys.push(other);
        let cut: Vec<_> = runs(&keys).collect();
        assert_eq!(cut, [Run::Dense(&keys[..10]), Run::Dense(&keys[10..20]), Run::Scattered(&keys[20..])]);
    }

    #[test]
    fn no_keys_make_no_runs() {
        assert_eq!(runs(&[]).count(), 0);
    }
}

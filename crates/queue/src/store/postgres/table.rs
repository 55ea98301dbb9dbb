//! The name of a partition's table, as Querator makes it.

use md5::{Digest, Md5};

use crate::store::PartitionId;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const HASH_LEN: usize = 10;

/// `<hash of the queue's name>_<number>`: what the names of the table and its indexes have in common. Made of digits,
/// letters and one underscore, so it may stand in a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table(String);

impl Table {
    pub(super) fn of(partition: &PartitionId) -> Self {
        Table(format!("{}_{}", hash(partition.queue.as_str()), partition.number))
    }

    /// The table of items, quoted: its name has letters of both cases.
    pub(super) fn items(&self) -> String {
        format!("\"items_{}\"", self.0)
    }

    /// An index of it, quoted.
    pub(super) fn index(&self, kind: &str) -> String {
        format!("\"idx_{}_{kind}\"", self.0)
    }
}

/// The first eight bytes of the MD5 of the name as a number in base 62, at least ten digits, of which the first ten
/// count: about 2^58 names are told apart, so the table says in a comment whose it is.
fn hash(queue: &str) -> String {
    let digest = Md5::digest(queue.as_bytes());
    let mut number = digest[..8].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let mut digits = Vec::with_capacity(HASH_LEN + 1);
    while number > 0 {
        digits.push(char::from(DIGITS[usize::try_from(number % 62).expect("below 62")]));
        number /= 62;
    }
    while digits.len() < HASH_LEN {
        digits.push('0');
    }
    digits.iter().rev().take(HASH_LEN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(queue: &str, number: u32) -> Table {
        Table::of(&PartitionId { queue: queue.parse().expect("a name"), number })
    }

    #[test]
    fn names_are_those_of_real_tables() {
        for (queue, hash) in [("my-queue", "3ChTMmwky3"), ("orders", "1buPSdlPil"), ("n4", "KMI797xDYZ")] {
            assert_eq!(table(queue, 12).items(), format!("\"items_{hash}_12\""));
            assert_eq!(table(queue, 0).index("exp"), format!("\"idx_{hash}_0_exp\""));
        }
    }

    #[test]
    fn hostile_names_leave_nothing_of_themselves() {
        for queue in ["\";DROP--", "'", "{items}", "\u{1F512}", &"x".repeat(512)] {
            let items = table(queue, 7).items();
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            assert!(items.trim_matches('"').bytes().all(plain) && items.len() == 20, "{items}");
        }
    }
}

//! First come, first served among the waiters of one process: only the first in line asks the store.

use std::sync::Arc;

use leasehold_core::Key;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::per_key::PerKey;

/// The lines before the keys. By the keys themselves: their hash is weak, and who holds one key would wait for another.
#[derive(Debug, Default)]
pub(crate) struct Turns(PerKey<Key, Semaphore>);

/// The first place in the line before a key; dropping it lets the next one step up.
#[derive(Debug)]
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
    /// Keeps the line in being for those who come later.
    _line: Arc<Semaphore>,
}

impl Turns {
    /// Waits until the caller is first in line. Dropping the future leaves the line.
    pub(crate) async fn wait(&self, key: &Key) -> Turn {
        let line = self.0.join(key, || Semaphore::new(1));
        let permit = line.clone().acquire_owned().await.expect("a line is never closed");
        Turn { _permit: permit, _line: line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keys_with_one_hash_have_lines_of_their_own() {
        let [one, two] = ["AAAAAAAA", "BHVddVHB"].map(|text| Key::parse(text).expect("a key"));
        assert_eq!(one.key_hash(), two.key_hash());
        let turns = Turns::default();
        let _first = turns.wait(&one).await;
        let second = futures_util::FutureExt::now_or_never(turns.wait(&two));
        assert!(second.is_some(), "waits for another key");
        assert!(futures_util::FutureExt::now_or_never(turns.wait(&one)).is_none(), "is not its turn");
    }
}

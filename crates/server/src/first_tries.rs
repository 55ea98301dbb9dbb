//! What a server makes ready beside serving, and whether it has tried.

use tokio::sync::watch;

/// The lock tables, the first rights, the configured queues.
const LEN: usize = 3;

/// A server is not called well before each was tried once: who asks for its health and then for a lock must not come before the
/// table. What fails is tried again beside everything else, and is not waited for.
#[derive(Debug)]
pub(crate) struct FirstTries(watch::Sender<usize>);

impl FirstTries {
    pub(crate) fn new() -> Self {
        FirstTries(watch::Sender::new(LEN))
    }

    /// One of them, to be told of when it was tried.
    pub(crate) fn one(&self) -> FirstTry<'_> {
        FirstTry(Some(self))
    }

    /// Ready once all were tried.
    pub(crate) async fn done(&self) {
        let mut left = self.0.subscribe();
        left.wait_for(|left| *left == 0).await.expect("its sender is ours");
    }
}

/// One of them. Told twice it counts once.
pub(crate) struct FirstTry<'a>(Option<&'a FirstTries>);

impl FirstTry<'_> {
    pub(crate) fn tried(&mut self) {
        if let Some(all) = self.0.take() {
            all.0.send_modify(|left| *left -= 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn all_are_done_once_each_was_tried() {
        let all = FirstTries::new();
        let is_done = async || tokio::time::timeout(Duration::from_secs(1), all.done()).await.is_ok();
        for _ in 0..LEN {
            assert!(!is_done().await);
            let mut one = all.one();
            one.tried();
            one.tried();
        }
        assert!(is_done().await);
    }
}

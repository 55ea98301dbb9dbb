//! Answers as long as whoever asks wants them: how much of them there may be in memory at once.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use super::body::USUAL_BYTES;
use super::room::{ROOM_TIMEOUT, Room};
use crate::LimitsConfig;
use crate::reply::Reply;

/// So many may be looked up at the same time, before anybody knows how long they are.
const LOOKUPS_MAX: u32 = 8;

/// Keeps the sum of long answers in bounds, until they were taken by those who asked.
#[derive(Clone)]
pub(crate) struct LongAnswers {
    room: Room,
    wait: Duration,
}

/// The share of an answer.
#[derive(Debug)]
pub(super) struct Share(OwnedSemaphorePermit);

impl LongAnswers {
    /// They have as much room as long bodies of requests have.
    pub(crate) fn new(limits: &LimitsConfig) -> Self {
        LongAnswers { room: Room::new(limits.body_bytes), wait: ROOM_TIMEOUT }
    }

    /// For an answer that is not looked up yet.
    pub(super) async fn reserve(&self) -> Result<Share, Reply> {
        self.room.take_part(LOOKUPS_MAX, self.wait).await.map(Share)
    }

    /// For one that has so many bytes. One that does not fit beside the others is dropped here: nothing was changed.
    pub(super) fn fit(&self, share: Share, bytes: usize) -> Result<Share, Reply> {
        // Those of usual length are bounded by the number of connections.
        let counted = if bytes <= USUAL_BYTES { 0 } else { bytes };
        self.room.resize(share.0, counted).map(Share)
    }
}

impl Share {
    /// The text, with its share for as long as any of it is in memory.
    pub(super) fn held_by(self, text: Vec<u8>) -> Bytes {
        Bytes::from_owner(Held { text, _share: self })
    }
}

struct Held {
    text: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: usize = 400_000;

    fn answers() -> LongAnswers {
        let limits = LimitsConfig { body_bytes: 1_000_000, ..LimitsConfig::default() };
        LongAnswers { wait: Duration::from_millis(20), ..LongAnswers::new(&limits) }
    }

    async fn share(answers: &LongAnswers, bytes: usize) -> Result<Share, Reply> {
        answers.fit(answers.reserve().await?, bytes)
    }

    #[tokio::test]
    async fn answer_keeps_its_room_until_the_last_piece_of_it_is_gone() {
        let answers = answers();
        let mut first = share(&answers, LONG).await.expect("there is room").held_by(vec![7; LONG]);
        let second = share(&answers, LONG).await.expect("there is room").held_by(vec![7; LONG]);
        let refused = share(&answers, LONG).await.expect_err("there is none");
        assert!(refused.message().starts_with("server is overloaded"), "{}", refused.message());
        let piece = first.split_to(10);
        drop(first);
        share(&answers, LONG).await.expect_err("a piece is left");
        drop(piece);
        share(&answers, LONG).await.expect("there is room again");
        assert_eq!(&second[..3], [7, 7, 7]);
    }

    #[tokio::test]
    async fn usual_answers_need_no_room_and_one_alone_may_be_longer_than_all() {
        let answers = answers();
        let all = share(&answers, 5_000_000).await.expect("one is always let in");
        answers.reserve().await.expect_err("nobody else is looked up meanwhile");
        drop(all);
        let usual = share(&answers, USUAL_BYTES).await.expect("there is room");
        share(&answers, 5_000_000).await.expect("as if there was no other");
        drop(usual);
    }

    #[tokio::test]
    async fn so_many_are_looked_up_at_once() {
        let answers = answers();
        let mut looked_up = Vec::new();
        for _ in 0..LOOKUPS_MAX {
            looked_up.push(answers.reserve().await.expect("there is room"));
        }
        answers.reserve().await.expect_err("one more waits");
        looked_up.pop();
        answers.reserve().await.expect("and gets its turn");
    }
}

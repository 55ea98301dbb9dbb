//! Answers as long as whoever asks wants them: how much of them there may be in memory at once.

use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

use super::body::{SMALL_BYTES, USUAL_BYTES};
use super::room::{ROOM_TIMEOUT, Room};
use crate::LimitsConfig;
use crate::reply::Reply;

/// So many may be looked up at the same time, before anybody knows how long they are.
const LOOKUPS_MAX: u32 = 8;

/// Keeps the sum of long answers in bounds, until they were taken by those who asked.
#[derive(Clone)]
pub(crate) struct LongAnswers {
    long: Room,
    usual: Room,
    wait: Duration,
}

/// The right to look an answer up.
#[derive(Debug)]
pub(super) struct Lookup(OwnedSemaphorePermit);

/// The share of an answer; a short one needs none.
#[derive(Debug)]
pub(super) struct Share {
    _room: Option<OwnedSemaphorePermit>,
}

impl LongAnswers {
    /// They have as much room as bodies of requests have: those of usual length one for each connection, which over HTTP/1
    /// is never full.
    pub(crate) fn new(limits: &LimitsConfig) -> Self {
        let usual = Room::new(limits.connections.saturating_mul(USUAL_BYTES));
        LongAnswers { long: Room::new(limits.body_bytes), usual, wait: ROOM_TIMEOUT }
    }

    /// For an answer of which nobody knows yet how long it is.
    pub(super) async fn reserve(&self) -> Result<Lookup, Reply> {
        self.long.take_part(LOOKUPS_MAX, self.wait).await.map(Lookup)
    }

    /// For one that has so many bytes. One that does not fit beside the others is dropped here: nothing was changed.
    pub(super) fn fit(&self, lookup: Lookup, bytes: usize) -> Result<Share, Reply> {
        let _room = match bytes {
            _ if bytes > USUAL_BYTES => Some(self.long.resize(lookup.0, bytes)?),
            _ if bytes > SMALL_BYTES => Some(self.usual.take_now(bytes)?),
            _ => None,
        };
        Ok(Share { _room })
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::held;
    use super::*;

    const LONG: usize = 400_000;

    fn answers() -> LongAnswers {
        let limits = LimitsConfig { body_bytes: 1_000_000, connections: 1, ..LimitsConfig::default() };
        LongAnswers { wait: Duration::from_millis(20), ..LongAnswers::new(&limits) }
    }

    async fn share(answers: &LongAnswers, bytes: usize) -> Result<Share, Reply> {
        answers.fit(answers.reserve().await?, bytes)
    }

    #[tokio::test]
    async fn answer_keeps_its_room_until_the_last_piece_of_it_is_gone() {
        let answers = answers();
        let mut first = held(vec![7; LONG], share(&answers, LONG).await.expect("there is room"));
        let second = held(vec![7; LONG], share(&answers, LONG).await.expect("there is room"));
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
    async fn usual_answers_have_a_room_of_their_own_and_one_alone_may_be_longer_than_all() {
        let answers = answers();
        let all = share(&answers, 5_000_000).await.expect("one is always let in");
        answers.reserve().await.expect_err("nobody else is looked up meanwhile");
        drop(all);
        let usual = share(&answers, USUAL_BYTES).await.expect("there is room");
        share(&answers, USUAL_BYTES).await.expect_err("for one of each connection");
        share(&answers, 5_000_000).await.expect("as if there was no other");
        let small = share(&answers, SMALL_BYTES).await.expect("needs no room");
        assert!(small._room.is_none());
        drop(usual);
        share(&answers, USUAL_BYTES).await.expect("there is room again");
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

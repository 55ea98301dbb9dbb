//! Finds the hold of a lock id, and judges it.

use leasehold_core::{LockId, Refusal, Timestamp};

use super::FirestoreBackend;
use super::api::{
    CollectionSelector, FieldFilter, FieldReference, Filter, StructuredQuery, Write, delete, field_filter,
    filter,
};
use super::documents::{Held, LOCK_ID, held, text};
use super::errors::Failure;
use super::skew::Skewed;
use crate::Result;
use crate::backend::rules;

/// One is what there should be; a few more are looked at so that duplicates are noticed and cleared away.
const FOUND_MAX: i32 = 20;

/// What a lock id stands for.
#[derive(Debug)]
pub(super) enum Owned {
    /// This live hold. The writes clear away ended duplicates of it.
    Live { held: Held, clearing: Vec<Write> },
    /// Nothing that may be extended or released.
    Refused { refusal: Refusal, clearing: Vec<Write> },
}

/// The documents with a lock id.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) holds: Vec<Held>,
    /// Whether our clock may judge them.
    pub(super) measured: Result<(), Skewed>,
}

impl Found {
    /// The same, unless our clock is too far off to judge.
    pub(super) fn in_time(self, operation: &'static str) -> Result<Found> {
        self.measured.map_err(|skewed| skewed.into_error(operation))?;
        Ok(Found { holds: self.holds, measured: Ok(()) })
    }
}

/// Reads the documents with this lock id: the one where this process put it, or whatever a query finds.
pub(super) async fn find(
    backend: &FirestoreBackend,
    operation: &'static str,
    lock_id: &LockId,
) -> Result<Found, Failure> {
    if let Some(known) = backend.known.get(lock_id) {
        let ([found], measured) = backend.read_and_measure([&known.name]).await?;
        let found = found.map(held).transpose().map_err(|_| Failure::foreign(operation, &known.key))?;
        return Ok(Found { holds: found.into_iter().collect(), measured });
    }
    let query = by_lock_id(backend.names.locks(), lock_id);
    let (documents, measured) = backend.query_and_measure(query).await?;
    let holds: Vec<Held> = documents.into_iter().filter_map(|document| held(document).ok()).collect();
    if holds.len() > 1 {
        let lock_id_hash = lock_id.lock_id_hash();
        tracing::warn!(%lock_id_hash, documents = holds.len(), "several documents have one lock id");
    }
    Ok(Found { holds, measured })
}

/// Judges what was found. Of several documents the single live one counts; with more than one live there is no
/// telling whose it is, and none is touched. A clock that is off clears nothing away: what it takes for ended may live.
pub(super) fn judge(lock_id: &LockId, found: Found, now: Timestamp) -> Owned {
    let Found { holds: found, measured } = found;
    let may_clear = found.len() > 1 && measured.is_ok();
    let refusal_of = |held: &Held| rules::refusal(lock_id, Some(&held.record), now);
    let only = found.first().map_or(Refusal::NotFound, |held| refusal_of(held).unwrap_or(Refusal::NotFound));
    let (mut live, ended): (Vec<Held>, Vec<Held>) =
        found.into_iter().partition(|held| refusal_of(held).is_none());
    let clearing = if may_clear {
        ended.iter().filter(|held| refusal_of(held) == Some(Refusal::Expired)).map(clear).collect()
    } else {
        Vec::new()
    };
    match (live.pop(), live.is_empty()) {
        (Some(held), true) => Owned::Live { held, clearing },
        (Some(_), false) => Owned::Refused { refusal: Refusal::NotFound, clearing },
        (None, _) => Owned::Refused { refusal: only, clearing },
    }
}

/// Ends the hold as it was read.
pub(super) fn clear(held: &Held) -> Write {
    delete(&held.name, held.version)
}

pub(super) fn by_lock_id(collection: &str, lock_id: &LockId) -> StructuredQuery {
    let equals = FieldFilter {
        field: Some(FieldReference { field_path: LOCK_ID.to_owned() }),
        op: field_filter::Operator::Equal.into(),
        value: Some(text(lock_id.as_str())),
    };
    StructuredQuery {
        from: vec![CollectionSelector { collection_id: collection.to_owned(), all_descendants: false }],
        r#where: Some(Filter { filter_type: Some(filter::FilterType::FieldFilter(equals)) }),
        limit: Some(FOUND_MAX),
        ..StructuredQuery::default()
    }
}

#[cfg(test)]
mod tests {
    use leasehold_core::{Fence, Key, LockRecord};

    use super::super::api::Version;
    use super::*;

    const NOW: i64 = 1_700_000_000_000;

    fn held(name: &str, lock_id: LockId, expires_in: i64) -> Held {
        let record = LockRecord {
            key: Key::parse(name).unwrap(),
            lock_id,
            expires_at: Timestamp::from_millis(NOW + expires_in),
            acquired_at: Timestamp::from_millis(NOW - 1),
            fence: Fence::FIRST,
        };
        Held { name: name.into(), version: Version { seconds: 1, nanos: 0 }, record }
    }

    fn judged(lock_id: &LockId, holds: Vec<Held>) -> (Option<String>, Option<Refusal>, usize) {
        judged_by(Ok(()), lock_id, holds)
    }

    fn judged_by(
        measured: Result<(), Skewed>,
        lock_id: &LockId,
        holds: Vec<Held>,
    ) -> (Option<String>, Option<Refusal>, usize) {
        match judge(lock_id, Found { holds, measured }, Timestamp::from_millis(NOW)) {
            Owned::Live { held, clearing } => (Some(held.name), None, clearing.len()),
            Owned::Refused { refusal, clearing } => (None, Some(refusal), clearing.len()),
        }
    }

    #[test]
    fn single_document_is_judged_as_it_is() {
        let (ours, theirs) = (LockId::generate().unwrap(), LockId::generate().unwrap());
        assert_eq!(judged(&ours, vec![]), (None, Some(Refusal::NotFound), 0));
        assert_eq!(judged(&ours, vec![held("a", ours, 0)]), (Some("a".into()), None, 0));
        assert_eq!(judged(&ours, vec![held("a", ours, -1_000)]), (None, Some(Refusal::Expired), 0));
        assert_eq!(judged(&ours, vec![held("a", theirs, 1_000)]), (None, Some(Refusal::NotFound), 0));
    }

    #[test]
    fn live_one_of_duplicates_counts_wherever_it_stands() {
        let ours = LockId::generate().unwrap();
        let (live, ended) = (held("live", ours, 1_000), held("ended", ours, -5_000));
        for found in [vec![live.clone(), ended.clone()], vec![ended.clone(), live]] {
            assert_eq!(judged(&ours, found), (Some("live".into()), None, 1));
        }
        assert_eq!(judged(&ours, vec![ended.clone(), ended]), (None, Some(Refusal::Expired), 2));
    }

    #[test]
    fn clock_that_is_off_clears_nothing_away() {
        let ours = LockId::generate().unwrap();
        let found = vec![held("live", ours, 1_000), held("ended", ours, -5_000)];
        let skewed = Skewed { by: std::time::Duration::from_secs(9), direction: "ahead of" };
        assert_eq!(judged_by(Err(skewed), &ours, found), (Some("live".into()), None, 0));
    }

    #[test]
    fn two_live_duplicates_are_left_alone() {
        let ours = LockId::generate().unwrap();
        let found = vec![held("a", ours, 1_000), held("b", ours, 1_000), held("c", ours, -5_000)];
        assert_eq!(judged(&ours, found), (None, Some(Refusal::NotFound), 1));
    }
}

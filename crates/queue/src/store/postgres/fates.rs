//! What becomes of each item when all changes of all requests are taken together.

use std::collections::{BTreeMap, HashSet};

use leasehold_core::Timestamp;

use crate::store::judge::judge;
use crate::store::{Change, Verdict};
use crate::{ItemId, ItemState};

/// What becomes of one item. A statement can touch a row once, so changes of one item are folded into one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) end: Option<End>,
    /// Another lease deadline.
    pub(super) lease_deadline: Option<Timestamp>,
    /// Another expire deadline.
    pub(super) expire_deadline: Option<Timestamp>,
}

/// How a lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    Return(ItemId),
    Schedule(Timestamp),
}

/// The verdicts on all requests, and the items that they change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fates {
    pub(super) verdicts: Vec<Verdict>,
    pub(super) items: BTreeMap<ItemId, Fate>,
}

impl Fates {
    /// Judges the requests in order: one that is done changes what the next one finds.
    pub(super) fn judge(requests: &[&[Change]], state_of: impl Fn(ItemId) -> Option<ItemState>) -> Self {
        let mut items: BTreeMap<ItemId, Fate> = BTreeMap::new();
        let mut returned = HashSet::new();
        let mut verdicts = Vec::with_capacity(requests.len());
        for request in requests {
            let verdict = judge(request, |id| match items.get(&id) {
                Some(Fate { end: Some(_), .. }) => None,
                _ if returned.contains(&id) => Some(ItemState::Ready),
                _ => state_of(id),
            });
            if verdict == Verdict::Done {
                for change in *request {
                    items.entry(change.id()).or_default().apply(change);
                    if let Change::Return { new_id, .. } = change {
                        returned.insert(*new_id);
                    }
                }
            }
            verdicts.push(verdict);
        }
        Fates { verdicts, items }
    }

    /// The verdicts and fates if every item that any request names is leased: then those of refused requests must be
    /// leased too, or the verdict would be another.
    pub(super) fn if_all_are_leased(requests: &[&[Change]]) -> Self {
        let mut fates = Self::judge(requests, |_| Some(ItemState::Leased));
        for change in requests.iter().copied().flatten() {
            fates.items.entry(change.id()).or_default();
        }
        fates
    }

    /// Whether every item is deleted.
    pub(super) fn all_complete(&self) -> bool {
        self.items.values().all(|fate| fate.end == Some(End::Complete))
    }
}

impl Fate {
    fn apply(&mut self, change: &Change) {
        match *change {
            Change::Complete { .. } => self.end = Some(End::Complete),
            Change::Return { new_id, .. } => self.end = Some(End::Return(new_id)),
            Change::Schedule { at, .. } => self.end = Some(End::Schedule(at)),
            Change::Expire { at, .. } => self.expire_deadline = Some(at),
            Change::Extend { deadline, .. } => self.lease_deadline = Some(deadline),
        }
    }

    /// The word of `change.sql`.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Fate { end: Some(End::Complete), .. } => "gone",
            Fate { end: None, lease_deadline: None, expire_deadline: None } => "same",
            _ => "kept",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Missing;

    fn id(number: u8) -> ItemId {
        ItemId::from_bytes([number; 20])
    }

    const AT: Timestamp = Timestamp::from_millis(5);

    #[test]
    fn changes_of_one_item_become_one() {
        let extend = [Change::Extend { id: id(1), deadline: AT }];
        let expire = [Change::Expire { id: id(1), at: AT }];
        let end = [Change::Return { id: id(1), new_id: id(9) }];
        let fates = Fates::if_all_are_leased(&[&extend, &expire, &end]);
        assert_eq!(fates.verdicts, [Verdict::Done; 3]);
        let fate =
            Fate { end: Some(End::Return(id(9))), lease_deadline: Some(AT), expire_deadline: Some(AT) };
        assert_eq!(fates.items, BTreeMap::from([(id(1), fate)]));
    }

    #[test]
    fn second_end_of_an_item_is_refused_whoever_asks() {
        let once = [Change::Complete { id: id(1) }];
        let twice = [Change::Complete { id: id(2) }, Change::Complete { id: id(2) }];
        let fates = Fates::if_all_are_leased(&[&once, &once, &twice]);
        let refused = |number| Verdict::Refused { id: id(number), missing: Missing::Item };
        assert_eq!(fates.verdicts, [Verdict::Done, refused(1), refused(2)]);
        assert_eq!(fates.items[&id(2)].word(), "same", "it must be leased for the verdict to be right");
        assert!(!fates.all_complete());
    }

    #[test]
    fn returned_item_is_not_leased_under_its_new_id() {
        let end = [Change::Return { id: id(1), new_id: id(9) }];
        let again = [Change::Complete { id: id(9) }];
        let fates = Fates::judge(&[&end, &again], |asked| (asked == id(1)).then_some(ItemState::Leased));
        assert_eq!(fates.verdicts[1], Verdict::Refused { id: id(9), missing: Missing::Lease });
    }

    #[test]
    fn refused_requests_leave_no_fate() {
        let good = [Change::Complete { id: id(1) }];
        let bad = [Change::Complete { id: id(2) }, Change::Complete { id: id(3) }];
        let state = |asked| (asked != id(3)).then_some(ItemState::Leased);
        let fates = Fates::judge(&[&bad, &good], state);
        assert_eq!(fates.verdicts[0], Verdict::Refused { id: id(3), missing: Missing::Item });
        assert_eq!(fates.items.keys().copied().collect::<Vec<_>>(), [id(1)]);
    }
}

//! Whether a history of concurrent calls to a queue of one partition could have come from calls made one by one.
//!
//! The queue they are compared with is a line: items enter at the tail under a new, larger id, whether they are
//! produced, given back, or taken back when their lease is over, and leave from the head. Every id that an item ever
//! had is seen by somebody, in the last list at the latest; so the ids, in order, say in which order items entered,
//! and the search is short.
//!
//! A lease of several items is several takes: leases that wait together share in rotation.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use leasehold_core::Timestamp;

use crate::ItemId;

/// An answer that never came.
pub(super) const NEVER: u64 = u64::MAX;

/// One call, from before it was made until after its answer came.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) started: u64,
    /// [`NEVER`] if the outcome is unknown: then it may have happened at any time since, or not at all.
    pub(super) ended: u64,
    pub(super) operation: Operation,
}

/// What was asked and what was answered. What surely did not happen is no part of a history.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// The ids are empty if the outcome is unknown.
    Produce {
        payloads: Vec<String>,
        ids: Vec<ItemId>,
    },
    /// One item of a lease.
    Take {
        payload: String,
        id: ItemId,
        deadline: Timestamp,
    },
    Change {
        ids: Vec<ItemId>,
        kind: Kind,
        answer: Answer,
    },
    /// Everything there is, in order of id.
    List {
        items: Vec<Listed>,
    },
    /// The clock shows this.
    Advance {
        now: Timestamp,
    },
}

/// What is to become of held items.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Complete,
    Retry,
    /// Until then, if that is known.
    Extend(Option<Timestamp>),
}

/// How a change was answered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// Done; or nobody knows, if the call never ended.
    Done,
    /// The id names no item.
    Missing(ItemId),
    /// The id names an item that nobody holds.
    NotHeld(ItemId),
}

/// An item of a list.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) payload: String,
    pub(super) id: ItemId,
    pub(super) is_leased: bool,
}

/// An item as one caller after another would see it. Ids are counted in the order in which items entered the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// Not yet produced, or completed.
    Nowhere,
    Ready(usize),
    Held(usize, Timestamp),
}

/// The queue as one caller after another would see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// By item.
    places: Vec<Place>,
    produced: Vec<bool>,
    /// How many ids have been given.
    entered: usize,
    now: Timestamp,
}

/// Histories are short, or the search is long.
const CALLS_MAX: usize = 256;

/// The calls that have their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Done([u64; CALLS_MAX / 64]);

impl Done {
    fn has(self, call: usize) -> bool {
        self.0[call / 64] & (1 << (call % 64)) != 0
    }

    fn with(mut self, call: usize) -> Self {
        self.0[call / 64] |= 1 << (call % 64);
        self
    }
}

/// The history, and what its ids tell.
struct Search<'a> {
    history: &'a [Call],
    /// Items by payload.
    items: HashMap<&'a str, usize>,
    /// The item that entered under each id, in order.
    entries: Vec<(ItemId, usize)>,
}

/// Looks for an order that respects time (what ended before another started comes first) and in which every answer is
/// right.
pub(super) fn is_linearizable(history: &[Call], start: Timestamp) -> bool {
    assert!(history.len() <= CALLS_MAX, "a history of {} calls is too long to check", history.len());
    let Some(search) = Search::of(history) else {
        return false;
    };
    let first = State {
        places: vec![Place::Nowhere; search.items.len()],
        produced: vec![false; search.items.len()],
        entered: 0,
        now: start,
    };
    let mut seen = HashSet::new();
    let mut open = vec![(Done::default(), first)];
    while let Some((done, state)) = open.pop() {
        if search.is_over(done, &state) {
            return true;
        }
        if seen.insert((done, state.clone())) {
            search.steps(done, &state, &mut open);
        }
    }
    false
}

impl<'a> Search<'a> {
    /// None if an id was seen on two items, or was taken twice.
    fn of(history: &'a [Call]) -> Option<Self> {
        let mut items = HashMap::new();
        let mut seen: BTreeMap<ItemId, usize> = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for call in history {
            let pairs: Vec<(&str, Option<ItemId>)> = match &call.operation {
                Operation::Produce { payloads, ids } => payloads
                    .iter()
                    .enumerate()
                    .map(|(at, payload)| (payload.as_str(), ids.get(at).copied()))
                    .collect(),
                Operation::Take { payload, id, .. } => {
                    if !taken.insert(*id) {
                        return None;
                    }
                    vec![(payload, Some(*id))]
                }
                Operation::List { items } => {
                    items.iter().map(|item| (item.payload.as_str(), Some(item.id))).collect()
                }
                Operation::Change { .. } | Operation::Advance { .. } => Vec::new(),
            };
            for (payload, id) in pairs {
                let next = items.len();
                let item = *items.entry(payload).or_insert(next);
                if let Some(id) = id
                    && *seen.entry(id).or_insert(item) != item
                {
                    return None;
                }
            }
        }
        Some(Search { history, items, entries: seen.into_iter().collect() })
    }

    /// Every call that was answered has its place, and every id was given.
    fn is_over(&self, done: Done, state: &State) -> bool {
        let answered = |(index, call): (usize, &Call)| done.has(index) || call.ended == NEVER;
        state.entered == self.entries.len() && self.history.iter().enumerate().all(answered)
    }

    /// All that could come next.
    fn steps(&self, done: Done, state: &State, open: &mut Vec<(Done, State)>) {
        // A lease that is over ends when the queue comes to it; the item is the one that enters next.
        if let Some((_, item)) = self.entries.get(state.entered)
            && let Place::Held(_, deadline) = state.places[*item]
            && deadline < state.now
        {
            let mut next = state.clone();
            next.places[*item] = Place::Nowhere;
            open.extend(self.enter(*item, &mut next).then_some((done, next)));
        }
        let pending = || self.history.iter().enumerate().filter(move |(index, _)| !done.has(*index));
        let first_end = pending().map(|(_, call)| call.ended).min().unwrap_or(NEVER);
        for (index, call) in pending().filter(|(_, call)| call.started <= first_end) {
            open.extend(self.after(state, &call.operation).map(|next| (done.with(index), next)));
        }
    }

    /// Puts an item at the tail, if its id is the next.
    fn enter(&self, item: usize, state: &mut State) -> bool {
        let is_next = self.entries.get(state.entered).is_some_and(|(_, next)| *next == item);
        if is_next {
            state.places[item] = Place::Ready(state.entered);
            state.entered += 1;
        }
        is_next
    }

    /// The state after the operation, if it could have been answered so.
    fn after(&self, state: &State, operation: &Operation) -> Option<State> {
        let mut next = state.clone();
        match operation {
            Operation::Produce { payloads, ids } => {
                for (at, payload) in payloads.iter().enumerate() {
                    let item = self.items[payload.as_str()];
                    let id_fits = ids.get(at).is_none_or(|id| self.number(*id) == Some(next.entered));
                    if !id_fits || std::mem::replace(&mut next.produced[item], true) {
                        return None;
                    }
                    self.enter(item, &mut next).then_some(())?;
                }
            }
            Operation::Take { payload, id, deadline } => {
                let item = self.items[payload.as_str()];
                let number = self.number(*id)?;
                let is_first = state.places.iter().all(|place| match place {
                    Place::Ready(other) => *other >= number,
                    _ => true,
                });
                if state.places[item] != Place::Ready(number) || !is_first {
                    return None;
                }
                next.places[item] = Place::Held(number, *deadline);
            }
            Operation::Change { ids, kind, answer: Answer::Done } => {
                for id in ids {
                    let item = self.held(&next, *id)?;
                    self.change(&mut next, item, *kind).then_some(())?;
                }
            }
            Operation::Change { ids, answer: Answer::Missing(bad) | Answer::NotHeld(bad), .. }
                if ids.iter().take_while(|id| *id != bad).any(|id| self.held(state, *id).is_none()) =>
            {
                return None;
            }
            Operation::Change { answer: Answer::Missing(bad), .. } => {
                self.stored(state, *bad).is_none().then_some(())?;
            }
            Operation::Change { answer: Answer::NotHeld(bad), .. } => {
                let item = self.stored(state, *bad)?;
                matches!(state.places[item], Place::Ready(_)).then_some(())?;
            }
            Operation::List { items } => self.is_all(state, items).then_some(())?,
            Operation::Advance { now } => next.now = *now,
        }
        Some(next)
    }

    fn change(&self, next: &mut State, item: usize, kind: Kind) -> bool {
        match (kind, next.places[item]) {
            (Kind::Extend(Some(deadline)), Place::Held(number, _)) => {
                next.places[item] = Place::Held(number, deadline);
                true
            }
            (Kind::Extend(_), _) => true,
            (Kind::Complete, _) => {
                next.places[item] = Place::Nowhere;
                true
            }
            (Kind::Retry, _) => {
                next.places[item] = Place::Nowhere;
                self.enter(item, next)
            }
        }
    }

    fn number(&self, id: ItemId) -> Option<usize> {
        self.entries.binary_search_by_key(&id, |(id, _)| *id).ok()
    }

    /// The item that is there under this id.
    fn stored(&self, state: &State, id: ItemId) -> Option<usize> {
        let number = self.number(id)?;
        let item = self.entries[number].1;
        match state.places[item] {
            Place::Ready(at) | Place::Held(at, _) if at == number => Some(item),
            _ => None,
        }
    }

    fn held(&self, state: &State, id: ItemId) -> Option<usize> {
        self.stored(state, id).filter(|item| matches!(state.places[*item], Place::Held(..)))
    }

    fn is_all(&self, state: &State, listed: &[Listed]) -> bool {
        let mut there: Vec<(usize, bool)> = state
            .places
            .iter()
            .filter_map(|place| match place {
                Place::Nowhere => None,
                Place::Ready(number) => Some((*number, false)),
                Place::Held(number, _) => Some((*number, true)),
            })
            .collect();
        there.sort_unstable();
        let numbers = |item: &Listed| self.number(item.id).map(|number| (number, item.is_leased));
        listed.iter().map(numbers).eq(there.into_iter().map(Some))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ItemIds;

    const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
    const DEADLINE: Timestamp = Timestamp::from_millis(1_700_000_060_000);
    const LATER: Timestamp = Timestamp::from_millis(1_700_000_061_000);

    fn ids<const LEN: usize>() -> [ItemId; LEN] {
        let mut ids = ItemIds::default();
        std::array::from_fn(|_| ids.next())
    }

    /// One call after the other.
    fn in_turn(operations: impl IntoIterator<Item = Operation>) -> Vec<Call> {
        let calls = (0..).zip(operations);
        calls.map(|(at, operation)| Call { started: 2 * at, ended: 2 * at + 1, operation }).collect()
    }

    fn produce(payloads: &[&str], ids: &[ItemId]) -> Operation {
        let payloads = payloads.iter().map(|payload| (*payload).to_owned()).collect();
        Operation::Produce { payloads, ids: ids.to_vec() }
    }

    fn take(payload: &str, id: ItemId) -> Operation {
        Operation::Take { payload: payload.to_owned(), id, deadline: DEADLINE }
    }

    fn change(kind: Kind, id: ItemId) -> Operation {
        Operation::Change { ids: vec![id], kind, answer: Answer::Done }
    }

    fn missing(id: ItemId) -> Operation {
        Operation::Change { ids: vec![id], kind: Kind::Complete, answer: Answer::Missing(id) }
    }

    fn list(items: &[(&str, ItemId, bool)]) -> Operation {
        let listed = |(payload, id, is_leased): &(&str, ItemId, bool)| Listed {
            payload: (*payload).to_owned(),
            id: *id,
            is_leased: *is_leased,
        };
        Operation::List { items: items.iter().map(listed).collect() }
    }

    fn judge(history: &[Call]) -> bool {
        is_linearizable(history, START)
    }

    #[test]
    fn life_of_two_items_is_linearizable() {
        let [a, b, a2, b2] = ids();
        assert!(judge(&in_turn([
            produce(&["a", "b"], &[a, b]),
            take("a", a),
            change(Kind::Retry, a),
            missing(a),
            take("b", b),
            Operation::Advance { now: LATER },
            take("a", a2),
            missing(b),
            change(Kind::Complete, a2),
            list(&[("b", b2, false)]),
        ])));
    }

    #[test]
    fn lost_item_is_caught() {
        let [a, b] = ids();
        assert!(!judge(&in_turn([produce(&["a", "b"], &[a, b]), list(&[("b", b, false)])])));
        assert!(!judge(&in_turn([
            produce(&["a"], &[a]),
            take("a", a),
            Operation::Advance { now: LATER },
            list(&[])
        ])));
    }

    #[test]
    fn double_delivery_is_caught() {
        let [a, a2] = ids();
        assert!(!judge(&in_turn([produce(&["a"], &[a]), take("a", a), take("a", a)])));
        assert!(!judge(&in_turn([produce(&["a"], &[a]), take("a", a), take("a", a2)])));
        assert!(
            !judge(&in_turn([
                produce(&["a"], &[a]),
                take("a", a),
                change(Kind::Extend(Some(LATER)), a),
                Operation::Advance { now: LATER },
                take("a", a2)
            ])),
            "the lease was extended"
        );
    }

    #[test]
    fn broken_order_is_caught() {
        let [a, b] = ids();
        assert!(!judge(&in_turn([produce(&["a", "b"], &[a, b]), take("b", b), take("a", a)])));
        assert!(!judge(&in_turn([produce(&["a"], &[b]), produce(&["b"], &[a])])));
    }

    #[test]
    fn retried_item_that_keeps_its_place_is_caught() {
        let [a, a2, b] = ids();
        assert!(!judge(&in_turn([
            produce(&["a", "b"], &[a, b]),
            take("a", a),
            change(Kind::Retry, a),
            take("a", a2),
            take("b", b),
        ])));
    }

    #[test]
    fn completed_item_that_comes_back_is_caught() {
        let [a, a2] = ids();
        let history = [
            produce(&["a"], &[a]),
            take("a", a),
            change(Kind::Complete, a),
            Operation::Advance { now: LATER },
        ];
        assert!(judge(&in_turn(history.clone())));
        assert!(!judge(&in_turn(history.into_iter().chain([take("a", a2)]))));
    }

    #[test]
    fn batch_that_is_torn_apart_is_caught() {
        let [a, x, b] = ids();
        let calls = |started, ended, operation| Call { started, ended, operation };
        let history = [calls(0, 9, produce(&["a", "b"], &[a, b])), calls(1, 8, produce(&["x"], &[x]))];
        assert!(!judge(&history));
    }

    #[test]
    fn refusal_of_a_holder_is_caught() {
        let [a] = ids();
        assert!(!judge(&in_turn([produce(&["a"], &[a]), take("a", a), missing(a)])));
        let not_held = Operation::Change { ids: vec![a], kind: Kind::Complete, answer: Answer::NotHeld(a) };
        assert!(judge(&in_turn([produce(&["a"], &[a]), not_held.clone()])));
        assert!(!judge(&in_turn([produce(&["a"], &[a]), take("a", a), not_held])));
    }

    #[test]
    fn half_done_request_is_caught() {
        let [a, b] = ids();
        let refused = Operation::Change { ids: vec![a, b], kind: Kind::Complete, answer: Answer::NotHeld(b) };
        let history = [produce(&["a", "b"], &[a, b]), take("a", a), refused];
        let whole = list(&[("a", a, true), ("b", b, false)]);
        assert!(judge(&in_turn(history.clone().into_iter().chain([whole]))));
        assert!(!judge(&in_turn(history.into_iter().chain([list(&[("b", b, false)])]))));
    }

    #[test]
    fn unknown_outcome_may_be_either() {
        let [a] = ids();
        for there in [true, false] {
            let listed: &[(&str, ItemId, bool)] = if there { &[("a", a, false)] } else { &[] };
            let history = [
                Call { started: 0, ended: NEVER, operation: produce(&["a"], &[]) },
                Call { started: 5, ended: 6, operation: list(listed) },
            ];
            assert!(judge(&history), "{there}");
            let mut history = in_turn([produce(&["a"], &[a]), take("a", a), change(Kind::Complete, a)]);
            history[2].ended = NEVER;
            let listed: &[(&str, ItemId, bool)] = if there { &[("a", a, true)] } else { &[] };
            history.push(Call { started: 9, ended: 10, operation: list(listed) });
            assert!(judge(&history), "{there}");
        }
    }

    #[test]
    fn unknown_outcome_is_not_half() {
        let [a, b] = ids();
        for listed in [("a", a, false), ("b", b, false)] {
            let history = [
                Call { started: 0, ended: NEVER, operation: produce(&["a", "b"], &[]) },
                Call { started: 5, ended: 6, operation: list(&[listed]) },
            ];
            assert!(!judge(&history), "{listed:?}");
        }
    }

    #[test]
    fn overlapping_calls_may_be_ordered_either_way() {
        let [a, b] = ids();
        let history = [
            Call { started: 0, ended: 9, operation: produce(&["b"], &[b]) },
            Call { started: 1, ended: 8, operation: produce(&["a"], &[a]) },
            Call { started: 2, ended: 7, operation: take("a", a) },
        ];
        assert!(judge(&history));
        let apart = [
            Call { started: 0, ended: 1, operation: produce(&["b"], &[b]) },
            Call { started: 2, ended: 8, operation: produce(&["a"], &[a]) },
        ];
        assert!(!judge(&apart), "what ended before comes first");
    }
}

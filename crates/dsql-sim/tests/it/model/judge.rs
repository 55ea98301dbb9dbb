//! Whether what several sessions saw at the same time can have happened in some order: each step at one moment between
//! its being sent and its being answered, and each answer the model's.

use std::collections::HashSet;

use super::{
    history::Step,
    snapshots::{Database, Found},
};

/// One statement of a session. The times are places in one order of everything that was sent and answered.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) step: Step,
    /// A transaction by itself.
    pub(super) is_alone: bool,
    pub(super) sent: u64,
    pub(super) answered: u64,
    pub(super) found: Found,
}

/// A step at one moment; of some the answer is not known.
struct Event {
    step: Step,
    sent: u64,
    answered: u64,
    found: Option<Found>,
}

/// Looks for an order, with what is stored at the end.
///
/// # Errors
/// The history, in the order in which it was sent, when there is none.
pub(super) fn judge(sessions: &[Vec<Seen>], stored: &str) -> Result<(), String> {
    let search = Search {
        sessions: sessions.iter().map(|seen| events(seen)).collect(),
        stored,
        refuted: HashSet::new(),
    };
    if search.finds() { Ok(()) } else { Err(shown(sessions, stored)) }
}

/// The first statement of a transaction takes the snapshot and then does its work, and somebody may commit in between; one
/// by itself commits too, all while it runs.
fn events(session: &[Seen]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut is_first = false;
    for seen in session {
        let mut add = |step, found| {
            events.push(Event { step, sent: seen.sent, answered: seen.answered, found });
        };
        let done = || Some(Ok(String::new()));
        if seen.is_alone {
            let (found, end) = match &seen.found {
                Err(told) if told.starts_with("40001") => (None, (Step::Commit, Some(seen.found.clone()))),
                Err(_) => (Some(seen.found.clone()), (Step::Rollback, done())),
                Ok(_) => (Some(seen.found.clone()), (Step::Commit, done())),
            };
            add(Step::Begin, done());
            add(Step::Snapshot, done());
            add(seen.step, found);
            add(end.0, end.1);
        } else {
            if is_first {
                add(Step::Snapshot, done());
            }
            add(seen.step, Some(seen.found.clone()));
        }
        is_first = seen.step == Step::Begin;
    }
    events
}

struct Search<'a> {
    sessions: Vec<Vec<Event>>,
    stored: &'a str,
    /// How far each session was, and what was stored then: from there is no way on.
    refuted: HashSet<(Vec<usize>, Database)>,
}

impl Search<'_> {
    fn finds(mut self) -> bool {
        let model = Database::new(self.sessions.len());
        self.goes_on(vec![0; self.sessions.len()], model)
    }

    fn goes_on(&mut self, mut places: Vec<usize>, mut model: Database) -> bool {
        // Nobody can tell when these happened, so they need not be tried in every order.
        for (session, place) in places.iter_mut().enumerate() {
            while let Some(event) = self.sessions[session].get(*place)
                && matches!(event.step, Step::Begin | Step::Rollback)
            {
                if !takes(&mut model, session, event) {
                    return false;
                }
                *place += 1;
            }
        }
        let next: Vec<Option<&Event>> =
            self.sessions.iter().zip(&places).map(|(events, place)| events.get(*place)).collect();
        let Some(first_answer) = next.iter().flatten().map(|event| event.answered).min() else {
            return model.shown() == self.stored;
        };
        if self.refuted.contains(&(places.clone(), model.clone())) {
            return false;
        }
        // What was sent after another was answered comes after it.
        let possible: Vec<usize> = (0..next.len())
            .filter(|session| next[*session].is_some_and(|event| event.sent <= first_answer))
            .collect();
        for session in possible {
            let mut after = model.clone();
            if takes(&mut after, session, &self.sessions[session][places[session]]) {
                let mut further = places.clone();
                further[session] += 1;
                if self.goes_on(further, after) {
                    return true;
                }
            }
        }
        self.refuted.insert((places, model));
        false
    }
}

fn takes(model: &mut Database, session: usize, event: &Event) -> bool {
    match &event.found {
        Some(found) => model.take(session, event.step, found).is_ok(),
        None => {
            model.apply(session, event.step);
            true
        }
    }
}

fn shown(sessions: &[Vec<Seen>], stored: &str) -> String {
    let mut lines: Vec<(u64, String)> = Vec::new();
    for (session, seen) in sessions.iter().enumerate() {
        for Seen { step, is_alone, sent, answered, found } in seen {
            let alone = if *is_alone { " (by itself)" } else { "" };
            lines.push((
                *sent,
                format!("{sent:>4} to {answered:<4} {session}: {}{alone} -> {found:?}", step.sql()),
            ));
        }
    }
    lines.sort();
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    format!("{}\nstored: {stored}", lines.join("\n"))
}

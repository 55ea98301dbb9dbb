//! Which statements of a connection are kept prepared, when there are more than may be.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// How often a statement is asked for before it may take the place of another. A program with more statements than
/// places would otherwise prepare for every use.
const USES_MIN: u32 = 8;

/// After how many questions per place old uses count half.
const AGE: usize = 16;

/// Prepared statements by their text; the often used ones stay.
#[derive(Debug)]
pub(crate) struct StatementCache<S> {
    places: usize,
    prepared: HashMap<Box<str>, Entry<S>>,
    /// Uses of texts that are not prepared, by their hash.
    others: HashMap<u64, u32>,
    hasher: RandomState,
    questions: usize,
}

#[derive(Debug)]
struct Entry<S> {
    statement: S,
    uses: u32,
}

/// What to do with a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Advice<S> {
    /// It is prepared.
    Use(S),
    /// Preparing it pays, or there is room.
    Prepare,
    /// It is rarer than all that are prepared.
    SendUnprepared,
}

impl<S: Clone> StatementCache<S> {
    pub(crate) fn new(places: usize) -> Self {
        Self {
            places,
            prepared: HashMap::new(),
            others: HashMap::new(),
            hasher: RandomState::new(),
            questions: 0,
        }
    }

    pub(crate) fn ask(&mut self, sql: &str) -> Advice<S> {
        self.questions += 1;
        if self.questions > AGE * self.places {
            self.age();
        }
        if let Some(entry) = self.prepared.get_mut(sql) {
            entry.uses = entry.uses.saturating_add(1);
            return Advice::Use(entry.statement.clone());
        }
        if self.prepared.len() < self.places {
            return Advice::Prepare;
        }
        let uses = self.others.entry(self.hasher.hash_one(sql)).or_default();
        *uses = uses.saturating_add(1);
        let uses = *uses;
        let is_worth_a_place = uses >= USES_MIN && self.rarest().is_none_or(|(rarest, _)| uses > rarest);
        if is_worth_a_place { Advice::Prepare } else { Advice::SendUnprepared }
    }

    /// Keeps a statement, in the place of the rarest where there is no room.
    pub(crate) fn keep(&mut self, sql: &str, statement: S) {
        if self.prepared.len() >= self.places
            && let Some((_, rarest)) = self.rarest()
        {
            let rarest: Box<str> = rarest.into();
            self.prepared.remove(&rarest);
        }
        let uses = self.others.remove(&self.hasher.hash_one(sql)).unwrap_or(1);
        self.prepared.insert(sql.into(), Entry { statement, uses });
    }

    pub(crate) fn clear(&mut self) {
        self.prepared.clear();
        self.others.clear();
    }

    fn rarest(&self) -> Option<(u32, &str)> {
        self.prepared.iter().map(|(sql, entry)| (entry.uses, &**sql)).min()
    }

    /// What was often used long ago makes room, and texts that were asked for once are forgotten.
    fn age(&mut self) {
        self.questions = 0;
        self.prepared.values_mut().for_each(|entry| entry.uses /= 2);
        self.others.retain(|_, uses| {
            *uses /= 2;
            *uses > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{AGE, Advice, StatementCache, USES_MIN};

    fn full(places: usize) -> StatementCache<usize> {
        let mut cache = StatementCache::new(places);
        for number in 0..places {
            let sql = format!("SELECT {number}");
            assert_eq!(cache.ask(&sql), Advice::Prepare);
            cache.keep(&sql, number);
        }
        cache
    }

    #[test]
    fn statement_is_prepared_once_while_there_is_room() {
        let mut cache = full(3);
        assert_eq!(cache.ask("SELECT 1"), Advice::Use(1));
        assert_eq!(cache.ask("SELECT 2"), Advice::Use(2));
    }

    #[test]
    fn rare_statement_is_sent_unprepared_when_all_places_are_taken() {
        let mut cache = full(3);
        assert_eq!(cache.ask("SELECT 99"), Advice::SendUnprepared);
        assert_eq!(cache.ask("SELECT 0"), Advice::Use(0), "nothing had to go");
    }

    #[test]
    fn statement_that_became_frequent_takes_the_place_of_the_rarest() {
        let mut cache = full(2);
        for _ in 0..4 {
            assert_eq!(cache.ask("SELECT 0"), Advice::Use(0));
        }
        for _ in 1..USES_MIN {
            assert_eq!(cache.ask("SELECT 99"), Advice::SendUnprepared);
        }
        assert_eq!(cache.ask("SELECT 99"), Advice::Prepare);
        cache.keep("SELECT 99", 99);
        assert_eq!(cache.ask("SELECT 99"), Advice::Use(99));
        assert_eq!(cache.ask("SELECT 0"), Advice::Use(0));
        assert_eq!(cache.ask("SELECT 1"), Advice::SendUnprepared);
    }

    #[test]
    fn equally_frequent_statements_do_not_push_each_other_out() {
        let mut cache = full(10);
        let mut prepared = 0;
        for _ in 0..200 {
            for number in 0..40 {
                let sql = format!("SELECT {number}");
                if cache.ask(&sql) == Advice::Prepare {
                    cache.keep(&sql, number);
                    prepared += 1;
                }
            }
        }
        // Ageing lets one pass now and then; preparing for every use would be 6,000.
        assert!(prepared < 400, "{prepared}");
    }

    #[test]
    fn what_was_frequent_long_ago_makes_room() {
        let mut cache = full(1);
        for _ in 0..AGE {
            assert_eq!(cache.ask("SELECT 0"), Advice::Use(0));
        }
        let passed = (0..200).position(|_| cache.ask("SELECT 99") == Advice::Prepare);
        assert!(passed.is_some());
    }

    #[test]
    fn texts_asked_for_once_are_forgotten() {
        let mut cache = full(2);
        for number in 0..10_000 {
            assert_eq!(cache.ask(&format!("SELECT -{number}")), Advice::SendUnprepared);
        }
        assert!(cache.others.len() <= 2 * AGE + 1, "{}", cache.others.len());
    }
}

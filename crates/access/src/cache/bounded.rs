//! A map that forgets: what is too old, and what was not asked for lately when it is full.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;
use std::time::{Duration, Instant};

/// How often what is too old is dropped although nobody asks for it.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Two halves: what was asked for since the young half filled up last is there, the rest is in the old one and goes
/// when the young half fills up again. So strangers who ask for ever new keys push out only what nobody uses.
#[derive(Debug)]
pub(crate) struct Bounded<K, V> {
    young: HashMap<K, Entry<V>>,
    old: HashMap<K, Entry<V>>,
    half_len_max: usize,
    lifetime: Duration,
    swept_at: Option<Instant>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    dropped_at: Option<Instant>,
}

impl<V> Entry<V> {
    fn lives(&self, now: Instant) -> bool {
        self.dropped_at.is_none_or(|dropped_at| now < dropped_at)
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Bounded<K, V> {
    /// Keeps at most `len_max` values, each for `lifetime` from when it was put in.
    pub(crate) fn new(len_max: usize, lifetime: Duration) -> Self {
        let half_len_max = (len_max / 2).max(1);
        Self { young: HashMap::new(), old: HashMap::new(), half_len_max, lifetime, swept_at: None }
    }

    pub(crate) fn get(&mut self, key: &K, now: Instant) -> Option<V> {
        if let Some(entry) = self.young.get(key) {
            return entry.lives(now).then(|| entry.value.clone());
        }
        let entry = self.old.remove(key).filter(|entry| entry.lives(now))?;
        let value = entry.value.clone();
        self.put(key.clone(), entry);
        Some(value)
    }

    pub(crate) fn insert(&mut self, key: K, value: V, now: Instant) {
        self.sweep(now);
        self.old.remove(&key);
        self.put(key, Entry { value, dropped_at: now.checked_add(self.lifetime) });
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&V) -> bool) {
        self.young.retain(|_, entry| keep(&entry.value));
        self.old.retain(|_, entry| keep(&entry.value));
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    fn put(&mut self, key: K, entry: Entry<V>) {
        if self.young.len() >= self.half_len_max && !self.young.contains_key(&key) {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, entry);
    }

    fn sweep(&mut self, now: Instant) {
        let due = self.swept_at.is_none_or(|swept_at| now.saturating_duration_since(swept_at) >= SWEEP_EVERY);
        if due {
            self.young.retain(|_, entry| entry.lives(now));
            self.old.retain(|_, entry| entry.lives(now));
            self.swept_at = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFETIME: Duration = Duration::from_secs(100);

    #[test]
    fn value_is_forgotten_at_the_end_of_its_life() {
        let (mut kept, now) = (Bounded::new(10, LIFETIME), Instant::now());
        kept.insert("a", 1, now);
        assert_eq!(kept.get(&"a", now + LIFETIME - Duration::from_nanos(1)), Some(1));
        assert_eq!(kept.get(&"a", now + LIFETIME), None);
    }

    #[test]
    fn number_is_bounded_and_what_is_used_stays() {
        let (mut kept, now) = (Bounded::new(100, LIFETIME), Instant::now());
        kept.insert(0, "used", now);
        for stranger in 1..10_000 {
            kept.insert(stranger, "stranger", now);
            assert_eq!(kept.get(&0, now), Some("used"), "after {stranger}");
            assert!(kept.len() <= 100, "{}", kept.len());
        }
    }

    #[test]
    fn asking_does_not_prolong_the_life() {
        let (mut kept, now) = (Bounded::new(2, LIFETIME), Instant::now());
        kept.insert("a", 1, now);
        kept.insert("b", 2, now);
        assert_eq!(kept.get(&"a", now + LIFETIME / 2), Some(1));
        assert_eq!(kept.get(&"a", now + LIFETIME), None);
    }

    #[test]
    fn dead_values_are_swept_although_nobody_asks() {
        let (mut kept, now) = (Bounded::new(100, LIFETIME), Instant::now());
        for key in 0..50 {
            kept.insert(key, (), now);
        }
        kept.insert(50, (), now + LIFETIME);
        assert_eq!(kept.len(), 1);
    }
}

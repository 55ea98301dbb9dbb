//! Judges what passes against the rules of a proxy.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::watch;

use super::{Action, Rule, RuleHandle, Trigger, window::Window};

/// All rules of a proxy, in the order they were added.
#[derive(Debug, Default)]
pub(super) struct Rulebook {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    list: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    rule: Rule,
    notice: Notice,
    gate: watch::Receiver<bool>,
}

/// Tells the handles of a rule that it took hold.
#[derive(Clone, Debug)]
pub(super) struct Notice(Arc<watch::Sender<u64>>);

impl Notice {
    pub(super) fn tell(&self) {
        self.0.send_modify(|times| *times += 1);
    }
}

/// Direction of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Request,
    Reply,
}

/// What a chunk or a new connection waits for.
#[derive(Clone, Debug)]
pub(super) enum Wait {
    For(Duration),
    /// Until it is true, or nobody is left to say so.
    Until(watch::Receiver<bool>),
}

/// What is to be done with a chunk or a new connection.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) waits: Vec<(Wait, Notice)>,
    /// The action that does not wait; `Action::Delay` and `Action::Hold` do not occur here.
    pub(super) last: Option<(Action, Notice)>,
}

impl Rulebook {
    pub(super) fn add(&self, rule: Rule) -> RuleHandle {
        if let Trigger::Request(pattern) | Trigger::Reply(pattern) = &rule.trigger {
            let bytes = pattern.len();
            let max = Rule::PATTERN_BYTES_MAX;
            assert!((1..=max).contains(&bytes), "pattern of {bytes} bytes; 1 to {max} are allowed");
        }
        let (sender, fired) = watch::channel(0);
        let (opener, gate) = watch::channel(false);
        let mut entries = self.entries();
        let id = entries.next;
        entries.next += 1;
        entries.list.push(Entry { id, rule, notice: Notice(Arc::new(sender)), gate });
        RuleHandle { fired, gate: Arc::new(opener) }
    }

    pub(super) fn clear(&self) {
        self.entries().list.clear();
    }

    pub(super) fn on_connect(&self) -> Verdict {
        self.judge(|_, trigger| u64::from(*trigger == Trigger::Connect))
    }

    pub(super) fn on_chunk(&self, direction: Direction, window: &mut Window, chunk: &[u8]) -> Verdict {
        window.advance(chunk);
        self.judge(|id, trigger| match (direction, trigger) {
            (Direction::Request, Trigger::Request(pattern)) | (Direction::Reply, Trigger::Reply(pattern)) => {
                window.occurrences(id, pattern)
            }
            _ => 0,
        })
    }

    /// `matches` tells how often a rule's trigger matched.
    fn judge(&self, mut matches: impl FnMut(u64, &Trigger) -> u64) -> Verdict {
        let mut verdict = Verdict::default();
        for Entry { id, rule, notice, gate } in &mut self.entries().list {
            let found = matches(*id, &rule.trigger);
            let skipped = found.min(rule.skip);
            rule.skip -= skipped;
            let firing = (found - skipped).min(rule.left);
            if firing == 0 {
                continue;
            }
            let wait = match rule.action {
                Action::Delay(delay) => Some(Wait::For(delay)),
                Action::Hold => Some(Wait::Until(gate.clone())),
                _ => None,
            };
            let Some(wait) = wait else {
                rule.left -= 1;
                verdict.last = Some((rule.action, notice.clone()));
                break;
            };
            rule.left = rule.left.saturating_sub(firing);
            verdict.waits.extend((0..firing).map(|_| (wait.clone(), notice.clone())));
        }
        verdict
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Direction, Rulebook, Verdict, Wait};
    use crate::proxy::{Action, Rule, Trigger, window::Window};
    use std::time::Duration;

    fn request(rules: &Rulebook, window: &mut Window, chunk: &[u8]) -> Verdict {
        rules.on_chunk(Direction::Request, window, chunk)
    }

    fn action(verdict: &Verdict) -> Option<Action> {
        verdict.last.as_ref().map(|(action, _)| *action)
    }

    #[test]
    fn rule_fires_once_by_default() {
        let (rules, mut window) = (Rulebook::default(), Window::default());
        rules.add(Rule::on(Trigger::Request(b"x".into())).then(Action::Cut));
        assert_eq!(action(&request(&rules, &mut window, b"x")), Some(Action::Cut));
        assert_eq!(action(&request(&rules, &mut window, b"x")), None);
    }

    #[test]
    fn skipped_matches_pass_then_it_fires_so_many_times() {
        let rules = Rulebook::default();
        rules.add(Rule::on(Trigger::Connect).then(Action::Cut).skip(1).times(2));
        let seen: Vec<bool> = (0..5).map(|_| rules.on_connect().last.is_some()).collect();
        assert_eq!(seen, [false, true, true, false, false]);
    }

    #[test]
    fn second_occurrence_in_one_chunk_counts() {
        let (rules, mut window) = (Rulebook::default(), Window::default());
        rules.add(Rule::on(Trigger::Request(b"x".into())).then(Action::Cut).skip(1));
        assert_eq!(action(&request(&rules, &mut window, b"xx")), Some(Action::Cut));
    }

    #[test]
    fn delays_add_up_and_the_first_other_action_decides() {
        let (rules, mut window) = (Rulebook::default(), Window::default());
        let on = || Rule::on(Trigger::Request(b"x".into()));
        rules.add(on().then(Action::Delay(Duration::from_millis(1))));
        rules.add(on().then(Action::Delay(Duration::from_millis(2))));
        rules.add(on().then(Action::Blackhole));
        rules.add(on().then(Action::Cut));
        let verdict = request(&rules, &mut window, b"x");
        let delays = verdict.waits.iter().map(|(wait, _)| match wait {
            Wait::For(delay) => delay.as_millis(),
            Wait::Until(_) => panic!("no rule holds"),
        });
        assert_eq!(delays.sum::<u128>(), 3);
        assert_eq!(action(&verdict), Some(Action::Blackhole));
        assert_eq!(action(&request(&rules, &mut window, b"x")), Some(Action::Cut), "not used up before");
    }

    #[test]
    fn directions_are_told_apart() {
        let (rules, mut window) = (Rulebook::default(), Window::default());
        rules.add(Rule::on(Trigger::Reply(b"x".into())).then(Action::Cut));
        assert_eq!(action(&request(&rules, &mut window, b"x")), None);
        assert_eq!(action(&rules.on_connect()), None);
        let reply = rules.on_chunk(Direction::Reply, &mut Window::default(), b"x");
        assert_eq!(action(&reply), Some(Action::Cut));
    }

    #[test]
    #[should_panic(expected = "pattern of 0 bytes")]
    fn empty_pattern_is_refused() {
        Rulebook::default().add(Rule::on(Trigger::Request(Vec::new())).then(Action::Cut));
    }

    #[test]
    #[should_panic(expected = "pattern of 4097 bytes")]
    fn pattern_beyond_the_limit_is_refused() {
        Rulebook::default().add(Rule::on(Trigger::Reply(vec![0; 4_097])).then(Action::Cut));
    }
}

//! Faults on demand: rules that match statements and make them, or their COMMIT, fail.

mod footprint;
mod rule;

use std::{collections::BTreeMap, time::Duration};

use parking_lot::Mutex;
use serde::Serialize;

pub(crate) use footprint::Footprint;
pub use rule::{Action, Rule, RuleError};

use crate::failure::{DATA_CONFLICT, Failure, SCHEMA_CONFLICT};

/// Where a fault may strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    Connect,
    Statement,
    BeforeCommit,
    AfterCommit,
    IndexBuild,
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Delay(Duration),
    Fail(Failure),
    /// With a last word.
    Close(Failure),
    /// Without a word.
    Cut,
    /// The index stays invalid.
    FailBuild,
    /// The build goes on until the rule is disarmed, or so long.
    SlowBuild {
        rule: String,
        time: Option<Duration>,
    },
}

/// The armed rules.
#[derive(Debug)]
pub struct Faults {
    seed: u64,
    armed: Mutex<BTreeMap<String, Armed>>,
}

#[derive(Debug)]
struct Armed {
    rule: Rule,
    matched: u64,
    fired: u64,
    random: u64,
}

/// A rule and what it did so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The rule.
    #[serde(flatten)]
    pub rule: Rule,
    /// How often it could have struck.
    pub matched: u64,
    /// How often it did.
    pub fired: u64,
}

impl Faults {
    pub(crate) fn new(seed: u64) -> Faults {
        Faults { seed, armed: Mutex::default() }
    }

    /// Arms a rule, in place of one of the same name, with its counts at zero.
    pub fn arm(&self, rule: Rule) {
        let random = seeded(self.seed, &rule.name);
        self.armed.lock().insert(rule.name.clone(), Armed { rule, matched: 0, fired: 0, random });
    }

    /// Disarms a rule. Whether there was one.
    pub fn disarm(&self, name: &str) -> bool {
        self.armed.lock().remove(name).is_some()
    }

    pub(crate) fn is_armed(&self, name: &str) -> bool {
        self.armed.lock().contains_key(name)
    }

    /// Disarms all.
    pub fn clear(&self) {
        self.armed.lock().clear();
    }

    /// Every armed rule with its counts, by name.
    #[must_use]
    pub fn report(&self) -> Vec<Report> {
        let armed = self.armed.lock();
        let report =
            |armed: &Armed| Report { rule: armed.rule.clone(), matched: armed.matched, fired: armed.fired };
        armed.values().map(report).collect()
    }

    /// Asked before a connection is let in.
    ///
    /// # Errors
    /// What the client is told before the connection is closed; nothing when it is closed without a word.
    pub fn connect(&self) -> Result<(), Option<Failure>> {
        match self.decide(Point::Connect, &[Footprint::default()]) {
            Some(Verdict::Fail(failure) | Verdict::Close(failure)) => Err(Some(failure)),
            Some(Verdict::Cut) => Err(None),
            Some(Verdict::Delay(_) | Verdict::FailBuild | Verdict::SlowBuild { .. }) | None => Ok(()),
        }
    }

    /// The first rule by name that strikes here; only that one counts as fired.
    pub(crate) fn decide(&self, point: Point, footprints: &[Footprint]) -> Option<Verdict> {
        let mut armed = self.armed.lock();
        let mut verdict = None;
        for armed in armed.values_mut() {
            let is_met = armed.rule.action.point() == point
                && footprints.iter().any(|footprint| armed.rule.matches(footprint));
            if is_met {
                armed.matched += 1;
                if verdict.is_none() && armed.strikes() {
                    armed.fired += 1;
                    tracing::info!(rule = armed.rule.name, "fault injected");
                    verdict = Some(verdict_of(&armed.rule));
                }
            }
        }
        verdict
    }
}

impl Armed {
    fn strikes(&mut self) -> bool {
        let rule = &self.rule;
        if self.fired >= rule.times_max() || rule.nth.is_some_and(|nth| self.matched < nth) {
            return false;
        }
        let Some(probability) = rule.probability else { return true };
        self.random = next(self.random);
        // The upper 53 bits make a fraction without rounding.
        ((self.random >> 11) as f64 / (1_u64 << 53) as f64) < probability
    }
}

fn verdict_of(rule: &Rule) -> Verdict {
    let fail = |sqlstate, message| Verdict::Fail(Failure::new(sqlstate, message));
    match rule.action {
        Action::ConflictAtCommit | Action::ConflictAtStatement => fail("40001", DATA_CONFLICT),
        Action::SchemaConflictAtCommit | Action::SchemaConflictAtStatement => fail("40001", SCHEMA_CONFLICT),
        Action::CutBeforeCommit | Action::CutAfterCommit => Verdict::Cut,
        Action::Delay => Verdict::Delay(Duration::from_millis(rule.delay_ms.unwrap_or(100))),
        Action::FailIndexBuild => Verdict::FailBuild,
        Action::SlowIndexBuild => {
            Verdict::SlowBuild { rule: rule.name.clone(), time: rule.delay_ms.map(Duration::from_millis) }
        }
        Action::Limit => fail("54000", "transaction size limit 10mb exceeded"),
        Action::Unavailable => fail("XX000", "server unavailable"),
        Action::TooManyConnections => {
            Verdict::Close(Failure::fatal("53300", "unable to accept connection, too many connections"))
        }
        Action::ConnectionRate => {
            Verdict::Close(Failure::fatal("53400", "unable to accept connection, rate exceeded"))
        }
        Action::RejectToken => Verdict::Close(
            Failure::fatal("28P01", "unable to accept connection, access denied").hint("Signature expired"),
        ),
        Action::Close => {
            Verdict::Close(Failure::fatal("57P01", "connection closed at the end of its lifetime"))
        }
    }
}

/// Each rule has a sequence of its own, so that arming another does not change it.
fn seeded(seed: u64, name: &str) -> u64 {
    name.bytes().fold(next(seed), |state, byte| next(state ^ u64::from(byte)))
}

/// SplitMix64.
fn next(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Faults, Footprint, Point, Rule, Verdict};
    use crate::rules::parse;

    fn footprint(sql: &str) -> Footprint {
        Footprint::of(&parse(sql).unwrap()[0])
    }

    fn armed(rule: &str) -> Faults {
        let faults = Faults::new(7);
        faults.arm(Rule::read(rule).unwrap());
        faults
    }

    fn strikes(faults: &Faults, point: Point, sql: &str) -> bool {
        faults.decide(point, &[footprint(sql)]).is_some()
    }

    #[test]
    fn rule_strikes_by_tag_table_and_kind() {
        let faults = armed(
            r#"{"name": "r", "action": "conflict_at_commit", "op": "Save", "table": "t", "kind": "update"}"#,
        );
        let at = Point::BeforeCommit;
        assert!(strikes(&faults, at, "/* op=Save */ UPDATE t SET x = 1"));
        assert!(!strikes(&faults, at, "UPDATE t SET x = 1"));
        assert!(!strikes(&faults, at, "/* op=Save */ UPDATE u SET x = 1"));
        assert!(!strikes(&faults, at, "/* op=Save */ DELETE FROM t"));
        assert!(!strikes(&faults, Point::Statement, "/* op=Save */ UPDATE t SET x = 1"));
    }

    #[test]
    fn nth_occurrence_is_struck_once() {
        let faults = armed(r#"{"name": "r", "action": "unavailable", "nth": 2}"#);
        let hits: Vec<bool> = (0..4).map(|_| strikes(&faults, Point::Statement, "SELECT 1")).collect();
        assert_eq!(hits, [false, true, false, false]);
        let report = faults.report();
        assert_eq!((report[0].matched, report[0].fired), (4, 1));
    }

    #[test]
    fn times_bounds_what_is_struck() {
        let faults = armed(r#"{"name": "r", "action": "limit", "times": 2}"#);
        let hits = (0..5).filter(|_| strikes(&faults, Point::BeforeCommit, "SELECT 1")).count();
        assert_eq!(hits, 2);
    }

    #[test]
    fn probability_is_the_same_for_the_same_seed() {
        let run = || {
            let faults = armed(r#"{"name": "r", "action": "unavailable", "probability": 0.5}"#);
            (0..64).map(|_| strikes(&faults, Point::Statement, "SELECT 1")).collect::<Vec<_>>()
        };
        assert_eq!(run(), run());
        let hits = run().iter().filter(|hit| **hit).count();
        assert!((16..48).contains(&hits), "{hits} of 64");
    }

    #[test]
    fn disarmed_rule_does_nothing() {
        let faults = armed(r#"{"name": "r", "action": "unavailable"}"#);
        assert!(faults.disarm("r") && !faults.disarm("r"));
        assert!(!strikes(&faults, Point::Statement, "SELECT 1"));
    }

    #[test]
    fn refused_connection_is_told_why() {
        let faults = armed(r#"{"name": "r", "action": "connection_rate", "times": 1}"#);
        let failure = faults.connect().unwrap_err().unwrap();
        assert_eq!(failure.sqlstate(), "53400");
        assert_eq!(faults.connect(), Ok(()));
    }

    #[test]
    fn delay_is_the_one_asked_for() {
        let faults = armed(r#"{"name": "r", "action": "delay", "delay_ms": 7}"#);
        let verdict = faults.decide(Point::Statement, &[footprint("SELECT 1")]);
        assert_eq!(verdict, Some(Verdict::Delay(std::time::Duration::from_millis(7))));
    }
}

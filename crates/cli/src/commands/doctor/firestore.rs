//! A Firestore database, seen through the account that locks would use. Nothing is written.

use std::time::Duration;

use leasehold_core::Timestamp;
use leasehold_locks::backend::firestore::{ClockReading, Condition, Config, Hindrance, Holds, Why, inspect};

use super::clock::{self, Sample};
use super::finding::Findings;

pub(super) async fn look(config: &Config, findings: &mut Findings) {
    match inspect(config).await {
        Ok(condition) => judge(condition, findings),
        Err(hindrance) => hindered("reach", hindrance, findings),
    }
}

fn judge(condition: Condition, findings: &mut Findings) {
    let quickest =
        condition.clock.iter().map(|reading| reading.answered.saturating_since(reading.asked)).min();
    match quickest {
        Some(took) => findings.ok("reach", format!("documents can be read, within {} ms", took.as_millis())),
        None => findings.ok("reach", "documents can be read"),
    }
    match condition.writing {
        Ok(()) => {
            findings.ok("permissions", "documents may be written: one that cannot exist was asked to go")
        }
        Err(hindrance) => hindered("permissions", hindrance, findings),
    }
    match condition.finding {
        Ok(()) => findings.ok("index", "holds are found by their lock id"),
        Err(hindrance) => hindered("index", hindrance, findings),
    }
    match condition.holds {
        Ok(holds) => judge_holds(&holds, findings),
        Err(hindrance) => hindered("locks", hindrance, findings),
    }
    let samples: Vec<Sample> = condition.clock.iter().map(sample).collect();
    clock::judge_for_expiry(findings, &samples);
}

fn judge_holds(holds: &Holds, findings: &mut Findings) {
    let Holds { live, ended, foreign, without_counter, are_more } = *holds;
    let of = if are_more { " among the first" } else { "" };
    match foreign {
        0 => findings.ok("locks", format!("{live} live hold(s){of}, {ended} that ended without release")),
        _ => findings.warning(
            "locks",
            format!("{foreign} document(s){of} are no locks; acquiring their keys fails"),
            "give locks a collection of their own, or remove those documents",
        ),
    }
    match without_counter {
        0 => findings.ok("fences", "every hold looked at has its counter"),
        _ => findings.problem(
            "fences",
            format!("{without_counter} hold(s) looked at have no fence counter, or one behind them: a fence can be given twice"),
            "remove any TTL policy on the counters, restore them from a backup, and never delete them",
        ),
    }
}

fn hindered(check: &'static str, hindrance: Hindrance, findings: &mut Findings) {
    let next = cure(hindrance.why);
    findings.failed(check, hindrance.error, next);
}

fn cure(why: Why) -> &'static str {
    match why {
        Why::Credentials => {
            "name the key file of a service account in GOOGLE_APPLICATION_CREDENTIALS, or run 'gcloud auth \
             application-default login'; an emulator is named by FIRESTORE_EMULATOR_HOST"
        }
        Why::NotAllowed => {
            "give the account roles/datastore.user in this project, and see that the project's id is right and its Firestore \
             API is enabled"
        }
        Why::Unreachable => {
            "check that this machine may reach firestore.googleapis.com:443, or that the emulator runs at \
             FIRESTORE_EMULATOR_HOST"
        }
        Why::NoDatabase => "make it: 'gcloud firestore databases create --database=NAME --location=LOCATION'",
        Why::NotNative => "name a database in native mode: one in Datastore mode cannot keep locks",
        Why::NoIndex => {
            "remove the exemption of the field lockId from indexing: holds of other processes are found by it"
        }
        Why::Quota => "wait, or raise the quota or the budget of the project",
        _ => "look at the project in Google's console, or report a bug",
    }
}

fn sample(reading: &ClockReading) -> Sample {
    let since_1970 = |at: Timestamp| Duration::from_micros(u64::try_from(at.as_micros()).unwrap_or(0));
    let ClockReading { asked, theirs, answered } = *reading;
    Sample { asked: since_1970(asked), theirs: since_1970(theirs), answered: since_1970(answered) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_core::LockCode;
    use leasehold_locks::Error;

    fn refused(why: Why) -> Hindrance {
        let error =
            Error::Store { operation: "inspect", lock_code: LockCode::AuthFailed, source: "said".into() };
        Hindrance { why, error }
    }

    fn judged(change: impl FnOnce(&mut Condition)) -> String {
        let at = |millis: i64| Timestamp::from_millis(1_800_000_000_000 + millis);
        let mut condition = Condition {
            clock: vec![ClockReading { asked: at(0), theirs: at(5), answered: at(10) }],
            writing: Ok(()),
            finding: Ok(()),
            holds: Ok(Holds { live: 2, ..Holds::default() }),
        };
        change(&mut condition);
        let mut findings = Findings::default();
        judge(condition, &mut findings);
        findings.to_string()
    }

    #[test]
    fn what_keeps_locks_from_working_is_told_with_its_cure() {
        assert!(judged(|_| {}).contains("6 ok, 0 warning(s), 0 problem(s)"), "{}", judged(|_| {}));
        let denied = judged(|condition| condition.writing = Err(refused(Why::NotAllowed)));
        assert!(
            denied.contains("problem  permissions") && denied.contains("roles/datastore.user"),
            "{denied}"
        );
        let exempt = judged(|condition| condition.finding = Err(refused(Why::NoIndex)));
        assert!(exempt.contains("problem  index") && exempt.contains("lockId"), "{exempt}");
        let foreign = judged(|condition| condition.holds = Ok(Holds { foreign: 1, ..Holds::default() }));
        assert!(foreign.contains("warning  locks"), "{foreign}");
        let lost = judged(|condition| condition.holds = Ok(Holds { without_counter: 1, ..Holds::default() }));
        assert!(lost.contains("problem  fences"), "{lost}");
    }

    #[test]
    fn clock_is_held_to_what_expiry_needs() {
        let moved = |by: Duration| {
            judged(|condition| condition.clock[0].theirs = condition.clock[0].theirs.saturating_add(by))
        };
        assert!(moved(Duration::from_millis(150)).contains("ok       clock"));
        assert!(moved(Duration::from_millis(300)).contains("warning  clock"));
        assert!(moved(Duration::from_millis(600)).contains("problem  clock"));
    }

    #[test]
    fn each_way_to_be_kept_out_has_a_cure_of_its_own() {
        let ways = [
            Why::Credentials,
            Why::NotAllowed,
            Why::Unreachable,
            Why::NoDatabase,
            Why::NotNative,
            Why::NoIndex,
            Why::Quota,
            Why::Other,
        ];
        let cures: std::collections::BTreeSet<_> = ways.into_iter().map(cure).collect();
        assert_eq!(cures.len(), ways.len());
    }
}

//! Property 3: conflict retry. A write that meets k conflicts is done in k + 1 attempts, or, when that is more than its
//! budget, is not done and says so.

use std::time::Duration;

use leasehold_core::Class;
use leasehold_persistence::Error;
use leasehold_txn::Policy;

use super::{Bench, Pauses, all};

const BUDGET: u32 = 2;

pub(crate) async fn every_write_takes_one_attempt_more_than_conflicts(mut bench: Bench, failures: &[&str]) {
    let pauses = Pauses::default();
    let policy = Policy::new(BUDGET, Duration::ZERO, Duration::ZERO).expect("a policy");
    let database = bench.fixture.with_retries(policy.with_jitter(pauses.clone())).await;
    for failure in failures {
        for write in all() {
            // None at all is the same whatever would have failed.
            let fewest = u32::from(*failure != failures[0]);
            for conflicts in fewest..=BUDGET + 1 {
                let case = format!("{conflicts} × {failure}");
                let about = bench.about(write).await;
                bench.strike(failure, conflicts).await;
                let sampled = pauses.count();
                let answer = (about.prepared)(database.clone()).await;
                let sampled = pauses.count() - sampled;
                let fired = bench.spare().await;
                assert_eq!(
                    sampled, fired,
                    "{} {case}: what happened before is known to nobody else",
                    about.name
                );
                if conflicts < BUDGET {
                    answer.unwrap_or_else(|error| panic!("{} {case}: {error:?}", about.name));
                    assert_eq!(fired, u64::from(conflicts), "{} {case}", about.name);
                    assert_eq!(about.change(&bench.outside).await, about.wanted, "{} {case}", about.name);
                } else {
                    let error = answer.expect_err(&case);
                    assert!(
                        matches!(error, Error::OccExhausted { attempts: BUDGET, .. }),
                        "{} {case}: {error:?}",
                        about.name
                    );
                    assert_eq!((error.class(), error.may_have_been_committed()), (Class::Conflict, false));
                    assert_eq!(fired, u64::from(BUDGET), "{} {case}", about.name);
                    about.expect_nothing_then_do(&database, &bench.outside, &case).await;
                }
            }
        }
    }
}

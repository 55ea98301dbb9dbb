//! Finds out what a DSQL cluster can lock.

use std::convert::Infallible;
use std::pin::pin;

use crate::attempts::{Attempts, Ended};
use crate::classify::{Failed, Phase};
use crate::loan::Loan;
use crate::{DsqlLevel, Failure, Operation, Policy, Pool, Result};

/// The name this goes by in metrics.
const DETECT_LEVEL: Operation = Operation::new("txn.detect_level");

/// Asks the cluster whether it has `FOR KEY SHARE`.
///
/// `probe` is a `SELECT … FOR KEY SHARE` without parameters, on one table with equality on its whole primary key
/// (other shapes are refused for their shape), that finds no row. Dropping the call changes nothing.
///
/// # Errors
/// As [`run`](crate::run), when the probe fails for another reason than the lock.
pub async fn detect_level(pool: &Pool, policy: &Policy, probe: &str) -> Result<DsqlLevel> {
    let attempts = Attempts::start(DETECT_LEVEL, policy);
    let work = async {
        loop {
            let loan = Loan::take(pool).await?;
            let answer = loan.answer(loan.session().batch_execute(probe)).await;
            loan.give_back();
            match answer {
                Ok(()) => break Ok(DsqlLevel::KeyShare),
                Err(error) if error.sqlstate() == Some("0A000") => break Ok(DsqlLevel::UpdateOnly),
                Err(error) => {
                    let failed = Failed::new(error, Phase::Body, pool.dialect());
                    attempts.next(Ended::Failed(failed)).await?;
                }
            }
        }
    };
    attempts.within_deadline(pool, pin!(work)).await.map_err(Failure::<Infallible>::into_error)
}

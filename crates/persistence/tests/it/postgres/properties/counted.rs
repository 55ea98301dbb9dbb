//! Property 7: metrics.

use super::REPEATABLE_READ;
use crate::properties::Bench;
use crate::properties::counted::{
    conflicts_that_are_ridden_out_are_counted,
    exhausted_budgets_are_counted_as_one_error_each as exhausted_budgets,
    lost_conditions_are_counted_and_are_no_errors as lost_conditions,
};

fn bench() -> impl Future<Output = Bench> {
    Bench::postgres(REPEATABLE_READ)
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn conflicts_that_are_ridden_out_are_counted_as_conflicts_and_retries() {
    conflicts_that_are_ridden_out_are_counted(bench);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn exhausted_budgets_are_counted_as_one_error_each() {
    exhausted_budgets(bench());
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn lost_conditions_are_counted_and_are_no_errors() {
    lost_conditions(bench());
}

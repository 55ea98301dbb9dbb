//! Statements that travel together, and where in their answers to look.

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{Step, Values};

/// What a write sends: one statement where that can say it all, else several in one transaction.
#[derive(Debug)]
pub(in crate::store) struct Script {
    pub(in crate::store) statements: &'static [&'static str],
    /// Which of them names what stands in the way of the write, by the constraint that would refuse it. The others then do
    /// nothing. None where constraints do refuse.
    pub(in crate::store) obstacle: Option<usize>,
    /// Which of them has the answer.
    pub(in crate::store) answer: usize,
}

impl Script {
    /// One statement, refused by constraints.
    pub(in crate::store) const fn one(statements: &'static [&'static str; 1]) -> Self {
        Script { statements, obstacle: None, answer: 0 }
    }

    /// The statements, each with those of the values that it names.
    pub(in crate::store) fn steps<'a>(&self, values: Values<'a>) -> Vec<Step<'a>> {
        self.statements.iter().map(|sql| Step::taking(sql, values)).collect()
    }

    /// The constraint that would have refused.
    pub(in crate::store) fn obstacle(&self, answers: &[Vec<Row>]) -> Option<String> {
        let row = answers.get(self.obstacle?)?.first()?;
        row.try_get::<_, Option<String>>("obstacle").ok().flatten()
    }

    /// The rows of the answer.
    pub(in crate::store) fn answer(&self, answers: Vec<Vec<Row>>) -> Vec<Row> {
        answers.into_iter().nth(self.answer).unwrap_or_default()
    }
}

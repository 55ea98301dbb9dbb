//! Statements that travel together and have one answer.

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{Step, Values, parameters_in};

/// What an operation sends: one statement where that can say it all, else several in one transaction.
#[derive(Debug)]
pub(in crate::store) struct Script {
    statements: Vec<Statement>,
    /// Which of them has the answer.
    answer: usize,
    /// The first one tells the partition's epoch, and the others do nothing if it is not the caller's.
    pub(in crate::store) is_fenced: bool,
}

#[derive(Debug)]
struct Statement {
    sql: String,
    /// How many of the values it takes, from the first.
    takes: usize,
}

impl Script {
    /// One statement.
    pub(in crate::store) fn one(sql: String) -> Self {
        Script { statements: vec![Statement::new(sql)], answer: 0, is_fenced: false }
    }

    /// A fence, and writes behind it; the rows of the `answer`-th, the fence counted, are the answer.
    #[cfg(feature = "dsql")]
    pub(in crate::store) fn fenced(
        fence: String,
        writes: impl IntoIterator<Item = String>,
        answer: usize,
    ) -> Self {
        let statements = std::iter::once(fence).chain(writes).map(Statement::new).collect();
        Script { statements, answer, is_fenced: true }
    }

    /// The statements, each with its values out of `values`.
    pub(in crate::store) fn steps<'a>(&'a self, values: Values<'a>) -> Vec<Step<'a>> {
        let step = |statement: &'a Statement| Step::new(&statement.sql, &values[..statement.takes]);
        self.statements.iter().map(step).collect()
    }

    /// The answer among the rows of each statement.
    pub(in crate::store) fn answer(&self, answers: Vec<Vec<Row>>) -> Vec<Row> {
        answers.into_iter().nth(self.answer).unwrap_or_default()
    }
}

impl Statement {
    fn new(sql: String) -> Self {
        Statement { takes: parameters_in(&sql), sql }
    }
}

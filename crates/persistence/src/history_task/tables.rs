//! The statements of each table of tasks. They are written for the tables that hold many categories; a category with a table
//! of its own has the same without the column that tells categories apart.

use std::sync::LazyLock;

use super::Table;
use crate::sql::Sql;

/// The statements of a table. All have the shard as `$1` and the category as `$2`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statements {
    pub(super) select: Sql,
    pub(super) delete: Sql,
    pub(super) delete_range: Sql,
    pub(super) delete_some: Sql,
}

const IMMEDIATE: Statements = Statements {
    select: Sql::same(include_str!("sql/select_immediate.sql")),
    delete: Sql::same(include_str!("sql/delete_immediate.sql")),
    delete_range: Sql::same(include_str!("sql/delete_immediate_range.sql")),
    delete_some: Sql::same(include_str!("sql/delete_some_immediate.sql")),
};

const SCHEDULED: Statements = Statements {
    select: Sql::same(include_str!("sql/select_scheduled.sql")),
    delete: Sql::same(include_str!("sql/delete_scheduled.sql")),
    delete_range: Sql::same(include_str!("sql/delete_scheduled_range.sql")),
    delete_some: Sql::same(include_str!("sql/delete_some_scheduled.sql")),
};

static TRANSFER: LazyLock<Statements> = LazyLock::new(|| IMMEDIATE.of_one_category("transfer_tasks"));
static REPLICATION: LazyLock<Statements> = LazyLock::new(|| IMMEDIATE.of_one_category("replication_tasks"));
static VISIBILITY: LazyLock<Statements> = LazyLock::new(|| IMMEDIATE.of_one_category("visibility_tasks"));
static TIMER: LazyLock<Statements> = LazyLock::new(|| SCHEDULED.of_one_category("timer_tasks"));

impl Statements {
    pub(super) fn of(table: Table) -> Self {
        match table {
            Table::Transfer => *TRANSFER,
            Table::Timer => *TIMER,
            Table::Replication => *REPLICATION,
            Table::Visibility => *VISIBILITY,
            Table::Immediate => IMMEDIATE,
            Table::Scheduled => SCHEDULED,
        }
    }

    /// Made once a table, for as long as the process lives. Where there is no category to compare with, `$2` is compared
    /// with itself, so that every table has the same values.
    fn of_one_category(self, table: &str) -> Self {
        let renamed = |words: &str| -> &'static str {
            words
                .replace("history_immediate_tasks", table)
                .replace("history_scheduled_tasks", table)
                .replace("category_id = $2", "$2::integer = $2")
                .leak()
        };
        let renamed = |sql: Sql| Sql { postgres: renamed(sql.postgres), dsql: renamed(sql.dsql) };
        Self {
            select: renamed(self.select),
            delete: renamed(self.delete),
            delete_range: renamed(self.delete_range),
            delete_some: renamed(self.delete_some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_one_category_have_no_column_for_it() {
        for (table, name) in [
            (Table::Transfer, "transfer_tasks"),
            (Table::Timer, "timer_tasks"),
            (Table::Replication, "replication_tasks"),
            (Table::Visibility, "visibility_tasks"),
        ] {
            let Statements { select, delete, delete_range, delete_some } = Statements::of(table);
            for sql in [select, delete, delete_range, delete_some] {
                let words = sql.postgres.lines().filter(|line| !line.starts_with("--")).collect::<String>();
                assert!(words.contains(&format!("FROM {name}")), "{words}");
                assert!(!words.contains("history_") && !words.contains("category_id"), "{words}");
            }
        }
    }
}

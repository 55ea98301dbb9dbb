//! The two families of tables. Their queues differ in the name of the table alone, their tasks in the pass.

use std::sync::LazyLock;

use crate::sql::Sql;

/// The statements of one family.
#[derive(Debug)]
pub(super) struct Tables {
    /// Whether tasks have a pass.
    pub(super) has_passes: bool,
    pub(super) insert: Sql,
    pub(super) select: Sql,
    pub(super) select_range: Sql,
    pub(super) lock: Sql,
    pub(super) list: Sql,
    pub(super) update: Sql,
    pub(super) update_data: Sql,
    pub(super) delete: Sql,
    pub(super) insert_tasks: Sql,
    pub(super) select_tasks: Sql,
    pub(super) delete_tasks: Sql,
}

static PLAIN: Tables = Tables {
    has_passes: false,
    insert: Sql::same(include_str!("sql/insert.sql")),
    select: Sql::same(include_str!("sql/select.sql")),
    select_range: Sql::same(include_str!("sql/select_range.sql")),
    lock: Sql::same(include_str!("sql/lock.sql")),
    list: Sql::same(include_str!("sql/list.sql")),
    update: Sql::same(include_str!("sql/update.sql")),
    update_data: Sql::same(include_str!("sql/update_data.sql")),
    delete: Sql::same(include_str!("sql/delete.sql")),
    insert_tasks: Sql {
        postgres: include_str!("sql/insert_tasks.postgres.sql"),
        dsql: include_str!("sql/insert_tasks.dsql.sql"),
    },
    select_tasks: Sql::same(include_str!("sql/select_tasks.sql")),
    delete_tasks: Sql::same(include_str!("sql/delete_tasks.sql")),
};

static FAIR: LazyLock<Tables> = LazyLock::new(|| Tables {
    has_passes: true,
    insert: of_fair(PLAIN.insert),
    select: of_fair(PLAIN.select),
    select_range: of_fair(PLAIN.select_range),
    lock: of_fair(PLAIN.lock),
    list: of_fair(PLAIN.list),
    update: of_fair(PLAIN.update),
    update_data: of_fair(PLAIN.update_data),
    delete: of_fair(PLAIN.delete),
    insert_tasks: Sql {
        postgres: include_str!("sql/insert_fair_tasks.postgres.sql"),
        dsql: include_str!("sql/insert_fair_tasks.dsql.sql"),
    },
    select_tasks: Sql::same(include_str!("sql/select_fair_tasks.sql")),
    delete_tasks: Sql::same(include_str!("sql/delete_fair_tasks.sql")),
});

pub(super) fn plain() -> &'static Tables {
    &PLAIN
}

pub(super) fn fair() -> &'static Tables {
    &FAIR
}

/// The same words for the other table. Made once, for as long as the process lives.
fn of_fair(sql: Sql) -> Sql {
    let renamed = |words: &str| -> &'static str { words.replace("task_queues", "task_queues_v2").leak() };
    Sql { postgres: renamed(sql.postgres), dsql: renamed(sql.dsql) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fair_queues_are_in_the_other_table_alone() {
        let words = |tables: &Tables| {
            let Tables { insert, select, select_range, lock, list, update, update_data, delete, .. } = tables;
            [insert, select, select_range, lock, list, update, update_data, delete].map(|sql| sql.postgres)
        };
        for (plain, fair) in words(plain()).into_iter().zip(words(fair())) {
            assert_eq!(plain.matches("task_queues").count(), 1, "{plain}");
            assert_eq!(fair.matches("task_queues_v2").count(), 1, "{fair}");
            assert_eq!(fair.replace("_v2", ""), plain);
        }
    }
}

//! The statements, with the names of the tables filled in.

use leasehold_core::postgres::TableNames;
use leasehold_core::{Fence, TIME_TOLERANCE};

/// A hold that is over for so long is nobody's any more: the tolerance, and as much again.
const CLEANUP_AFTER_MS: u128 = 2 * TIME_TOLERANCE.as_millis();

/// The server's clock in whole milliseconds, as it moves within a statement: `now()` would be the beginning of the
/// transaction, and a wait for another holder would count against the new one. Not qualified with a schema, so that a
/// test can stop it.
const NOW: &str = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Reads that are the same in every dialect.
pub(in crate::backend) const LOOKUP_BY_KEY: &str = include_str!("sql/lookup_by_key.sql");
pub(in crate::backend) const LOOKUP_BY_ID: &str = include_str!("sql/lookup_by_id.sql");

/// What `advisory.sql` leaves behind in its transaction.
const ADVISORY_TAKEN: &str = "(coalesce(current_setting('leasehold.advisory', true), '') = 'taken')";

/// The statements that every dialect has.
#[derive(Debug)]
pub(in crate::backend) struct Statements {
    pub(in crate::backend) acquire: String,
    pub(in crate::backend) forget_ended: String,
    pub(in crate::backend) release: String,
    pub(in crate::backend) extend: String,
    pub(in crate::backend) lookup_by_key: String,
    pub(in crate::backend) lookup_by_id: String,
    pub(in crate::backend) list: String,
}

/// Those that only PostgreSQL has.
#[derive(Debug)]
pub(super) struct PostgresStatements {
    /// `acquire`, for use after `advisory`.
    pub(super) acquire_guarded: String,
    pub(super) call_acquire: String,
    pub(super) call_acquire_many: String,
    pub(super) call_release: String,
    pub(super) call_release_many: String,
    pub(super) call_turn: String,
    pub(super) call_extend: String,
    pub(super) call_lookup_by_key: String,
    pub(super) call_lookup_by_id: String,
    pub(super) acquire_many: String,
    pub(super) acquire_many_guarded: String,
    pub(super) advisory: String,
    pub(super) advisory_many: String,
    pub(super) detect_functions: String,
    pub(super) release_many: String,
    pub(super) cleanup: String,
}

impl Statements {
    pub(super) fn new(tables: &TableNames) -> Self {
        let alone = |template| fill(template, tables, "true");
        Statements {
            acquire: alone(include_str!("sql/acquire.sql")),
            forget_ended: alone(include_str!("sql/forget_ended.sql")),
            release: alone(include_str!("sql/release.sql")),
            extend: alone(include_str!("sql/extend.sql")),
            lookup_by_key: alone(LOOKUP_BY_KEY),
            lookup_by_id: alone(LOOKUP_BY_ID),
            list: alone(include_str!("sql/list.sql")),
        }
    }
}

impl PostgresStatements {
    pub(super) fn new(tables: &TableNames) -> Self {
        let alone = |template| fill(template, tables, "true");
        let guarded = |template| fill(template, tables, ADVISORY_TAKEN);
        PostgresStatements {
            acquire_guarded: guarded(include_str!("sql/acquire.sql")),
            call_acquire: alone("SELECT {acquire_function}($1, $2, $3, $4, $5, $6)"),
            call_acquire_many: alone("SELECT * FROM {acquire_many_function}($1, $2, $3, $4, $5, $6)"),
            call_release: alone("SELECT {release_function}($1)"),
            call_release_many: alone("SELECT * FROM {release_many_function}($1)"),
            call_turn: alone(include_str!("sql/turn.sql")),
            call_extend: alone("SELECT {extend_function}($1, $2)"),
            call_lookup_by_key: alone("SELECT * FROM {lookup_key_function}($1)"),
            call_lookup_by_id: alone("SELECT * FROM {lookup_id_function}($1)"),
            acquire_many: alone(include_str!("sql/acquire_many.sql")),
            acquire_many_guarded: guarded(include_str!("sql/acquire_many.sql")),
            advisory: alone(include_str!("sql/advisory.sql")),
            advisory_many: alone(include_str!("sql/advisory_many.sql")),
            detect_functions: alone(include_str!("sql/detect_functions.sql")),
            release_many: alone(include_str!("sql/release_many.sql")),
            cleanup: alone(include_str!("sql/cleanup.sql")),
        }
    }
}

/// The statements that make the functions.
pub(super) fn functions(tables: &TableNames) -> [String; 7] {
    let acquire_many = include_str!("sql/function_acquire_many.sql")
        .replace("{acquire_many}", include_str!("sql/acquire_many.sql").trim_end());
    let release_many = include_str!("sql/function_release_many.sql")
        .replace("{release_many}", include_str!("sql/release_many.sql").trim_end());
    let lookup = |function, lookup: &str| {
        include_str!("sql/function_lookup.sql")
            .replace("{function}", function)
            .replace("{lookup}", lookup.trim_end())
    };
    let by_key = lookup("{lookup_key_function}", LOOKUP_BY_KEY);
    let by_id = lookup("{lookup_id_function}", LOOKUP_BY_ID);
    let [acquire, release, extend] = [
        include_str!("sql/function_acquire.sql"),
        include_str!("sql/function_release.sql"),
        include_str!("sql/function_extend.sql"),
    ];
    [acquire, release, extend, &acquire_many, &release_many, &by_key, &by_id]
        .map(|template| fill(template, tables, "true"))
}

/// Table names are plain lower-case identifiers, checked when they were parsed; they are quoted all the same, because
/// some of those are reserved words.
pub(super) fn fill(template: &str, tables: &TableNames, admitted: &str) -> String {
    fill_at(template, tables, NOW).replace("{admitted}", admitted)
}

/// By a clock of the dialect's own.
pub(in crate::backend) fn fill_at(template: &str, tables: &TableNames, now: &str) -> String {
    let (locks, fences) = (tables.locks(), tables.fences());
    template
        .trim_end()
        .replace("{locks}", &format!("\"{locks}\""))
        .replace("{fences}", &format!("\"{fences}\""))
        .replace("{lock_id_index}", &format!("\"idx_{locks}_lock_id\""))
        .replace("{expires_index}", &format!("\"idx_{locks}_expires\""))
        .replace("{acquire_function}", &format!("\"{locks}_acquire_3\""))
        .replace("{acquire_many_function}", &format!("\"{locks}_acquires_1\""))
        .replace("{release_function}", &format!("\"{locks}_release_2\""))
        .replace("{release_many_function}", &format!("\"{locks}_releases_2\""))
        .replace("{extend_function}", &format!("\"{locks}_extend_1\""))
        .replace("{lookup_key_function}", &format!("\"{locks}_lookup_key_1\""))
        .replace("{lookup_id_function}", &format!("\"{locks}_lookup_id_1\""))
        .replace("{now}", now)
        .replace("{tolerance}", &TIME_TOLERANCE.as_millis().to_string())
        .replace("{cleanup_after}", &CLEANUP_AFTER_MS.to_string())
        .replace("{fence_max}", &Fence::MAX.as_u64().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled() {
        let tables = TableNames::parse("order", "fences_of_order").expect("plain names");
        let postgres = PostgresStatements::new(&tables);
        let made = functions(&tables).concat();
        let text = format!("{:?}{postgres:?}{made}", Statements::new(&tables));
        let left: Vec<&str> =
            text.match_indices('{').map(|(at, _)| &text[at..text.len().min(at + 20)]).collect();
        // What is left are the braces of the structs' own Debug.
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(text.contains(r#"\"order\""#) && text.contains(r#"\"fences_of_order\""#));
    }

    #[test]
    fn longest_table_name_leaves_room_for_what_is_derived_from_it() {
        let tables = TableNames::parse(&"l".repeat(TableNames::LEN_MAX), "").expect("as long as can be");
        for template in [
            "{lock_id_index}",
            "{expires_index}",
            "{acquire_function}",
            "{acquire_many_function}",
            "{release_function}",
            "{release_many_function}",
            "{extend_function}",
            "{lookup_key_function}",
            "{lookup_id_function}",
        ] {
            let name = fill(template, &tables, "true");
            assert!(name.trim_matches('"').len() <= 63, "{name}");
        }
    }
}

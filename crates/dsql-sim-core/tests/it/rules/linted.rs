//! Whole texts: all findings, each where it is.

use leasehold_dsql_sim_core::rules::lint;

use super::{NEW, OLD};

fn findings(sql: &str, one_transaction: bool) -> Vec<(u64, u64, &'static str)> {
    let found = lint(sql, NEW, true, one_transaction);
    found.iter().map(|finding| (finding.line, finding.column, finding.rule.id)).collect()
}

#[test]
fn every_finding_has_its_line_and_column() {
    let sql = "\
-- a migration
CREATE TABLE items (
    id bigserial PRIMARY KEY,
    tags text[] NOT NULL,
    body bytea
);
/* an
   index */ CREATE INDEX items_tags ON items USING gin (tags);
CREATE INDEX ASYNC items_body ON items (body);
SELECT pg_advisory_lock(1), *
  FROM items WHERE id = 1
   FOR UPDATE SKIP LOCKED;
TRUNCATE items;
";
    assert_eq!(
        findings(sql, false),
        [
            (3, 8, "serial"),
            (4, 5, "column-type"),
            (8, 13, "index-async"),
            (8, 46, "index-method"),
            (9, 41, "key-type"),
            (10, 8, "advisory-lock"),
            (12, 15, "locking-no-wait"),
            (13, 1, "truncate"),
        ]
    );
}

#[test]
fn what_cannot_be_read_is_a_finding_and_the_rest_is_still_checked() {
    let sql = "SELEC 1;\nTRUNCATE a;\nSELECT *\n FROM a FOR NO KEY UPDATE;\nTRUNCATE b;\nSELECT 'open";
    assert_eq!(
        findings(sql, false),
        [
            (1, 1, "syntax"),
            (2, 1, "truncate"),
            (4, 9, "locking-clause"),
            (5, 1, "truncate"),
            (6, 8, "syntax")
        ]
    );
}

#[test]
fn transactions_are_followed() {
    let sql = "CREATE TABLE a (x int);\nCREATE TABLE b (x int);\nBEGIN;\nCREATE TABLE c (x int);\nINSERT INTO a VALUES (1);\nCOMMIT;\nINSERT INTO a VALUES (2);";
    assert_eq!(findings(sql, false), [(5, 1, "ddl-with-dml")]);
    let sql = "CREATE TABLE a (x int);\nCREATE TABLE b (x int);\nINSERT INTO a VALUES (1);";
    assert_eq!(findings(sql, false), []);
    assert_eq!(findings(sql, true), [(2, 1, "one-ddl"), (3, 1, "ddl-with-dml")]);
}

#[test]
fn levels_differ() {
    let sql = "CREATE TABLE t (a int REFERENCES p (id));";
    assert_eq!(lint(sql, NEW, true, false).len(), 0);
    let found = lint(sql, OLD, true, false);
    assert_eq!(found.iter().map(|finding| finding.rule.id).collect::<Vec<_>>(), ["foreign-key"]);
}

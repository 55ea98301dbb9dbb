//! What was done before in the transaction decides.

use leasehold_dsql_sim_core::rules::{Kind, Place, Strength, check, locking_reads, parse};

use super::NEW;

const OPEN: Place = Place { in_transaction: true, ddl_done: false, dml_done: false };

fn refused(sql: &str, place: Place) -> Option<String> {
    let parsed = parse(sql).expect("sql");
    check(&parsed[0], NEW, true, place).err().map(|refusal| refusal.message)
}

#[test]
fn a_transaction_has_one_ddl_statement() {
    let after_ddl = Place { ddl_done: true, ..OPEN };
    let text = "multiple ddl statements not supported in a transaction";
    for sql in
        ["CREATE TABLE t (a int)", "GRANT SELECT ON t TO r", "CREATE INDEX ASYNC i ON t (a)", "DROP VIEW v"]
    {
        assert_eq!(refused(sql, after_ddl).as_deref(), Some(text), "{sql}");
        assert_eq!(refused(sql, OPEN), None, "{sql}");
    }
}

#[test]
fn ddl_and_dml_do_not_mix_in_either_order() {
    let text = Some("ddl and dml are not supported in the same transaction");
    let after_ddl = Place { ddl_done: true, ..OPEN };
    let after_dml = Place { dml_done: true, ..OPEN };
    assert_eq!(refused("CREATE TABLE t (a int)", after_dml).as_deref(), text);
    for sql in [
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 1",
        "DELETE FROM t",
        "WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x",
    ] {
        assert_eq!(refused(sql, after_ddl).as_deref(), text, "{sql}");
        assert_eq!(refused(sql, after_dml), None, "{sql}");
    }
    assert_eq!(refused("SELECT * FROM t", after_ddl), None);
    assert_eq!(refused("COMMIT", Place { dml_done: true, ..after_ddl }), None);
}

#[test]
fn a_text_is_cut_into_its_statements_with_their_comments() {
    let parsed = parse("/* op=A */ BEGIN; INSERT INTO t VALUES ('a;b', $x$ ; $x$); -- end; of it\nCOMMIT;;")
        .expect("sql");
    let texts: Vec<&str> = parsed.iter().map(|one| &*one.sql).collect();
    assert_eq!(
        texts,
        ["/* op=A */ BEGIN", "INSERT INTO t VALUES ('a;b', $x$ ; $x$)", "-- end; of it\nCOMMIT"]
    );
    let kinds: Vec<Kind> = parsed.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [Kind::Begin, Kind::Insert, Kind::Commit]);
}

#[test]
fn letters_of_any_length_do_not_move_the_cuts() {
    let parsed = parse("SELECT 'äöü 漢字 🦀'; SELECT '\n🦀'; SELECT 3").expect("sql");
    let texts: Vec<&str> = parsed.iter().map(|one| &*one.sql).collect();
    assert_eq!(texts, ["SELECT 'äöü 漢字 🦀'", "SELECT '\n🦀'", "SELECT 3"]);
}

#[test]
fn kinds_tell_the_engine_what_to_do() {
    for (sql, kind) in [
        ("SELECT 1", Kind::Select),
        ("VALUES (1)", Kind::Select),
        ("TABLE t", Kind::Select),
        ("SELECT * FROM t WHERE a = 1 FOR UPDATE", Kind::Select),
        ("WITH x AS (INSERT INTO t VALUES (1) RETURNING a) SELECT * FROM x", Kind::WritingWith),
        ("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", Kind::WritingWith),
        ("INSERT INTO t VALUES (1)", Kind::Insert),
        ("CREATE INDEX ASYNC i ON t (a)", Kind::CreateIndex),
        ("CREATE TABLE t (a int)", Kind::Ddl),
        ("REVOKE SELECT ON t FROM r", Kind::Ddl),
        ("SET search_path = a", Kind::Set),
        ("SHOW server_version", Kind::Show),
        ("EXPLAIN SELECT 1", Kind::Explain),
        ("CALL sys.wait_for_job('x')", Kind::Call),
    ] {
        assert_eq!(parse(sql).expect(sql)[0].kind, kind, "{sql}");
    }
}

#[test]
fn locking_reads_tell_the_table_and_what_is_fixed() {
    let parsed = parse("SELECT * FROM s.a AS x WHERE x.\"Id\" = $1 AND (Part = 'p' AND n > 2) FOR KEY SHARE")
        .expect("sql");
    let reads = locking_reads(&parsed[0]);
    assert_eq!(reads.len(), 1);
    assert_eq!(reads[0].strengths, [Strength::KeyShare]);
    assert_eq!(reads[0].table.as_ref().map(ToString::to_string).as_deref(), Some("s.a"));
    let mut columns = reads[0].fixed_columns.clone();
    columns.sort();
    assert_eq!(columns, ["Id", "part"]);
}

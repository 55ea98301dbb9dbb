//! Every row of the fact table that a statement can break, at the levels where it holds.

use leasehold_dsql_sim_core::rules::{Judged, Level, RULES, rule};

use super::{NEW, OLD, outcome};

struct Case {
    sql: &'static str,
    rule: &'static str,
    sqlstate: &'static str,
    message: &'static str,
    levels: &'static [Level],
}

const BOTH: &[Level] = &[OLD, NEW];

const fn case(
    sql: &'static str,
    rule: &'static str,
    sqlstate: &'static str,
    message: &'static str,
    levels: &'static [Level],
) -> Case {
    Case { sql, rule, sqlstate, message, levels }
}

const NOT: &str = "0A000";

#[rustfmt::skip]
const CASES: &[Case] = &[
    // 1: isolation
    case("BEGIN ISOLATION LEVEL SERIALIZABLE", "isolation-level", NOT, "Unsupported isolation level: SERIALIZABLE", BOTH),
    case("START TRANSACTION ISOLATION LEVEL READ COMMITTED", "isolation-level", NOT, "Unsupported isolation level: READ COMMITTED", BOTH),
    case("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "isolation-level", NOT, "Unsupported isolation level: SERIALIZABLE", BOTH),
    case("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "set-transaction", NOT, "setting configuration parameter \"TRANSACTION\" not supported", BOTH),
    case("SET TRANSACTION READ ONLY", "set-transaction", NOT, "setting configuration parameter \"TRANSACTION\" not supported", BOTH),
    case("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "set-transaction", NOT, "setting configuration parameter \"SESSION CHARACTERISTICS\" not supported", BOTH),
    case("SET default_transaction_isolation = 'repeatable read'", "setting", NOT, "setting configuration parameter \"default_transaction_isolation\" not supported", BOTH),
    // 11: the shape of a locking read
    case("SELECT * FROM a JOIN b ON a.id = b.id WHERE a.id = 1 FOR UPDATE", "locking-single-table", NOT, "locking clause such as FOR UPDATE can be applied only on a single table", BOTH),
    case("SELECT * FROM a, b WHERE a.id = 1 FOR UPDATE", "locking-single-table", NOT, "locking clause such as FOR UPDATE can be applied only on a single table", BOTH),
    case("SELECT * FROM (SELECT * FROM a) x WHERE id = 1 FOR UPDATE", "locking-single-table", NOT, "locking clause such as FOR UPDATE can be applied only on a single table", BOTH),
    case("SELECT * FROM a WHERE id > 5 FOR UPDATE", "locking-equality", NOT, "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key", BOTH),
    case("SELECT * FROM a WHERE id IN (1, 2) FOR UPDATE", "locking-equality", NOT, "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key", BOTH),
    case("SELECT * FROM a WHERE id = 1 OR id = 2 FOR UPDATE", "locking-equality", NOT, "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key", BOTH),
    case("SELECT * FROM a WHERE x = y FOR UPDATE", "locking-equality", NOT, "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key", BOTH),
    case("SELECT * FROM a WHERE id = n + 1 FOR UPDATE", "locking-equality", NOT, "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key", BOTH),
    case("SELECT * FROM a WHERE lower(a.n) = id FOR UPDATE", "locking-equality", NOT, "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key", BOTH),
    case("SELECT * FROM a WHERE (id, part) = (n, coalesce(x, 1)) FOR UPDATE", "locking-equality", NOT, "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key", BOTH),
    case("SELECT * FROM a ORDER BY id LIMIT 1 FOR UPDATE", "locking-equality", NOT, "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key", BOTH),
    case("SELECT * FROM a WHERE id > 5 FOR KEY SHARE", "locking-equality", NOT, "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key", &[NEW]),
    // 12, 13: other clauses
    case("SELECT * FROM a WHERE id = 1 FOR KEY SHARE", "locking-clause-update-only", NOT, "locking clauses other than FOR UPDATE are not supported", &[OLD]),
    case("SELECT * FROM a WHERE id = 1 FOR SHARE", "locking-clause", NOT, "locking clauses other than FOR UPDATE/FOR KEY SHARE are not supported", &[NEW]),
    case("SELECT * FROM a WHERE id = 1 FOR SHARE", "locking-clause-update-only", NOT, "locking clauses other than FOR UPDATE are not supported", &[OLD]),
    case("SELECT * FROM a WHERE id = 1 FOR NO KEY UPDATE", "locking-clause", NOT, "locking clauses other than FOR UPDATE/FOR KEY SHARE are not supported", BOTH),
    case("SELECT * FROM a WHERE id = 1 FOR UPDATE FOR SHARE", "locking-clause", NOT, "locking clauses other than FOR UPDATE/FOR KEY SHARE are not supported", &[NEW]),
    case("SELECT * FROM a WHERE id = 1 FOR KEY SHARE FOR UPDATE", "locking-clause-update-only", NOT, "locking clauses other than FOR UPDATE are not supported", &[OLD]),
    case("WITH x AS (SELECT * FROM a WHERE id = 1 FOR SHARE) SELECT * FROM x", "locking-clause", NOT, "locking clauses other than FOR UPDATE/FOR KEY SHARE are not supported", &[NEW]),
    // not in the facts: what the simulator could not claim
    case("WITH x AS (SELECT * FROM a WHERE id = 1 FOR UPDATE) SELECT * FROM x JOIN b ON b.id = x.id", "locking-nested", NOT, "locking clause such as FOR UPDATE can be applied only on the outermost query", BOTH),
    case("SELECT * FROM b WHERE id IN (SELECT id FROM a WHERE id = 1 FOR UPDATE)", "locking-nested", NOT, "locking clause such as FOR UPDATE can be applied only on the outermost query", BOTH),
    case("(SELECT * FROM a WHERE id = 1 FOR UPDATE)", "locking-nested", NOT, "locking clause such as FOR UPDATE can be applied only on the outermost query", BOTH),
    case("INSERT INTO b SELECT * FROM a WHERE id = 1 FOR UPDATE", "locking-nested", NOT, "locking clause such as FOR UPDATE can be applied only on the outermost query", BOTH),
    case("CREATE VIEW v AS SELECT * FROM a WHERE id = 1 FOR UPDATE", "locking-nested", NOT, "locking clause such as FOR UPDATE can be applied only on the outermost query", BOTH),
    case("EXPLAIN ANALYZE SELECT * FROM a WHERE id = 1 FOR UPDATE", "locking-nested", NOT, "locking clause such as FOR UPDATE can be applied only on the outermost query", BOTH),
    case("EXPLAIN (VERBOSE, ANALYZE) SELECT * FROM a WHERE id = 1 FOR UPDATE", "locking-nested", NOT, "locking clause such as FOR UPDATE can be applied only on the outermost query", BOTH),
    // 14: nothing to wait for
    case("SELECT * FROM a WHERE id = 1 FOR UPDATE SKIP LOCKED", "locking-no-wait", NOT, "SKIP LOCKED is not supported in a locking clause", BOTH),
    case("SELECT * FROM a WHERE id = 1 FOR UPDATE NOWAIT", "locking-no-wait", NOT, "NOWAIT is not supported in a locking clause", BOTH),
    // 15: advisory locks
    case("SELECT pg_advisory_lock(1)", "advisory-lock", NOT, "function pg_advisory_lock not supported", BOTH),
    case("SELECT pg_catalog.PG_TRY_ADVISORY_XACT_LOCK(1)", "advisory-lock", NOT, "function pg_try_advisory_xact_lock not supported", BOTH),
    case("SELECT * FROM pg_advisory_xact_lock(1)", "advisory-lock", NOT, "function pg_advisory_xact_lock not supported", BOTH),
    case("INSERT INTO t SELECT 1 WHERE pg_try_advisory_lock(hashtext('a'))", "advisory-lock", NOT, "function pg_try_advisory_lock not supported", BOTH),
    // 16: savepoints
    case("SAVEPOINT a", "savepoint", NOT, "unsupported transaction statement: SAVEPOINT", BOTH),
    case("RELEASE SAVEPOINT a", "savepoint", NOT, "unsupported transaction statement: RELEASE", BOTH),
    case("ROLLBACK TO SAVEPOINT a", "savepoint", NOT, "unsupported transaction statement: ROLLBACK TO", BOTH),
    case("PREPARE TRANSACTION 'a'", "savepoint", NOT, "unsupported transaction statement: PREPARE TRANSACTION", BOTH),
    // 19: indexes
    case("CREATE INDEX i ON t (a)", "index-async", NOT, "unsupported mode. please use CREATE INDEX ASYNC.", BOTH),
    case("CREATE UNIQUE INDEX i ON t (a)", "index-async", NOT, "unsupported mode. please use CREATE INDEX ASYNC.", BOTH),
    case("CREATE INDEX CONCURRENTLY i ON t (a)", "index-concurrently", NOT, "CONCURRENTLY not supported for CREATE INDEX", BOTH),
    case("CREATE INDEX ASYNC i ON t USING btree (a)", "index-method", NOT, "USING not supported for CREATE INDEX", BOTH),
    case("CREATE INDEX ASYNC i ON t USING gin (a)", "index-method", NOT, "USING not supported for CREATE INDEX", BOTH),
    case("CREATE INDEX ASYNC i ON t (a DESC)", "index-order", NOT, "specifying sort order not supported for index keys", BOTH),
    case("CREATE INDEX ASYNC i ON t (a, b ASC)", "index-order", NOT, "specifying sort order not supported for index keys", BOTH),
    case("CREATE INDEX ASYNC i ON t (a text_pattern_ops)", "index-operator-class", NOT, "operator class text_pattern_ops not supported for index keys", BOTH),
    case("CREATE INDEX ASYNC s.i ON t (a)", "index-name", "42601", "syntax error at or near \".\"", BOTH),
    case("CREATE INDEX ASYNC i ON t (a, b, c, d, e, f, g, h, i)", "index-columns", "54011", "more than 8 column keys in an index are not supported", BOTH),
    // 20: partial and expression indexes
    case("CREATE INDEX ASYNC i ON t (a) WHERE b IS NULL", "index-partial", NOT, "WHERE not supported for CREATE INDEX", &[OLD]),
    case("CREATE INDEX ASYNC i ON t ((lower(a)))", "index-expression", NOT, "expressions not supported for index keys", &[OLD]),
    case("CREATE INDEX ASYNC i ON t (lower(a))", "index-expression", NOT, "expressions not supported for index keys", &[OLD]),
    // 21: objects
    case("TRUNCATE t", "truncate", NOT, "unsupported statement: Truncate", BOTH),
    case("CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()", "trigger", NOT, "CREATE TRIGGER not supported", BOTH),
    case("CREATE TRIGGER a AFTER INSERT ON t EXECUTE FUNCTION f()", "trigger", NOT, "CREATE TRIGGER not supported", BOTH),
    case("CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$", "function-language", NOT, "CREATE FUNCTION with language plpgsql not supported", BOTH),
    case("DO $$ BEGIN PERFORM 1; END $$", "unsupported-statement", NOT, "unsupported statement: Do", BOTH),
    case("CREATE EXTENSION IF NOT EXISTS pgcrypto", "extension", NOT, "unsupported statement: CreateExtension", BOTH),
    case("CREATE TEMPORARY TABLE t (a int)", "temporary-table", NOT, "TEMPORARY or TEMP table not supported for CREATE TABLE", BOTH),
    case("CREATE TEMP TABLE t (a int)", "temporary-table", NOT, "TEMPORARY or TEMP table not supported for CREATE TABLE", BOTH),
    case("CREATE UNLOGGED TABLE t (a int)", "unlogged-table", NOT, "UNLOGGED table not supported for CREATE TABLE", BOTH),
    case("CREATE TABLE t AS SELECT 1 AS a", "create-table-as", NOT, "unsupported statement: CreateTableAs", BOTH),
    case("SELECT a INTO b FROM t", "create-table-as", NOT, "unsupported statement: CreateTableAs", BOTH),
    case("CREATE MATERIALIZED VIEW v AS SELECT 1 AS a", "create-table-as", NOT, "unsupported statement: CreateTableAs", BOTH),
    case("CREATE TABLE t (a int) PARTITION BY RANGE (a)", "partition", NOT, "PARTITION BY clause not supported for CREATE TABLE", BOTH),
    case("CREATE TABLE t PARTITION OF p FOR VALUES FROM (1) TO (2)", "partition", NOT, "PARTITION BY clause not supported for CREATE TABLE", BOTH),
    case("CREATE TABLE t (a int) INHERITS (p)", "inherits", NOT, "INHERITS not supported for CREATE TABLE", BOTH),
    case("LISTEN c", "listen-notify", NOT, "unsupported statement: Listen", BOTH),
    case("NOTIFY c, 'x'", "listen-notify", NOT, "unsupported statement: Notify", BOTH),
    case("UNLISTEN c", "listen-notify", NOT, "unsupported statement: Unlisten", BOTH),
    case("LOCK TABLE t IN EXCLUSIVE MODE", "unsupported-statement", NOT, "unsupported statement: Lock", BOTH),
    case("VACUUM t", "vacuum", NOT, "unsupported VACUUM statement", BOTH),
    case("VACUUM (FULL, ANALYZE) t", "vacuum", NOT, "unsupported VACUUM statement", BOTH),
    case("DECLARE c CURSOR FOR SELECT 1", "unsupported-statement", NOT, "unsupported statement: DeclareCursor", BOTH),
    case("PREPARE p AS SELECT 1", "unsupported-statement", NOT, "unsupported statement: Prepare", BOTH),
    case("EXECUTE p (1)", "unsupported-statement", NOT, "unsupported statement: Execute", BOTH),
    case("DEALLOCATE p", "unsupported-statement", NOT, "unsupported statement: Deallocate", BOTH),
    case("DEALLOCATE PREPARE \"all\"", "unsupported-statement", NOT, "unsupported statement: Deallocate", BOTH),
    case("DISCARD ALL", "discard", NOT, "unsupported statement: Discard", BOTH),
    case("MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE", "unsupported-statement", NOT, "unsupported statement: Merge", BOTH),
    case("CREATE TYPE t AS ENUM ('a', 'b')", "type-enum", NOT, "CREATE TYPE not supported", BOTH),
    case("CREATE TYPE t AS (a int, b int)", "type", NOT, "unsupported statement: CompositeType", BOTH),
    case("CREATE TYPE t AS RANGE (subtype = int4)", "type", NOT, "unsupported statement: CreateRange", BOTH),
    case("CREATE DATABASE d", "database", NOT, "unsupported statement: Createdb", BOTH),
    case("DROP DATABASE d", "database", NOT, "unsupported statement: Dropdb", BOTH),
    case("CREATE TABLESPACE s LOCATION '/x'", "unsupported-statement", NOT, "unsupported statement: CreateTableSpace", BOTH),
    case("CREATE FOREIGN TABLE t (a int) SERVER s", "unsupported-statement", NOT, "unsupported statement: CreateForeignTable", BOTH),
    case("CREATE RULE r AS ON INSERT TO t DO NOTHING", "unsupported-statement", NOT, "unsupported statement: Rule", BOTH),
    case("CREATE POLICY p ON t USING (true)", "unsupported-statement", NOT, "unsupported statement: CreatePolicy", BOTH),
    case("ALTER SYSTEM SET work_mem = '4MB'", "unsupported-statement", NOT, "unsupported statement: AlterSystem", BOTH),
    case("ALTER TABLE t ENABLE ROW LEVEL SECURITY", "row-security", NOT, "unsupported ALTER TABLE ENABLE ROW SECURITY", BOTH),
    // 23: serial, sequences, identity
    case("CREATE TABLE t (id serial PRIMARY KEY)", "serial", "42704", "type \"serial\" does not exist", BOTH),
    case("CREATE TABLE t (id BIGSERIAL)", "serial", "42704", "type \"bigserial\" does not exist", BOTH),
    case("ALTER TABLE t ADD COLUMN id smallserial", "serial", "42704", "type \"smallserial\" does not exist", BOTH),
    case("CREATE SEQUENCE s", "sequence-cache", NOT, "CREATE SEQUENCE is not supported without an explicit cache size. please define CACHE greater than or equal to 65536 or equal to 1", &[NEW]),
    case("CREATE SEQUENCE s CACHE 20", "sequence-cache", NOT, "CREATE SEQUENCE is not supported without an explicit cache size. please define CACHE greater than or equal to 65536 or equal to 1", &[NEW]),
    case("CREATE SEQUENCE s CACHE 65536", "sequence", NOT, "CREATE SEQUENCE not supported", &[OLD]),
    case("CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)", "identity-cache", NOT, "identity column is not supported without an explicit cache size. please define CACHE greater than or equal to 65536 or equal to 1", &[NEW]),
    case("CREATE TABLE t (id int GENERATED BY DEFAULT AS IDENTITY (CACHE 1) PRIMARY KEY)", "identity-type", NOT, "datatype integer not supported, identity column type must be bigint", &[NEW]),
    case("CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY (CACHE 65536) PRIMARY KEY)", "identity", NOT, "identity column not supported", &[OLD]),
    // 24: foreign keys
    case("CREATE TABLE t (a int REFERENCES p (id))", "foreign-key", NOT, "FOREIGN KEY constraint not supported", &[OLD]),
    case("CREATE TABLE t (a int, FOREIGN KEY (a) REFERENCES p (id))", "foreign-key", NOT, "FOREIGN KEY constraint not supported", &[OLD]),
    // 25, 26: keys
    case("CREATE TABLE t (a bytea PRIMARY KEY)", "key-type", NOT, "datatype bytea is not supported in a key", BOTH),
    case("CREATE TABLE t (a int, b bytea, PRIMARY KEY (a, b))", "key-type", NOT, "datatype bytea is not supported in a key", BOTH),
    case("CREATE TABLE t (a int PRIMARY KEY, b bytea UNIQUE)", "key-type", NOT, "datatype bytea is not supported in a key", BOTH),
    case("CREATE TABLE t (a jsonb PRIMARY KEY)", "key-type", NOT, "datatype jsonb is not supported in a key", &[NEW]),
    case("CREATE TABLE t (a json)", "column-json", NOT, "datatype json not supported", &[OLD]),
    case("ALTER TABLE t ADD COLUMN a jsonb", "column-json", NOT, "datatype jsonb not supported", &[OLD]),
    // 27: collations
    case("CREATE TABLE t (a text COLLATE \"C\")", "collate", NOT, "COLLATE not supported for a column", BOTH),
    // 28: types of columns
    case("CREATE TABLE t (a text[])", "column-type", NOT, "datatype text[] not supported", BOTH),
    case("CREATE TABLE t (a int[][])", "column-type", NOT, "datatype integer[] not supported", BOTH),
    case("ALTER TABLE t ADD COLUMN a money", "column-type", NOT, "datatype money not supported", BOTH),
    case("CREATE TABLE t (a inet)", "column-type", NOT, "datatype inet not supported", BOTH),
    case("CREATE TABLE t (a varbit(8))", "column-type", NOT, "datatype bit varying not supported", BOTH),
    case("CREATE TABLE t (a bit(8))", "column-type", NOT, "datatype bit not supported", BOTH),
    case("CREATE TABLE t (a point)", "column-type", NOT, "datatype point not supported", BOTH),
    case("CREATE TABLE t (a tsvector)", "column-type", NOT, "datatype tsvector not supported", BOTH),
    case("CREATE TABLE t (a xml)", "column-type", NOT, "datatype xml not supported", BOTH),
    // 35: settings
    case("SET statement_timeout = 1000", "setting", NOT, "setting configuration parameter \"statement_timeout\" not supported", BOTH),
    case("SET LOCAL work_mem TO '4MB'", "setting", NOT, "setting configuration parameter \"work_mem\" not supported", BOTH),
    case("SET ROLE admin", "setting", NOT, "setting configuration parameter \"role\" not supported", BOTH),
    // ALTER TABLE
    case("ALTER TABLE t DROP COLUMN a", "drop-column", NOT, "unsupported ALTER TABLE DROP COLUMN statement", &[OLD]),
    case("ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)", "add-constraint", NOT, "unsupported ALTER TABLE ADD CONSTRAINT statement", &[NEW]),
    case("ALTER TABLE t ADD PRIMARY KEY (a)", "add-constraint", NOT, "unsupported ALTER TABLE ADD CONSTRAINT statement", &[NEW]),
    case("ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID", "add-any-constraint", NOT, "unsupported ALTER TABLE ADD CONSTRAINT statement", &[OLD]),
    case("ALTER TABLE t ADD COLUMN a int NOT NULL DEFAULT 0", "add-column", NOT, "ALTER TABLE ADD COLUMN with constraint not supported", BOTH),
    case("ALTER TABLE t ADD COLUMN a int UNIQUE", "add-column", NOT, "ALTER TABLE ADD COLUMN with constraint not supported", BOTH),
    case("ALTER TABLE t ADD COLUMN a bigint GENERATED BY DEFAULT AS IDENTITY (CACHE 1)", "add-column", NOT, "ALTER TABLE ADD COLUMN with constraint not supported", &[NEW]),
    case("ALTER TABLE t ALTER COLUMN a TYPE varchar(20)", "alter-column-type", NOT, "unsupported ALTER TABLE ALTER COLUMN ... SET DATA TYPE statement", BOTH),
    case("ALTER TABLE t VALIDATE CONSTRAINT c", "validate-constraint", NOT, "unsupported ALTER TABLE VALIDATE CONSTRAINT statement", BOTH),
];

#[test]
fn each_row_of_the_facts_refuses_with_its_code_and_text() {
    let mut wrong = Vec::new();
    for case in CASES {
        for level in case.levels {
            let refusal = outcome(case.sql, *level, true).err();
            let got =
                refusal.as_ref().map(|it| (it.rule.as_str(), it.sqlstate.as_str(), it.message.as_str()));
            if got != Some((case.rule, case.sqlstate, case.message)) {
                wrong.push(format!("{level} {}\n  got    {got:?}\n  wanted {}", case.sql, case.rule));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_that_is_judged_on_a_statement_has_a_case_at_every_level() {
    let judged = RULES.iter().filter(|rule| rule.judged == Judged::Statement && rule.id != "row-limit");
    for rule in judged {
        for level in rule.levels {
            let shown = CASES.iter().any(|case| case.rule == rule.id && case.levels.contains(level));
            assert!(shown, "no case for {} at {level}", rule.id);
        }
    }
}

#[test]
fn rules_of_one_level_say_nothing_at_the_other() {
    for case in CASES.iter().filter(|case| case.levels.len() == 1) {
        let other = if case.levels[0] == OLD { NEW } else { OLD };
        let refusal = outcome(case.sql, other, true).err();
        assert_ne!(
            refusal.map(|refusal| refusal.rule).as_deref(),
            Some(case.rule),
            "{} at {other}",
            case.sql
        );
    }
}

#[test]
fn strict_rules_are_silent_when_not_asked_for() {
    for case in CASES {
        let strict = rule(case.rule).is_some_and(|rule| rule.strict);
        if strict {
            assert_eq!(outcome(case.sql, case.levels[0], false), Ok(()), "{}", case.sql);
        }
    }
}

#[test]
fn a_list_of_values_is_refused_from_its_3001st_row_on() {
    let insert = |rows: usize| format!("INSERT INTO t (a, b) VALUES {}", vec!["(1, 'x')"; rows].join(", "));
    assert_eq!(outcome(&insert(3_000), NEW, true), Ok(()));
    let refusal = outcome(&insert(3_001), NEW, true).expect_err("too many");
    assert_eq!(
        (refusal.sqlstate.as_str(), refusal.message.as_str()),
        ("54000", "transaction row limit exceeded")
    );
    // Which of these are written, only the engine knows.
    assert_eq!(outcome(&(insert(3_001) + " ON CONFLICT DO NOTHING"), NEW, true), Ok(()));
}

#[test]
fn the_limits_of_transactions_have_their_codes_and_texts_in_the_table() {
    for (id, text) in [
        ("row-limit", "transaction row limit exceeded"),
        ("size-limit", "transaction size limit 10mb exceeded"),
        ("age-limit", "transaction age limit of 300s exceeded"),
    ] {
        let rule = rule(id).expect("in the table");
        assert_eq!((rule.sqlstate, rule.text), ("54000", text));
    }
}

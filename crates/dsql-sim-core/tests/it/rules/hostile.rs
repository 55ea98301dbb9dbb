//! Texts that are meant to hurt, on the stack of a worker thread.

use std::thread;
use std::time::{Duration, Instant};

use leasehold_dsql_sim_core::rules::{Level, lint, parse};

/// What a worker thread of the runtime has.
const STACK_BYTES: usize = 2 << 20;

/// Reads and lints a text on a small stack; gives the code of the refusal, if there is one.
fn code(sql: String) -> Option<String> {
    let started = Instant::now();
    let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        lint(&sql, Level::L2026_09, true, false);
        parse(&sql).err().map(|refusal| refusal.sqlstate)
    });
    let code = worker.expect("thread").join().expect("no overflow, no panic");
    assert!(started.elapsed() < Duration::from_secs(60), "took {:?}", started.elapsed());
    code
}

#[test]
fn nothing_is_no_statement() {
    for sql in ["", " \n\t", ";", ";;; ;", "-- only this", "/* and /* nested */ this */", "\u{feff}"] {
        let parsed = parse(sql);
        if sql == "\u{feff}" {
            assert_eq!(parsed.err().map(|refusal| refusal.sqlstate).as_deref(), Some("42601"));
        } else {
            assert_eq!(parsed.map(|statements| statements.len()), Ok(0), "{sql:?}");
        }
    }
}

#[test]
fn what_does_not_end_is_a_syntax_error() {
    for sql in [
        "SELECT 'a",
        "SELECT \"a",
        "SELECT $x$ a",
        "/* a",
        "SELECT (1",
        "SELECT 1 +",
        "SELECT E'\\",
        "INSERT INTO",
    ] {
        assert_eq!(code(sql.to_owned()).as_deref(), Some("42601"), "{sql}");
    }
}

#[test]
fn a_syntax_error_names_the_token() {
    let message = |sql: &str| parse(sql).expect_err("not SQL").message;
    assert_eq!(message("SELEC 1"), "syntax error at or near \"SELEC\"");
    assert_eq!(message("SELECT 1 FROM t WHERE"), "syntax error at end of input");
    assert_eq!(message("SELECT 1; SELECT 2 2 2"), "syntax error at or near \"2\"");
}

#[test]
fn one_statement_that_cannot_be_read_refuses_the_whole_text() {
    assert!(parse("SELECT 1; SELEC 2; SELECT 3").is_err());
}

#[test]
fn deep_brackets_are_refused_and_not_overflowed() {
    for (open, close) in [
        ("SELECT (", ")"),
        ("SELECT * FROM (", ")"),
        ("SELECT * FROM (SELECT * FROM (", "))"),
        ("SELECT * FROM (SELECT * FROM ((SELECT * FROM (", "))))"),
        ("SELECT * FROM (SELECT * FROM a WHERE a IN (", "))"),
        ("SELECT ARRAY[", "]"),
        ("SELECT f(", ")"),
    ] {
        let (lead, bracket) = open.split_at(open.find(['(', '[']).expect("bracket"));
        for depth in [10, 25, 55, 10_000] {
            let sql = format!("{lead}{}1{}", bracket.repeat(depth), close.repeat(depth));
            let answer = code(sql);
            if depth >= 10_000 {
                assert_eq!(answer.as_deref(), Some("54001"), "{open} × {depth}");
            }
        }
    }
}

#[test]
fn long_chains_are_refused_and_not_overflowed() {
    let chains = [" + 1", "::int", " AND a = 1", " || 'x'", " UNION SELECT 1", " IS NULL", "[1]"];
    for link in chains {
        assert_eq!(code(format!("SELECT a{}", link.repeat(300))), None, "{link}");
        for count in [1_990, 100_000] {
            let answer = code(format!("SELECT a{}", link.repeat(count)));
            assert!(count < 10_000 || answer.as_deref() == Some("54001"), "{link} × {count}: {answer:?}");
        }
    }
}

#[test]
fn words_that_nest_without_brackets_are_refused_and_not_overflowed() {
    for word in ["NOT ", "CASE WHEN ", "- ", "EXISTS ", "INTERVAL "] {
        for count in [20, 1_900, 20_000] {
            code(format!("SELECT {}1", word.repeat(count)));
        }
    }
    for word in [
        "EXPLAIN ",
        "PREPARE a AS ",
        "WITH ",
        "BEGIN ",
        "CREATE SCHEMA a ",
        "IF a THEN ",
        "CASE WHEN a THEN ",
        "CREATE PROCEDURE a AS ",
        "CREATE FUNCTION a() RETURNS int BEGIN ATOMIC ",
    ] {
        for count in [20, 900, 20_000] {
            code(format!("{}SELECT 1", word.repeat(count)));
        }
    }
}

#[test]
fn a_text_of_ten_megabytes_is_read_in_one_pass() {
    let row = format!("('{}')", "x".repeat(3_000));
    assert_eq!(code(format!("INSERT INTO t VALUES {}", vec![row; 3_000].join(","))), None);
    assert_eq!(code("SELECT 1;".repeat(20_000)), None);
    assert_eq!(code("-- comment\n".repeat(100_000)), None);
    assert_eq!(code("(".repeat(1_000_000)).as_deref(), Some("54001"));
    assert_eq!(code("\u{0}\u{1}🦀".repeat(1_000)).as_deref(), Some("42601"));
}

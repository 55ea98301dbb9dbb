//! `leasehold dsql-lint` and `leasehold dsql-sim rules` as a script uses them.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn leasehold(folder: &Path, arguments: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_leasehold"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    child.stdin.take().expect("piped").write_all(stdin.as_bytes()).expect("reads");
    child.wait_with_output().expect("ends")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("ended by itself")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&text(output)).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn lint_names_file_line_column_rule_and_what_to_do() {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::write(folder.path().join("a.sql"), "CREATE TABLE t (a text PRIMARY KEY);\n").expect("written");
    fs::write(folder.path().join("b.sql"), "SELECT 1;\n\n  TRUNCATE t;\nCREATE INDEX i ON t (a DESC);\n")
        .expect("written");

    let clean = leasehold(folder.path(), &["dsql-lint", "a.sql"], "");
    assert_eq!((code(&clean), text(&clean).as_str()), (0, ""));

    let found = leasehold(folder.path(), &["dsql-lint", "a.sql", "b.sql"], "");
    assert_eq!(code(&found), 3);
    let lines = text(&found);
    for line in [
        "b.sql:3:3: 0A000 unsupported statement: Truncate [truncate]",
        "b.sql:4:1: 0A000 unsupported mode. please use CREATE INDEX ASYNC. [index-async]",
        "b.sql:4:22: 0A000 specifying sort order not supported for index keys [index-order]",
        "    leave it out; an index is read in both directions",
    ] {
        assert!(lines.lines().any(|shown| shown == line), "{line} is not in\n{lines}");
    }

    let found = json(&leasehold(folder.path(), &["dsql-lint", "b.sql", "--json"], ""));
    assert_eq!(found.as_array().map(Vec::len), Some(3));
    assert_eq!((&found[0]["file"], &found[0]["line"]), (&Value::from("b.sql"), &Value::from(3)));
    assert_eq!((&found[0]["rule"], &found[0]["sqlstate"]), (&Value::from("truncate"), &Value::from("0A000")));
}

#[test]
fn lint_reads_stdin_at_the_level_asked_for() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let sql = "CREATE TABLE t (a int REFERENCES p (id));";
    assert_eq!(code(&leasehold(folder.path(), &["dsql-lint", "-"], sql)), 0);
    let old = leasehold(folder.path(), &["dsql-lint", "-", "--level", "2025.05"], sql);
    assert_eq!(code(&old), 3);
    assert!(
        text(&old).starts_with("<stdin>:1:34: 0A000 FOREIGN KEY constraint not supported"),
        "{}",
        text(&old)
    );
    assert_eq!(code(&leasehold(folder.path(), &["dsql-lint", "-", "--level", "2024.01"], sql)), 2);
}

#[test]
fn lint_follows_transactions_and_leniency() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let two = "CREATE TABLE a (x int); CREATE TABLE b (x int);";
    assert_eq!(code(&leasehold(folder.path(), &["dsql-lint", "-"], two)), 0);
    assert_eq!(code(&leasehold(folder.path(), &["dsql-lint", "-", "--single-transaction"], two)), 3);
    let range = "SELECT * FROM t WHERE a > 1 FOR UPDATE;";
    assert_eq!(code(&leasehold(folder.path(), &["dsql-lint", "-"], range)), 3);
    assert_eq!(code(&leasehold(folder.path(), &["dsql-lint", "-", "--lenient"], range)), 0);
}

#[test]
fn lint_tells_files_it_cannot_read() {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::write(folder.path().join("bytes.sql"), [0xff, 0xfe]).expect("written");
    for file in ["missing.sql", "bytes.sql"] {
        let output = leasehold(folder.path(), &["dsql-lint", file], "");
        assert_eq!(code(&output), 2, "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(file), "{output:?}");
    }
}

#[test]
fn rules_are_listed_and_shown_in_full() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let listed = leasehold(folder.path(), &["dsql-sim", "rules"], "");
    assert_eq!(code(&listed), 0);
    assert!(text(&listed).lines().count() > 50, "{}", text(&listed));
    let all = json(&leasehold(folder.path(), &["dsql-sim", "rules", "--json"], ""));
    let old = json(&leasehold(folder.path(), &["dsql-sim", "rules", "--json", "--level", "2025.05"], ""));
    let count = |rules: &Value| rules.as_array().map(Vec::len).expect("a list");
    assert!(count(&old) < count(&all));
    let one = leasehold(folder.path(), &["dsql-sim", "rules", "foreign-key"], "");
    assert!(text(&one).contains("levels      2025.05\n"), "{}", text(&one));
    assert_eq!(code(&leasehold(folder.path(), &["dsql-sim", "rules", "no-such"], "")), 2);
}

//! Every fault strikes where and as often as its rule says, and is counted.

use std::time::{Duration, Instant};

use leasehold_dsql_sim::{Count, faults::Rule};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_postgres::NoTls;

use crate::fixture::{Fixture, Session, told};

async fn start() -> (Fixture, Session) {
    let fixture = Fixture::with(|config| config.admin = Some("127.0.0.1:0".into())).await;
    let one = fixture.client().await;
    one.ok("CREATE TABLE t (id int PRIMARY KEY, value int)").await;
    one.ok("INSERT INTO t VALUES (1, 0)").await;
    (fixture, one)
}

fn arm(fixture: &Fixture, rule: &str) {
    fixture.simulator.faults().arm(Rule::read(rule).expect("a rule"));
}

fn fired(fixture: &Fixture) -> u64 {
    fixture.simulator.faults().report().iter().map(|report| report.fired).sum()
}

const SAVE: &str = "/* op=Save */ UPDATE t SET value = value + 1 WHERE id = 1";

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn conflicts_strike_commits_of_tagged_statements() {
    let (fixture, one) = start().await;
    arm(&fixture, r#"{"name": "c", "action": "conflict_at_commit", "op": "Save", "times": 2}"#);
    one.ok("UPDATE t SET value = value + 1 WHERE id = 1").await;
    one.fails(SAVE, "40001").await;
    one.ok("BEGIN").await;
    one.ok(SAVE).await;
    one.ok("SELECT 1").await;
    one.commit_conflicts().await;
    one.ok(SAVE).await;
    assert_eq!(one.ok("SELECT value FROM t").await, "2", "what was struck was not done");
    assert_eq!(fired(&fixture), 2);
    assert_eq!(fixture.simulator.counters().get(Count::Conflicts), 2);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn faults_at_the_statement_answer_their_code() {
    let (fixture, one) = start().await;
    for (action, sqlstate, text) in [
        ("conflict_at_statement", "40001", "(OC000)"),
        ("schema_conflict_at_statement", "40001", "(OC001)"),
        ("unavailable", "XX000", "server unavailable"),
    ] {
        arm(
            &fixture,
            &format!(r#"{{"name": "s", "action": "{action}", "table": "t", "kind": "update", "nth": 1}}"#),
        );
        one.ok("BEGIN").await;
        let told = one.fails(SAVE, sqlstate).await;
        assert!(told.ends_with(text), "{told}");
        one.fails("SELECT 1", "25P02").await;
        one.ok("ROLLBACK").await;
        one.ok(SAVE).await;
    }
    assert_eq!(one.ok("SELECT value FROM t").await, "3");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn faults_at_commit_answer_their_code() {
    let (fixture, one) = start().await;
    for (action, sqlstate) in [("schema_conflict_at_commit", "40001"), ("limit", "54000")] {
        arm(&fixture, &format!(r#"{{"name": "s", "action": "{action}", "nth": 1}}"#));
        one.ok("BEGIN").await;
        one.ok(SAVE).await;
        one.fails("COMMIT", sqlstate).await;
        one.ok("SELECT 1").await;
    }
    assert_eq!(one.ok("SELECT value FROM t").await, "0");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn connection_cut_before_commit_leaves_nothing_and_after_it_everything() {
    let (fixture, one) = start().await;
    for (action, value) in [("cut_before_commit", "0"), ("cut_after_commit", "1")] {
        arm(&fixture, &format!(r#"{{"name": "cut", "action": "{action}", "op": "Save", "nth": 1}}"#));
        let cut = fixture.client().await;
        cut.ok("BEGIN").await;
        cut.ok(SAVE).await;
        let told = cut.run("COMMIT").await.unwrap_err();
        assert!(told.starts_with("connection"), "{told}");
        assert_eq!(one.ok("SELECT value FROM t").await, value, "{action}");
    }
    arm(&fixture, r#"{"name": "cut", "action": "cut_after_commit", "nth": 1}"#);
    let cut = fixture.client().await;
    cut.run(SAVE).await.unwrap_err();
    assert_eq!(one.ok("SELECT value FROM t").await, "2", "a statement by itself commits too");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn faults_at_commit_strike_a_read_by_itself() {
    let (fixture, one) = start().await;
    const LOAD: &str = "/* op=Load */ SELECT value FROM t WHERE id = 1";
    for (action, told) in [
        ("conflict_at_commit", "40001 change conflicts with another transaction (OC000)"),
        ("schema_conflict_at_commit", "40001 schema has been updated by another transaction (OC001)"),
        ("limit", "54000 transaction size limit 10mb exceeded"),
    ] {
        arm(&fixture, &format!(r#"{{"name": "s", "action": "{action}", "op": "Load", "nth": 2}}"#));
        assert_eq!(one.ok(LOAD).await, "0");
        assert_eq!(one.run(LOAD).await, Err(told.to_owned()));
        assert_eq!(one.ok(LOAD).await, "0");
        assert_eq!(fired(&fixture), 1, "{action}");
    }
    arm(&fixture, r#"{"name": "s", "action": "schema_conflict_at_commit", "table": "t", "nth": 1}"#);
    let error = one.client.query_one("SELECT value FROM t WHERE id = $1", &[&1_i32]).await.unwrap_err();
    assert!(told(&error).ends_with("(OC001)"), "{}", told(&error));
    for action in ["cut_before_commit", "cut_after_commit"] {
        arm(&fixture, &format!(r#"{{"name": "s", "action": "{action}", "op": "Load", "nth": 1}}"#));
        let cut = fixture.client().await;
        let told = cut.run(LOAD).await.unwrap_err();
        assert!(told.starts_with("connection"), "{action}: {told}");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn read_that_failed_by_itself_has_no_commit_to_strike() {
    let (fixture, one) = start().await;
    arm(&fixture, r#"{"name": "s", "action": "conflict_at_commit", "times": 1}"#);
    one.fails("SELECT 1 / (value - value) FROM t", "22012").await;
    one.ok("SET application_name = 'mine'").await;
    assert_eq!(fired(&fixture), 0);
    one.fails("SELECT value FROM t", "40001").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn delay_makes_a_statement_late() {
    let (fixture, one) = start().await;
    arm(&fixture, r#"{"name": "d", "action": "delay", "delay_ms": 60, "op": "Save"}"#);
    let begun = Instant::now();
    one.ok(SAVE).await;
    assert!(begun.elapsed() >= Duration::from_millis(60));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn connections_are_refused_and_closed_by_rule() {
    let (fixture, one) = start().await;
    for (action, sqlstate) in
        [("too_many_connections", "53300"), ("connection_rate", "53400"), ("reject_token", "28P01")]
    {
        arm(&fixture, &format!(r#"{{"name": "r", "action": "{action}", "times": 1}}"#));
        let error = tokio_postgres::connect(&fixture.simulator.url(), NoTls).await.err().expect("refused");
        assert!(told(&error).starts_with(sqlstate), "{}", told(&error));
        if action == "reject_token" {
            assert_eq!(error.as_db_error().and_then(|error| error.hint()), Some("Signature expired"));
        }
        fixture.client().await.ok("SELECT 1").await;
    }
    arm(&fixture, r#"{"name": "r", "action": "close", "op": "Save", "nth": 1}"#);
    one.fails(SAVE, "57P01").await;
    assert!(one.run("SELECT 1").await.unwrap_err().starts_with("connection"));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn connection_ends_with_its_lifetime() {
    let fixture = Fixture::with(|config| config.connection_lifetime = Duration::ZERO).await;
    fixture.client().await.fails("SELECT 1", "57P01").await;
}

/// One request over a connection of its own: status and body.
async fn http(fixture: &Fixture, method: &str, path: &str, body: &str) -> (u16, String) {
    let address = fixture.simulator.admin_address().expect("an admin port");
    let mut stream = TcpStream::connect(address).await.expect("connect");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: sim\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("send");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), body.to_owned())
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn admin_port_arms_reports_and_disarms() {
    let (fixture, one) = start().await;
    let rule = r#"{"name": "c", "action": "conflict_at_commit", "op": "Save", "times": 1}"#;
    assert_eq!(http(&fixture, "POST", "/faults", rule).await.0, 204);
    one.fails(SAVE, "40001").await;
    let (_, report) = http(&fixture, "GET", "/faults", "").await;
    assert!(report.contains(r#""name":"c""#) && report.contains(r#""fired":1"#), "{report}");
    let (_, counters) = http(&fixture, "GET", "/counters", "").await;
    assert!(counters.contains(r#""conflicts":1"#), "{counters}");
    assert_eq!(http(&fixture, "DELETE", "/faults/c", "").await.0, 204);
    assert_eq!(http(&fixture, "DELETE", "/faults/c", "").await.0, 404);
    let (status, told) = http(&fixture, "POST", "/faults", r#"{"name": "c"}"#).await;
    assert_eq!(status, 400);
    assert!(told.contains("missing field `action`"), "{told}");
    assert_eq!(http(&fixture, "DELETE", "/faults", "").await.0, 204);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn control_table_arms_and_reports() {
    let (fixture, one) = start().await;
    one.ok(r#"INSERT INTO sys.faults (rule) VALUES ('{"name": "c", "action": "conflict_at_commit", "op": "Save"}')"#).await;
    one.fails(SAVE, "40001").await;
    assert_eq!(one.ok("SELECT fired FROM sys.faults WHERE name = 'c'").await, "1");
    assert_eq!(one.ok("SELECT value FROM sys.counters WHERE name = 'conflicts'").await, "1");
    one.ok("DELETE FROM sys.faults WHERE name = 'c'").await;
    one.ok(SAVE).await;
    assert_eq!(fired(&fixture), 0);
    one.fails("INSERT INTO sys.faults (rule) VALUES ('nonsense')", "22P02").await;
    let told = one
        .fails(r#"INSERT INTO sys.faults (rule) VALUES ('{"name": "c", "action": "explode"}')"#, "22023")
        .await;
    assert!(told.contains("unknown variant"), "{told}");
    assert_eq!(one.ok("SELECT count(*) FROM sys.faults").await, "0");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn rule_disarmed_over_http_stays_so_when_the_control_table_is_written() {
    let (fixture, one) = start().await;
    let add = |name: &str, op: &str| {
        format!(
            r#"INSERT INTO sys.faults (rule) VALUES ('{{"name": "{name}", "action": "conflict_at_commit", "op": "{op}"}}')"#
        )
    };
    one.ok(&add("c", "Save")).await;
    one.fails(SAVE, "40001").await;
    assert_eq!(http(&fixture, "DELETE", "/faults/c", "").await.0, 204);
    one.ok(&add("other", "Other")).await;
    one.ok(SAVE).await;
    one.ok(
        r#"UPDATE sys.faults SET rule = '{"name": "c", "action": "limit", "op": "Save"}' WHERE name = 'c'"#,
    )
    .await;
    one.fails(SAVE, "54000").await;
    one.ok("DELETE FROM sys.faults WHERE name = 'c'").await;
    one.ok(SAVE).await;
    one.ok(&add("c", "Save")).await;
    one.fails(SAVE, "40001").await;
    assert_eq!(fired(&fixture), 1, "the other rule never struck");
}

//! Index builds that fail or go on, and what is said of them.

use leasehold_dsql_sim::faults::Rule;

use crate::fixture::{Fixture, Session};

const VALID: &str = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('by_value')";
const MAKE: &str = "CREATE INDEX ASYNC IF NOT EXISTS by_value ON t (value)";

async fn table(fixture: &Fixture) -> Session {
    let one = fixture.client().await;
    one.ok("CREATE TABLE t (id int PRIMARY KEY, value int)").await;
    one.ok("INSERT INTO t VALUES (1, 0), (2, 0)").await;
    one
}

fn arm(fixture: &Fixture, rule: &str) {
    fixture.simulator.faults().arm(Rule::read(rule).expect("a rule"));
}

async fn waited(one: &Session, job: &str) -> bool {
    one.ok(&format!("CALL sys.wait_for_job('{job}')")).await == "t"
}

async fn listed(one: &Session, job: &str) -> String {
    let sql =
        "SELECT status || ' ' || coalesce(nullif(details, ''), '-') || ' ' || object_name FROM sys.jobs";
    one.ok(&format!("{sql} WHERE job_id = '{job}'")).await
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn failed_build_is_told_by_the_wait_and_leaves_an_invalid_index() {
    let fixture = Fixture::start().await;
    let one = table(&fixture).await;
    arm(&fixture, r#"{"name": "f", "action": "fail_index_build", "nth": 1}"#);
    let job = one.ok(MAKE).await;
    assert!(!waited(&one, &job).await);
    assert_eq!(listed(&one, &job).await, "completed the build of the index failed public.by_value");
    assert_eq!(one.ok(VALID).await, "f");
    assert_eq!(one.ok(MAKE).await, "0", "it is passed over, without a job");
    one.ok("DROP INDEX by_value").await;
    let job = one.ok(MAKE).await;
    assert!(waited(&one, &job).await);
    assert_eq!(
        (listed(&one, &job).await, one.ok(VALID).await),
        ("completed - public.by_value".into(), "t".into())
    );
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn unique_build_over_duplicates_leaves_an_invalid_index_that_refuses_no_row() {
    let fixture = Fixture::start().await;
    let one = table(&fixture).await;
    let job = one.ok("CREATE UNIQUE INDEX ASYNC by_value ON t (value)").await;
    assert!(!waited(&one, &job).await);
    assert_eq!(
        listed(&one, &job).await,
        "completed could not create unique index \"by_value\" public.by_value"
    );
    assert_eq!(one.ok(VALID).await, "f");
    one.ok("INSERT INTO t VALUES (3, 0)").await;
    let using = "ALTER TABLE t ADD CONSTRAINT once UNIQUE USING INDEX by_value";
    assert_eq!(one.fails(using, "55000").await, "55000 index \"by_value\" is not valid");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn slow_build_goes_on_until_its_rule_is_disarmed() {
    let fixture = Fixture::start().await;
    let one = table(&fixture).await;
    arm(&fixture, r#"{"name": "slow", "action": "slow_index_build"}"#);
    let job = one.ok(MAKE).await;
    assert!(!waited(&one, &job).await, "the wait has timed out");
    assert_eq!(listed(&one, &job).await, "processing - public.by_value");
    assert_eq!(one.ok(VALID).await, "f");
    let reader = fixture.client().await;
    reader.ok("BEGIN").await;
    reader.ok("SELECT * FROM t").await;
    assert!(fixture.simulator.faults().disarm("slow"));
    assert!(waited(&one, &job).await);
    assert_eq!(one.ok(VALID).await, "t");
    assert!(reader.fails("COMMIT", "40001").await.contains("OC001"), "its end changes the catalogue");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn slow_build_of_a_transaction_begins_with_its_commit_and_ends_with_its_time() {
    let fixture = Fixture::start().await;
    let one = table(&fixture).await;
    arm(&fixture, r#"{"name": "slow", "action": "slow_index_build", "delay_ms": 1}"#);
    one.ok("BEGIN").await;
    let job = one.ok(MAKE).await;
    one.ok("COMMIT").await;
    while !waited(&one, &job).await {}
    assert_eq!(one.ok(VALID).await, "t");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn wait_for_a_job_is_refused_in_a_transaction_and_for_an_unknown_id() {
    let fixture = Fixture::start().await;
    let one = table(&fixture).await;
    let job = one.ok(MAKE).await;
    one.ok("BEGIN").await;
    one.fails(&format!("CALL sys.wait_for_job('{job}')"), "25001").await;
    one.ok("ROLLBACK").await;
    let told = one.fails("CALL sys.wait_for_job('no-such-job')", "22P02").await;
    assert_eq!(told, "22P02 Unable to convert text to UUID");
    let answer = one.client.query_one("CALL sys.wait_for_job($1)", &[&job]).await.expect("a row");
    assert!(answer.get::<_, bool>(0));
}

//! DDL beside open transactions, and asynchronous indexes.

use crate::fixture::{Fixture, Session};

const SCHEMA_CONFLICT: &str = "40001 schema has been updated by another transaction (OC001)";

async fn two(fixture: &Fixture) -> (Session, Session) {
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE t (id int PRIMARY KEY, value int)").await;
    one.ok("CREATE TABLE u (id int PRIMARY KEY, value int)").await;
    one.ok("INSERT INTO t VALUES (1, 0)").await;
    (one, two)
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn ddl_that_lands_in_between_is_told_at_commit_even_to_readers() {
    let fixture = Fixture::start().await;
    let (reader, ddl) = two(&fixture).await;
    for begin in ["BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"] {
        reader.ok(begin).await;
        reader.ok("SELECT * FROM t").await;
        ddl.ok("ALTER TABLE t ADD COLUMN IF NOT EXISTS note text").await;
        assert_eq!(reader.fails("COMMIT", "40001").await, SCHEMA_CONFLICT);
    }
    reader.ok("BEGIN").await;
    reader.ok("SELECT * FROM t").await;
    reader.ok("COMMIT").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn ddl_before_the_first_use_of_a_table_is_told_at_the_statement() {
    let fixture = Fixture::start().await;
    let (one, ddl) = two(&fixture).await;
    one.ok("BEGIN").await;
    one.ok("SELECT * FROM u").await;
    ddl.ok("ALTER TABLE t ADD COLUMN note text").await;
    assert_eq!(one.fails("UPDATE t SET value = 1 WHERE id = 1", "40001").await, SCHEMA_CONFLICT);
    one.fails("SELECT 1", "25P02").await;
    one.ok("ROLLBACK").await;
    assert_eq!(one.ok("UPDATE t SET value = 1 WHERE id = 1").await, "1", "the first retry succeeds");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn ddl_on_another_table_is_no_conflict() {
    let fixture = Fixture::start().await;
    let (one, ddl) = two(&fixture).await;
    one.ok("BEGIN").await;
    one.ok("UPDATE t SET value = 1 WHERE id = 1").await;
    ddl.ok("ALTER TABLE u ADD COLUMN note text").await;
    ddl.ok("CREATE TABLE v (id int PRIMARY KEY)").await;
    one.ok("COMMIT").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn grant_is_a_change_of_the_catalogue() {
    let fixture = Fixture::start().await;
    let (one, ddl) = two(&fixture).await;
    one.ok("BEGIN").await;
    one.ok("UPDATE t SET value = 1 WHERE id = 1").await;
    ddl.ok("GRANT SELECT ON t TO PUBLIC").await;
    assert_eq!(one.fails("COMMIT", "40001").await, SCHEMA_CONFLICT);
    assert_eq!(one.ok("SELECT value FROM t").await, "0");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn ddl_waits_for_no_open_transaction() {
    let fixture = Fixture::start().await;
    let (one, ddl) = two(&fixture).await;
    one.ok("BEGIN").await;
    one.ok("UPDATE t SET value = 1 WHERE id = 1").await;
    ddl.ok("BEGIN").await;
    ddl.ok("DROP TABLE t").await;
    assert_eq!(one.ok("SELECT value FROM t").await, "1", "not committed, not seen");
    ddl.ok("COMMIT").await;
    assert_eq!(one.fails("COMMIT", "40001").await, SCHEMA_CONFLICT);
    one.fails("SELECT * FROM t", "42P01").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn prepared_statement_over_changed_columns_is_told_once_and_works_when_prepared_anew() {
    let fixture = Fixture::start().await;
    let (one, ddl) = two(&fixture).await;
    let statement = one.client.prepare("SELECT * FROM t WHERE id = $1").await.unwrap();
    assert_eq!(one.client.query_one(&statement, &[&1_i32]).await.unwrap().len(), 2);
    ddl.ok("ALTER TABLE t ADD COLUMN note text").await;
    let error = one.client.query_one(&statement, &[&1_i32]).await.unwrap_err();
    assert_eq!(crate::fixture::told(&error), SCHEMA_CONFLICT);
    let statement = one.client.prepare("SELECT * FROM t WHERE id = $1").await.unwrap();
    assert_eq!(one.client.query_one(&statement, &[&1_i32]).await.unwrap().len(), 3);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn asynchronous_index_is_a_job_that_ends() {
    let fixture = Fixture::start().await;
    let (one, _) = two(&fixture).await;
    let job = one.ok("CREATE INDEX ASYNC by_value ON t (value)").await;
    assert_eq!(job.len(), 26, "{job}");
    one.ok(&format!("CALL sys.wait_for_job('{job}')")).await;
    assert_eq!(one.ok(&format!("SELECT status FROM sys.jobs WHERE job_id = '{job}'")).await, "completed");
    let valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'by_value'::regclass";
    assert_eq!(one.ok(valid).await, "t");
    let row = one.client.query_one("CREATE UNIQUE INDEX ASYNC once ON t (value)", &[]).await.unwrap();
    assert_eq!(row.get::<_, &str>("job_id").len(), 26);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn index_on_a_column_that_no_key_may_have_is_refused() {
    let fixture = Fixture::start().await;
    let (one, _) = two(&fixture).await;
    one.ok("CREATE TABLE w (id int PRIMARY KEY, \"Body\" bytea, note jsonb, name text)").await;
    for (columns, kind) in [("\"Body\"", "bytea"), ("name, note", "jsonb")] {
        let told = one.fails(&format!("CREATE INDEX ASYNC ON w ({columns})"), "0A000").await;
        assert_eq!(told, format!("0A000 datatype {kind} is not supported in a key"));
    }
    let error = one.client.execute("CREATE UNIQUE INDEX ASYNC ON public.w (note)", &[]).await.unwrap_err();
    assert!(crate::fixture::told(&error).starts_with("0A000"), "{error}");
    one.ok("CREATE INDEX ASYNC ON w (name) INCLUDE (\"Body\")").await;
    one.ok("CREATE INDEX ASYNC ON w ((note ->> 'a'))").await;
    assert_eq!(one.ok("SELECT count(*) FROM sys.jobs").await, "2");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn constraint_is_validated_by_a_job() {
    let fixture = Fixture::start().await;
    let (one, _) = two(&fixture).await;
    one.ok("ALTER TABLE t ADD CONSTRAINT small CHECK (value < 5) NOT VALID").await;
    let job = one.ok("ALTER TABLE ASYNC t VALIDATE CONSTRAINT small").await;
    assert_eq!(one.ok(&format!("SELECT status FROM sys.jobs WHERE job_id = '{job}'")).await, "completed");
    assert_eq!(one.ok("SELECT convalidated FROM pg_constraint WHERE conname = 'small'").await, "t");
    one.ok("ALTER TABLE t ADD CONSTRAINT high CHECK (value > 5) NOT VALID").await;
    let row = one.client.query_one("ALTER TABLE ASYNC t VALIDATE CONSTRAINT high", &[]).await.unwrap();
    let status = format!("SELECT status FROM sys.jobs WHERE job_id = '{}'", row.get::<_, &str>("job_id"));
    assert_eq!(one.ok(&status).await, "failed");
    assert_eq!(one.ok("SELECT convalidated FROM pg_constraint WHERE conname = 'high'").await, "f");
    one.fails("ALTER TABLE ASYNC t VALIDATE CONSTRAINT missing", "42704").await;
    one.fails("ALTER TABLE ASYNC t ADD COLUMN note text", "42601").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn index_of_dsqls_own_method_is_built() {
    let fixture = Fixture::start().await;
    let (one, _) = two(&fixture).await;
    let job = one.ok("CREATE INDEX ASYNC by_value ON t USING btree_index (value)").await;
    assert_eq!(one.ok(&format!("SELECT status FROM sys.jobs WHERE job_id = '{job}'")).await, "completed");
    one.client.query_one("CREATE INDEX ASYNC again ON t USING btree_index (value)", &[]).await.unwrap();
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn grant_to_an_iam_principal_is_a_change_of_the_catalogue() {
    let fixture = Fixture::start().await;
    let (one, ddl) = two(&fixture).await;
    let arn = "'arn:aws:iam::123456789012:role/x'";
    one.ok("BEGIN").await;
    one.ok("SELECT value FROM t").await;
    ddl.ok(&format!("AWS IAM GRANT app TO {arn}")).await;
    assert_eq!(one.fails("COMMIT", "40001").await, SCHEMA_CONFLICT);
    ddl.client.execute(&format!("AWS IAM REVOKE app FROM {arn}"), &[]).await.unwrap();
    ddl.ok("BEGIN").await;
    ddl.ok(&format!("AWS IAM GRANT app TO {arn}")).await;
    ddl.fails("GRANT SELECT ON t TO PUBLIC", "0A000").await;
    ddl.ok("ROLLBACK").await;
    ddl.ok("BEGIN").await;
    ddl.ok(&format!("AWS IAM GRANT app TO {arn}")).await;
    ddl.ok("COMMIT").await;
    assert_eq!(one.ok("SELECT value FROM t").await, "0");
}

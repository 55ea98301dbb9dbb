//! A DSQL cluster, seen through its catalogue. Every statement is a read.

mod expected;
mod schema;

use std::time::Instant;

use leasehold_core::Deadline;
use leasehold_txn::{ConnectionString, DsqlLevel, Error, Policy, Result, detect_level};

use super::finding::Findings;
use super::postgres::schema::Tables;
use super::postgres::{Database, TIMEOUT, column, look_at_clock};
use crate::failure::Failure;

/// Connections that a cluster takes, and those that it takes at once; after that 100 in a second.
const CONNECTIONS_MAX: i64 = 10_000;
const CONNECTIONS_BURST: i64 = 1_000;

/// Jobs that are told one by one.
const JOBS_MAX: i64 = 20;

pub(super) async fn look(
    connection: ConnectionString,
    pool_size: i64,
    findings: &mut Findings,
) -> Result<(), Failure> {
    judge_encryption(&connection, findings);
    judge_connections(pool_size, findings);
    let database = Database::open(connection.clone())?;
    let asked = Instant::now();
    match database.rows("SELECT 1", &[]).await {
        Ok(_) => findings.ok("reach", format!("connected within {} ms", asked.elapsed().as_millis())),
        Err(error) => {
            let next = cure(&error);
            findings.failed("reach", error, next);
            return Ok(());
        }
    }
    judge_credentials(&connection, findings);
    for looked in [
        look_at_rights(&database, findings).await,
        look_at_tables(&database, findings).await,
        look_at_jobs(&database, findings).await,
        look_at_clock(&database, findings).await,
    ] {
        if let Err(error) = looked {
            findings.failed("look", error, "give this user the right to read it, or report a bug");
        }
    }
    database.pool.close().await;
    Ok(())
}

/// What to do about a cluster that lets nobody in.
fn cure(error: &Error) -> &'static str {
    match error.code() {
        "txn.credentials_missing" => {
            "give AWS credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE), or a password in the URL"
        }
        "txn.access_denied" => {
            "allow the role dsql:DbConnect, for admin dsql:DbConnectAdmin; check the region, and this machine's clock: tokens \
             are signed with the time"
        }
        "txn.tls_failed" => {
            "check the name of the host, and that nothing in between ends TLS; sslrootcert names another root"
        }
        "txn.connection_limit" => "wait a moment; if it stays so, lower the pools of those who connect",
        _ => "check its address, that the cluster is active, and that this machine may reach port 5432 there",
    }
}

fn judge_encryption(connection: &ConnectionString, findings: &mut Findings) {
    match connection.sslmode() {
        "verify-full" => findings.ok("tls", "required, and the certificate must be the host's"),
        mode @ ("verify-ca" | "require") => findings.warning(
            "tls",
            format!("required, but sslmode={mode} takes certificates of other hosts: tokens could be read on the way"),
            "leave sslmode out: verify-full is the default",
        ),
        _ => findings.ok("tls", "not required: only loopback is reached so, which is a simulator"),
    }
}

fn judge_credentials(connection: &ConnectionString, findings: &mut Findings) {
    let user = connection.user().unwrap_or("nobody");
    match connection.has_password() {
        false => findings.ok("credentials", format!("connects as {user} with tokens that it signs itself")),
        true if connection.is_loopback() => {
            findings.ok("credentials", format!("connects as {user} with a password, as simulators take any"));
        }
        true => findings.warning(
            "credentials",
            format!("connects as {user} with a password: a token in a URL is refused when its time is over"),
            "leave the password out: each connection then gets a token of its own",
        ),
    }
}

fn judge_connections(pool_size: i64, findings: &mut Findings) {
    let shown = format!(
        "one leasehold server opens up to {pool_size}; a cluster takes {CONNECTIONS_MAX}, {CONNECTIONS_BURST} at once and \
         then 100 in a second"
    );
    let next = "lower the pool: one connection of it serves many requests";
    match pool_size {
        size if size > CONNECTIONS_MAX => findings.problem("connections", shown, next),
        size if size > CONNECTIONS_BURST => findings.warning("connections", shown, next),
        _ => findings.ok("connections", shown),
    }
}

async fn look_at_rights(database: &Database, findings: &mut Findings) -> Result<()> {
    let rows = database.rows(include_str!("sql/about.sql"), &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    findings.ok("version", format!("PostgreSQL {}", column::<String>(row, "version")?));
    match (column::<Option<String>>(row, "schema")?, column(row, "may_create")?) {
        (None, _) => findings.problem(
            "permissions",
            "the search path names no schema that is there",
            "create one, or use a user whose path has one",
        ),
        (Some(schema), true) => findings.ok("permissions", format!("may make tables in schema {schema}")),
        (Some(schema), false) => findings.warning(
            "permissions",
            format!("may not make tables in schema {schema}"),
            "GRANT CREATE ON SCHEMA to this user, unless all tables are there and stay so",
        ),
    }
    Ok(())
}

async fn look_at_tables(database: &Database, findings: &mut Findings) -> Result<()> {
    let tables = schema::tables(database).await?;
    look_at_level(database, &tables, findings).await?;
    schema::look(database, &tables, findings).await
}

/// Which DSQL this is can be told only at a table with a key.
async fn look_at_level(database: &Database, tables: &Tables, findings: &mut Findings) -> Result<()> {
    let Some(probe) = expected::probe(tables) else {
        findings.ok("level", "can be told when there are tables; everything works at every level");
        return Ok(());
    };
    let policy = Policy::none().until(Deadline::after(TIMEOUT));
    findings.ok(
        "level",
        match detect_level(&database.pool, &policy, &probe).await? {
            DsqlLevel::KeyShare => "has FOR KEY SHARE, as clusters have since 2026-08-25",
            DsqlLevel::UpdateOnly => "has FOR UPDATE only, as clusters before 2026-08-25; that is enough",
        },
    );
    Ok(())
}

/// An index whose job failed stays, and serves nobody.
async fn look_at_jobs(database: &Database, findings: &mut Findings) -> Result<()> {
    let rows = database.rows(include_str!("sql/jobs.sql"), &[&JOBS_MAX]).await?;
    let mut running = 0;
    for row in &rows {
        let (id, status): (String, String) = (column(row, "job_id")?, column(row, "status")?);
        if status != "failed" {
            running += 1;
            continue;
        }
        let (object, details): (String, String) = (column(row, "object_name")?, column(row, "details")?);
        findings.warning(
            "jobs",
            format!("job {id} of {object} failed: {details}"),
            "mend what it says, drop the index that it left, and create it again",
        );
    }
    if running == rows.len() {
        findings.ok("jobs", format!("none failed, {running} under way"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(judge: impl Fn(&mut Findings)) -> String {
        let mut findings = Findings::default();
        judge(&mut findings);
        findings.to_string()
    }

    #[test]
    fn what_lets_others_read_along_is_told() {
        for (query, expected) in [
            ("", "ok       tls"),
            ("?sslmode=require", "warning  tls"),
            ("?sslmode=verify-ca", "warning  tls"),
        ] {
            let connection = format!("dsql://abc.dsql.us-east-1.on.aws{query}").parse().expect("a URL");
            let shown = judged(|findings| judge_encryption(&connection, findings));
            assert!(shown.starts_with(expected), "{query}: {shown}");
        }
        for (url, expected) in [
            ("dsql://abc.dsql.us-east-1.on.aws", "ok       credentials  connects as admin with tokens"),
            ("dsql://app:hunter2@abc.dsql.us-east-1.on.aws", "warning  credentials"),
            ("dsql://app:hunter2@127.0.0.1/postgres?sslmode=disable", "ok       credentials"),
        ] {
            let connection = url.parse().expect("a URL");
            let shown = judged(|findings| judge_credentials(&connection, findings));
            assert!(shown.starts_with(expected) && !shown.contains("hunter2"), "{url}: {shown}");
        }
    }

    #[test]
    fn pools_are_held_against_what_a_cluster_takes() {
        for (size, expected) in [(10, "ok "), (1_001, "warning"), (10_001, "problem")] {
            let shown = judged(|findings| judge_connections(size, findings));
            assert!(shown.starts_with(expected), "{size}: {shown}");
        }
    }

    #[test]
    fn each_way_to_be_kept_out_has_its_cure() {
        let missing = Error::CredentialsMissing { reason: String::new() };
        assert!(cure(&missing).contains("AWS_ACCESS_KEY_ID"));
        assert!(cure(&Error::PoolClosed).contains("address"));
    }
}

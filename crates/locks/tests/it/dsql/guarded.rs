//! Writes of the user's own, in the same database, that commit only until somebody else may hold the key.

use std::time::Duration;

use leasehold_dsql_sim::rules::Level;
use leasehold_locks::{ExtendRequest, LockBackend, LockId, LookupBy, ReleaseOutcome, Ttl};
use tokio_postgres::{Client, NoTls};

use super::fixture::{Fixture, request};

/// A session in a transaction, and a table to write.
async fn report(fixture: &Fixture) -> Client {
    let (client, connection) =
        tokio_postgres::connect(&fixture.cluster.plain_url(), NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
        .batch_execute("CREATE TABLE IF NOT EXISTS report (id int PRIMARY KEY, body text)")
        .await
        .expect("table");
    client.batch_execute("BEGIN").await.expect("begins");
    client
}

/// Whether the hold of this lock id is still there, as the documentation has it asked.
async fn holds(client: &Client, lock_id: &LockId, clause: &str) -> bool {
    let sql = format!("SELECT 1 FROM syncguard_locks WHERE key = $1 AND lock_id = $2 {clause}");
    client.query_opt(&sql, &[&"billing", &lock_id.as_str()]).await.expect("reads").is_some()
}

/// A session that has asked for its hold, and written, and not committed.
async fn writing(fixture: &Fixture, lock_id: &LockId, clause: &str) -> Client {
    let client = report(fixture).await;
    assert!(holds(&client, lock_id, clause).await);
    client.batch_execute("INSERT INTO report VALUES (1, 'mine')").await.expect("writes");
    client
}

async fn commits(client: &Client) -> bool {
    match client.batch_execute("COMMIT").await {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.code().map(tokio_postgres::error::SqlState::code), Some("40001"), "{error}");
            false
        }
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_write_that_asked_for_its_hold_loses_to_the_next_holder() {
    for (level, clause) in [(Level::L2026_09, "FOR KEY SHARE"), (Level::L2025_05, "FOR UPDATE")] {
        let fixture = Fixture::frozen(level).await;
        let backend = fixture.backend();
        let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
        let late = writing(&fixture, &grant.lock_id, clause).await;
        fixture.advance(Duration::from_secs(3_600)).await;
        backend.acquire(&request("billing")).await.expect("answers").acquired().expect("the hold is over");
        assert!(!commits(&late).await, "{clause}: the old holder wrote after the next one had the lock");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_write_that_asked_for_its_hold_loses_to_a_release() {
    let fixture = Fixture::frozen(Level::L2026_09).await;
    let backend = fixture.backend();
    let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
    let late = writing(&fixture, &grant.lock_id, "FOR KEY SHARE").await;
    assert_eq!(backend.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    assert!(!commits(&late).await);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn an_extension_does_not_disturb_the_holders_own_writes() {
    let fixture = Fixture::frozen(Level::L2026_09).await;
    let backend = fixture.backend();
    let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
    let writer = writing(&fixture, &grant.lock_id, "FOR KEY SHARE").await;
    let extend = ExtendRequest { lock_id: grant.lock_id, ttl: Ttl::from_millis(60_000).expect("a minute") };
    backend.extend(&extend).await.expect("answers");
    assert!(backend.lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").is_some());
    assert!(commits(&writer).await);
}

/// No conflict can tell: both were over before the transaction began. The lock id in the question does.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_hold_that_was_released_or_taken_over_before_is_not_found() {
    for (level, clause) in [(Level::L2026_09, "FOR KEY SHARE"), (Level::L2025_05, "FOR UPDATE")] {
        let fixture = Fixture::frozen(level).await;
        let backend = fixture.backend();
        let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
        assert_eq!(backend.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
        assert!(!holds(&report(&fixture).await, &grant.lock_id, clause).await, "{clause}: released");
        let slow = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
        fixture.advance(Duration::from_secs(3_600)).await;
        backend.acquire(&request("billing")).await.expect("answers").acquired().expect("the hold is over");
        assert!(!holds(&report(&fixture).await, &slow.lock_id, clause).await, "{clause}: taken over");
    }
}

/// Nobody else holds the key before the write is there: whoever takes it next sees what was written.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn expiry_alone_does_not_stop_a_write() {
    let fixture = Fixture::frozen(Level::L2026_09).await;
    let backend = fixture.backend();
    let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
    fixture.advance(Duration::from_secs(3_600)).await;
    let late = writing(&fixture, &grant.lock_id, "FOR KEY SHARE").await;
    assert!(commits(&late).await);
    let next = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("it is over");
    assert!(next.fence > grant.fence);
    assert_eq!(fixture.number("SELECT count(*) FROM report").await, 1);
}

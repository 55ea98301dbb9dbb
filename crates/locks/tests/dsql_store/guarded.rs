//! Writes of the user's own, in the same database, that commit only while the hold lasts.

use std::time::Duration;

use leasehold_dsql_sim::rules::Level;
use leasehold_locks::{ExtendRequest, LockBackend, LookupBy, ReleaseOutcome, Ttl};
use tokio_postgres::{Client, NoTls};

use crate::fixture::{Fixture, request};

/// A session that has read the fence of the key, and written, and not committed.
async fn writing(fixture: &Fixture, clause: &str) -> Client {
    let (client, connection) =
        tokio_postgres::connect(&fixture.cluster.plain_url(), NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
        .batch_execute("CREATE TABLE IF NOT EXISTS report (id int PRIMARY KEY, body text)")
        .await
        .expect("table");
    client.batch_execute("BEGIN").await.expect("begins");
    let sql = format!("SELECT fence FROM syncguard_locks WHERE key = 'billing' {clause}");
    let row = client.query_one(&sql, &[]).await.expect("the row is there");
    assert_eq!(row.get::<_, &str>(0), "000000000000001");
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
async fn a_write_that_read_the_fence_loses_to_the_next_holder() {
    for (level, clause) in [(Level::L2026_09, "FOR KEY SHARE"), (Level::L2025_05, "FOR UPDATE")] {
        let fixture = Fixture::frozen(level).await;
        let backend = fixture.backend();
        backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
        let late = writing(&fixture, clause).await;
        fixture.advance(Duration::from_secs(3_600)).await;
        backend.acquire(&request("billing")).await.expect("answers").acquired().expect("the hold is over");
        assert!(!commits(&late).await, "{clause}: the old holder wrote after the next one had the lock");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_write_that_read_the_fence_loses_to_a_release() {
    let fixture = Fixture::frozen(Level::L2026_09).await;
    let backend = fixture.backend();
    let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
    let late = writing(&fixture, "FOR KEY SHARE").await;
    assert_eq!(backend.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    assert!(!commits(&late).await);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn an_extension_does_not_disturb_the_holders_own_writes() {
    let fixture = Fixture::frozen(Level::L2026_09).await;
    let backend = fixture.backend();
    let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
    let writer = writing(&fixture, "FOR KEY SHARE").await;
    let extend = ExtendRequest { lock_id: grant.lock_id, ttl: Ttl::from_millis(60_000).expect("a minute") };
    backend.extend(&extend).await.expect("answers");
    assert!(backend.lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").is_some());
    assert!(commits(&writer).await);
}

//! A transaction changes at most 3,000 rows, and a user may have more.

use leasehold_access::StoreError;
use leasehold_access::store::Withdrawn;
use leasehold_access::store::dsql::Config;
use leasehold_dsql_sim::rules::Level;
use leasehold_txn::Policy;

use super::fixture::Fixture;
use super::writes::{All, TIME, content, fill};

const KEYS: &str = "INSERT INTO leasehold_api_keys (id, hash, user_id, name, prefix, created_at)
     SELECT 'many' || n, 'hash' || n, 'used', '', '', now() FROM generate_series(1, 3500) AS n";
const BINDINGS: &str = "INSERT INTO leasehold_role_bindings (id, namespace, user_id, role_id, created_at)
     SELECT 'many' || n, 'space' || n, 'used', 'unused', now() FROM generate_series(1, 1500) AS n";
const LEFT: &str =
    "SELECT (SELECT count(*) FROM leasehold_api_keys) + (SELECT count(*) FROM leasehold_role_bindings)
                         + (SELECT count(*) FROM leasehold_users)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn user_with_more_than_fits_goes_in_parts() {
    let fixture = Fixture::with_tables(Level::L2025_05).await;
    let once = Config { retries: Policy::none(), ..Config::default() };
    let (outside, all) = (fixture.cluster.behind().await, All::from(fixture.stores(once)));
    fill(&outside, &all).await;
    outside.batch_execute(KEYS).await.expect("inserts");
    outside.batch_execute(BINDINGS).await.expect("inserts");
    let before = content(&outside).await;
    let delete = async || all.users().delete("used", TIME).await;

    fixture.cluster.arm(r#"{"name": "first", "action": "conflict_at_commit", "times": 1}"#);
    let failed = delete().await;
    assert!(matches!(failed, Err(StoreError::Unavailable { .. })), "{failed:?}");
    assert_eq!(content(&outside).await, before, "nothing happened");

    fixture.cluster.arm(r#"{"name": "second", "action": "conflict_at_commit", "nth": 2, "times": 1}"#);
    let failed = delete().await;
    assert!(matches!(failed, Err(StoreError::Indeterminate { .. })), "a part is done: {failed:?}");
    assert!(all.users().get("used").await.expect("answers").is_some(), "who is there until the end");

    assert_eq!(delete().await.expect("answers"), Withdrawn::Done);
    assert_eq!(outside.query_one(LEFT, &[]).await.expect("counts").get::<_, i64>(0), 0);
    assert_eq!(delete().await.expect("answers"), Withdrawn::Missing);
}

//! The tables: made when first needed, by whoever is first, and built to the end.

use leasehold_access::store::dsql::Config;
use leasehold_dsql_sim::rules::Level;
use leasehold_queue::Namespace;

use super::fixture::Fixture;

const TABLES: &str = "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'leasehold%'";
const INDEXES: &str =
    "SELECT count(*) FROM pg_class AS made JOIN pg_index AS built ON built.indexrelid = made.oid
     WHERE built.indisvalid AND made.relname LIKE 'leasehold%'";

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn making_a_store_touches_nothing() {
    let fixture = Fixture::start(Level::L2025_05).await;
    let (store, outside) = (fixture.stores(Config::default()), fixture.cluster.behind().await);
    assert_eq!(outside.query_one(TABLES, &[]).await.expect("counts").get::<_, i64>(0), 0);
    assert!(store.namespaces.expect("keeps them").list("", 9).await.expect("answers").is_empty());
    assert_eq!(outside.query_one(TABLES, &[]).await.expect("counts").get::<_, i64>(0), 8);
}

/// Each with a schema that changes under it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn tables_are_made_once_by_many_at_once() {
    for level in Level::ALL {
        let fixture = Fixture::start(*level).await;
        let mut asking = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let store = fixture.stores(Config::default()).namespaces.expect("keeps them");
            asking.spawn(async move { store.get(&Namespace::default()).await });
        }
        for asked in asking.join_all().await {
            assert_eq!(asked.expect("answers"), None);
        }
        let outside = fixture.cluster.behind().await;
        assert_eq!(outside.query_one(TABLES, &[]).await.expect("counts").get::<_, i64>(0), 8);
        // Eight primary keys, four unique constraints, three indexes.
        assert_eq!(outside.query_one(INDEXES, &[]).await.expect("counts").get::<_, i64>(0), 15);
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn index_whose_build_failed_is_made_again() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let outside = fixture.cluster.behind().await;
    fixture.cluster.arm(r#"{"name": "f", "action": "fail_index_build", "times": 2}"#);
    let namespaces = |fixture: &Fixture| fixture.stores(Config::default()).namespaces.expect("keeps them");
    namespaces(&fixture).list("", 1).await.expect_err("two builds failed");
    assert_eq!(outside.query_one(INDEXES, &[]).await.expect("counts").get::<_, i64>(0), 12);
    assert!(namespaces(&fixture).list("", 1).await.expect("made again").is_empty());
    assert_eq!(outside.query_one(INDEXES, &[]).await.expect("counts").get::<_, i64>(0), 15);
}

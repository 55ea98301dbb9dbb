//! The tables: made when first needed, by whoever is first, and used by those who may not make any.

use leasehold_access::conformance::Harness;
use leasehold_access::store::NamespaceStore;
use leasehold_access::store::postgres::PostgresStore;
use leasehold_access::{Access, Config, Page, Principal};
use leasehold_queue::Namespace;

use super::fixture::Postgres;

const TABLES: &str =
    "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE 'leasehold%'";

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn making_a_store_touches_nothing() {
    let postgres = Postgres::start().await;
    let store = postgres.store();
    let outside = postgres.outside().await;
    assert_eq!(outside.query_one(TABLES, &[]).await.expect("counts").get::<_, i64>(0), 0);
    assert!(NamespaceStore::list(&store, "", 9).await.expect("answers").is_empty());
    assert_eq!(outside.query_one(TABLES, &[]).await.expect("counts").get::<_, i64>(0), 7);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn tables_are_made_once_by_many_at_once() {
    let postgres = Postgres::start().await;
    let mut asking = Vec::new();
    for _ in 0..8 {
        let store = postgres.store();
        asking.push(tokio::spawn(async move { NamespaceStore::get(&store, &Namespace::default()).await }));
    }
    for asked in asking {
        assert_eq!(asked.await.expect("runs").expect("answers"), None);
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn user_without_the_right_to_make_tables_can_use_them() {
    let postgres = Postgres::start().await;
    let (outside, name) = (postgres.outside().await, &postgres.name);
    let grants = format!(
        "CREATE ROLE {name}_app LOGIN; GRANT USAGE ON SCHEMA {name} TO {name}_app;
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {name} TO {name}_app"
    );
    NamespaceStore::list(&postgres.store(), "", 1).await.expect("the owner makes the tables");
    outside.batch_execute(&grants).await.expect("grants");
    let url = postgres.url.replace("postgres://postgres@", &format!("postgres://{name}_app@"));
    assert_ne!(url, postgres.url);
    let (server, anyone) =
        (postgres.server(PostgresStore::new(postgres.pool(&url)).stores()), Principal::anonymous());
    let listed = server.list_namespaces(&anyone, &Page::default()).await.expect("the door is open");
    assert_eq!(listed.len(), 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn failed_attempt_to_make_the_tables_is_repeated() {
    let postgres = Postgres::start().await;
    let outside = postgres.outside().await;
    outside.batch_execute("CREATE VIEW leasehold_role_bindings AS SELECT 1").await.expect("in the way");
    let server = Access::new(postgres.stores().await, Config::default());
    let failed = server.bootstrap().await.expect_err("the tables cannot be made");
    assert_eq!(failed.code(), "access.store_unavailable");
    assert_eq!(outside.query_one(TABLES, &[]).await.expect("counts").get::<_, i64>(0), 0, "all or none");
    outside.batch_execute("DROP VIEW leasehold_role_bindings").await.expect("out of the way");
    server.bootstrap().await.expect("the next attempt passes");
}

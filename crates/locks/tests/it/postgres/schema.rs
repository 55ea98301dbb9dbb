//! Setting up, by us and by others.

use std::time::Duration;

use futures_util::future::join_all;
use leasehold_core::postgres::TableNames;
use leasehold_locks::LockBackend;
use leasehold_locks::backend::postgres::{Config, Mode, OptionalColumns, PostgresBackend, setup_sql};

use super::fixture::{Fixture, PATIENCE, acquired, key, ttl};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn many_processes_set_up_at_once() {
    let fixture = Fixture::empty().await;
    let backends: Vec<_> = (0..6).map(|_| fixture.backend(Mode::Shared)).collect();
    for made in join_all(backends.iter().map(|backend| backend.setup_schema(OptionalColumns::Without))).await
    {
        made.expect("set up");
    }
    acquired(&backends[0], "billing").await;
    backends[1].setup_schema(OptionalColumns::With).await.expect("again");
    assert_eq!(
        fixture.number("SELECT count(*) FROM syncguard_locks").await,
        1,
        "tables are left as they are"
    );
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn columns_and_indexes_are_those_of_syncguard() {
    let fixture = Fixture::start().await;
    let columns =
        "SELECT string_agg(table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable, ', '
                      ORDER BY table_name, ordinal_position)
                     FROM information_schema.columns WHERE table_schema = current_schema()";
    assert_eq!(
        fixture.text(columns).await,
        "syncguard_fence_counters.fence_key text NO, syncguard_fence_counters.fence bigint NO, \
         syncguard_fence_counters.key_debug text YES, syncguard_locks.key text NO, syncguard_locks.lock_id text NO, \
         syncguard_locks.expires_at_ms bigint NO, syncguard_locks.acquired_at_ms bigint NO, \
         syncguard_locks.fence text NO, syncguard_locks.user_key text NO"
    );
    let indexes = "SELECT string_agg(indexname, ', ' ORDER BY indexname) FROM pg_indexes WHERE schemaname = current_schema()";
    assert_eq!(
        fixture.text(indexes).await,
        "idx_syncguard_locks_expires, idx_syncguard_locks_lock_id, syncguard_fence_counters_pkey, syncguard_locks_pkey"
    );
    let unique =
        "SELECT indisunique::text FROM pg_index WHERE indexrelid = 'idx_syncguard_locks_lock_id'::regclass";
    assert_eq!(fixture.text(unique).await, "true");
}

/// The printed script makes a schema that works, with names that need their quotes and columns that nobody reads.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn printed_script_sets_up_tables_of_any_name() {
    for columns in [OptionalColumns::Without, OptionalColumns::With] {
        let fixture = Fixture::empty().await;
        let tables = TableNames::parse("order", "select").expect("plain names");
        let script = setup_sql(&tables, columns);
        for _ in 0..2 {
            fixture.outside.batch_execute(&script).await.expect("the script runs, and again");
        }
        for mode in [Mode::Shared, Mode::Exclusive] {
            let config = Config { tables: tables.clone(), mode, ..Config::default() };
            let backend = PostgresBackend::new(fixture.pool(), config);
            let grant = acquired(&backend, "billing").await;
            assert!(backend.is_locked(&key("billing")).await.expect("answers"));
            assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
        }
        if columns == OptionalColumns::With {
            let backend = PostgresBackend::new(fixture.pool(), Config { tables, ..Config::default() });
            acquired(&backend, "billing").await;
            let told = "SELECT (expires_at_ts - acquired_at_ts)::text FROM \"order\"";
            assert_eq!(fixture.text(told).await, "00:00:30");
        }
    }
}

/// A user who may not make functions still gets tables, and locks.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn server_without_the_language_goes_without_the_functions() {
    let fixture = Fixture::empty().await;
    let role = format!("role_{}", fixture.name);
    let sql = format!(
        "CREATE ROLE {role} LOGIN; GRANT CREATE, USAGE ON SCHEMA {} TO {role};
         REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC",
        fixture.name
    );
    fixture.outside.batch_execute(&sql).await.expect("a role");
    let url = fixture.url().replace("postgres@", &format!("{role}@"));
    let backend = PostgresBackend::new(super::fixture::pool(&url, 2), Config::default());
    let made = backend.setup_schema(OptionalColumns::Without).await;
    fixture.outside.batch_execute("GRANT USAGE ON LANGUAGE plpgsql TO PUBLIC").await.expect("as before");
    made.expect("tables");
    let functions = "SELECT count(*) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace";
    assert_eq!(fixture.number(functions).await, 0);
    let grant = acquired(&backend, "billing").await;
    assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
}

/// The functions go away under a running process.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn dropped_functions_are_noticed() {
    let fixture = Fixture::start().await;
    let backend = fixture.backend(Mode::Shared);
    let before = acquired(&backend, "before").await;
    fixture.drop_functions().await;
    assert!(backend.release(&before.lock_id).await.expect("answers").is_released());
    acquired(&backend, "after").await;
}

/// Removes what is long over, never what is live, never a counter.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn cleanup_removes_the_hold_and_keeps_the_counter() {
    let fixture = Fixture::frozen().await;
    let config = Config { cleanup_in_is_locked: true, ..Config::default() };
    let backend = PostgresBackend::new(fixture.pool(), config);
    let asked = leasehold_locks::AcquireRequest { ttl: ttl(1_000), ..super::fixture::request("billing") };
    backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    let rows = "SELECT count(*) FROM syncguard_locks";
    // At its end, within the tolerance, over, and just not long enough over.
    for millis in [1_000, 999, 1, 1_000] {
        fixture.advance(Duration::from_millis(millis)).await;
        backend.is_locked(&key("billing")).await.expect("answers");
        assert_eq!(fixture.number(rows).await, 1);
    }
    fixture.advance(Duration::from_millis(1)).await;
    assert!(!backend.is_locked(&key("billing")).await.expect("answers"));
    tokio::time::timeout(PATIENCE, backend.close()).await.expect("the background ends");
    assert_eq!(fixture.number(rows).await, 0);
    assert_eq!(fixture.number("SELECT fence FROM syncguard_fence_counters").await, 1);
}

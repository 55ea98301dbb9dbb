//! Databases that Temporal's own SQL tool made, opened and used; and databases that were made here, as its tool sees them.

mod tool;

use leasehold_persistence::{Config, Database, Error, FenceMode, Report, Schema, VERSION};
use leasehold_testkit::postgres::{Cluster, Database as TestDatabase};
use leasehold_txn::{ConnectionString, Dialect, Pool};
use tokio_postgres::NoTls;

use crate::fixture::Watcher;
use crate::reads::every_read;
use crate::writes;

/// The schema in the tool.
const SCHEMA: &str = "postgresql/v12/temporal";

/// What the steps leave behind that a database which is set up at once does not have: a table of former versions, and
/// defaults of columns that are always given.
const LEFT_BY_STEPS: [&str; 9] = [
    "cluster_metadata PRIMARY KEY (metadata_partition)",
    "cluster_metadata btree (metadata_partition)",
    "cluster_metadata data bytea t '\\x'::bytea",
    "cluster_metadata data_encoding character varying(16) t 'Proto3'::character varying",
    "cluster_metadata metadata_partition integer t ",
    "cluster_metadata version bigint t 1",
    "queue message_encoding character varying(16) t 'Json'::character varying",
    "queue_metadata data_encoding character varying(16) t 'Json'::character varying",
    "queue_metadata version bigint t 0",
];

fn pool(database: &TestDatabase) -> Pool {
    let connection = ConnectionString::parse(database.url()).expect("a URL");
    Pool::new(leasehold_txn::Config::new(connection).dialect(Dialect::POSTGRES).size_max(8)).expect("a pool")
}

async fn outside(database: &TestDatabase) -> Watcher {
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.expect("connects");
    tokio::spawn(connection);
    Watcher::new(client).await
}

/// What Temporal's tool makes of an empty database step by step, up to a version of its schema; the newest unless told.
async fn upgraded(version: Option<&str>) -> TestDatabase {
    let database = Cluster::shared().database().await;
    tool::run(&database, &["setup-schema", "--version", "0.0"]);
    update(&database, version);
    database
}

/// What it makes at once.
async fn set_up() -> TestDatabase {
    let database = Cluster::shared().database().await;
    tool::run(&database, &["setup-schema", "--version", VERSION, "--schema-name", SCHEMA]);
    database
}

fn update(database: &TestDatabase, version: Option<&str>) {
    let mut words = vec!["update-schema", "--schema-name", SCHEMA];
    words.extend(version.iter().flat_map(|version| ["--version", version]));
    tool::run(database, &words);
}

/// Every column with its type and default, every constraint and index, and the version, in the catalogue's own words. Only what
/// a constraint is called is left out.
async fn shape(outside: &Watcher) -> Vec<String> {
    let sql = "
        SELECT line FROM (
            SELECT format('%s %s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
                          pg_get_expr(adbin, adrelid))
              FROM pg_attribute
              JOIN pg_class ON pg_class.oid = attrelid
              LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
             WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
            UNION ALL
            SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid))
              FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
            UNION ALL
            SELECT format('%s %s', indrelid::regclass, regexp_replace(pg_get_indexdef(indexrelid), '^.* USING ', ''))
              FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
             WHERE relnamespace = current_schema()::regnamespace
            UNION ALL
            SELECT format('version %s %s %s', version_partition, db_name = current_database(), curr_version)
              FROM schema_version
            UNION ALL
            SELECT format('notification version %s %s', partition_id, notification_version) FROM namespace_metadata
        ) AS lines (line) ORDER BY line";
    outside.query(sql, &[]).await.expect("a catalogue").iter().map(|row| row.get(0)).collect()
}

async fn check(pool: &Pool) -> Report {
    Schema::of(pool.dialect()).check(pool).await.expect("a look")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Temporal's SQL tool: cargo xtask test temporal"]
async fn database_of_temporals_tool_is_as_wanted_and_is_left_as_it_is() {
    for database in [upgraded(None).await, set_up().await] {
        let (pool, outside) = (pool(&database), outside(&database).await);
        let (shape_before, before) = (shape(&outside).await, outside.content().await);
        let report = check(&pool).await;
        assert_eq!((report.differences, report.version.as_deref()), (vec![], Some(VERSION)));
        let schema = Schema::of(pool.dialect());
        assert_eq!(schema.plan(&pool).await.expect("a plan"), []);
        schema.apply(&pool).await.expect("nothing to do");
        for mode in [None, Some(FenceMode::Share), Some(FenceMode::Update)] {
            let config = Config { fence_mode: mode, ..Config::new(pool.dialect()) };
            Database::open(pool.clone(), config).await.expect("a database");
        }
        assert_eq!(shape(&outside).await, shape_before);
        assert_eq!(outside.content().await, before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Temporal's SQL tool: cargo xtask test temporal"]
async fn every_store_writes_and_reads_on_a_database_of_temporals_tool() {
    let database = upgraded(None).await;
    let (pool, outside) = (pool(&database), outside(&database).await);
    let opened = Database::open(pool.clone(), Config::new(pool.dialect())).await.expect("a database");
    every_read(&opened).await;
    for (write, seed) in writes::all().zip(1..) {
        let prepared = (write.prepare)(opened.clone(), seed).await;
        let before = outside.content().await;
        prepared(opened.clone()).await.unwrap_or_else(|error| panic!("{}: {error:?}", write.name));
        assert_ne!(outside.content().await, before, "{} changes nothing", write.name);
        let again = prepared(opened.clone()).await;
        assert_eq!(again.as_ref().err().map(Error::code), write.again, "{}: {again:?}", write.name);
    }
    every_read(&opened).await;
    assert_eq!(check(&pool).await.differences, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Temporal's SQL tool: cargo xtask test temporal"]
async fn database_that_was_made_here_has_the_shape_of_temporals() {
    let database = Cluster::shared().database().await;
    let pool = pool(&database);
    Schema::of(pool.dialect()).apply(&pool).await.expect("the tables");
    let ours = shape(&outside(&database).await).await;
    assert_eq!(shape(&outside(&set_up().await).await).await, ours);
    let theirs = shape(&outside(&upgraded(None).await).await).await;
    let left: Vec<&String> = theirs.iter().filter(|line| !ours.contains(line)).collect();
    assert_eq!(left, LEFT_BY_STEPS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Temporal's SQL tool: cargo xtask test temporal"]
async fn temporals_tool_finds_nothing_to_update_in_a_database_that_was_made_here() {
    let database = Cluster::shared().database().await;
    let pool = pool(&database);
    Schema::of(pool.dialect()).apply(&pool).await.expect("the tables");
    let outside = outside(&database).await;
    let before = outside.content().await;
    update(&database, None);
    assert_eq!(outside.content().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Temporal's SQL tool: cargo xtask test temporal"]
async fn database_of_an_older_temporal_opens_once_its_tool_has_brought_it_forward() {
    let database = upgraded(Some("1.18")).await;
    let (pool, outside) = (pool(&database), outside(&database).await);
    let before = shape(&outside).await;
    let error = Schema::of(pool.dialect()).apply(&pool).await.expect_err("an old version");
    assert_eq!(error.code(), "state.bad_schema");
    assert!(error.to_string().contains("in version 1.18"), "{error}");
    assert_eq!(shape(&outside).await, before);
    update(&database, None);
    assert_eq!(check(&pool).await.differences, []);
}

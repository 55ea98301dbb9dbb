//! Tables that are made, found, shared and refused.

use std::time::Duration;

use leasehold_queue::store::postgres::{Config, PostgresQueues, PostgresStore};
use leasehold_queue::store::{Dropped, Placement, StoreError};
use leasehold_queue::{QueueInfo, QueueOptions, QueueStore, Store};

use super::fixture::{Fixture, Line, START, partition, pool, session};

fn record(name: &str) -> QueueInfo {
    let second = std::time::Duration::from_secs(1);
    QueueInfo {
        name: name.parse().expect("a name"),
        namespace: leasehold_queue::Namespace::default(),
        options: QueueOptions {
            lease_timeout: second,
            expire_timeout: second,
            max_attempts: 0,
            dead_queue: None,
            reference: "'; DROP TABLE queues; --".to_owned(),
            requested_partitions: 1,
        },
        partitions: Vec::new(),
        created_at: START,
        updated_at: START,
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn hostile_names_are_names() {
    let fixture = Fixture::start().await;
    let store = fixture.store();
    let queues = PostgresQueues::new(pool(&fixture.url, 2), &Config::default());
    let longest = "x".repeat(512);
    let names =
        ["';DROP/**/TABLE/**/queues;--", "\"", "%L$$%I", "$1{items}\\", "é\u{1F512}\u{202e}", &longest];
    for name in names {
        let mut line = Line::open(&store, name).await;
        let item = line.item(name);
        assert_eq!(line.owner.produce(&[item]).await.expect("produce"), [Placement::Placed]);
        let again = Line::open(&store, name).await;
        let listed =
            again.owner.list(false, leasehold_queue::ItemId::MIN, 9, usize::MAX).await.expect("list").items;
        assert_eq!(listed.len(), 1, "{name}");
        assert_eq!(listed[0].payload, name.as_bytes());
        assert!(queues.add(&record(name)).await.expect("add"));
        assert_eq!(queues.get(&name.parse().expect("a name")).await.expect("get"), Some(record(name)));
    }
    assert_eq!(queues.list(None, "", 99).await.expect("list").len(), names.len());
    for name in names {
        store.drop_partition(&partition(name)).await.expect("drop");
        assert!(queues.delete(&record(name)).await.expect("delete"));
    }
    assert_eq!(fixture.number("SELECT count(*) FROM leasehold_partitions").await, 0);
    assert_eq!(fixture.number("SELECT count(*) FROM queues").await, 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn zero_bytes_are_refused_before_anything_is_sent() {
    let fixture = Fixture::start().await;
    let mut line = Line::open(&fixture.store(), "orders").await;
    let mut item = line.item("kind");
    item.kind = "a\0".to_owned();
    let error = line.owner.produce(&[item]).await.expect_err("no text");
    assert!(error.to_string().contains("its kind has a zero byte"), "{error}");
    let good = line.item("good");
    assert_eq!(line.owner.produce(&[good]).await.expect("still the owner"), [Placement::Placed]);
}

/// No two names with one hash are known, so the table says that it is another queue's.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn table_of_another_queue_is_refused_and_left_alone() {
    let fixture = Fixture::start().await;
    let store = fixture.store();
    let mut line = Line::open(&store, "orders").await;
    let item = line.item("theirs");
    line.owner.produce(&[item]).await.expect("produce");
    fixture.run("COMMENT ON TABLE \"items_1buPSdlPil_0\" IS 'items of queue twin'").await;
    let error = store.partition(&partition("orders")).open().await.expect_err("not ours");
    let told = error.to_string();
    assert!(
        told.contains("\"items_1buPSdlPil_0\" for queue orders") && told.contains("items of queue twin"),
        "{told}"
    );
    store.drop_partition(&partition("orders")).await.expect("forgets the owner");
    assert_eq!(fixture.number("SELECT count(*) FROM \"items_1buPSdlPil_0\"").await, 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn comment_is_added_where_there_is_none_and_kept_where_there_is() {
    let fixture = Fixture::start().await;
    let store = fixture.store();
    let comment = |text: &str| {
        format!(
            "SELECT count(*) FROM pg_description WHERE objoid = '\"items_1buPSdlPil_0\"'::regclass AND description = '{text}'"
        )
    };
    Line::open(&store, "orders").await;
    assert_eq!(fixture.number(&comment("items of queue orders")).await, 1);
    fixture.run("COMMENT ON TABLE \"items_1buPSdlPil_0\" IS NULL").await;
    Line::open(&store, "orders").await;
    assert_eq!(fixture.number(&comment("items of queue orders")).await, 1);
    fixture.run("COMMENT ON TABLE \"items_1buPSdlPil_0\" IS 'ask Ann before dropping'").await;
    Line::open(&store, "orders").await;
    assert_eq!(fixture.number(&comment("ask Ann before dropping")).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn servers_that_start_together_make_the_tables_once() {
    let fixture = Fixture::start().await;
    let opening: Vec<_> = (0..8)
        .map(|_| {
            let (store, url) = (fixture.store(), fixture.url.clone());
            tokio::spawn(async move {
                let queues = PostgresQueues::new(pool(&url, 1), &Config::default());
                queues.list(None, "", 1).await.expect("list");
                Line::open(&store, "orders").await
            })
        })
        .collect();
    for opening in opening {
        opening.await.expect("opened");
    }
    assert_eq!(fixture.number("SELECT count(*) FROM leasehold_partitions").await, 1);
}

/// A failure to make tables is not remembered.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn tables_are_made_when_it_becomes_possible() {
    let fixture = Fixture::start().await;
    let queues = PostgresQueues::new(pool(&fixture.url, 2), &Config::default());
    let store = fixture.store();
    let mut handle = store.partition(&partition("orders"));
    fixture.run("SET client_min_messages = error; CREATE VIEW leasehold_partition_epochs AS SELECT 1").await;
    let error = handle.open().await.expect_err("something else has the name");
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    fixture.run("DROP VIEW leasehold_partition_epochs; CREATE TYPE queues AS (a int)").await;
    handle.open().await.expect("opens");
    let error = queues.list(None, "", 1).await.expect_err("something else has the name");
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    fixture.run("DROP TYPE queues").await;
    assert!(queues.add(&record("orders")).await.expect("add"));
    fixture.run("DROP TABLE queues").await;
    assert!(queues.add(&record("orders")).await.expect("made again"));
}

/// Using the tables needs no right to make any.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn user_who_may_not_make_tables_can_use_them() {
    let fixture = Fixture::start().await;
    Line::open(&fixture.store(), "orders").await;
    PostgresQueues::new(pool(&fixture.url, 1), &Config::default()).list(None, "", 1).await.expect("list");
    fixture
        .run(
            "DO $$ BEGIN
                 EXECUTE format('CREATE ROLE %I LOGIN', current_schema() || '_user');
                 EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), current_schema() || '_user');
                 EXECUTE format('GRANT ALL ON ALL TABLES IN SCHEMA %I TO %I', current_schema(), current_schema() || '_user');
                 EXECUTE format('GRANT ALL ON ALL SEQUENCES IN SCHEMA %I TO %I', current_schema(), current_schema() || '_user');
             END $$",
        )
        .await;
    let schema: String =
        fixture.outside.query_one("SELECT current_schema()::text", &[]).await.expect("a name").get(0);
    let url = fixture.url.replace("postgres://postgres@", &format!("postgres://{schema}_user@"));
    assert_ne!(url, fixture.url);
    let limited = Fixture::at(&url).await;
    let mut line = Line::open(&limited.store(), "orders").await;
    let item = line.item("mine");
    line.owner.produce(&[item]).await.expect("produce");
    let queues = PostgresQueues::new(pool(&url, 1), &Config::default());
    assert!(queues.add(&record("orders")).await.expect("add"));
}

/// A server that has read the record of a queue that was deleted since makes no table for it.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn deleted_queue_gets_no_table() {
    let fixture = Fixture::start().await;
    let queues = PostgresQueues::new(pool(&fixture.url, 1), &Config::default());
    queues.add(&record("orders")).await.expect("add");
    let mut late = fixture.store().partition_of(&partition("orders"), START);
    assert!(queues.delete(&record("orders")).await.expect("delete"));
    let error = late.open().await.expect_err("it is gone");
    assert!(matches!(error, StoreError::QueueGone { .. }), "{error:?}");
    let tables =
        "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE 'items%'";
    assert_eq!(fixture.number(tables).await, 0);
}

/// As by a backup, which may last for hours.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn owner_of_a_leftover_is_fenced_although_its_table_is_read() {
    let fixture = Fixture::start().await;
    let config = Config { open_timeout: Duration::from_millis(300), ..Config::default() };
    let store = PostgresStore::new(pool(&fixture.url, 4), config);
    let mut line = Line::open(&fixture.store(), "orders").await;
    let id = partition("orders");
    let last_owner = store.last_owner(&id).await.expect("reads");
    let reader = session(&fixture.url).await;
    reader
        .batch_execute("BEGIN; LOCK TABLE \"items_1buPSdlPil_0\" IN ACCESS SHARE MODE")
        .await
        .expect("reads");
    store.drop_leftover(&id, last_owner).await.expect_err("the reader goes on");
    let item = line.item("late");
    let refused = line.owner.produce(&[item]).await.expect_err("is fenced");
    assert!(matches!(refused, StoreError::Fenced { .. }), "{refused:?}");
    reader.batch_execute("COMMIT").await.expect("ends");
    let patient = fixture.store();
    let last_owner = patient.last_owner(&id).await.expect("reads");
    assert_eq!(patient.drop_leftover(&id, last_owner).await.expect("drops"), Dropped::Whole);
    assert_eq!(fixture.number("SELECT count(to_regclass('\"items_1buPSdlPil_0\"'))").await, 0);
}

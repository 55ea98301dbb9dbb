//! A database that Querator filled opens as it is, and what is written there Querator can read.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use leasehold_core::{ManualClock, Timestamp};
use leasehold_queue::store::postgres::{Config, PostgresQueues};
use leasehold_queue::store::{Change, Counts, Due, DueAction, Pick, Verdict};
use leasehold_queue::{
    CompleteRequest, Config as EngineConfig, Engine, EngineClock, Item, ItemId, LeaseRequest, NamedStore,
    Namespace, NewItem, PartitionInfo, ProduceRequest, QueueChange, QueueInfo, QueueName, QueueStore,
    RetryItem, RetryRequest, UnknownStores,
};

use super::fixture::{Fixture, Line, PATIENCE, START, at, pool};

/// What Querator makes for queue `orders`, partition 0.
const ITEMS: &str = r#"
    CREATE TABLE "items_1buPSdlPil_0" (
        id TEXT COLLATE "C" PRIMARY KEY,
        source_id TEXT,
        is_leased BOOLEAN NOT NULL DEFAULT false,
        lease_deadline TIMESTAMPTZ,
        expire_deadline TIMESTAMPTZ NOT NULL,
        enqueue_at TIMESTAMPTZ,
        created_at TIMESTAMPTZ NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        max_attempts INTEGER NOT NULL DEFAULT 0,
        reference TEXT NOT NULL DEFAULT '',
        encoding TEXT NOT NULL DEFAULT '',
        kind TEXT NOT NULL DEFAULT '',
        payload BYTEA);
    CREATE UNIQUE INDEX "idx_1buPSdlPil_0_src" ON "items_1buPSdlPil_0" (source_id) WHERE source_id IS NOT NULL;
    CREATE INDEX "idx_1buPSdlPil_0_lse" ON "items_1buPSdlPil_0" (is_leased, enqueue_at)
        WHERE is_leased = false AND enqueue_at IS NULL;
    CREATE INDEX "idx_1buPSdlPil_0_sch" ON "items_1buPSdlPil_0" (enqueue_at) WHERE enqueue_at IS NOT NULL;
    CREATE INDEX "idx_1buPSdlPil_0_dln" ON "items_1buPSdlPil_0" (lease_deadline) WHERE is_leased = true;
    CREATE INDEX "idx_1buPSdlPil_0_exp" ON "items_1buPSdlPil_0" (expire_deadline);
    INSERT INTO "items_1buPSdlPil_0" (id, is_leased, lease_deadline, expire_deadline, enqueue_at, created_at, attempts, payload)
    VALUES ('2YBXZMd27LTzS3zg3A1oA3K4UT1', false, NULL, '2023-11-14 23:13:20+00', NULL, '2023-11-14 22:13:20.123456+00', 0, 'one'),
           ('2YBXZMd27LTzS3zg3A1oA3K4UT2', false, NULL, '2023-11-14 23:13:20+00', NULL, '2023-11-14 22:13:20+00', 0, NULL),
           ('2YBXZMd27LTzS3zg3A1oA3K4UT3', true, '2023-11-14 22:14:20+00', '2023-11-14 23:13:20+00', NULL, '2023-11-14 22:13:20+00', 1, 'held'),
           ('2YBXZMd27LTzS3zg3A1oA3K4UT4', false, NULL, '2023-11-14 23:13:20+00', '2023-11-14 22:13:50+00', '2023-11-14 22:13:20+00', 0, 'later'),
           ('2YBXZMd27LTzS3zg3A1oA3K4UT5', true, NULL, '2023-11-14 23:13:20+00', NULL, '0001-01-01 00:00:00+00', 1, 'no deadline');"#;

/// Its records, with the copies it nests.
const QUEUES: &str = r#"
    CREATE TABLE queues (
        name TEXT PRIMARY KEY, namespace TEXT NOT NULL DEFAULT '', lease_timeout_ns BIGINT NOT NULL,
        expire_timeout_ns BIGINT NOT NULL, dead_queue TEXT NOT NULL DEFAULT '', max_attempts INTEGER NOT NULL DEFAULT 0,
        reference TEXT NOT NULL DEFAULT '', requested_partitions INTEGER NOT NULL,
        partition_info JSONB NOT NULL DEFAULT '[]', created_at TIMESTAMPTZ NOT NULL, updated_at TIMESTAMPTZ NOT NULL);
    INSERT INTO queues VALUES ('orders', '', 60000000000, 3600000000000, 'orders-dead', 3, 'ref', 2, '[
        {"PartitionNum": 0, "StorageName": "pg-0", "ReadOnly": false, "Queue": {"Name": "orders", "Partitions": []}},
        {"PartitionNum": 1, "StorageName": "pg-0", "ReadOnly": true, "Queue": {"Name": "orders", "Partitions": [
            {"PartitionNum": 0, "StorageName": "pg-0", "Queue": {"Name": "orders"}}]}}]',
        '2023-11-14 22:13:20.123456+00', '2023-11-14 22:13:20.123456+00'),
        ('Zebra', 'zoo', 1, 1, '', 0, '', 1, '[]', '2023-11-14 22:13:20+00', '2023-11-14 22:13:20+00');"#;

fn id(last: char) -> ItemId {
    format!("2YBXZMd27LTzS3zg3A1oA3K4UT{last}").parse().expect("an id")
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn filled_database_opens_leases_and_completes() {
    let fixture = Fixture::start().await;
    fixture.run(ITEMS).await;
    let store = fixture.store();
    let mut line = Line::open(&store, "orders").await;
    let opened = line.owner.open().await.expect("open");
    assert_eq!(opened.counts, Counts { ready: 2, leased: 2, scheduled: 1 });
    assert_eq!(opened.id_max, Some(id('5')));
    assert_eq!(opened.deadlines.lease, Some(Timestamp::MIN), "a lease without a deadline is over");
    assert_eq!((opened.deadlines.expire, opened.deadlines.enqueue), (Some(at(3_600)), Some(at(30))));

    let ready = line.owner.next_ready(9.try_into().expect("nine"), START).await.expect("ready");
    let told: Vec<_> = ready.iter().map(|ready| (ready.id, ready.bytes)).collect();
    assert_eq!(told, [(id('1'), 3), (id('2'), 0)], "a payload of NULL is none");
    let picks: Vec<_> = ready.iter().map(|ready| Pick { id: ready.id, deadline: at(99) }).collect();
    let leased = line.owner.lease(&picks).await.expect("lease");
    assert_eq!(leased[0].payload, "one");
    assert_eq!(leased[0].created_at, Timestamp::from_micros(START.as_micros() + 123_456));
    assert_eq!((leased[1].payload.len(), &leased[1].source_id, leased[1].attempts), (0, &None, 1));

    let due = line.owner.due(at(61), 0, 9.try_into().expect("nine")).await.expect("due");
    let action = |last, action| Due { id: id(last), action };
    assert_eq!(
        due,
        [action('5', DueAction::Reclaim), action('4', DueAction::Enqueue), action('3', DueAction::Reclaim)]
    );
    let complete: Vec<_> = ['1', '2', '3', '5'].map(|last| Change::Complete { id: id(last) }).into();
    assert_eq!(line.owner.change(&[&complete]).await.expect("change"), [Verdict::Done]);
    assert_eq!(fixture.number("SELECT count(*) FROM \"items_1buPSdlPil_0\"").await, 1);
}

/// Querator's statements, on a table that we made.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn querator_reads_and_writes_what_we_made() {
    let fixture = Fixture::start().await;
    let store = fixture.store();
    let mut line = Line::open(&store, "orders").await;
    let items = line.items(3);
    line.owner.produce(&items).await.expect("produce");
    line.owner.close().await;
    fixture
        .run(
            r#"CREATE INDEX IF NOT EXISTS "idx_1buPSdlPil_0_lse" ON "items_1buPSdlPil_0" (is_leased, enqueue_at)
                   WHERE is_leased = false AND enqueue_at IS NULL;
               INSERT INTO "items_1buPSdlPil_0" (id, source_id, expire_deadline, created_at)
               VALUES ('zzzz', 'a', now(), now()) ON CONFLICT (source_id) WHERE source_id IS NOT NULL DO NOTHING;
               DELETE FROM "items_1buPSdlPil_0" WHERE id = 'zzzz';
               UPDATE "items_1buPSdlPil_0" SET is_leased = true, lease_deadline = now(), attempts = attempts + 1
                WHERE id = (SELECT id FROM "items_1buPSdlPil_0" WHERE is_leased = false AND enqueue_at IS NULL
                             ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)"#,
        )
        .await;
    let opened = line.owner.open().await.expect("open");
    assert_eq!(opened.counts, Counts { ready: 2, leased: 1, scheduled: 0 });
    let columns = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'items_1buPSdlPil_0'
                    AND table_schema = current_schema()";
    assert_eq!(fixture.number(columns).await, 13);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn nested_records_are_read_and_written_flat() {
    let fixture = Fixture::start().await;
    fixture.run(QUEUES).await;
    let queues = PostgresQueues::new(pool(&fixture.url, 2), &Config::default());
    let orders: QueueInfo =
        queues.get(&"orders".parse().expect("a name")).await.expect("get").expect("there");
    assert_eq!(orders.namespace, Namespace::default());
    let part = |number, read_only| PartitionInfo { number, store: "pg-0".to_owned(), read_only };
    assert_eq!(orders.partitions, [part(0, false), part(1, true)]);
    assert_eq!(orders.options.dead_queue, Some("orders-dead".parse().expect("a name")));
    assert_eq!(orders.created_at, Timestamp::from_micros(START.as_micros() + 123_456));

    assert!(queues.replace(&orders).await.expect("replace"));
    let record = r#"{"Name": "orders", "Namespace": "_system", "LeaseTimeout": 60000000000, "ExpireTimeout": 3600000000000,
        "DeadQueue": "orders-dead", "MaxAttempts": 3, "Reference": "ref", "RequestedPartitions": 2, "PartitionInfo": null,
        "CreatedAt": "2023-11-14T22:13:20.123456Z", "UpdatedAt": "2023-11-14T22:13:20.123456Z"}"#;
    let flat = format!(
        r#"SELECT count(*) FROM queues WHERE partition_info = '[
        {{"PartitionNum": 0, "StorageName": "pg-0", "ReadOnly": false, "Queue": {record}}},
        {{"PartitionNum": 1, "StorageName": "pg-0", "ReadOnly": true, "Queue": {record}}}]'"#
    );
    fixture.run("SET timezone = 'Asia/Kathmandu'").await;
    assert_eq!(fixture.number(&flat).await, 1);
    assert_eq!(queues.get(&orders.name).await.expect("get").as_ref(), Some(&orders));

    // In bytes upper case comes first, whatever the locale of the column; an empty namespace is the default one.
    let names = |records: Vec<QueueInfo>| {
        records.into_iter().map(|record| record.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(queues.list(None, "", 9).await.expect("list")), ["Zebra", "orders"]);
    assert_eq!(names(queues.list(None, "a", 9).await.expect("list")), ["orders"]);
    let of_default = queues.list(Some(&Namespace::default()), "", 9).await.expect("list");
    assert_eq!(names(of_default), ["orders"]);
}

/// What Querator's reader would not take of a record, by the names of its fields.
const UNREADABLE: &str = r#"
    SELECT coalesce(string_agg(format('%s of partition %s of %s', field, part ->> 'PartitionNum', name), ', '), '')
      FROM queues, jsonb_array_elements(partition_info) AS part, LATERAL (VALUES
          ('StorageName', part ->> 'StorageName' = 'pg-0'),
          ('PartitionNum', part -> 'PartitionNum' = to_jsonb((part ->> 'PartitionNum')::int)),
          ('ReadOnly', jsonb_typeof(part -> 'ReadOnly') = 'boolean'),
          ('Name', part -> 'Queue' ->> 'Name' = name),
          ('Namespace', part -> 'Queue' ->> 'Namespace' = namespace),
          ('LeaseTimeout', part -> 'Queue' -> 'LeaseTimeout' = to_jsonb(lease_timeout_ns)),
          ('ExpireTimeout', part -> 'Queue' -> 'ExpireTimeout' = to_jsonb(expire_timeout_ns)),
          ('DeadQueue', part -> 'Queue' ->> 'DeadQueue' = dead_queue),
          ('MaxAttempts', part -> 'Queue' -> 'MaxAttempts' = to_jsonb(max_attempts)),
          ('Reference', part -> 'Queue' ->> 'Reference' = reference),
          ('RequestedPartitions', part -> 'Queue' -> 'RequestedPartitions' = to_jsonb(requested_partitions)),
          ('PartitionInfo', part -> 'Queue' -> 'PartitionInfo' = 'null'),
          ('CreatedAt', part -> 'Queue' ->> 'CreatedAt' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$'
                        AND (part -> 'Queue' ->> 'CreatedAt')::timestamptz = created_at),
          ('UpdatedAt', part -> 'Queue' ->> 'UpdatedAt' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$'
                        AND (part -> 'Queue' ->> 'UpdatedAt')::timestamptz = updated_at)) AS fields (field, is_readable)
     WHERE is_readable IS NOT TRUE"#;

/// The table that Querator looks into for a partition: by the name in the copy of the record.
fn table_of(queue: &str, number: u32) -> String {
    use md5::Digest;
    let digest = md5::Md5::digest(queue.as_bytes());
    let mut value = u64::from_be_bytes(digest[..8].try_into().expect("eight bytes"));
    let mut digits = Vec::new();
    while value > 0 {
        let digit = u8::try_from(value % 62).expect("a digit");
        digits.push(char::from(match digit {
            0..10 => b'0' + digit,
            10..36 => b'A' + digit - 10,
            _ => b'a' + digit - 36,
        }));
        value /= 62;
    }
    let hash: String = digits.iter().rev().collect();
    format!("items_{}_{number}", &format!("{hash:0>10}")[..10])
}

/// An item as Querator's reader takes it from its row.
#[derive(Debug)]
struct Read {
    id: String,
    source_id: Option<String>,
    is_leased: bool,
    lease_deadline: Option<SystemTime>,
    enqueue_at: Option<SystemTime>,
    attempts: i32,
    payload: Option<Vec<u8>>,
}

/// In Querator's order. Each column of the type it scans into, `NULL` only where it expects one.
async fn read_items(fixture: &Fixture, queue: &str, number: u32) -> Vec<Read> {
    let sql = format!(
        "SELECT id, source_id, is_leased, lease_deadline, expire_deadline, enqueue_at, created_at, attempts,
                max_attempts, reference, encoding, kind, payload FROM \"{}\" ORDER BY id",
        table_of(queue, number)
    );
    let rows = fixture.outside.query(&sql, &[]).await.expect("the table is there");
    let read = |row: &tokio_postgres::Row| {
        let _: (SystemTime, SystemTime, i32) =
            (row.get("expire_deadline"), row.get("created_at"), row.get("max_attempts"));
        let _: [String; 3] = ["reference", "encoding", "kind"].map(|column| row.get(column));
        let id: String = row.get("id");
        // Twenty-seven digits of base 62 that make at most 160 bits.
        assert!(id.len() == 27 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        assert!(id.as_str() <= "aWgEPTl1tmebfsQzFP4bxwgy80V", "{id}");
        Read {
            id,
            source_id: row.get("source_id"),
            is_leased: row.get("is_leased"),
            lease_deadline: row.get("lease_deadline"),
            enqueue_at: row.get("enqueue_at"),
            attempts: row.get("attempts"),
            payload: row.get("payload"),
        }
    };
    rows.iter().map(read).collect()
}

fn engine(fixture: &Fixture) -> Engine {
    let config = EngineConfig {
        unknown_stores: UnknownStores::First,
        clock: EngineClock::new(Arc::new(ManualClock::new(at(1)))),
        ..EngineConfig::default()
    };
    let queues = PostgresQueues::new(pool(&fixture.url, 2), &Config::default());
    let store = NamedStore { name: "main".to_owned(), affinity: 1.0, store: Arc::new(fixture.store()) };
    Engine::new(config, Arc::new(queues), vec![store])
}

fn name(queue: &str) -> QueueName {
    queue.parse().expect("a name")
}

fn change(dead_queue: Option<&str>, requested_partitions: i64) -> QueueChange {
    QueueChange {
        lease_timeout: Duration::from_secs(60),
        expire_timeout: Duration::from_secs(3600),
        max_attempts: 5,
        dead_queue: dead_queue.map(name),
        reference: "it's \"ours\"".to_owned(),
        requested_partitions,
    }
}

async fn produce(engine: &Engine, queue: &str, items: &[(&'static str, Option<Timestamp>)]) {
    let items = items.iter().map(|(payload, enqueue_at)| NewItem {
        enqueue_at: *enqueue_at,
        payload: (*payload).into(),
        ..NewItem::default()
    });
    let request = ProduceRequest { queue: name(queue), timeout: PATIENCE, items: items.collect() };
    engine.produce(request).await.expect("produce");
}

async fn lease(engine: &Engine, queue: &str, batch_size: i64) -> Vec<Item> {
    let request = LeaseRequest {
        queue: name(queue),
        client_id: "worker".to_owned(),
        batch_size,
        timeout: PATIENCE,
        lease_timeout: None,
    };
    engine.lease(request).await.expect("lease").items
}

/// Each server finds what the other left: records, tables, items, leases, schedules and the dead.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn database_goes_to_us_and_back_to_querator() {
    let fixture = Fixture::start().await;
    fixture.run(ITEMS).await;
    fixture.run(QUEUES).await;
    fixture
        .run(
            r#"DELETE FROM queues WHERE name = 'Zebra';
               INSERT INTO queues VALUES ('orders-dead', '', 60000000000, 3600000000000, '', 0, '', 1, '[
                   {"PartitionNum": 0, "StorageName": "pg-0", "ReadOnly": false, "Queue": {"Name": "orders-dead"}}]',
                   '2023-11-14 22:13:20+00', '2023-11-14 22:13:20+00')"#,
        )
        .await;

    let ours = engine(&fixture);
    for (queue, dead_queue, partitions) in [("mine-dead", None, 1), ("mine", Some("mine-dead"), 3)] {
        let created =
            ours.create_queue(name(queue), Namespace::default(), change(dead_queue, partitions)).await;
        created.expect("creates");
    }
    ours.update_queue(&name("orders"), change(Some("orders-dead"), 0)).await.expect("updates");
    ours.update_queue(&name("orders-dead"), change(None, 0)).await.expect("updates");
    produce(&ours, "mine", &[("first", None), ("dies", None), ("later", Some(at(600))), ("last", None)])
        .await;
    let held = lease(&ours, "mine", 2).await;
    let dead = RetryItem { id: held[1].id.into(), retry_at: None, dead: true };
    let retry = RetryRequest { queue: name("mine"), partition: 0, items: vec![dead] };
    ours.retry(retry).await.expect("retry");
    let taken = lease(&ours, "orders", 1).await;
    let complete = CompleteRequest {
        queue: name("orders"),
        partition: 0,
        timeout: PATIENCE,
        ids: vec![taken[0].id.into()],
    };
    ours.complete(complete).await.expect("complete");
    fixture.until(&format!("SELECT count(*) FROM \"{}\"", table_of("mine-dead", 0)), 1).await;
    fixture.until(&format!("SELECT count(*) FROM \"{}\"", table_of("mine", 0)), 3).await;
    ours.shutdown().await;

    let unreadable: String = fixture.outside.query_one(UNREADABLE, &[]).await.expect("reads").get(0);
    assert_eq!(unreadable, "");
    assert_eq!(
        fixture.number("SELECT sum(jsonb_array_length(partition_info)) FROM queues").await,
        2 + 1 + 3 + 1
    );
    let mine = read_items(&fixture, "mine", 0).await;
    let payloads: Vec<_> = mine.iter().map(|item| item.payload.as_deref().unwrap_or_default()).collect();
    assert_eq!(payloads, [b"first".as_slice(), b"later", b"last"]);
    assert!(mine.windows(2).all(|pair| pair[0].id < pair[1].id), "{mine:?}");
    assert!(mine[0].is_leased && mine[0].lease_deadline.is_some() && mine[0].attempts == 1, "{mine:?}");
    assert!(!mine[1].is_leased && mine[1].enqueue_at.is_some(), "{mine:?}");
    assert!(!mine[2].is_leased && mine[2].enqueue_at.is_none(), "{mine:?}");
    let died = read_items(&fixture, "mine-dead", 0).await;
    assert_eq!(died[0].source_id.as_deref(), Some(held[1].id.text().as_str()), "{died:?}");
    assert_eq!(read_items(&fixture, "orders", 0).await.len(), 4);

    // As Querator does it: a record, an item, a lease that ends.
    let mine = table_of("mine", 0);
    fixture
        .run(&format!(
            "UPDATE queues SET max_attempts = 7, partition_info = partition_info WHERE name = 'mine';
             INSERT INTO \"{mine}\" (id, is_leased, expire_deadline, created_at, payload)
             VALUES ('2ZZZZZZZZZZZZZZZZZZZZZZZZZZ', false, '2023-11-14 23:13:20+00', '2023-11-14 22:13:22+00', 'theirs');
             UPDATE \"{mine}\" SET is_leased = false, lease_deadline = NULL WHERE payload = 'first'"
        ))
        .await;
    let ours = engine(&fixture);
    let info = ours.queue_info(&name("mine")).await.expect("is there");
    assert_eq!((info.options.max_attempts, info.partitions[0].store.as_str()), (7, "pg-0"));
    let leased = lease(&ours, "mine", 9).await;
    let payloads: Vec<_> = leased.iter().map(|item| &item.payload[..]).collect();
    assert_eq!(payloads, [b"first".as_slice(), b"last", b"theirs"]);
    ours.shutdown().await;
}

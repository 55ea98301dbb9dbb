//! A database that Querator filled opens as it is, and what is written there Querator can read.

use leasehold_core::Timestamp;
use leasehold_queue::store::postgres::{Config, PostgresQueues};
use leasehold_queue::store::{Change, Counts, Due, DueAction, Pick, Verdict};
use leasehold_queue::{ItemId, Namespace, PartitionInfo, QueueInfo, QueueStore};

use super::fixture::{Fixture, Line, START, at, pool};

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
    let flat = r#"SELECT count(*) FROM queues WHERE partition_info = '[
        {"PartitionNum": 0, "StorageName": "pg-0", "ReadOnly": false, "Queue": {}},
        {"PartitionNum": 1, "StorageName": "pg-0", "ReadOnly": true, "Queue": {}}]'"#;
    assert_eq!(fixture.number(flat).await, 1);
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

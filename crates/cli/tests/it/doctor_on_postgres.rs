use std::time::{Duration, Instant};

use leasehold_testkit::postgres::{Cluster, Database, Settings};
use leasehold_txn::tokio_postgres::{Client, NoTls};

use crate::diagnosis::{Diagnosis, diagnose};
use crate::served::Server;

async fn connect(url: &str) -> Client {
    let (client, connection) = leasehold_txn::tokio_postgres::connect(url, NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

async fn run(url: &str, sql: &str) {
    connect(url).await.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// A database in which a server made two queues and a lock; the server is gone.
async fn used() -> Database {
    let database = Cluster::shared().database().await;
    let server = Server::start_on(database.url(), &[]);
    server.run(&["health", "--timeout", "20s"]).ok();
    server.json(&["queue", "create", "dead"]);
    server.json(&["queue", "create", "orders", "--partitions", "2", "--dead-queue", "dead"]);
    server.json(&["queue", "produce", "orders", "--payload", "x"]);
    server.json(&["lock", "acquire", "billing"]);
    database
}

async fn look(database: &Database, more: &[&str]) -> Diagnosis {
    let mut arguments = vec!["--store".to_owned(), database.url().to_owned()];
    arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
    let diagnosed = tokio::task::spawn_blocking(move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        diagnose(&arguments)
    });
    diagnosed.await.expect("does not panic")
}

/// Until it says so: statistics of the server come late.
async fn looked_until(
    database: &Database,
    more: &[&str],
    level: &str,
    check: &str,
    words: &str,
) -> Diagnosis {
    let started = Instant::now();
    loop {
        let diagnosis = look(database, more).await;
        if diagnosis.find(level, check, words).is_some() || started.elapsed() > Duration::from_secs(30) {
            diagnosis.expect(level, check, words);
            return diagnosis;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn database_and_server_that_are_well_are_found_so() {
    let cluster = Cluster::start(Settings::durable()).expect("starts");
    let database = cluster.database().await;
    let empty = look(&database, &[]).await;
    assert_eq!(empty.code, 0, "{}", empty.text);
    empty.expect("ok", "queues", "no records of queues here yet");
    let made = connect(database.url()).await;
    let count = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    assert_eq!(made.query_one(count, &[]).await.expect("counts").get::<_, i64>(0), 0, "nothing was made");
    drop(made);

    let server = Server::start_on(database.url(), &[]);
    server.run(&["health", "--timeout", "20s"]).ok();
    server.json(&["queue", "create", "orders", "--partitions", "3"]);
    server.json(&["queue", "produce", "orders", "--payload", "x"]);
    server.json(&["lock", "acquire", "billing"]);
    let well = look(&database, &["--endpoint", &server.endpoint]).await;
    assert_eq!(well.code, 0, "{}", well.text);
    assert!(well.has_only("ok"), "{}", well.text);
    for (check, words) in [
        ("reach", "connected"),
        ("version", "PostgreSQL"),
        ("role", "primary"),
        ("durability", "on its disk"),
        ("clock", "the store's clock"),
        ("locks", "2 table(s)"),
        ("queues", "1 table(s)"),
        ("partitions", "3 table(s)"),
        ("epochs", "none can come again"),
        ("dead rows", "5 table(s)"),
        ("vacuum", "nobody"),
        ("connections", "are free"),
        ("server", "so does its store"),
        ("queues", "1 of 1 open queue(s)"),
    ] {
        well.expect("ok", check, words);
    }

    // Where nothing can be written, all the same is found.
    run(
        database.url(),
        &format!("ALTER DATABASE {} SET default_transaction_read_only = on", database.name()),
    )
    .await;
    let read_only = look(&database, &[]).await;
    assert_eq!(read_only.code, 8, "{}", read_only.text);
    read_only.expect("problem", "role", "read-only");
    read_only.expect("ok", "partitions", "3 table(s)");
    assert!(read_only.find("problem", "look", "").is_none(), "{}", read_only.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn missing_index_is_named_and_what_it_says_mends_it() {
    let database = used().await;
    run(database.url(), "DROP INDEX \"idx_1buPSdlPil_1_src\"; DROP INDEX idx_syncguard_locks_lock_id").await;
    let broken = look(&database, &[]).await;
    assert_eq!(broken.code, 8, "{}", broken.text);
    let item_index =
        broken.expect("problem", "partitions", "items_1buPSdlPil_1 has no valid index on source_id");
    let lock_index = broken.expect("problem", "locks", "no valid index on lock_id");
    // The fast settings of the test's own server.
    broken.expect("problem", "durability", "fsync is off");
    for mend in [&item_index, &lock_index] {
        run(database.url(), mend).await;
    }
    let mended = look(&database, &[]).await;
    mended.expect("ok", "partitions", "3 table(s)");
    mended.expect("ok", "locks", "2 table(s)");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn open_transaction_and_dead_rows_are_told_with_their_cure() {
    let database = used().await;
    let holder = connect(database.url()).await;
    holder.batch_execute("BEGIN; SELECT pg_current_xact_id()").await.expect("begins");
    let told = look(&database, &["--transaction-age-max", "0s"]).await;
    let cure = told.expect("warning", "vacuum", "has had a transaction open");
    look(&database, &[]).await.expect("ok", "vacuum", "nobody has held it back for longer than 300 s");
    run(database.url(), cure.split("or: ").nth(1).expect("has a statement")).await;
    let watched = &["--transaction-age-max", "0s"];
    looked_until(&database, watched, "ok", "vacuum", "nobody").await;

    run(
        database.url(),
        "ALTER TABLE \"items_1buPSdlPil_0\" SET (autovacuum_enabled = off);
         INSERT INTO \"items_1buPSdlPil_0\" (id, expire_deadline, created_at)
             SELECT 'x' || number, now(), now() FROM generate_series(1, 500) AS number;
         DELETE FROM \"items_1buPSdlPil_0\" WHERE id LIKE 'x%'",
    )
    .await;
    let told =
        looked_until(&database, &["--dead-rows-max", "100"], "warning", "dead rows", "500 dead rows").await;
    let cure = told.expect("warning", "dead rows", "items_1buPSdlPil_0");
    run(database.url(), cure.split("then: ").nth(1).expect("has a statement")).await;
    looked_until(&database, &["--dead-rows-max", "100"], "ok", "dead rows", "table(s)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn tables_of_others_and_what_was_lost_are_told() {
    let database = Cluster::shared().database().await;
    run(database.url(), "CREATE TABLE queues (id int); CREATE TABLE syncguard_locks (key text PRIMARY KEY)")
        .await;
    let foreign = look(&database, &[]).await;
    assert_eq!(foreign.code, 8, "{}", foreign.text);
    foreign.expect("problem", "queues", "table queues is not ours: it lacks name text");
    foreign.expect("problem", "locks", "only one of");

    let database = used().await;
    run(
        database.url(),
        "SELECT setval('leasehold_partition_epochs', 1);
         UPDATE leasehold_partitions SET epoch = 40 WHERE queue = 'orders' AND partition = 0;
         DROP TABLE \"items_1buPSdlPil_1\";
         COMMENT ON TABLE \"items_1buPSdlPil_0\" IS 'items of queue somebody-else';
         DELETE FROM queues WHERE name = 'dead'",
    )
    .await;
    let lost = look(&database, &[]).await;
    assert_eq!(lost.code, 8, "{}", lost.text);
    let cure = lost.expect("problem", "epochs", "stands at 1, but epoch 40 was given");
    lost.expect("warning", "partitions", "partition 1 of queue 'orders' has no table");
    lost.expect("problem", "partitions", "holds the items of queue somebody-else");
    lost.expect("warning", "queues", "names the dead queue 'dead', which does not exist");
    run(database.url(), cure.split("then: ").nth(1).expect("has a statement")).await;
    look(&database, &[]).await.expect("ok", "epochs", "the last one given is 40");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn user_who_may_little_is_served_and_told_what_he_lacks() {
    let database = used().await;
    let name = format!("doctor_{}", database.name());
    run(
        database.url(),
        &format!(
            "CREATE ROLE {name} LOGIN PASSWORD 'hunter2' CONNECTION LIMIT 3;
             REVOKE CREATE ON SCHEMA public FROM PUBLIC;
             GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name};
             GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO {name}"
        ),
    )
    .await;
    let user = Cluster::shared().user();
    let url = database.url().replacen(&format!("//{user}@"), &format!("//{name}:hunter2@"), 1);
    assert_ne!(url, database.url(), "the user is another");
    let told =
        tokio::task::spawn_blocking(move || diagnose(&["--store", &url])).await.expect("does not panic");
    told.expect("warning", "permissions", "may not make tables");
    told.expect("warning", "connections", "connections of this user are free");
    told.expect("ok", "partitions", "3 table(s)");
    assert!(told.find("problem", "look", "").is_none(), "{}", told.text);
    run(database.url(), &format!("DROP OWNED BY {name}; DROP ROLE {name}")).await;
}

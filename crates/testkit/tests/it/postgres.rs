//! PostgreSQL clusters from outside: they start, keep what they promise, stay apart and go.

use std::{
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::owner::{Owner, address_in, is_running, signal};
use leasehold_testkit::{
    postgres::{Cluster, Settings},
    proxy::{Action, FaultProxy, Rule, Trigger},
};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connect");
    tokio::spawn(connection);
    client
}

async fn number(client: &Client, statement: &str) -> i64 {
    client.query_one(statement, &[]).await.expect("query").get(0)
}

/// The guardian of a server.
fn parent_of(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)).expect("its parent").to_owned()
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn dropped_cluster_leaves_no_process_no_folder_no_port() {
    let cluster = Cluster::start(Settings::fast()).unwrap();
    let (pid, folder, address) = (cluster.pid(), cluster.socket_dir().to_path_buf(), cluster.address());
    assert!(is_running(pid) && folder.exists());
    drop(cluster);
    assert!(!is_running(pid));
    assert!(!folder.exists());
    assert!(std::net::TcpListener::bind(address).is_ok());
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn databases_do_not_see_each_other() {
    let cluster = Cluster::shared();
    let (one, two) = (cluster.database().await, cluster.database().await);
    let (in_one, in_two) = (connect(one.url()).await, connect(two.url()).await);
    in_one.batch_execute("CREATE TABLE held (key text)").await.unwrap();
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename = 'held'";
    assert_eq!(number(&in_one, tables).await, 1);
    assert_eq!(number(&in_two, tables).await, 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn copies_of_a_database_hold_what_it_held() {
    let cluster = Cluster::shared();
    let original = cluster.database().await;
    let still_there = connect(original.url()).await;
    still_there.batch_execute("CREATE TABLE held AS SELECT 7 AS key").await.unwrap();
    let original = Arc::new(cluster.original(original).await);
    let mut copying = JoinSet::new();
    for _ in 0..8 {
        let original = original.clone();
        copying.spawn(async move { cluster.database_like(&original).await });
    }
    for copy in copying.join_all().await {
        assert_eq!(number(&connect(copy.url()).await, "SELECT key::bigint FROM held").await, 7);
    }
    assert!(still_there.batch_execute("SELECT 1").await.is_err(), "nobody is left in the original");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn schemas_do_not_see_each_other() {
    let cluster = Cluster::shared();
    let (one, two) = (cluster.schema().await, cluster.schema().await);
    let (in_one, in_two) = (connect(one.url()).await, connect(two.url()).await);
    in_one.batch_execute("CREATE TABLE held (key text); INSERT INTO held VALUES ('a')").await.unwrap();
    assert_eq!(number(&in_one, "SELECT count(*) FROM held").await, 1);
    let error = in_two.query("SELECT count(*) FROM held", &[]).await.unwrap_err();
    assert_eq!(error.code().map(tokio_postgres::error::SqlState::code), Some("42P01"), "{error}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn dropped_handle_drops_its_database() {
    let cluster = Cluster::shared();
    let admin = connect(&cluster.url("postgres")).await;
    let database = cluster.database().await;
    let name = database.name().to_owned();
    let session = connect(database.url()).await;
    drop(database);
    // The session inside is ended by force: its next statement fails.
    let deadline = Instant::now() + Duration::from_secs(20);
    let left = format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'");
    while number(&admin, &left).await != 0 {
        assert!(Instant::now() < deadline, "{name} is still there");
        tokio::task::yield_now().await;
    }
    assert!(session.simple_query("SELECT 1").await.is_err());
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn committed_rows_survive_kill_under_durable_settings() {
    let cluster = Cluster::start(Settings::durable()).unwrap();
    let address = cluster.address();
    let client = connect(&cluster.url("postgres")).await;
    client.batch_execute("CREATE TABLE kept (n int)").await.unwrap();
    for n in 0..100 {
        client.execute("INSERT INTO kept VALUES ($1)", &[&n]).await.unwrap();
    }
    client.batch_execute("BEGIN; INSERT INTO kept VALUES (1000)").await.unwrap();
    let killed = cluster.pid();
    cluster.kill().unwrap();
    assert!(!is_running(killed));
    assert!(client.simple_query("SELECT 1").await.is_err());
    cluster.restart().unwrap();
    assert_eq!(cluster.address(), address);
    let client = connect(&cluster.url("postgres")).await;
    assert_eq!(number(&client, "SELECT count(*) FROM kept").await, 100);
    assert_eq!(number(&client, "SELECT max(n)::bigint FROM kept").await, 99);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn kill_ends_sessions_that_are_busy() {
    let cluster = Cluster::start(Settings::fast()).unwrap();
    let client = connect(&cluster.url("postgres")).await;
    let backend: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let busy =
        tokio::spawn(
            async move { client.simple_query("SELECT sum(n) FROM generate_series(1, 1e12) n").await },
        );
    let admin = connect(&cluster.url("postgres")).await;
    let active = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {backend} AND state = 'active'");
    while number(&admin, &active).await == 0 {}
    cluster.kill().unwrap();
    assert!(!is_running(u32::try_from(backend).unwrap()), "the session's process outlived the kill");
    assert!(busy.await.unwrap().is_err());
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn stopped_cluster_refuses_and_restarted_one_answers() {
    let cluster = Cluster::start(Settings::fast()).unwrap();
    let url = cluster.url("postgres");
    connect(&url)
        .await
        .batch_execute("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        .await
        .unwrap();
    cluster.stop().unwrap();
    assert!(tokio_postgres::connect(&url, NoTls).await.is_err());
    cluster.restart().unwrap();
    assert_eq!(number(&connect(&url).await, "SELECT n::bigint FROM kept").await, 7);
    let first = cluster.pid();
    cluster.restart().unwrap();
    assert_ne!(cluster.pid(), first, "a running server is stopped first");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn two_clusters_run_side_by_side() {
    let (one, two) =
        (Cluster::start(Settings::fast()).unwrap(), Cluster::start(Settings::durable()).unwrap());
    assert_ne!(one.address(), two.address());
    let (in_one, in_two) = (connect(&one.url("postgres")).await, connect(&two.url("postgres")).await);
    in_one.batch_execute("CREATE TABLE held (key text)").await.unwrap();
    assert!(in_two.simple_query("SELECT * FROM held").await.is_err());
    one.kill().unwrap();
    assert!(in_two.simple_query("SELECT 1").await.is_ok());
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn settings_reach_the_server() {
    let cluster = Cluster::start(Settings::durable().with("max_connections", "17")).unwrap();
    let client = connect(&cluster.url("postgres")).await;
    let shown =
        async |name: &str| -> String { client.query_one(&format!("SHOW {name}"), &[]).await.unwrap().get(0) };
    assert_eq!(shown("max_connections").await, "17");
    assert_eq!(shown("fsync").await, "on");
    assert_eq!(shown("server_encoding").await, "UTF8");
    let shared = connect(&Cluster::shared().url("postgres")).await;
    let fsync: String = shared.query_one("SHOW fsync", &[]).await.unwrap().get(0);
    assert_eq!(fsync, "off");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn unix_socket_takes_sessions() {
    let cluster = Cluster::shared();
    let socket = cluster.socket_dir().display();
    let url =
        format!("host={socket} port={} user={} dbname=postgres", cluster.address().port(), cluster.user());
    assert_eq!(number(&connect(&url).await, "SELECT 1::bigint").await, 1);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn unknown_setting_fails_with_the_servers_own_words() {
    let error = Cluster::start(Settings::fast().with("no_such_setting", "1")).unwrap_err();
    assert_eq!(error.code(), "throwaway.not_ready");
    let told = error.to_string();
    assert!(told.contains("ended while starting") && told.contains("no_such_setting"), "{told}");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn killed_owner_leaves_nothing() {
    let owner = Owner::of("postgres");
    assert!(is_running(owner.pid) && owner.folder.exists());
    owner.signal("KILL");
    owner.assert_nothing_is_left();
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn killed_owner_of_a_busy_server_leaves_nothing() {
    let owner = Owner::of("postgres");
    let client = connect(&format!("postgres://postgres@{}/postgres", owner.address)).await;
    let backend: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let busy = tokio::spawn(async move { client.simple_query("SELECT pg_sleep(600)").await });
    owner.signal("KILL");
    tokio::task::spawn_blocking(move || owner.assert_nothing_is_left()).await.unwrap();
    assert!(!is_running(u32::try_from(backend).unwrap()));
    assert!(busy.await.unwrap().is_err());
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn interrupted_owner_leaves_nothing() {
    let owner = Owner::of("postgres");
    owner.signal("INT");
    owner.assert_nothing_is_left();
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn panicking_owner_leaves_nothing() {
    let owner = std::thread::spawn(|| {
        let cluster = Cluster::start(Settings::fast()).unwrap();
        std::panic::panic_any((cluster.pid(), cluster.socket_dir().to_path_buf()));
    });
    let panic = owner.join().unwrap_err();
    let (pid, folder) = panic.downcast_ref::<(u32, std::path::PathBuf)>().unwrap();
    assert!(!is_running(*pid) && !folder.exists());
}

/// When even the guardian is killed, the next run of any test finds what it left.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn orphaned_server_is_swept_by_the_next_run() {
    let owner = Owner::of("postgres");
    signal("KILL", &parent_of(owner.pid));
    owner.signal("KILL");
    assert!(is_running(owner.pid), "nobody is left to end it");
    // A young folder could be one that is just being made.
    let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3_600);
    std::fs::File::open(&owner.folder).unwrap().set_modified(hour_ago).unwrap();
    let next = Owner::of("postgres");
    assert!(!is_running(owner.pid) && !owner.folder.exists());
    owner.assert_nothing_is_left();
    next.signal("INT");
    next.assert_nothing_is_left();
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn commit_whose_reply_is_dropped_has_happened() {
    let database = Cluster::shared().database().await;
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let direct = connect(database.url()).await;
    direct.batch_execute("CREATE TABLE kept (n int)").await.unwrap();
    for (action, happened) in [(Action::DropReply, 1), (Action::Cut, 0)] {
        direct.batch_execute("TRUNCATE kept").await.unwrap();
        let rule = proxy.add(Rule::on(Trigger::Request(b"COMMIT".to_vec())).then(action));
        let url = format!("postgres://postgres@{}/{}", proxy.address(), database.name());
        let client = connect(&url).await;
        client.batch_execute("BEGIN; INSERT INTO kept VALUES (1)").await.unwrap();
        assert!(client.batch_execute("COMMIT").await.unwrap_err().is_closed());
        rule.fired().await;
        assert_eq!(number(&direct, "SELECT count(*) FROM kept").await, happened, "{action:?}");
    }
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn signal_to_the_guardian_ends_its_server() {
    let cluster = Cluster::start(Settings::fast()).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", cluster.pid())).unwrap();
    let guardian = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().to_owned();
    assert!(
        Command::new("sh").args(["-c", "kill -TERM \"$1\"", "kill", &guardian]).status().unwrap().success()
    );
    let deadline = Instant::now() + Duration::from_secs(15);
    while cluster.socket_dir().exists() {
        assert!(Instant::now() < deadline, "the folder is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!is_running(cluster.pid()));
    assert_eq!(
        cluster.restart().unwrap_err().code(),
        "throwaway.guardian",
        "a gone guardian is told, not awaited"
    );
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn detached_services_stay_until_they_are_taken_down() {
    let services = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_leasehold-services")).args(words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    if services(&["status"]).0 == Some(0) {
        // Somebody works with them on this machine.
        panic!("services are up: take them down for this test (leasehold-services down)");
    }
    let (code, told) = services(&["up", "--detach", "postgres"]);
    assert_eq!(code, Some(0), "{told}");
    let address = address_in(&told);
    assert!(services(&["status"]).1.contains(&address.to_string()));
    let client = connect(&format!("postgres://postgres@{address}/postgres")).await;
    assert_eq!(number(&client, "SELECT 1::bigint").await, 1);
    assert_eq!(
        services(&["up", "--detach", "postgres"]).1,
        services(&["status"]).1,
        "a second one changes nothing"
    );
    assert_eq!(services(&["down"]), (Some(0), "stopped\n".to_owned()));
    assert!(std::net::TcpStream::connect(address).is_err());
    assert_eq!(services(&["status"]), (Some(3), "not running\n".to_owned()));
    assert_eq!(services(&["down"]), (Some(0), "not running\n".to_owned()));
}

//! The map of SQLSTATEs, row by row. Each comes from a server: most as what a real cause makes it say, the others, whose causes
//! cannot be brought about in a test (a full disk, a failing memory), raised under their number by a trigger.

use std::time::Duration;

use leasehold_core::LockCode;
use leasehold_locks::backend::postgres::{Config, Mode, PostgresBackend};
use leasehold_locks::{Error, LockBackend};
use leasehold_testkit::postgres::{Cluster, Settings};
use tokio_postgres::NoTls;
use tokio_postgres::error::SqlState;

use super::fixture::{Fixture, PATIENCE, acquired, pool, request, session};

/// Between two looks at what a server does by itself.
const PAUSE: Duration = Duration::from_millis(10);

/// The whole map, of every class a representative that it does not name, and some of what it leaves to `Internal`.
const MAP: [(&str, LockCode); 43] = [
    ("08000", LockCode::ServiceUnavailable),
    ("08001", LockCode::ServiceUnavailable),
    ("08003", LockCode::ServiceUnavailable),
    ("08004", LockCode::ServiceUnavailable),
    ("08006", LockCode::ServiceUnavailable),
    ("08P01", LockCode::ServiceUnavailable),
    ("40001", LockCode::ServiceUnavailable),
    ("40003", LockCode::ServiceUnavailable),
    ("40P01", LockCode::ServiceUnavailable),
    ("28000", LockCode::AuthFailed),
    ("28P01", LockCode::AuthFailed),
    ("42501", LockCode::AuthFailed),
    ("22000", LockCode::InvalidArgument),
    ("22001", LockCode::InvalidArgument),
    ("22003", LockCode::InvalidArgument),
    ("22021", LockCode::InvalidArgument),
    ("22P02", LockCode::InvalidArgument),
    ("23000", LockCode::InvalidArgument),
    ("23502", LockCode::InvalidArgument),
    ("23503", LockCode::InvalidArgument),
    ("23514", LockCode::InvalidArgument),
    ("42P01", LockCode::InvalidArgument),
    ("42703", LockCode::InvalidArgument),
    ("53000", LockCode::RateLimited),
    ("53100", LockCode::RateLimited),
    ("53200", LockCode::RateLimited),
    ("53300", LockCode::RateLimited),
    ("53400", LockCode::RateLimited),
    ("57014", LockCode::NetworkTimeout),
    ("55P03", LockCode::NetworkTimeout),
    ("57P01", LockCode::ServiceUnavailable),
    ("57P02", LockCode::ServiceUnavailable),
    ("57P03", LockCode::ServiceUnavailable),
    ("23505", LockCode::Internal),
    ("25006", LockCode::Internal),
    ("0A000", LockCode::Internal),
    ("21000", LockCode::Internal),
    ("2D000", LockCode::Internal),
    ("42601", LockCode::Internal),
    ("54000", LockCode::Internal),
    ("55000", LockCode::Internal),
    ("58000", LockCode::ServiceUnavailable),
    ("P0001", LockCode::Internal),
];

fn backend(url: &str) -> PostgresBackend {
    PostgresBackend::new(pool(url, 1), Config { mode: Mode::Exclusive, ..Config::default() })
}

async fn code(url: &str) -> LockCode {
    backend(url).acquire(&request("billing")).await.expect_err("fails").lock_code()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn every_state_has_its_code() {
    let fixture = Fixture::start().await;
    let trigger = "
        CREATE TABLE said (sqlstate text NOT NULL);
        CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'as a server says it' USING ERRCODE = (SELECT sqlstate FROM said);
        END $$;
        CREATE TRIGGER say BEFORE INSERT ON syncguard_fence_counters FOR EACH ROW EXECUTE FUNCTION say();";
    fixture.outside.batch_execute(trigger).await.expect("a trigger");
    let mut wrong = Vec::new();
    for (sqlstate, expected) in MAP {
        let say = format!("TRUNCATE said; INSERT INTO said VALUES ('{sqlstate}')");
        fixture.outside.batch_execute(&say).await.expect("says");
        let code = code(fixture.url()).await;
        if code != expected {
            wrong.push((sqlstate, code, expected));
        }
    }
    assert_eq!(wrong, []);
}

/// Tables that are not quite SyncGuard's: each refuses the row in its own words.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn rows_that_a_table_refuses_are_invalid_arguments() {
    for (alter, told) in [
        ("ALTER TABLE syncguard_locks ADD CHECK (key <> 'billing')", "23514"),
        ("ALTER TABLE syncguard_locks ADD tenant text NOT NULL", "23502"),
        (
            "CREATE TABLE keys (key text PRIMARY KEY); ALTER TABLE syncguard_locks ADD FOREIGN KEY (key) REFERENCES keys",
            "23503",
        ),
        ("ALTER TABLE syncguard_locks ALTER user_key TYPE varchar(3)", "22001"),
        ("ALTER TABLE syncguard_locks ALTER expires_at_ms TYPE integer", "22003"),
    ] {
        let fixture = Fixture::start().await;
        fixture.outside.batch_execute(alter).await.expect(alter);
        let error = backend(fixture.url()).acquire(&request("billing")).await.expect_err(alter);
        assert_eq!(error.lock_code(), LockCode::InvalidArgument, "{alter}: {error:?}");
        assert!(format!("{error:?}").contains(told), "{told}: {error:?}");
        assert_eq!(
            fixture.number("SELECT count(*) FROM syncguard_fence_counters").await,
            0,
            "nothing is left of it"
        );
    }
}

/// A session that may only read, as on a standby.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn server_that_only_reads_refuses_and_answers_lookups() {
    let fixture = Fixture::start().await;
    let held = acquired(&fixture.backend(Mode::Shared), "held").await;
    let reading = backend(&format!("{}%20-c%20default_transaction_read_only%3Don", fixture.url()));
    let refusals = [
        reading.acquire(&request("billing")).await.expect_err("writes").lock_code(),
        reading.release(&held.lock_id).await.expect_err("writes").lock_code(),
    ];
    assert_eq!(refusals, [LockCode::Internal; 2]);
    assert!(super::fixture::is_held(reading.acquire(&request("held")).await.expect("a refusal only reads")));
    let by = leasehold_locks::LookupBy::LockId(&held.lock_id);
    assert!(reading.lookup(by).await.expect("answers").is_some());
}

/// Two sessions that wait for each other: PostgreSQL ends one of them. The other one here is made never to be it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn deadlock_is_unavailable_and_leaves_nothing() {
    let fixture = Fixture::start().await;
    // A hold that is over, so that an acquire locks the counter and then its row.
    acquired(&fixture.backend(Mode::Exclusive), "billing").await;
    fixture.outside.batch_execute("UPDATE syncguard_locks SET expires_at_ms = 0").await.expect("is over");
    let other = session(fixture.url()).await;
    for sql in ["SET deadlock_timeout = '1h'", "BEGIN", "SELECT FROM syncguard_locks FOR UPDATE"] {
        other.batch_execute(sql).await.expect("locks the row");
    }
    // Whoever has locked the counter stops here on its way to the row. It looks for a deadlock once, soon after it began to
    // wait for the row: the other one must wait before that.
    let gate = "
        CREATE TABLE gate ();
        CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            LOCK TABLE gate;
            RETURN NULL;
        END $$;
        CREATE TRIGGER pass AFTER UPDATE ON syncguard_fence_counters EXECUTE FUNCTION pass();";
    fixture.outside.batch_execute(gate).await.expect("a gate");
    let keeper = session(fixture.url()).await;
    keeper.batch_execute("BEGIN; LOCK TABLE gate").await.expect("shuts the gate");
    let asking = backend(&format!("{}%20-c%20deadlock_timeout%3D10ms", fixture.url()));
    let asking = tokio::spawn(async move { asking.acquire(&request("billing")).await });
    fixture.waits_for(&keeper, 1).await;
    let crossing = tokio::spawn(async move {
        other
            .batch_execute("SELECT FROM syncguard_fence_counters FOR UPDATE")
            .await
            .expect("gets it in the end");
    });
    fixture.waits_for(&keeper, 2).await;
    keeper.batch_execute("COMMIT").await.expect("opens the gate");
    let asked = tokio::time::timeout(PATIENCE, asking).await.expect("the deadlock is found");
    let error = asked.expect("does not panic").expect_err("is the victim");
    assert_eq!(error.lock_code(), LockCode::ServiceUnavailable, "{error:?}");
    assert!(format!("{error:?}").contains("40P01"), "{error:?}");
    crossing.await.expect("goes on");
    assert_eq!(fixture.number("SELECT fence FROM syncguard_fence_counters").await, 1);
}

/// With a server of its own: who may come in is the whole server's setting.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn wrong_password_and_full_server_are_told_apart() {
    let cluster = Cluster::start(
        Settings::fast().with("max_connections", "4").with("superuser_reserved_connections", "1"),
    )
    .expect("a cluster");
    let url = cluster.url("postgres");
    let outside = session(&url).await;
    let rules: String = outside.query_one("SHOW hba_file", &[]).await.expect("a path").get(0);
    outside.batch_execute("CREATE ROLE known LOGIN PASSWORD 'right'").await.expect("a role");
    let rules_of_old = std::fs::read_to_string(&rules).expect("reads");
    std::fs::write(&rules, format!("host all known 127.0.0.1/32 scram-sha-256\n{rules_of_old}"))
        .expect("writes");
    outside.batch_execute("SELECT pg_reload_conf()").await.expect("reads its rules anew");
    let as_known = |password: &str| url.replace("postgres@", &format!("known:{password}@"));
    // The rules are read a moment later: until then everybody is let in for whom there is a place.
    let refused = async {
        while state_of_connect(&as_known("wrong")).await != Some(SqlState::INVALID_PASSWORD) {
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("the rules are read");
    let error = error_with_a_place(&as_known("wrong")).await;
    assert_eq!(error.lock_code(), LockCode::AuthFailed, "{error:?}");
    assert!(!format!("{error:?}").contains("wrong"), "{error:?}");
    // Let in, it finds no table; and with all other places taken, no place.
    assert_eq!(error_with_a_place(&as_known("right")).await.lock_code(), LockCode::InvalidArgument);
    // Of four places one is kept for superusers and one is taken by `outside`.
    let mut others = Vec::new();
    let fill = async {
        while others.len() < 2 {
            match tokio_postgres::connect(&as_known("right"), NoTls).await {
                Ok(session) => others.push(session),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    };
    tokio::time::timeout(PATIENCE, fill).await.expect("places become free");
    assert_eq!(code(&as_known("right")).await, LockCode::RateLimited);
}

/// `None` when it was let in.
async fn state_of_connect(url: &str) -> Option<SqlState> {
    tokio_postgres::connect(url, NoTls).await.err().and_then(|error| error.code().cloned())
}

/// What an acquire fails with that finds a place: a session that has ended keeps its own for a moment.
async fn error_with_a_place(url: &str) -> Error {
    let asking = async {
        loop {
            let error = backend(url).acquire(&request("billing")).await.expect_err("fails");
            if error.lock_code() != LockCode::RateLimited {
                return error;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("a place becomes free")
}

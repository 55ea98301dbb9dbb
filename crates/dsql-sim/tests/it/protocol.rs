//! The wire protocol as drivers use it.

use std::sync::Arc;

use tokio_postgres::{IsolationLevel, NoTls, types::Type};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::fixture::{Fixture, told};

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn parameters_and_rows_pass_in_binary() {
    let fixture = Fixture::start().await;
    let one = fixture.client().await;
    one.ok("CREATE TABLE t (id bigint PRIMARY KEY, name text, body bytea)").await;
    let row = one
        .client
        .query_one(
            "INSERT INTO t VALUES ($1, $2, $3) RETURNING id, name, body",
            &[&7_i64, &"ü", &&b"\0\xff"[..]],
        )
        .await
        .unwrap();
    assert_eq!(row.len(), 3, "no column of the simulator's own");
    assert_eq!(row.get::<_, i64>(0), 7);
    assert_eq!(row.get::<_, &str>("name"), "ü");
    assert_eq!(row.get::<_, &[u8]>("body"), b"\0\xff");
    let rows = one.client.query("SELECT name FROM t WHERE id = ANY ($1)", &[&vec![7_i64, 8]]).await.unwrap();
    assert_eq!(rows.len(), 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn prepared_statement_describes_what_the_client_wrote() {
    let fixture = Fixture::start().await;
    let one = fixture.client().await;
    one.ok("CREATE TABLE t (id bigint PRIMARY KEY, name text)").await;
    let update = one.client.prepare("UPDATE t SET name = $2 WHERE id = $1").await.unwrap();
    assert_eq!(update.params(), [Type::INT8, Type::TEXT]);
    assert!(update.columns().is_empty());
    let delete = one.client.prepare("DELETE FROM t WHERE id = $1 RETURNING name AS gone").await.unwrap();
    assert_eq!(delete.columns().iter().map(|column| column.name()).collect::<Vec<_>>(), ["gone"]);
    let lock = one.client.prepare("SELECT name FROM t WHERE id = $1 FOR UPDATE").await.unwrap();
    assert_eq!(lock.params(), [Type::INT8]);
    assert_eq!(one.client.execute(&update, &[&1_i64, &"a"]).await.unwrap(), 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn locking_read_with_parameters_only_in_its_columns() {
    let fixture = Fixture::start().await;
    let mut one = fixture.client().await;
    let two = fixture.client().await;
    one.ok("CREATE TABLE t (id bigint PRIMARY KEY, value bigint)").await;
    one.ok("INSERT INTO t VALUES (1, 5)").await;
    let transaction =
        one.client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).start().await.unwrap();
    let row = transaction
        .query_one("SELECT value + $2 FROM t WHERE id = $1 FOR UPDATE", &[&1_i64, &2_i64])
        .await
        .unwrap();
    assert_eq!(row.get::<_, i64>(0), 7);
    two.ok("UPDATE t SET value = 0 WHERE id = 1").await;
    let error = transaction.commit().await.unwrap_err();
    assert!(told(&error).starts_with("40001"), "{}", told(&error));
}

/// Pools send it between two users of a connection.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn after_deallocate_all_a_statement_is_prepared_anew_and_runs() {
    let fixture = Fixture::start().await;
    let one = fixture.client().await;
    one.ok("CREATE TABLE t (id bigint PRIMARY KEY, value bigint)").await;
    one.ok("INSERT INTO t VALUES (1, 0)").await;
    let add = "UPDATE t SET value = value + 1 WHERE id = $1";
    let mut statement = one.client.prepare(add).await.unwrap();
    assert_eq!(one.client.execute(&statement, &[&1_i64]).await.unwrap(), 1);
    for deallocate in ["DEALLOCATE ALL", "deallocate prepare all"] {
        one.ok(deallocate).await;
        let error = one.client.execute(&statement, &[&1_i64]).await.unwrap_err();
        assert!(told(&error).starts_with("26000"), "{}", told(&error));
        statement = one.client.prepare(add).await.unwrap();
        assert_eq!(one.client.execute(&statement, &[&1_i64]).await.unwrap(), 1);
    }
    one.client.execute("DEALLOCATE ALL", &[]).await.unwrap();
    assert_eq!(one.ok("SELECT value FROM t").await, "3");
}

/// What a transaction wrote is done again at its COMMIT, by statements that are kept prepared.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn deallocate_all_in_a_transaction_that_gave_way_takes_nothing_from_it() {
    let fixture = Fixture::start().await;
    let (one, two) = (fixture.client().await, fixture.client().await);
    one.ok("CREATE TABLE t (id bigint PRIMARY KEY, value bigint)").await;
    one.ok("INSERT INTO t VALUES (1, 0)").await;
    one.ok("BEGIN").await;
    one.client.execute("UPDATE t SET value = 1 WHERE id = $1", &[&1_i64]).await.unwrap();
    two.ok("BEGIN").await;
    two.ok("UPDATE t SET value = 2 WHERE id = 1").await;
    two.ok("ROLLBACK").await;
    one.ok("DEALLOCATE ALL").await;
    one.ok("COMMIT").await;
    assert_eq!(two.ok("SELECT value FROM t").await, "1");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn what_would_end_single_statements_or_the_whole_session_state_is_refused() {
    let fixture = Fixture::start().await;
    let one = fixture.client().await;
    for refused in ["DEALLOCATE leasehold_1", "EXECUTE leasehold_1", "DISCARD ALL", "DISCARD PLANS"] {
        one.fails(refused, "0A000").await;
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn rows_of_a_portal_come_in_parts() {
    let fixture = Fixture::start().await;
    let mut one = fixture.client().await;
    let transaction = one.client.transaction().await.unwrap();
    let portal = transaction.bind("SELECT * FROM generate_series(1, 5)", &[]).await.unwrap();
    let mut seen = Vec::new();
    loop {
        let rows = transaction.query_portal(&portal, 2).await.unwrap();
        if rows.is_empty() {
            break;
        }
        seen.extend(rows.iter().map(|row| row.get::<_, i32>(0)));
    }
    assert_eq!(seen, [1, 2, 3, 4, 5]);
    transaction.rollback().await.unwrap();
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn error_in_a_pipeline_does_not_spoil_what_follows() {
    let fixture = Fixture::start().await;
    let one = fixture.client().await;
    one.ok("CREATE TABLE t (id bigint PRIMARY KEY)").await;
    let (bad, good, missing) = tokio::join!(
        one.client.query("SELECT 1 / 0", &[]),
        one.client.query_one("SELECT 2", &[]),
        one.client.query("SELECT * FROM missing", &[]),
    );
    assert!(told(&bad.unwrap_err()).starts_with("22012"));
    assert_eq!(good.unwrap().get::<_, i32>(0), 2);
    assert!(told(&missing.unwrap_err()).starts_with("42P01"));
    one.fails("SELECT FROM WHERE", "42601").await;
    assert_eq!(one.ok("").await, "0", "an empty query is answered");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn settings_of_the_client_reach_the_database() {
    let fixture = Fixture::start().await;
    fixture.direct().await.ok("CREATE SCHEMA app; CREATE TABLE app.t (id int PRIMARY KEY)").await;
    let url = format!("{}?options=-c%20search_path%3Dapp&application_name=my%20app", fixture.simulator.url());
    let one = crate::fixture::Session::connect(&url).await;
    assert_eq!(one.ok("INSERT INTO t VALUES (1)").await, "1");
    assert_eq!(one.ok("SHOW application_name").await, "my app");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn cancel_request_ends_a_statement() {
    let fixture = Fixture::start().await;
    let one = fixture.client().await;
    let token = one.client.cancel_token();
    let slow = one.run("SELECT pg_sleep(20)");
    let cancel = async {
        // Asked again until it hits: the statement may not have begun at the first.
        for _ in 0..200 {
            token.cancel_query(NoTls).await.expect("cancel");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        answer = slow => assert!(answer.unwrap_err().starts_with("57014")),
        () = cancel => panic!("not cancelled"),
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn encrypted_connection_is_taken_where_a_certificate_is_given() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = std::env::temp_dir().join(format!("leasehold-dsql-sim-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = leasehold_dsql_sim::server_config(&certificate, &key).unwrap();
    assert!(leasehold_dsql_sim::server_config(&key, &certificate).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
    let fixture = Fixture::with(|config| config.tls = Some(tls)).await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let url = format!(
        "host=localhost hostaddr=127.0.0.1 port={} user=admin password=any dbname=postgres sslmode=require",
        fixture.simulator.address().port()
    );
    let (client, connection) = tokio_postgres::connect(&url, MakeRustlsConnect::new(client)).await.unwrap();
    tokio::spawn(connection);
    assert_eq!(client.query_one("SELECT 1", &[]).await.unwrap().get::<_, i32>(0), 1);
    // A client that asks for no encryption is taken too.
    fixture.client().await.ok("SELECT 1").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn garbage_ends_the_connection_and_nothing_else() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let fixture = Fixture::start().await;
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0, 0, 0, 4], &[0, 0, 0, 8, 0, 9, 0, 0], &[0xff; 64]] {
        let mut stream = tokio::net::TcpStream::connect(fixture.simulator.address()).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
    }
    fixture.client().await.ok("SELECT 1").await;
}

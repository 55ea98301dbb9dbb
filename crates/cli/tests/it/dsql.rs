//! DSQL, simulated, as the command line and the server use it; and the doctor, who is shown clusters that are broken on
//! purpose.

use std::process::{Command, Output};

use leasehold_dsql_sim::rules::Level;
use leasehold_testkit::dsql::Simulated;

use crate::served::Server;
use crate::state_commands;

/// How often something that a server prepares in the background is asked for; each time is a process of its own.
const TRIES_MAX: usize = 200;

async fn leasehold(url: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leasehold"));
    command.env("LEASEHOLD_BACKEND", url).args(arguments);
    let ended = tokio::task::spawn_blocking(move || command.output()).await;
    ended.expect("not cancelled").expect("runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("ended by itself")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn locks_are_set_up_taken_and_released_by_url() {
    let cluster = Simulated::start(Level::L2026_09).await;
    let url = cluster.url();

    let early = leasehold(&url, &["lock", "acquire", "billing"]).await;
    assert_eq!(code(&early), 2, "the table is not there yet: {early:?}");
    for _ in 0..2 {
        let applied = leasehold(&url, &["schema", "apply"]).await;
        assert_eq!(code(&applied), 0, "{applied:?}");
    }
    let taken = leasehold(&url, &["lock", "acquire", "billing", "--json"]).await;
    assert_eq!(code(&taken), 0, "{taken:?}");
    let taken: serde_json::Value = serde_json::from_slice(&taken.stdout).expect("JSON");
    assert_eq!(taken["fence"], "000000000000001");
    assert_eq!(code(&leasehold(&url, &["lock", "acquire", "billing"]).await), 3);
    let lock_id = taken["lockId"].as_str().expect("an id");
    assert_eq!(code(&leasehold(&url, &["lock", "release", lock_id]).await), 0);
    assert_eq!(code(&leasehold(&url, &["lock", "release", lock_id]).await), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_server_makes_the_table_and_keeps_its_locks_there() {
    let cluster = Simulated::start(Level::L2026_09).await;
    let url = cluster.url();
    let locks = url.clone();
    let served = tokio::task::spawn_blocking(move || {
        let server = Server::start_on("memory:", &["--locks", &locks]);
        let acquire = ["lock", "acquire", "billing", "--ttl", "1h"];
        let taken = (0..TRIES_MAX).any(|_| server.run(&acquire).code == 0);
        assert!(taken, "the server never made the table");
        assert_eq!(server.run(&acquire).code, 3, "held");
        server
    });
    let server = served.await.expect("served");
    assert_eq!(
        code(&leasehold(&url, &["lock", "acquire", "billing"]).await),
        3,
        "held past the server as well"
    );
    drop(server);
}

#[tokio::test]
async fn printed_schema_builds_in_the_background_and_has_no_optional_columns() {
    let printed = leasehold("", &["schema", "print", "--dialect", "dsql"]).await;
    assert_eq!(code(&printed), 0);
    let script = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(script.contains("CREATE UNIQUE INDEX ASYNC IF NOT EXISTS"), "{script}");
    let refused = leasehold("", &["schema", "print", "--dialect", "dsql", "--optional-columns"]).await;
    assert_eq!(code(&refused), 2, "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn state_is_set_up_and_shown() {
    let cluster = Simulated::start(Level::L2026_09).await;
    let url = cluster.url();
    state_commands::schema_is_planned_applied_and_checked(&url, cluster.url_behind()).await;
    state_commands::what_is_kept_is_shown(&url, cluster.url_behind(), |id| format!("'{id}'::uuid")).await;
    task_queues_are_named_by_what_temporal_keeps(&url, cluster.url_behind()).await;
    // As 'leasehold dsql-sim' prints it: the URL does not say what it is.
    let plain = cluster.plain_url();
    let checked = leasehold("", &["schema", "check", "--store", &plain, "--dialect", "dsql", "--json"]).await;
    assert_eq!(code(&checked), 0, "{checked:?}");
}

/// Keys are hashed on DSQL; what Temporal keeps in a queue names it.
async fn task_queues_are_named_by_what_temporal_keeps(url: &str, behind: &str) {
    let namespace = "deadbeef-0123-4567-89ab-cdef00112233";
    state_commands::connect(behind)
        .await
        .batch_execute(&format!(
            "INSERT INTO task_queues VALUES
                 (1, '00000000-0000-4000-8000-000000000001', 7,
                  '\\x0a24'::bytea || '{namespace}'::bytea || '\\x12066f72646572731802'::bytea, 'Proto3'),
                 (2, '00000000-0000-4000-8000-000000000002', 8, '\\xff', 'Proto3')"
        ))
        .await
        .expect("inserts");
    let listed = state_commands::json(&["state", "task-queues", "--store", url, "--json"]).await;
    assert_eq!(
        listed["task_queues"],
        serde_json::json!([
            { "range_id": 7, "namespace_id": namespace, "name": "orders", "type": "activity" },
            { "range_id": 8, "namespace_id": null, "name": null, "type": null },
        ])
    );
    let text = leasehold("", &["state", "task-queues", "--store", url]).await;
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("orders") && text.contains('?'), "{text}");
}

#[tokio::test]
async fn printed_schema_of_state_is_the_one_of_its_dialect() {
    let postgres = leasehold("", &["schema", "print", "--face", "state"]).await;
    let dsql = leasehold("", &["schema", "print", "--face", "state", "--dialect", "dsql"]).await;
    let (postgres, dsql) = (
        String::from_utf8_lossy(&postgres.stdout).into_owned(),
        String::from_utf8_lossy(&dsql.stdout).into_owned(),
    );
    assert!(postgres.contains("namespace_id bytea"), "{postgres}");
    assert!(dsql.contains("namespace_id uuid") && dsql.contains("INDEX ASYNC"), "{dsql}");
    for refused in [
        ["schema", "print", "--face", "state", "--table-name", "other"].as_slice(),
        &["schema", "check", "--face", "locks", "--store", "postgres://nobody"],
        &["schema", "apply", "--dry-run", "--store", "postgres://nobody"],
        &["state", "shards"],
    ] {
        let output = leasehold("", refused).await;
        assert_eq!(code(&output), 2, "{refused:?}: {output:?}");
    }
}

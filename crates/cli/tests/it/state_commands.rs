//! The tables of state and what is in them, as an operator meets them: the real binary on a database.

use std::process::{Command, Output};

use serde_json::Value;
use tokio_postgres::{Client, NoTls};

async fn leasehold(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leasehold"));
    for name in ["LEASEHOLD_BACKEND", "LEASEHOLD_STATE_STORE"] {
        command.env_remove(name);
    }
    command.args(arguments);
    let ended = tokio::task::spawn_blocking(move || command.output()).await;
    ended.expect("not cancelled").expect("runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("ended by itself")
}

pub(crate) async fn json(arguments: &[&str]) -> Value {
    let output = leasehold(arguments).await;
    assert_eq!(code(&output), 0, "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

/// From nothing to tables that are as wanted, with every exit code on the way. `behind` is where the tables are when `url` is
/// a simulator.
pub(crate) async fn schema_is_planned_applied_and_checked(url: &str, behind: &str) {
    let on = |verb: &'static str| ["schema", verb, "--face", "state", "--store", url, "--json"];
    let empty = leasehold(&on("check")).await;
    assert_eq!(code(&empty), 3, "{empty:?}");
    let early = leasehold(&["state", "shards", "--store", url]).await;
    assert_eq!(code(&early), 2, "{early:?}");
    assert!(String::from_utf8_lossy(&early.stderr).contains("schema apply --face state"), "{early:?}");

    let dry_run = [on("apply").as_slice(), &["--dry-run"]].concat();
    let missing = json(&dry_run).await["missing"].as_array().expect("a list").len();
    assert!(missing > 40, "{missing}");
    let applied = json(&on("apply")).await;
    assert_eq!(applied["applied"].as_array().expect("a list").len(), missing, "what the dry run said");
    assert_eq!(json(&on("apply")).await["applied"], serde_json::json!([]));
    assert_eq!(json(&dry_run).await["missing"], serde_json::json!([]));
    let checked = json(&on("check")).await;
    assert_eq!((&checked["as_wanted"], &checked["version"]), (&true.into(), &"1.19".into()));

    connect(behind).await.batch_execute("DROP INDEX cm_idx_lasthb").await.expect("drops");
    let differs = leasehold(&on("check")).await;
    assert_eq!(code(&differs), 3, "{differs:?}");
    let differs: Value = serde_json::from_slice(&differs.stdout).expect("JSON");
    assert_eq!(differs["differences"][0]["kind"], "missing_index");
    assert_eq!(differs["differences"][0]["table"], "cluster_membership");
    assert_eq!(json(&on("apply")).await["applied"][0]["name"], "cm_idx_lasthb");
}

/// On a database with the tables in it. Ids are `bytea` or `uuid`, by the cast.
pub(crate) async fn what_is_kept_is_shown(url: &str, behind: &str, id: fn(&str) -> String) {
    let (namespace, run) = ("deadbeef-0123-4567-89ab-cdef00112233", "11111111-2222-4333-8444-555555555555");
    let (namespace_id, run_id) = (id(namespace), id(run));
    let key = format!("2, {namespace_id}, 'order-42'");
    connect(behind)
        .await
        .batch_execute(&format!(
            "INSERT INTO shards SELECT id, 40 + id, 'x', 'Proto3' FROM generate_series(1, 3) AS id;
             UPDATE shards SET data = '\\x08021a06686f73742d37' WHERE shard_id = 2;
             INSERT INTO namespaces VALUES (54321, {namespace_id}, 'default', 1, '', 'Proto3', false);
             INSERT INTO current_executions (shard_id, namespace_id, workflow_id, run_id, create_request_id, state, status,
                 start_time, last_write_version)
             VALUES ({key}, {run_id}, 'request', 2, 1, '2026-11-15 07:05:51', 5);
             INSERT INTO executions VALUES ({key}, {run_id}, 17, 5, '', 'Proto3', '', 'Proto3', 9);
             INSERT INTO timer_info_maps VALUES ({key}, {run_id}, 'a', ''), ({key}, {run_id}, 'b', '');
             INSERT INTO queue SELECT 1, id, '', 'Proto3' FROM generate_series(3, 7) AS id;
             INSERT INTO queue_metadata VALUES (1, '\\x0a060a026575100c', 'Proto3', 4), (-1, '', 'Proto3', 0);
             INSERT INTO queues VALUES (2, 'letters', '\\x0a0412020803', 'Proto3');
             INSERT INTO queue_messages SELECT 2, 'letters', 0, id, '', 'Proto3' FROM generate_series(2, 9) AS id"
        ))
        .await
        .expect("inserts");

    let state =
        async |arguments: &[&str]| json(&[&["state", "--store", url, "--json"], arguments].concat()).await;
    let page = state(&["shards", "--limit", "2"]).await;
    assert_eq!(
        page["shards"][1],
        serde_json::json!({ "shard_id": 2, "range_id": 42, "owner": "host-7", "data_bytes": 10 })
    );
    assert_eq!(page["shards"][0]["owner"], Value::Null, "what cannot be read tells no owner");
    assert_eq!(page["next"], 2);
    let page = state(&["shards", "--after", "2", "--limit", "2"]).await;
    assert_eq!((page["shards"].as_array().expect("a list").len(), &page["next"]), (1, &Value::Null));

    for arguments in [vec!["default", "order-42"], vec![namespace, "order-42", run]] {
        let shown = state(&[&["execution"], arguments.as_slice()].concat()).await;
        assert_eq!(shown["run_id"], run);
        for (name, value) in [
            ("shard_id", 2),
            ("range_id", 42),
            ("next_event_id", 17),
            ("db_record_version", 9),
            ("last_write_version", 5),
        ] {
            assert_eq!(shown[name], value, "{name}: {shown}");
        }
        assert_eq!((&shown["maps"]["timers"], &shown["maps"]["activities"]), (&2.into(), &0.into()));
        assert_eq!(
            (&shown["current"]["state"], &shown["current"]["status"]),
            (&"running".into(), &"running".into())
        );
        assert_eq!(shown["current"]["started_at"], "2026-11-15T07:05:51Z");
    }
    let queues = state(&["queues"]).await;
    assert_eq!(queues["queues"][0]["holds_dead_letters"], true);
    let replication = &queues["queues"][1];
    assert_eq!((&replication["depth"], &replication["last_message_id"]), (&5.into(), &7.into()));
    assert_eq!((&replication["ack_levels"]["eu"], &replication["version"]), (&12.into(), &4.into()));
    let letters = &queues["named_queues"][0];
    assert_eq!(
        (&letters["name"], &letters["depth"], &letters["min_message_id"]),
        (&"letters".into(), &7.into(), &3.into())
    );

    for (arguments, words) in [
        (["execution", "nobody", "order-42"], "no namespace has that name"),
        (["execution", "default", "order-43"], "no current execution by that name"),
    ] {
        let none = leasehold(&[&["state", "--store", url], arguments.as_slice()].concat()).await;
        assert_eq!(code(&none), 2, "{none:?}");
        assert!(String::from_utf8_lossy(&none.stderr).contains(words), "{none:?}");
    }
    let text = leasehold(&["state", "execution", "default", "order-42", "--store", url]).await;
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("record version") && text.contains("this one"), "{text}");
}

/// Names are part of the key on PostgreSQL alone.
pub(crate) async fn task_queues_are_listed_by_name(url: &str) {
    let rows = ["orders\\001", "orders\\002", "mail\\001"].iter().enumerate().map(|(hash, id)| {
        format!("({hash}, decode(repeat('ab', 16), 'hex') || '{id}'::bytea, {}, '', 'Proto3')", hash + 7)
    });
    let rows = rows.collect::<Vec<_>>().join(", ");
    connect(url)
        .await
        .batch_execute(&format!("INSERT INTO task_queues VALUES {rows}"))
        .await
        .expect("inserts");
    let mut listed = Vec::new();
    let mut after = None;
    loop {
        let mut arguments = vec!["state", "task-queues", "--store", url, "--json", "--limit", "2"];
        arguments.extend(after.iter().flat_map(|after: &String| ["--after", after.as_str()]));
        let page = json(&arguments).await;
        for queue in page["task_queues"].as_array().expect("a list") {
            listed.push(format!("{} {} {}", queue["name"], queue["type"], queue["range_id"]));
        }
        match page["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(listed, [r#""orders" "workflow" 7"#, r#""orders" "activity" 8"#, r#""mail" "workflow" 9"#]);
    let second = json(&["state", "task-queues", "--fair", "--store", url, "--json"]).await;
    assert_eq!(second["task_queues"], serde_json::json!([]));
    let wrong = leasehold(&["state", "task-queues", "--after", "here", "--store", url]).await;
    assert_eq!(code(&wrong), 2, "{wrong:?}");
}

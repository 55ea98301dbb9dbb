//! The tables: made once by however many, told apart from others, and left alone where Temporal made them.

use std::time::Duration;

use leasehold_persistence::{Config, Difference, Error, Schema, Shards, VERSION};
use tokio::sync::mpsc;

use crate::fixture::Place;

/// Cases that begin with nothing in the database.
macro_rules! schema_cases {
    ($target:ident) => {
        $target!(
            schema:
            apply_makes_what_check_wants,
            apply_again_has_nothing_to_do,
            eight_who_apply_at_once_make_everything_once,
            apply_that_was_killed_is_continued_by_the_next,
            every_difference_is_named,
            what_others_keep_beside_is_no_difference,
            table_of_somebody_else_is_refused_and_no_version_recorded,
            older_version_is_left_to_temporals_own_tool,
            database_of_temporal_opens_unchanged,
        );
    };
}

pub(crate) fn schema(place: &Place) -> Schema {
    Schema::of(place.pool().dialect())
}

pub(crate) async fn differences(place: &Place) -> Vec<Difference> {
    schema(place).check(&place.pool()).await.expect("a look").differences
}

pub(crate) async fn expect_complete(place: &Place) {
    assert_eq!(differences(place).await, []);
    assert_eq!(schema(place).plan(&place.pool()).await.expect("a plan"), []);
    let outside = place.outside().await;
    let count = "SELECT (SELECT count(*) FROM schema_version), (SELECT count(*) FROM schema_update_history)";
    let row = outside.query_one(count, &[]).await.expect("counts");
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (1, 1), "recorded once");
}

pub(crate) async fn change(place: &Place, sql: &str) {
    let changed = place.outside().await.batch_execute(sql).await;
    changed.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

/// All that a catalogue tells of tables, columns and indexes, and the rows of the version.
async fn fingerprint(place: &Place) -> String {
    let sql = "
        SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
            SELECT attrelid::regclass || ' ' || attname || ' ' || format_type(atttypid, atttypmod) || attnotnull || atthasdef
              FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
             WHERE relnamespace = current_schema()::regnamespace AND attnum > 0
            UNION ALL SELECT pg_get_indexdef(indexrelid) || indisvalid
              FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
             WHERE relnamespace = current_schema()::regnamespace
            UNION ALL SELECT schema_version::text FROM schema_version
            UNION ALL SELECT schema_update_history::text FROM schema_update_history
            UNION ALL SELECT namespace_metadata::text FROM namespace_metadata
        ) AS lines (line)";
    place.outside().await.query_one(sql, &[]).await.expect("a fingerprint").get(0)
}

pub(crate) async fn apply_makes_what_check_wants(place: &Place) {
    let (schema, pool) = (schema(place), place.pool());
    let missing = differences(place).await;
    let tables = missing.iter().filter(|difference| matches!(difference, Difference::MissingTable { .. }));
    assert_eq!(tables.count(), 39);
    let plan = schema.plan(&pool).await.expect("a plan");
    assert_eq!(plan, schema.steps(), "all is missing, and planning changed nothing");

    let mut told = Vec::new();
    let applied = schema.apply_with(&pool, |progress| {
        assert_eq!((progress.number, progress.total), (told.len() + 1, plan.len()));
        told.push(progress.step.clone());
    });
    applied.await.expect("the tables");
    assert_eq!(told, plan);
    expect_complete(place).await;

    let outside = place.outside().await;
    let sql = "SELECT curr_version, min_compatible_version, db_name = current_database() FROM schema_version";
    let row = outside.query_one(sql, &[]).await.expect("a version");
    assert_eq!((row.get::<_, &str>(0), row.get::<_, &str>(1), row.get::<_, bool>(2)), (VERSION, "1.0", true));
}

pub(crate) async fn apply_again_has_nothing_to_do(place: &Place) {
    let (schema, pool) = (schema(place), place.pool());
    schema.apply(&pool).await.expect("the tables");
    let before = fingerprint(place).await;
    let again = schema.apply_with(&pool, |progress| panic!("{} was there", progress.step));
    again.await.expect("nothing to do");
    assert_eq!(fingerprint(place).await, before);
}

pub(crate) async fn eight_who_apply_at_once_make_everything_once(place: &Place) {
    let appliers: Vec<_> = (0..8)
        .map(|_| {
            let (schema, pool) = (schema(place), place.pool_of(2));
            tokio::spawn(async move { schema.apply(&pool).await })
        })
        .collect();
    for applier in appliers {
        applier.await.expect("no panic").expect("the tables");
    }
    expect_complete(place).await;
}

pub(crate) async fn apply_that_was_killed_is_continued_by_the_next(place: &Place) {
    let steps = schema(place).steps().len();
    for stop_at in [2, steps / 2, steps - 1] {
        let (schema, pool) = (schema(place), place.pool_of(2));
        let (tell, mut told) = mpsc::unbounded_channel();
        let applier = tokio::spawn(async move {
            schema.apply_with(&pool, |progress| tell.send(progress.number).expect("somebody listens")).await
        });
        // Each run goes that many steps further than the one before; the last may find fewer to take.
        while let Some(number) = told.recv().await {
            if number == stop_at {
                break;
            }
        }
        applier.abort();
        let _ = applier.await;
    }
    schema(place).apply(&place.pool()).await.expect("the rest");
    expect_complete(place).await;
}

pub(crate) async fn every_difference_is_named(place: &Place) {
    schema(place).apply(&place.pool()).await.expect("the tables");
    for (sql, wanted) in [
        (
            "ALTER TABLE executions DROP COLUMN db_record_version",
            "table executions lacks the column db_record_version bigint",
        ),
        (
            "ALTER TABLE tasks ALTER COLUMN task_id TYPE integer",
            "column task_id of table tasks is integer, not bigint",
        ),
        (
            "ALTER TABLE queues ALTER COLUMN queue_name TYPE varchar(10)",
            "column queue_name of table queues is character varying(10), not character varying(255)",
        ),
        (
            "ALTER TABLE timer_info_maps ALTER COLUMN data_encoding SET NOT NULL",
            "column data_encoding of table timer_info_maps may not be null, but is left null",
        ),
        (
            "ALTER TABLE history_node ALTER COLUMN prev_txn_id DROP DEFAULT",
            "column prev_txn_id of table history_node has no default",
        ),
        (
            "ALTER TABLE history_tree ADD COLUMN colour text NOT NULL",
            "table history_tree has a column colour that must be given and is not known here",
        ),
        (
            "ALTER TABLE transfer_tasks DROP CONSTRAINT transfer_tasks_pkey, ADD PRIMARY KEY (task_id, shard_id)",
            "the primary key of table transfer_tasks is (task_id, shard_id), not (shard_id, task_id)",
        ),
        (
            "ALTER TABLE namespaces DROP CONSTRAINT namespaces_name_key",
            "table namespaces has no valid unique index on (name)",
        ),
        ("DROP INDEX cm_idx_lasthb", "table cluster_membership has no valid index on (last_heartbeat)"),
        ("DROP TABLE nexus_endpoints", "table nexus_endpoints is missing"),
        ("DELETE FROM namespace_metadata", "table namespace_metadata lacks its row"),
        (
            "UPDATE schema_version SET curr_version = '1.9'",
            "the recorded version of the schema is 1.9, not 1.19 or later",
        ),
    ] {
        let before: Vec<String> = differences(place).await.iter().map(ToString::to_string).collect();
        change(place, sql).await;
        let after: Vec<String> = differences(place).await.iter().map(ToString::to_string).collect();
        let new: Vec<_> = after.iter().filter(|difference| !before.contains(difference)).collect();
        assert_eq!(new, [wanted], "{sql}");
    }
}

pub(crate) async fn what_others_keep_beside_is_no_difference(place: &Place) {
    schema(place).apply(&place.pool()).await.expect("the tables");
    change(
        place,
        "CREATE TABLE bystander (id integer PRIMARY KEY);
         CREATE INDEX bystander_index ON tasks (task_id);
         ALTER TABLE tasks ADD COLUMN colour text;
         ALTER TABLE executions ALTER COLUMN workflow_id TYPE varchar(1000)",
    )
    .await;
    let report = schema(place).check(&place.pool()).await.expect("a look");
    assert_eq!(report.differences, []);
    assert_eq!(
        report.notes,
        [
            "column workflow_id of table executions is character varying(1000)",
            "table tasks has a column colour more"
        ]
    );
}

pub(crate) async fn table_of_somebody_else_is_refused_and_no_version_recorded(place: &Place) {
    // The queues of Leasehold and of Querator have a table of this name too.
    change(place, "CREATE TABLE queues (name text PRIMARY KEY)").await;
    let error = schema(place).apply(&place.pool()).await.expect_err("somebody else's table");
    assert!(matches!(error, Error::BadSchema { .. }), "{error:?}");
    assert!(error.to_string().contains("table queues lacks the column queue_type integer"), "{error}");
    let outside = place.outside().await;
    let versions = outside.query("SELECT 1 FROM schema_version", &[]).await.expect("a table");
    assert!(versions.is_empty(), "not recorded over tables that are wrong");
}

pub(crate) async fn older_version_is_left_to_temporals_own_tool(place: &Place) {
    schema(place).apply(&place.pool()).await.expect("the tables");
    change(place, "UPDATE schema_version SET curr_version = '1.17'; DROP TABLE current_chasm_executions")
        .await;
    let before = fingerprint(place).await;
    for refused in
        [schema(place).plan(&place.pool()).await.map(drop), schema(place).apply(&place.pool()).await]
    {
        let error = refused.expect_err("an old version");
        assert!(error.to_string().contains("in version 1.17"), "{error}");
        assert_eq!(error.code(), "state.bad_schema");
    }
    assert_eq!(fingerprint(place).await, before);
}

/// What years of Temporal's own upgrades leave behind: tables of former versions, columns that were made looser, a constraint
/// of another name, a version for each step.
pub(crate) async fn database_of_temporal_opens_unchanged(place: &Place) {
    schema(place).apply(&place.pool()).await.expect("the tables");
    change(
        place,
        "CREATE TABLE tiered_storage_tasks (shard_id integer, task_id bigint, PRIMARY KEY (shard_id, task_id));
         ALTER TABLE current_executions ALTER COLUMN data_encoding DROP NOT NULL, ALTER COLUMN data_encoding DROP DEFAULT;
         ALTER TABLE current_executions ALTER COLUMN workflow_id TYPE varchar(1000);
         ALTER TABLE nexus_endpoints_partition_status DROP CONSTRAINT nexus_endpoints_partition_status_id_check,
               ADD CONSTRAINT only_one_row CHECK (id = 0);
         UPDATE schema_version SET curr_version = '1.20';
         INSERT INTO schema_update_history (version_partition, year, month, update_time, old_version, new_version)
         VALUES (0, 2026, 8, '2026-08-21', '1.19', '1.20');
         UPDATE namespace_metadata SET notification_version = 17;
         INSERT INTO shards (shard_id, range_id, data, data_encoding) VALUES (1, 41, '\\x01', 'Proto3')",
    )
    .await;
    let before = fingerprint(place).await;
    let pool = place.pool();
    assert_eq!(differences(place).await, []);
    schema(place).apply(&pool).await.expect("nothing to do");
    let config = Config { timeout: Duration::from_secs(60), ..Config::new(pool.dialect()) };
    let database = place.open(pool, config).await.expect("a database");
    let shard = Shards::new(database).get(1).await.expect("a shard");
    assert_eq!(shard.range_id, 41);
    assert_eq!(fingerprint(place).await, before);
}

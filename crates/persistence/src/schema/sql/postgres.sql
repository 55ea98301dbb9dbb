-- Temporal's tables of PostgreSQL v12, as they are. One statement ends where a line ends in a semicolon.

CREATE TABLE IF NOT EXISTS shards (
    shard_id integer NOT NULL,
    range_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id)
);

CREATE TABLE IF NOT EXISTS executions (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    next_event_id bigint NOT NULL,
    last_write_version bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    state bytea NOT NULL,
    state_encoding varchar(16) NOT NULL,
    db_record_version bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id)
);

CREATE TABLE IF NOT EXISTS current_executions (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    create_request_id varchar(255) NOT NULL,
    state integer NOT NULL,
    status integer NOT NULL,
    start_version bigint NOT NULL DEFAULT 0,
    start_time timestamp NULL,
    last_write_version bigint NOT NULL,
    data bytea NULL,
    data_encoding varchar(16) NOT NULL DEFAULT '',
    PRIMARY KEY (shard_id, namespace_id, workflow_id)
);

CREATE TABLE IF NOT EXISTS current_chasm_executions (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    business_id varchar(255) NOT NULL,
    archetype_id bigint NOT NULL,
    run_id bytea NOT NULL,
    create_request_id varchar(255) NOT NULL,
    state integer NOT NULL,
    status integer NOT NULL,
    start_version bigint NOT NULL DEFAULT 0,
    start_time timestamp NULL,
    last_write_version bigint NOT NULL,
    data bytea NULL,
    data_encoding varchar(16) NOT NULL DEFAULT '',
    PRIMARY KEY (shard_id, namespace_id, business_id, archetype_id)
);

CREATE TABLE IF NOT EXISTS activity_info_maps (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    schedule_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16),
    PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, schedule_id)
);

CREATE TABLE IF NOT EXISTS timer_info_maps (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    timer_id varchar(255) NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16),
    PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, timer_id)
);

CREATE TABLE IF NOT EXISTS child_execution_info_maps (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    initiated_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16),
    PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, initiated_id)
);

CREATE TABLE IF NOT EXISTS request_cancel_info_maps (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    initiated_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16),
    PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, initiated_id)
);

CREATE TABLE IF NOT EXISTS signal_info_maps (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    initiated_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16),
    PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, initiated_id)
);

CREATE TABLE IF NOT EXISTS signals_requested_sets (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    signal_id varchar(255) NOT NULL,
    PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, signal_id)
);

CREATE TABLE IF NOT EXISTS chasm_node_maps (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    chasm_path bytea NOT NULL,
    metadata bytea NOT NULL,
    metadata_encoding varchar(16),
    data bytea,
    data_encoding varchar(16),
    PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, chasm_path)
);

CREATE TABLE IF NOT EXISTS buffered_events (
    shard_id integer NOT NULL,
    namespace_id bytea NOT NULL,
    workflow_id varchar(255) NOT NULL,
    run_id bytea NOT NULL,
    id bigserial NOT NULL UNIQUE,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, id)
);

CREATE TABLE IF NOT EXISTS transfer_tasks (
    shard_id integer NOT NULL,
    task_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id, task_id)
);

CREATE TABLE IF NOT EXISTS timer_tasks (
    shard_id integer NOT NULL,
    visibility_timestamp timestamp NOT NULL,
    task_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id, visibility_timestamp, task_id)
);

CREATE TABLE IF NOT EXISTS replication_tasks (
    shard_id integer NOT NULL,
    task_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id, task_id)
);

CREATE TABLE IF NOT EXISTS visibility_tasks (
    shard_id integer NOT NULL,
    task_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id, task_id)
);

CREATE TABLE IF NOT EXISTS history_immediate_tasks (
    shard_id integer NOT NULL,
    category_id integer NOT NULL,
    task_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id, category_id, task_id)
);

CREATE TABLE IF NOT EXISTS history_scheduled_tasks (
    shard_id integer NOT NULL,
    category_id integer NOT NULL,
    visibility_timestamp timestamp NOT NULL,
    task_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id, category_id, visibility_timestamp, task_id)
);

CREATE TABLE IF NOT EXISTS replication_tasks_dlq (
    source_cluster_name varchar(255) NOT NULL,
    shard_id integer NOT NULL,
    task_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (source_cluster_name, shard_id, task_id)
);

CREATE TABLE IF NOT EXISTS history_node (
    shard_id integer NOT NULL,
    tree_id bytea NOT NULL,
    branch_id bytea NOT NULL,
    node_id bigint NOT NULL,
    txn_id bigint NOT NULL,
    prev_txn_id bigint NOT NULL DEFAULT 0,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id, tree_id, branch_id, node_id, txn_id)
);

CREATE TABLE IF NOT EXISTS history_tree (
    shard_id integer NOT NULL,
    tree_id bytea NOT NULL,
    branch_id bytea NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (shard_id, tree_id, branch_id)
);

CREATE TABLE IF NOT EXISTS task_queues (
    range_hash bigint NOT NULL,
    task_queue_id bytea NOT NULL,
    range_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (range_hash, task_queue_id)
);

CREATE TABLE IF NOT EXISTS task_queues_v2 (
    range_hash bigint NOT NULL,
    task_queue_id bytea NOT NULL,
    range_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (range_hash, task_queue_id)
);

CREATE TABLE IF NOT EXISTS tasks (
    range_hash bigint NOT NULL,
    task_queue_id bytea NOT NULL,
    task_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (range_hash, task_queue_id, task_id)
);

CREATE TABLE IF NOT EXISTS tasks_v2 (
    range_hash bigint NOT NULL,
    task_queue_id bytea NOT NULL,
    pass bigint NOT NULL,
    task_id bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    PRIMARY KEY (range_hash, task_queue_id, pass, task_id)
);

CREATE TABLE IF NOT EXISTS task_queue_user_data (
    namespace_id bytea NOT NULL,
    task_queue_name varchar(255) NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (namespace_id, task_queue_name)
);

CREATE TABLE IF NOT EXISTS build_id_to_task_queue (
    namespace_id bytea NOT NULL,
    build_id varchar(255) NOT NULL,
    task_queue_name varchar(255) NOT NULL,
    PRIMARY KEY (namespace_id, build_id, task_queue_name)
);

CREATE TABLE IF NOT EXISTS namespaces (
    partition_id integer NOT NULL,
    id bytea NOT NULL,
    name varchar(255) NOT NULL UNIQUE,
    notification_version bigint NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    is_global boolean NOT NULL,
    PRIMARY KEY (partition_id, id)
);

CREATE TABLE IF NOT EXISTS namespace_metadata (
    partition_id integer NOT NULL,
    notification_version bigint NOT NULL,
    PRIMARY KEY (partition_id)
);

CREATE TABLE IF NOT EXISTS queue (
    queue_type integer NOT NULL,
    message_id bigint NOT NULL,
    message_payload bytea NOT NULL,
    message_encoding varchar(16) NOT NULL,
    PRIMARY KEY (queue_type, message_id)
);

CREATE TABLE IF NOT EXISTS queue_metadata (
    queue_type integer NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (queue_type)
);

CREATE TABLE IF NOT EXISTS queues (
    queue_type integer NOT NULL,
    queue_name varchar(255) NOT NULL,
    metadata_payload bytea NOT NULL,
    metadata_encoding varchar(16) NOT NULL,
    PRIMARY KEY (queue_type, queue_name)
);

CREATE TABLE IF NOT EXISTS queue_messages (
    queue_type integer NOT NULL,
    queue_name varchar(255) NOT NULL,
    queue_partition bigint NOT NULL,
    message_id bigint NOT NULL,
    message_payload bytea NOT NULL,
    message_encoding varchar(16) NOT NULL,
    PRIMARY KEY (queue_type, queue_name, queue_partition, message_id)
);

CREATE TABLE IF NOT EXISTS cluster_metadata_info (
    metadata_partition integer NOT NULL,
    cluster_name varchar(255) NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (metadata_partition, cluster_name)
);

CREATE TABLE IF NOT EXISTS cluster_membership (
    membership_partition integer NOT NULL,
    host_id bytea NOT NULL,
    rpc_address varchar(128) NOT NULL,
    rpc_port smallint NOT NULL,
    role smallint NOT NULL,
    session_start timestamp DEFAULT '1970-01-01 00:00:01',
    last_heartbeat timestamp DEFAULT '1970-01-01 00:00:01',
    record_expiry timestamp DEFAULT '1970-01-01 00:00:01',
    PRIMARY KEY (membership_partition, host_id)
);

CREATE UNIQUE INDEX IF NOT EXISTS cm_idx_rolehost ON cluster_membership (role, host_id);

CREATE INDEX IF NOT EXISTS cm_idx_rolelasthb ON cluster_membership (role, last_heartbeat);

CREATE INDEX IF NOT EXISTS cm_idx_rpchost ON cluster_membership (rpc_address, role);

CREATE INDEX IF NOT EXISTS cm_idx_lasthb ON cluster_membership (last_heartbeat);

CREATE INDEX IF NOT EXISTS cm_idx_recordexpiry ON cluster_membership (record_expiry);

CREATE TABLE IF NOT EXISTS nexus_endpoints (
    id bytea NOT NULL,
    data bytea NOT NULL,
    data_encoding varchar(16) NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE IF NOT EXISTS nexus_endpoints_partition_status (
    id integer NOT NULL DEFAULT 0 CHECK (id = 0),
    version bigint NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE IF NOT EXISTS schema_version (
    version_partition integer NOT NULL,
    db_name varchar(255) NOT NULL,
    creation_time timestamp,
    curr_version varchar(64),
    min_compatible_version varchar(64),
    PRIMARY KEY (version_partition, db_name)
);

CREATE TABLE IF NOT EXISTS schema_update_history (
    version_partition integer NOT NULL,
    year integer NOT NULL,
    month integer NOT NULL,
    update_time timestamp NOT NULL,
    description varchar(255),
    manifest_md5 varchar(64),
    new_version varchar(64),
    old_version varchar(64),
    PRIMARY KEY (version_partition, year, month, update_time)
);

INSERT INTO namespace_metadata (partition_id, notification_version) VALUES (54321, 1) ON CONFLICT (partition_id) DO NOTHING;

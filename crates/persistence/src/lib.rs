//! Temporal's SQL persistence as typed stores, on PostgreSQL and on Aurora DSQL.
//!
//! [`Database::open`] looks at the catalogue and chooses how shards are fenced; the stores of the nouns are made from it. A
//! writer brings the token it knows (a range id, a record version, a notification version) and either its write happens
//! with that token still in force, or an error says which token differs. [`Error::UnknownOutcome`] alone leaves open
//! whether a write happened.
//!
//! Blobs are the caller's: they are stored as they come, with the name of their encoding.

mod allocate;
mod batch;
mod blob;
mod bounds;
mod cluster;
mod database;
mod delete_in_batches;
mod error;
mod execution;
mod fence_mode;
mod history;
mod history_task;
mod id;
mod inspect;
mod named_queue;
mod namespace;
mod nexus;
mod page;
mod page_key;
mod queue;
mod replication_dead_letters;
mod schema;
mod shard;
mod sql;
mod task_queue;
mod time;
mod user_data;

pub use blob::{Blob, ENCODING_LEN_MAX};
pub use bounds::NAME_LEN_MAX;
pub use cluster::{ClusterMember, ClusterMetadata, ClusterMetadatas, Heartbeat, MemberFilter, Membership};
pub use database::{Config, Database};
pub use error::{Error, Result};
pub use execution::{
    Archetype, ChasmNode, ChasmPath, ConflictResolution, ConflictResolveMode, CreateExecution, CreateMode,
    CurrentConflict, CurrentExecution, CurrentKey, ExecutionKey, ExecutionState, ExecutionStatus, Executions,
    MapKeys, Maps, MutableState, Mutation, Record, RequestIdInfo, Run, SetExecution, Snapshot, Summary,
    UpdateExecution, UpdateMode, WorkflowId,
};
pub use fence_mode::FenceMode;
pub use history::{
    AppendNode, Branch, BranchRange, Chain, History, HistoryNode, NodeInfo, Order, ReadBranch, TreeBranch,
};
pub use history_task::{Category, HistoryTask, HistoryTaskKey, HistoryTaskRange, HistoryTasks};
pub use id::{BranchId, EndpointId, HostId, NamespaceId, RunId, TreeId};
pub use inspect::{CurrentRun, ExecutionTokens, Inspector, MapSize, QueueDepth, QueueDepths, ShardRange};
pub use named_queue::{NamedQueue, NamedQueueKey, NamedQueues};
pub use namespace::{Namespace, NamespaceBy, NamespaceRecord, Namespaces};
pub use nexus::{Endpoint, EndpointPage, Endpoints};
pub use page::{PAGE_SIZE_MAX, Page, PageSize, PageToken};
pub use queue::{AckLevels, DeadLetters, Message, Queue, QueueType};
pub use replication_dead_letters::ReplicationDeadLetters;
pub use schema::{Difference, Progress, Report, Schema, Step, VERSION};
pub use shard::{Shard, ShardId, ShardLease, Shards};
pub use task_queue::{
    GetTasks, Lease, ListedTaskQueue, NewTask, SubQueue, TASK_QUEUE_NAME_LEN_MAX, TASKS_MAX, Task, TaskLevel,
    TaskQueue, TaskQueueKey, TaskQueues, TaskType,
};
pub use user_data::{ListedUserData, USER_DATA_UPDATES_MAX, UserData, UserDataStore, UserDataUpdate};

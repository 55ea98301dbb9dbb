//! The contract, a file per noun: each case runs on every database. Its macro lists the cases of a file for the databases.

#[macro_use]
pub(crate) mod cluster_metadata;
#[macro_use]
pub(crate) mod execution;
#[macro_use]
pub(crate) mod execution_conflicts;
#[macro_use]
pub(crate) mod execution_contention;
#[macro_use]
pub(crate) mod execution_faults;
#[macro_use]
pub(crate) mod execution_model;
#[macro_use]
pub(crate) mod fence;
#[macro_use]
pub(crate) mod history;
#[macro_use]
pub(crate) mod history_faults;
#[macro_use]
pub(crate) mod history_task;
#[macro_use]
pub(crate) mod membership;
#[macro_use]
pub(crate) mod named_queue;
#[macro_use]
pub(crate) mod namespace;
#[macro_use]
pub(crate) mod nexus;
#[macro_use]
pub(crate) mod queue;
#[macro_use]
pub(crate) mod schema;
#[macro_use]
pub(crate) mod shard;
#[macro_use]
pub(crate) mod task_queue;
#[macro_use]
pub(crate) mod user_data;
#[macro_use]
pub(crate) mod whole_writes;

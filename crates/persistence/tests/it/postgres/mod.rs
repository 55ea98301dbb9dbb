//! The contract on PostgreSQL.

pub(crate) mod properties;
mod served_by_temporal;

macro_rules! on_postgres {
    ($noun:ident: $($case:ident),* $(,)?) => {
        mod $noun {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs PostgreSQL: cargo xtask test postgres"]
            async fn $case() {
                crate::cases::$noun::$case(&crate::fixture::Fixture::postgres().await).await;
            }
        )*}
    };
}

cluster_metadata_cases!(on_postgres);
execution_cases!(on_postgres);
execution_contention_cases!(on_postgres);
execution_fault_cases!(on_postgres);
execution_model_cases!(on_postgres);
fence_cases!(on_postgres);
membership_cases!(on_postgres);
named_queue_cases!(on_postgres);
namespace_cases!(on_postgres);
nexus_cases!(on_postgres);
queue_cases!(on_postgres);
history_cases!(on_postgres);

/// Where nothing is made yet.
macro_rules! on_empty_postgres {
    ($noun:ident: $($case:ident),* $(,)?) => {
        mod $noun {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs PostgreSQL: cargo xtask test postgres"]
            async fn $case() {
                crate::cases::$noun::$case(&crate::fixture::Place::postgres().await).await;
            }
        )*}
    };
}

schema_cases!(on_empty_postgres);
shard_cases!(on_postgres);
history_task_cases!(on_postgres);
task_queue_cases!(on_postgres);
user_data_cases!(on_postgres);
whole_write_cases!(on_postgres);

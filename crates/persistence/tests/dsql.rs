//! The contract on DSQL, simulated: as clusters were in 2025-05, and as they are since 2026-09.

#[macro_use]
mod cases;
mod fixture;
mod properties;
mod properties_dsql;
mod reads;
mod schema_dsql;
mod writes;

macro_rules! on_dsql {
    ($noun:ident: $($case:ident),* $(,)?) => {
        mod $noun {
            use leasehold_txn::DsqlLevel;

            use crate::fixture::Fixture;
            $(
            mod $case {
                use super::*;

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                #[ignore = "needs PostgreSQL: cargo xtask test dsql"]
                async fn at_2025_05() {
                    crate::cases::$noun::$case(&Fixture::dsql(DsqlLevel::UpdateOnly).await).await;
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                #[ignore = "needs PostgreSQL: cargo xtask test dsql"]
                async fn at_2026_09() {
                    crate::cases::$noun::$case(&Fixture::dsql(DsqlLevel::KeyShare).await).await;
                }
            }
            )*
        }
    };
}

cluster_metadata_cases!(on_dsql);
execution_cases!(on_dsql);
execution_conflict_cases!(on_dsql);
execution_contention_cases!(on_dsql);
execution_fault_cases!(on_dsql);
execution_model_cases!(on_dsql);
fence_cases!(on_dsql);
membership_cases!(on_dsql);
named_queue_cases!(on_dsql);
namespace_cases!(on_dsql);
nexus_cases!(on_dsql);
queue_cases!(on_dsql);
history_cases!(on_dsql);
history_fault_cases!(on_dsql);

/// Where nothing is made yet. What is made is the same at both levels.
macro_rules! on_empty_dsql {
    ($noun:ident: $($case:ident),* $(,)?) => {
        mod $noun {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs PostgreSQL: cargo xtask test dsql"]
            async fn $case() {
                let place = crate::fixture::Place::dsql(leasehold_txn::DsqlLevel::UpdateOnly).await;
                crate::cases::$noun::$case(&place).await;
            }
        )*}
    };
}

schema_cases!(on_empty_dsql);
shard_cases!(on_dsql);
history_task_cases!(on_dsql);
task_queue_cases!(on_dsql);
user_data_cases!(on_dsql);
whole_write_cases!(on_dsql);

//! The contract on DSQL, simulated: as clusters were in 2025-05, and as they are since 2026-09.

pub(crate) mod properties;
pub(crate) mod schema_faults;

/// Cases in which a shard is fenced: `FOR UPDATE` at the one level, `FOR KEY SHARE` at the other.
macro_rules! at_both_levels {
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

/// Cases that send the same statements at both levels, which
/// [`every_operation_uses_only_what_dsql_has`](properties::locking) shows to be taken at both: the rules are all that the
/// levels of the simulator differ in.
macro_rules! at_newest_level {
    ($noun:ident: $($case:ident),* $(,)?) => {
        mod $noun {
            $(
            mod $case {
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                #[ignore = "needs PostgreSQL: cargo xtask test dsql"]
                async fn at_2026_09() {
                    let fixture = crate::fixture::Fixture::dsql(leasehold_txn::DsqlLevel::KeyShare).await;
                    crate::cases::$noun::$case(&fixture).await;
                }
            }
            )*
        }
    };
}

execution_cases!(at_both_levels);
execution_conflict_cases!(at_both_levels);
execution_contention_cases!(at_both_levels);
execution_fault_cases!(at_both_levels);
execution_model_cases!(at_both_levels);
fence_cases!(at_both_levels);
shard_cases!(at_both_levels);
whole_write_cases!(at_both_levels);

cluster_metadata_cases!(at_newest_level);
history_cases!(at_newest_level);
history_fault_cases!(at_newest_level);
history_task_cases!(at_newest_level);
membership_cases!(at_newest_level);
named_queue_cases!(at_newest_level);
namespace_cases!(at_newest_level);
nexus_cases!(at_newest_level);
queue_cases!(at_newest_level);
task_queue_cases!(at_newest_level);
user_data_cases!(at_newest_level);

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

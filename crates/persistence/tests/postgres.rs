//! The contract on PostgreSQL.

#[macro_use]
mod cases;
mod fixture;

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

execution_cases!(on_postgres);
execution_contention_cases!(on_postgres);
execution_fault_cases!(on_postgres);
execution_model_cases!(on_postgres);
fence_cases!(on_postgres);
history_cases!(on_postgres);
shard_cases!(on_postgres);

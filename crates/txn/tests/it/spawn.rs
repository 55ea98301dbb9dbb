//! The future of `run` can go to another thread, with what a store would capture.

use std::sync::Arc;

use leasehold_txn::{Abort, Failure, Parameters, Policy, Pool, run};

use crate::fixture::{Fixture, TEST};

#[derive(Debug, PartialEq)]
struct Taken {
    by: i64,
}

struct Request {
    owner: i64,
    tags: Vec<String>,
}

struct Store {
    pool: Pool,
    policy: Policy,
}

type Answer<'a> = std::pin::Pin<Box<dyn Future<Output = Result<i64, Failure<Taken>>> + Send + 'a>>;

impl Store {
    /// As `async_trait` has it: a boxed future that must be `Send`, over borrowed arguments.
    fn acquire<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        Box::pin(async move {
            let owner = &request.owner;
            run(&self.pool, TEST, &self.policy, |tx| {
                Box::pin(async move {
                    let parameters: Parameters<'_> = &[&request.tags];
                    let (row, _) = futures_util::try_join!(
                        tx.query_one("SELECT owner FROM counter WHERE id = 1 FOR UPDATE", &[]),
                        tx.query("SELECT $1::text[]", parameters),
                    )?;
                    if let Some(by) = row.try_get::<_, Option<i64>>(0)? {
                        return Err(Abort::Condition(Taken { by }));
                    }
                    tx.execute("UPDATE counter SET owner = $1 WHERE id = 1", &[owner]).await?;
                    Ok(*owner)
                })
            })
            .await
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn run_can_be_spawned_with_borrowed_captures() {
    let fixture = Fixture::start().await;
    let store = Arc::new(Store { pool: fixture.pool(), policy: Policy::none() });
    let acquire = |owner| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.acquire(&Request { owner, tags: vec!["a".to_owned()] }).await })
    };
    assert_eq!(acquire(7).await.unwrap().unwrap(), 7);
    let refused = acquire(8).await.unwrap().unwrap_err();
    assert!(matches!(refused, Failure::Condition(Taken { by: 7 })), "{refused:?}");
}

//! Indexes on DSQL: built by jobs that may fail, take their time, or be another's.

use std::time::Duration;

use leasehold_core::{Class, Deadline};
use leasehold_testkit::dsql::Simulated;
use leasehold_testkit::postgres::Cluster;
use leasehold_txn::{
    Config, ConnectionString, Dialect, Error, Policy, Pool, Result, make_dsql_indexes, make_dsql_tables,
};
use tokio_postgres::{Client, NoTls};

use crate::fixture::{PATIENCE, TEST};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS t (id int PRIMARY KEY, value int)";
const INDEX: &str = "CREATE UNIQUE INDEX ASYNC IF NOT EXISTS by_value ON t (value)";

struct Place {
    cluster: Simulated,
    /// Sees what is behind the simulator.
    outside: Client,
}

impl Place {
    async fn start() -> Self {
        let cluster = Simulated::newest_on(Cluster::shared().database().await).await;
        let outside = cluster.behind().await;
        let place = Place { cluster, outside };
        make_dsql_tables(&place.pool(false), TEST, &policy(), &[TABLE]).await.expect("a table");
        place
    }

    fn pool(&self, behind_pooler: bool) -> Pool {
        let connection = ConnectionString::parse(&self.cluster.plain_url()).expect("a URL");
        let config = Config::new(connection).dialect(Dialect::DSQL).behind_pooler(behind_pooler);
        Pool::new(config.size_max(2)).expect("a pool")
    }

    async fn make(&self) -> Result<()> {
        make_dsql_indexes(&self.pool(false), TEST, &policy(), &[INDEX]).await
    }

    async fn is_valid(&self) -> bool {
        let sql = "SELECT coalesce(bool_and(indisvalid), false) FROM pg_index WHERE indexrelid = to_regclass('by_value')";
        self.outside.query_one(sql, &[]).await.expect("an answer").get(0)
    }

    async fn jobs(&self, status: &str) -> i64 {
        let sql = "SELECT count(*) FROM sys.jobs WHERE status = $1";
        self.outside.query_one(sql, &[&status]).await.expect("an answer").get(0)
    }
}

fn policy() -> Policy {
    let policy = Policy::new(20, Duration::from_millis(1), Duration::from_millis(20)).expect("a policy");
    policy.until(Deadline::after(PATIENCE))
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn index_whose_build_failed_is_dropped_and_made_again() {
    let place = Place::start().await;
    place.cluster.arm(r#"{"name": "f", "action": "fail_index_build", "nth": 1}"#);
    place.make().await.expect("an index");
    assert!(place.is_valid().await);
    assert_eq!((place.cluster.fired(), place.jobs("completed").await), (1, 2));
    place.make().await.expect("nothing to do");
    assert_eq!(place.jobs("completed").await, 2);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn index_that_another_left_invalid_is_dropped_and_made_again() {
    let place = Place::start().await;
    place.make().await.expect("an index");
    let fail = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'by_value'::regclass";
    place.outside.batch_execute(fail).await.expect("invalid");
    make_dsql_indexes(&place.pool(true), TEST, &policy(), &[INDEX]).await.expect("an index, behind a pooler");
    assert!(place.is_valid().await);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn index_that_cannot_be_built_is_an_error_with_its_reason() {
    let place = Place::start().await;
    place.outside.batch_execute("INSERT INTO t VALUES (1, 0), (2, 0)").await.expect("rows");
    let error = place.make().await.expect_err("a key is there twice");
    assert!(matches!(error, Error::IndexNotBuilt { .. }), "{error:?}");
    assert_eq!((error.code(), error.class()), ("txn.index_not_built", Class::Rejected));
    assert!(error.to_string().contains("by_value could not be built: could not create unique"), "{error}");
    assert!(!place.is_valid().await);
    place.outside.batch_execute("DELETE FROM t").await.expect("no rows");
    place.make().await.expect("an index");
    assert!(place.is_valid().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn slow_build_is_waited_for_by_all_who_want_the_index() {
    let place = Place::start().await;
    place.cluster.arm(r#"{"name": "slow", "action": "slow_index_build"}"#);
    let (one, other) = (place.pool(false), place.pool(true));
    let made = [one, other]
        .map(|pool| tokio::spawn(async move { make_dsql_indexes(&pool, TEST, &policy(), &[INDEX]).await }));
    while place.jobs("processing").await == 0 {
        tokio::task::yield_now().await;
    }
    let (client, connection) =
        tokio_postgres::connect(&place.cluster.plain_url(), NoTls).await.expect("connects");
    tokio::spawn(connection);
    let job = place.outside.query_one("SELECT job_id FROM sys.jobs", &[]).await.expect("a job");
    let answer = client.query_one("CALL sys.wait_for_job($1)", &[&job.get::<_, &str>(0)]).await;
    assert!(!answer.expect("an answer").get::<_, bool>(0), "a wait times out");
    assert!(!made.iter().any(tokio::task::JoinHandle::is_finished));
    place.cluster.disarm();
    for made in made {
        made.await.expect("no panic").expect("an index");
    }
    assert!(place.is_valid().await);
    assert_eq!(place.jobs("completed").await, 1, "one built for both");
}

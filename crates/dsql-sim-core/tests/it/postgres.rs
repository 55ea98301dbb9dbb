//! The engine in process: a test calls sessions in turn, and so decides the schedule.

use leasehold_dsql_sim_core::{BackingUrl, Bound, Config, Count, Engine, Session, Status, Stop};
use leasehold_testkit::postgres::Cluster;

const ROUNDS_MAX: usize = 5;

async fn query(session: &mut Session, sql: &str) -> Result<String, String> {
    let (outcomes, stop) = session.query(sql).await;
    match stop {
        None => Ok(outcomes.last().and_then(|outcome| outcome.tag.clone()).unwrap_or_default()),
        Some(Stop::Failed(failure)) => Err(failure.to_string()),
        Some(other) => Err(format!("{other:?}")),
    }
}

/// Each gives way to the other, and each is done again at its COMMIT: so it goes unless the machine stalls for longer than
/// PostgreSQL lets a statement wait. Who wins is the same then too.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn schedule_is_the_order_of_calls() {
    let mut rounds = Vec::new();
    while rounds.last() != Some(&[1, 2, 2]) {
        assert!(rounds.len() < ROUNDS_MAX, "conflicts, given way, replays: {rounds:?}");
        rounds.push(first_of_two_wins().await);
    }
    assert!(rounds.iter().all(|[conflicts, ..]| *conflicts == 1), "{rounds:?}");
}

/// How many conflicts there were, and how often somebody gave way and was done again.
async fn first_of_two_wins() -> [u64; 3] {
    let database = Cluster::shared().database().await;
    let backing: BackingUrl = database.url().parse().expect("a URL");
    let engine = Engine::start(Config::new(backing)).await.expect("starts");
    let mut one = engine.session("").await.expect("a session");
    let mut two = engine.session("").await.expect("a session");
    query(&mut one, "CREATE TABLE t (id int PRIMARY KEY, value int)").await.expect("creates");
    query(&mut one, "INSERT INTO t VALUES (1, 0)").await.expect("inserts");
    query(&mut one, "BEGIN").await.expect("begins");
    query(&mut two, "BEGIN").await.expect("begins");
    assert_eq!(one.status(), Status::Open);
    assert_eq!(query(&mut one, "UPDATE t SET value = 1 WHERE id = 1").await, Ok("UPDATE 1".into()));
    assert_eq!(query(&mut two, "UPDATE t SET value = 2 WHERE id = 1").await, Ok("UPDATE 1".into()));
    assert_eq!(query(&mut one, "COMMIT").await, Ok("COMMIT".into()));
    let lost = query(&mut two, "COMMIT").await.expect_err("the first to commit wins");
    assert_eq!(lost, "40001 change conflicts with another transaction (OC000)");
    assert_eq!(two.status(), Status::Idle);
    let prepared = two.prepare("SELECT value FROM t WHERE id = 1", &[]).await.expect("prepares");
    let outcome = two.run(&prepared, &Bound::default()).await.expect("runs");
    assert_eq!(outcome.text_rows(), [[Some("1".to_owned())]]);
    let counters = engine.counters();
    [Count::Conflicts, Count::GivenWay, Count::Replays].map(|count| counters.get(count))
}

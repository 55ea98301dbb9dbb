//! Many clients at once: nothing is lost, nobody hangs.

use std::time::{Duration, Instant};

use leasehold_dsql_sim::Count;

use crate::fixture::{Fixture, Session, told};

const CLIENTS: u64 = 8;

/// Reads, compares and sets in one transaction until it commits; how often it lost.
async fn increment(session: &Session) -> u64 {
    let mut conflicts = 0;
    loop {
        match try_increment(session).await {
            Ok(()) => return conflicts,
            Err(told) if told.starts_with("40001") => {
                conflicts += 1;
                session.ok("ROLLBACK").await;
            }
            Err(told) => panic!("{told}"),
        }
    }
}

async fn try_increment(session: &Session) -> Result<(), String> {
    session.run("BEGIN").await?;
    let value: i64 = session.run("SELECT value FROM counters WHERE id = 1").await?.parse().expect("a number");
    let set = format!("UPDATE counters SET value = {} WHERE id = 1 AND value = {value}", value + 1);
    assert_eq!(session.run(&set).await?, "1");
    session.run("COMMIT").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn increments_of_many_clients_are_all_there() {
    // Few: most of the time goes into conflicts.
    increment_by_many(400).await;
}

pub(crate) async fn increment_by_many(increments: u64) {
    let fixture = Fixture::start().await;
    let setup = fixture.client().await;
    setup.ok("CREATE TABLE counters (id int PRIMARY KEY, value bigint NOT NULL)").await;
    setup.ok("INSERT INTO counters VALUES (1, 0)").await;
    let begun = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        let session = fixture.client().await;
        clients.spawn(async move {
            let mut conflicts = 0;
            for _ in 0..increments / CLIENTS {
                conflicts += increment(&session).await;
            }
            conflicts
        });
    }
    let conflicts: u64 = clients.join_all().await.into_iter().sum();
    let total = increments / CLIENTS * CLIENTS;
    println!("{total} increments, {conflicts} conflicts in {:?}", begun.elapsed());
    assert_eq!(setup.ok("SELECT value FROM counters").await, total.to_string());
    assert_eq!(fixture.simulator.counters().get(Count::Conflicts), conflicts, "every conflict was told");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn transfers_between_rows_in_any_order_keep_the_sum() {
    let fixture = Fixture::start().await;
    let setup = fixture.client().await;
    setup.ok("CREATE TABLE accounts (id int PRIMARY KEY, value bigint NOT NULL)").await;
    setup.ok("INSERT INTO accounts SELECT n, 100 FROM generate_series(0, 3) n").await;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..6_u64 {
        let session = fixture.client().await;
        clients.spawn(async move {
            let mut committed = 0;
            for turn in 0..40_u64 {
                // Opposite orders: on a database that waits for locks these would deadlock.
                let (from, to) = ((client + turn) % 4, (client * 3 + turn * 5 + 1) % 4);
                let transfer = [
                    "BEGIN".to_owned(),
                    format!("UPDATE accounts SET value = value - 1 WHERE id = {from}"),
                    format!("UPDATE accounts SET value = value + 1 WHERE id = {to}"),
                    "COMMIT".to_owned(),
                ];
                let mut is_done = true;
                for sql in &transfer {
                    match session.run(sql).await {
                        Ok(_) => {}
                        Err(told) if told.starts_with("40001") => {
                            is_done = false;
                            session.ok("ROLLBACK").await;
                            break;
                        }
                        Err(told) => panic!("{sql}: {told}"),
                    }
                }
                committed += u64::from(is_done);
            }
            committed
        });
    }
    let committed: u64 = clients.join_all().await.into_iter().sum();
    assert_eq!(setup.ok("SELECT sum(value) FROM accounts").await, "400");
    assert!(committed > 0);
}

/// Somebody has written a row and does nothing more: nobody waits for them.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn nobody_waits_for_an_open_transaction() {
    let fixture = Fixture::start().await;
    let (open, other) = (fixture.client().await, fixture.client().await);
    open.ok("CREATE TABLE counters (id int PRIMARY KEY, value bigint NOT NULL)").await;
    open.ok("INSERT INTO counters VALUES (1, 0)").await;
    open.ok("BEGIN").await;
    open.ok("UPDATE counters SET value = 1 WHERE id = 1").await;
    other.ok("BEGIN").await;
    other.ok("UPDATE counters SET value = 2 WHERE id = 1").await;
    other.ok("COMMIT").await;
    assert!(fixture.simulator.counters().get(Count::GivenWay) > 0);
    open.commit_conflicts().await;
}

/// One commits from its log and needs a row that another, in line behind it, has written: that one must let go of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn commits_in_line_do_not_hold_up_the_one_ahead() {
    let fixture = Fixture::start().await;
    let setup = fixture.client().await;
    setup.ok("CREATE TABLE parents (id int PRIMARY KEY)").await;
    setup
        .ok("CREATE TABLE children (id int PRIMARY KEY, name int NOT NULL UNIQUE, parent int NOT NULL)")
        .await;
    setup.ok("INSERT INTO parents VALUES (1)").await;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let session = fixture.client().await;
        clients.spawn(async move {
            let mut longest = Duration::ZERO;
            for turn in 0..30 {
                let begun = Instant::now();
                let id = client * 1_000 + turn;
                let claim = "SELECT id FROM parents WHERE id = 1 FOR UPDATE".to_owned();
                let insert = format!("INSERT INTO children VALUES ({id}, {turn}, 1) ON CONFLICT DO NOTHING");
                for sql in ["BEGIN".to_owned(), claim, insert, "COMMIT".to_owned()] {
                    if let Err(told) = session.run(&sql).await {
                        assert!(told.starts_with("40001"), "{sql}: {told}");
                        session.ok("ROLLBACK").await;
                        break;
                    }
                }
                longest = longest.max(begun.elapsed());
            }
            longest
        });
    }
    let longest = clients.join_all().await.into_iter().max().expect("clients");
    eprintln!("the longest turn took {longest:?}");
    assert!(longest < Duration::from_secs(4), "{longest:?}: PostgreSQL's own limit ended it");
    let twice = "SELECT count(*) FROM (SELECT name FROM children GROUP BY name HAVING count(*) > 1) AS twice";
    assert_eq!(setup.ok(twice).await, "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn statements_alone_lose_or_count() {
    let fixture = Fixture::start().await;
    let setup = fixture.client().await;
    setup.ok("CREATE TABLE counters (id int PRIMARY KEY, value bigint NOT NULL)").await;
    setup.ok("INSERT INTO counters VALUES (1, 0)").await;
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        let session = fixture.client().await;
        clients.spawn(async move {
            let mut done = 0_u64;
            for _ in 0..40 {
                match session
                    .client
                    .execute("UPDATE counters SET value = value + 1 WHERE id = $1", &[&1_i32])
                    .await
                {
                    Ok(count) => done += count,
                    Err(error) => assert!(told(&error).starts_with("40001"), "{}", told(&error)),
                }
            }
            done
        });
    }
    let done: u64 = clients.join_all().await.into_iter().sum();
    assert_eq!(setup.ok("SELECT value FROM counters").await, done.to_string());
}

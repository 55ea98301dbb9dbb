//! More than PostgreSQL takes, and a PostgreSQL that does not answer at all.

use std::cell::OnceCell;
use std::time::{Duration, Instant};

use leasehold_testkit::postgres::{Cluster, Database};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use serde_json::{Value, json};

use crate::overloading::connection::Connection;
use crate::overloading::pressed::{Account, Clients, Load};
use crate::overloading::{Watched, crowd, server};
use crate::served::Server;

/// Clients wait for a second. A request that is being written is waited for longer, as long as a store may take (3 s) and a
/// second more; the rest is for a machine that does much else.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

/// A queue that the server has not looked at yet.
const ELSEWHERE: &str = "elsewhere";

/// Every message of PostgreSQL's protocol has a zero in its length.
const ANYTHING: [u8; 1] = [0];

/// What ends the answer to every statement.
const READY: [u8; 5] = *b"Z\0\0\0\x05";

/// A database behind a proxy.
async fn behind_proxy(database: &Database) -> (FaultProxy, String) {
    let address = Cluster::shared().address();
    let proxy = FaultProxy::start(address).await.expect("starts");
    let url = database.url().replace(&address.to_string(), &proxy.address().to_string());
    (proxy, url)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn crowd_over_every_limit_is_answered_to_the_last_and_changes_what_it_was_told() {
    let database = Cluster::shared().database().await;
    crowd::is_answered_to_the_last(&server(database.url(), &crowd::limits())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn more_than_a_slow_store_takes_is_refused_at_once_and_nothing_acknowledged_is_lost() {
    let database = Cluster::shared().database().await;
    let (proxy, url) = behind_proxy(&database).await;
    let server = server(&url, "requests-per-queue: 1");
    let clients = Clients::of(&server);
    let load = Load { clients: 200, item_bytes: 2_000 };
    clients.press(load, |account| account.acknowledged.len() > 200).await;
    clients.told();
    let watched = Watched::start(&server);
    let delay = Action::Delay(Duration::from_millis(150));
    let _slow = proxy.add(Rule::on(Trigger::Reply(READY.to_vec())).then(delay).always());
    let is_enough = |account: &Account| {
        let overloaded = account.answers.get(&(454, "queue.overloaded".to_owned()));
        overloaded.is_some_and(|count| *count > 1_000) && account.answers[&(200, String::new())] > 200
    };
    clients.press(load, is_enough).await;
    let (answers, slowest) = clients.told();
    eprintln!("{answers:?}, the slowest took {slowest:?}");
    assert!(answers.keys().all(|(code, _)| matches!(code, 200 | 454)), "{answers:?}");
    assert!(slowest < ANSWERED_WITHIN, "{slowest:?}");
    watched.is_within_bounds();
    proxy.clear();
    clients.judge().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn store_that_hangs_is_told_in_time_and_all_goes_on_once_it_does() {
    let database = Cluster::shared().database().await;
    let (proxy, url) = behind_proxy(&database).await;
    server(&url, "connections: 10").json(&["queue", "create", ELSEWHERE]);
    let server = server(&url, "connections: 1000");
    let clients = Clients::of(&server);
    // All of them together would take more memory than there is; as many as there are clients bring in what any load needs.
    let load = Load { clients: 200, item_bytes: 20_000 };
    clients.press(load, |account| account.acknowledged.len() > 300).await;
    clients.told();
    assert_eq!(health(&server), "pass");

    let watched = Watched::start(&server);
    let (written, all) = (OnceCell::new(), OnceCell::new());
    let hold = |what: &[u8]| Rule::on(Trigger::Request(what.to_vec())).then(Action::Hold);
    let before = clients.acknowledged();
    let is_enough = |account: &Account| {
        // First in the middle of a write, of which nobody knows then.
        if account.acknowledged.len() > before + 300
            && written.get_or_init(|| proxy.add(hold(&[b'x'; 100]))).count() > 0
        {
            all.get_or_init(|| proxy.add(hold(&ANYTHING).always()));
        }
        account.refused.len() > 4_000
    };
    clients.press(load, is_enough).await;
    let (answers, slowest) = clients.told();
    eprintln!("{answers:?}, the slowest took {slowest:?}");
    let documented = |(code, error): &(u16, String)| match code {
        200 => true,
        453 => error == "queue.indeterminate",
        454 => matches!(
            error.as_str(),
            "queue.produce_timeout" | "queue.lease_timeout" | "queue.lease_unavailable" | "queue.overloaded"
        ),
        _ => false,
    };
    assert!(answers.keys().all(documented), "{answers:?}");
    assert!(answers.keys().any(|(code, _)| *code == 453), "nothing was being written: {answers:?}");
    assert!(slowest < ANSWERED_WITHIN, "{slowest:?}");
    assert_eq!(health(&server), "fail");
    watched.is_within_bounds();

    for (path, body) in [
        ("/v1/queues.list", json!({})),
        (
            "/v1/queue.produce",
            json!({"queue_name": ELSEWHERE, "request_timeout": "1s", "items": [{"utf8": "x"}]}),
        ),
    ] {
        let started = Instant::now();
        let mut connection = Connection::open(&server.endpoint).await;
        let answer = connection.ask(path, body.to_string().as_bytes()).await;
        let told: Value = serde_json::from_slice(&answer.body).expect("is JSON");
        assert_eq!(told["details"]["error"], "queue.storage", "nothing was done: {told}");
        assert_eq!(answer.status, 454, "{told}");
        assert!(started.elapsed() < ANSWERED_WITHIN, "{path}: {:?}", started.elapsed());
    }

    all.get().expect("it hung").let_go();
    let before = clients.acknowledged();
    clients
        .press(Load { clients: 300, item_bytes: 100 }, |account| account.acknowledged.len() > before + 300)
        .await;
    assert_eq!(health(&server), "pass");
    // What was given up long ago reaches the store after all.
    written.get().expect("it hung").let_go();
    clients.press(load, |account| account.acknowledged.len() > before + 600).await;
    clients.judge().await;
}

/// As operators are told, in time.
fn health(server: &Server) -> String {
    let started = Instant::now();
    let health: Value = serde_json::from_str(&server.get("/health")).expect("is JSON");
    assert!(started.elapsed() < ANSWERED_WITHIN, "{:?}", started.elapsed());
    health["status"].as_str().expect("is text").to_owned()
}

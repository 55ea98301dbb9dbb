//! What operators see: figures and health, and where.

use leasehold_server::Config;
use serde_json::json;

use crate::wire::{Running, config};

async fn metrics(server: &Running) -> String {
    let answer = server.request(http::Request::get("/"), "/metrics", "").await;
    assert_eq!(answer.status, 200);
    String::from_utf8(answer.body.to_vec()).expect("text")
}

#[tokio::test]
async fn queues_are_shown_while_they_are_there() {
    let server = Running::start(config("memory:")).await;
    server.queue("orders-shown").await;
    server.produce("orders-shown", &["a", "b", "c"]).await;
    server.lease("orders-shown", "c", 1).await;
    let text = metrics(&server).await;
    for line in [
        r#"leasehold_queue_items{queue="orders-shown",state="ready"} 2"#,
        r#"leasehold_queue_items{queue="orders-shown",state="leased"} 1"#,
        r#"leasehold_queue_lease_waiting{queue="orders-shown"} 0"#,
        r#"leasehold_queue_partition_failures{queue="orders-shown",partition="0"} 0"#,
        r#"leasehold_queue_events_total{queue="orders-shown",event="produced"} 3"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    let age = text
        .lines()
        .find_map(|line| line.strip_prefix(r#"leasehold_queue_oldest_ready_seconds{queue="orders-shown"} "#));
    assert!(age.expect("is shown").parse::<f64>().expect("a number") > 0.0);
    server.done("/v1/queues.delete", json!({"queue_name": "orders-shown"})).await;
    assert!(!metrics(&server).await.contains("orders-shown"));
}

#[tokio::test]
async fn address_for_operators_takes_health_and_metrics_from_the_public_one() {
    let mut config = config("memory:");
    config.admin_address = Some("127.0.0.1:0".to_owned());
    let server = Running::start(config).await;
    let get = |at, path| {
        let request = http::Request::get(format!("http://{at}{path}"));
        server.send(request, "")
    };
    let admin = server.admin_address.expect("there is one");
    for path in ["/health", "/metrics"] {
        assert_eq!(get(admin, path).await.status, 200, "{path}");
        let public = get(server.address, path).await;
        assert_eq!(
            (public.status, public.message().as_str()),
            (400, "http method 'GET' not allowed; only POST")
        );
    }
    let elsewhere = server.send(http::Request::post(format!("http://{admin}/v1/queues.list")), "{}").await;
    assert_eq!((elsewhere.status, elsewhere.message().as_str()), (501, "no such method; /v1/queues.list"));
    server.queue("q").await;
}

#[tokio::test]
async fn metrics_that_are_disabled_are_found_nowhere() {
    for admin_address in [None, Some("127.0.0.1:0".to_owned())] {
        let config = Config { metrics_enabled: false, admin_address, ..config("memory:") };
        let server = Running::start(config).await;
        let at = server.admin_address.unwrap_or(server.address);
        let get = |path| server.send(http::Request::get(format!("http://{at}{path}")), "");
        let answer = get("/metrics").await;
        assert_eq!((answer.status, answer.json()["code"].clone()), (404, json!(404)), "{answer:?}");
        assert_eq!(get("/health").await.status, 200);
    }
}

#[tokio::test]
async fn health_asks_the_store_of_the_records_wherever_it_is() {
    let health = async |config| {
        let server = Running::start(config).await;
        let answer = server.request(http::Request::get("/"), "/health", "").await;
        (answer.status, answer.json()["checks"]["queues:storage"][0]["status"].clone())
    };
    assert_eq!(health(config("memory:")).await, (200, json!("pass")));
    let mut elsewhere = config("memory:");
    // Port 1 of loopback: nobody listens there.
    let nowhere = "postgres://app@127.0.0.1:1/app?connect_timeout=1".parse().expect("a location");
    elsewhere.queues.records = Some(nowhere);
    assert_eq!(health(elsewhere).await, (503, json!("fail")));
}

#[tokio::test]
async fn every_answer_is_named() {
    let server = Running::start(config("memory:")).await;
    let named = |request: http::request::Builder| async {
        let answer = server.request(request, "/v1/queue.stats", "{}").await;
        answer.headers["x-request-id"].to_str().expect("text").to_owned()
    };
    assert_eq!(named(http::Request::post("/").header("x-request-id", "mine")).await, "mine");
    let (first, second) = (named(http::Request::post("/")).await, named(http::Request::get("/")).await);
    assert!(!first.is_empty() && first != second, "{first} {second}");
}

#[tokio::test]
async fn scrapes_are_counted_under_the_names_that_dashboards_of_querator_know() {
    let server = Running::start(config("memory:")).await;
    let value = |text: &str, name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name}: {text}")).parse().expect("a number")
    };
    let requests = |text: &str, code: &str| {
        value(text, &format!("promhttp_metric_handler_requests_total{{code=\"{code}\"}}"))
    };
    let (first, second) = (metrics(&server).await, metrics(&server).await);
    // Other tests of this process scrape, too.
    assert!(requests(&second, "200") > requests(&first, "200"), "{second}");
    assert_eq!((requests(&first, "500"), requests(&first, "503")), (0, 0));
    assert!(
        value(&second, "promhttp_metric_handler_requests_in_flight") >= 1,
        "the scrape itself is one: {second}"
    );
    for kind in ["requests_total counter", "requests_in_flight gauge"] {
        assert!(first.contains(&format!("# TYPE promhttp_metric_handler_{kind}")), "{first}");
    }
}

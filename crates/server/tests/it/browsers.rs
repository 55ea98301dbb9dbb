//! What pages of others make a browser send.

use leasehold_access::Driver;
use leasehold_api::ENDPOINTS;
use leasehold_server::Config;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::wire::{Answer, Running, config, with_key};

/// A name that its owner has bound to the server's address.
const REBOUND: &str = "rebound.example:2319";

async fn with_door_open() -> Running {
    Running::start(Config { auth: Driver::Internal, ..config("memory:") }).await
}

async fn close_the_door(server: &Running) {
    let binding = json!({"namespace": "_system", "role_name": "Admin", "user_id": "anonymous"});
    server.done("/v1/rolebindings.delete", binding).await;
}

async fn get(server: &Running, host: &str, path: &str) -> Answer {
    server.request(http::Request::get("/").header("host", host), path, "").await
}

async fn post(server: &Running, host: &str, path: &str, body: &'static str) -> Answer {
    server.request(http::Request::post("/").header("host", host), path, body).await
}

fn code(answer: &Answer) -> String {
    answer.json()["details"]["error"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn page_of_another_origin_reaches_no_operation_whoever_is_asked() {
    for server in [Running::start(config("memory:")).await, with_door_open().await] {
        let own = format!("http://{}", server.address);
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("origin", "http://127.0.0.1:1"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            for path in ENDPOINTS.iter().map(|endpoint| endpoint.path).chain(["/v1/queue.bogus"]) {
                // As `fetch` sends it without asking first: with no type of the content that is not a form's.
                let request = http::Request::post("/").header(name, value);
                let answer = server.request(request, path, "{}").await;
                assert_eq!(
                    (answer.status, code(&answer).as_str()),
                    (403, "server.cross_site"),
                    "{path} {value}"
                );
            }
        }
        let pages = http::Request::post("/").header("origin", own).header("sec-fetch-site", "same-origin");
        assert_eq!(server.request(pages, "/v1/namespaces.list", "{}").await.status, 200, "its own pages");
        assert_eq!(server.post("/v1/namespaces.list", json!({})).await.status, 200, "no browser");
        assert!(!server.done("/v1/users.list", json!({})).await.to_string().contains("evil"));
        let link = http::Request::get("/")
            .header("sec-fetch-site", "cross-site")
            .header("sec-fetch-mode", "navigate");
        assert_eq!(server.request(link, "/api", "").await.status, 200, "a link that is followed");
    }
}

#[tokio::test]
async fn rebound_name_reaches_nothing_where_requests_need_no_key() {
    let open = Config { auth: Driver::Internal, ..config("memory:") };
    for config in [config("memory:"), open] {
        let allowed = Config { allowed_hosts: vec!["Leasehold.local".parse().expect("a name")], ..config };
        let server = Running::start(allowed).await;
        for path in ENDPOINTS.iter().map(|endpoint| endpoint.path).chain(["/v1/queue.bogus"]) {
            let answer = post(&server, REBOUND, path, r#"{"username": "eve"}"#).await;
            assert_eq!((answer.status, code(&answer).as_str()), (403, "server.host_not_allowed"), "{path}");
            let message = answer.message();
            let named = ["rebound.example", "allowed-hosts", "--allowed-hosts", "LEASEHOLD_ALLOWED_HOSTS"];
            assert!(named.iter().all(|name| message.contains(name)), "{message}");
        }
        for path in ["/", "/api", "/openapi.json", "/metrics", "/nothing"] {
            assert_eq!(code(&get(&server, REBOUND, path).await), "server.host_not_allowed", "{path}");
        }
        assert_eq!(get(&server, REBOUND, "/health").await.status, 200, "a probe may come by any name");
        for host in ["localhost", "LOCALHOST.:1", "[::1]:2319", "10.1.2.3", "leasehold.LOCAL:2319"] {
            assert_eq!(post(&server, host, "/v1/namespaces.list", "{}").await.status, 200, "{host}");
            assert_eq!(get(&server, host, "/metrics").await.status, 200, "{host}");
        }
    }
}

#[tokio::test]
async fn every_host_of_a_request_is_looked_at() {
    let server = Running::start(config("memory:")).await;
    for (target, hosts, status) in [
        ("/v1/namespaces.list", "Host: localhost\r\n", "200"),
        ("/v1/namespaces.list", "Host: localhost\r\nHost: rebound.example\r\n", "403"),
        ("/v1/namespaces.list", "Host: rebound.example\r\nHost: localhost\r\n", "403"),
        ("/v1/namespaces.list", "", "403"),
        ("http://rebound.example/v1/namespaces.list", "Host: localhost\r\n", "403"),
        ("http://localhost/v1/namespaces.list", "Host: localhost\r\n", "200"),
    ] {
        let mut stream = TcpStream::connect(server.address).await.expect("connects");
        let request =
            format!("POST {target} HTTP/1.1\r\n{hosts}Connection: close\r\nContent-Length: 2\r\n\r\n{{}}");
        stream.write_all(request.as_bytes()).await.expect("sends");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("answers");
        assert_eq!(answer.split(' ').nth(1), Some(status), "{target} {hosts}: {answer}");
    }
}

#[tokio::test]
async fn clients_with_a_key_use_any_name_and_so_do_scrapes_once_the_door_is_closed() {
    let server = with_door_open().await;
    let id = server.done("/v1/users.create", json!({"username": "u"})).await["id"].clone();
    let binding = json!({"namespace": "_system", "role_name": "Admin", "user_id": id});
    server.done("/v1/rolebindings.create", binding).await;
    let key = server.done("/v1/apikeys.create", json!({"user_id": id})).await["key"].clone();
    let key = key.as_str().expect("a key");
    let by_name = || async {
        let request =
            http::Request::post("/").header("host", REBOUND).header("authorization", format!("Bearer {key}"));
        server.request(request, "/v1/users.list", "{}").await.status
    };
    assert_eq!(by_name().await, 200);
    assert_eq!(get(&server, REBOUND, "/metrics").await.status, 403);
    close_the_door(&server).await;
    assert_eq!(by_name().await, 200);
    assert_eq!(with_key(&server, key, "/v1/users.list", json!({})).await.status, 200);
    assert_eq!(get(&server, REBOUND, "/metrics").await.status, 200);
    let refused = post(&server, REBOUND, "/v1/users.list", "{}").await;
    assert_eq!((refused.status, refused.message().as_str()), (403, "access denied"));
}

#[tokio::test]
async fn pages_run_nothing_and_are_shown_in_no_frame() {
    let server = Running::start(config("memory:")).await;
    for path in ["/", "/api"] {
        let answer = get(&server, "localhost", path).await;
        assert!(answer.content_type.starts_with("text/html"), "{answer:?}");
        let policy = answer.headers["content-security-policy"].to_str().expect("text");
        let rules: Vec<_> = policy.split("; ").collect();
        for rule in ["default-src 'none'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(rules.contains(&rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
    }
    let style = get(&server, "localhost", "/page.css").await;
    assert_eq!((style.status, style.content_type.as_str()), (200, "text/css"));
}

#[cfg(feature = "test-hooks")]
#[tokio::test]
async fn page_of_another_origin_reaches_no_test_hook() {
    let server =
        Running::start(Config { test_hooks: Some("127.0.0.1:0".to_owned()), ..config("memory:") }).await;
    let address = server.test_hooks_address.expect("there are some");
    let form = |name: &str, value: &str| {
        http::Request::post(format!("http://{address}/clock"))
            .header("content-type", "application/x-www-form-urlencoded")
            .header(name, value)
    };
    for (name, value) in [("origin", "https://evil.example"), ("host", REBOUND)] {
        let answer = server.send(form(name, value), "now=2030-01-01T00:00:00Z").await;
        assert_eq!(answer.status, 403, "{name}");
    }
}

//! What tests of clients may do to a server, and where they may not.

#[cfg(not(feature = "test-hooks"))]
#[tokio::test]
async fn build_without_them_says_so() {
    let mut config = crate::wire::config("memory:");
    config.test_hooks = Some("127.0.0.1:0".to_owned());
    let refused = leasehold_server::Server::bind(&config).await.err().expect("there are none");
    assert_eq!(refused.code(), "server.test_hooks_missing");
    assert!(refused.to_string().contains("not compiled into this build"), "{refused}");
}

#[cfg(feature = "test-hooks")]
mod compiled {
    use leasehold_server::Server;
    use serde_json::json;

    use crate::wire::{Answer, Running, config};

    async fn server() -> Running {
        let mut config = config("memory:");
        config.test_hooks = Some("127.0.0.1:0".to_owned());
        Running::start(config).await
    }

    async fn hook(server: &Running, path: &str, form: &'static str) -> Answer {
        let address = server.test_hooks_address.expect("there are some");
        let request = http::Request::post(format!("http://{address}{path}"))
            .header("content-type", "application/x-www-form-urlencoded");
        server.send(request, form).await
    }

    #[tokio::test]
    async fn public_address_is_refused() {
        let mut config = config("memory:");
        config.test_hooks = Some("0.0.0.0:0".to_owned());
        let refused = Server::bind(&config).await.err().expect("is public");
        assert_eq!(refused.code(), "server.test_hooks_public");
    }

    #[tokio::test]
    async fn paused_queue_holds_what_is_asked_until_it_is_released() {
        let server = server().await;
        server.queue("q").await;
        assert_eq!(hook(&server, "/pause", "queue=q&on=true").await.status, 200);
        assert_eq!(hook(&server, "/pause", "queue=q&on=true").await.status, 200);
        let stats = server.done("/v1/queue.stats", json!({"queue_name": "q"})).await;
        assert_eq!(stats["queue_name"], "q", "figures are there while it is paused");
        let released = async {
            loop {
                let stats = server.done("/v1/queue.stats", json!({"queue_name": "q"})).await;
                if stats["logicalQueues"][0]["produce_waiting"] == 1 {
                    break;
                }
            }
            hook(&server, "/pause", "queue=q&on=false").await
        };
        let (released, ()) = tokio::join!(released, server.produce("q", &["held"]));
        assert_eq!(released.status, 200);
        assert_eq!(server.lease("q", "c", 1).await.len(), 1);
    }

    #[tokio::test]
    async fn more_requests_than_may_wait_are_told_to_come_again_and_the_rest_is_served() {
        const WAITING: usize = 10;
        const COMING: usize = 60;
        let mut config = config("memory:");
        config.test_hooks = Some("127.0.0.1:0".to_owned());
        config.limits.requests_per_queue = WAITING;
        let server = std::sync::Arc::new(Running::start(config).await);
        server.queue("q").await;
        assert_eq!(hook(&server, "/pause", "queue=q&on=true").await.status, 200);
        let mut asking = tokio::task::JoinSet::new();
        for _ in 0..COMING {
            let server = server.clone();
            let complete =
                json!({"queue_name": "q", "ids": ["0ujtsYcgvSTl8PAuAdqWYSMnLOv"], "request_timeout": "1m"});
            asking.spawn(async move { server.refused("/v1/queue.complete", complete).await });
        }
        for _ in WAITING..COMING {
            let (code, message) = asking.join_next().await.expect("are too many").expect("no panic");
            assert_eq!((code, message.as_str()), (454, "queue is overloaded; try again later"));
        }
        assert_eq!(hook(&server, "/pause", "queue=q&on=false").await.status, 200);
        while let Some(answer) = asking.join_next().await {
            let (code, message) = answer.expect("no panic");
            assert!(code == 400 && message.ends_with("does not exist"), "{code} {message}");
        }
    }

    #[tokio::test]
    async fn clock_stands_where_it_is_put_and_fires_what_is_due() {
        let server = server().await;
        server.queue("q").await;
        assert_eq!(hook(&server, "/clock", "now=2030-01-01T00%3A00%3A00.123456789Z").await.status, 200);
        server.produce("q", &["x"]).await;
        let first = server.lease("q", "c", 1).await;
        assert_eq!(first[0]["lease_deadline"], "2030-01-01T00:01:00.123456Z");
        assert_eq!(hook(&server, "/clock", "now=2030-01-01T00%3A02%3A00.000000000Z").await.status, 200);
        let again = server.lease("q", "c", 1).await;
        assert_eq!(again[0]["attempts"], 2, "the lease ran out by the clock alone");
    }

    #[tokio::test]
    async fn bad_forms_are_refused() {
        let server = server().await;
        for (path, form) in [
            ("/pause", "queue=nowhere&on=true"),
            ("/pause", "queue=q&on=maybe"),
            ("/pause", "on=true"),
            ("/clock", "now=soon"),
            ("/clock", "now=2030-01-01T00%3A00%3A00Z&more=1"),
        ] {
            assert_eq!(hook(&server, path, form).await.status, 400, "{path} {form}");
        }
        assert_eq!(server.post("/pause", json!({})).await.status, 501, "not at the public address");
    }
}

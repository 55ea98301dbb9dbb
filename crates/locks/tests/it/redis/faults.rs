//! Connections that break at the worst moment, and servers that die.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use leasehold_core::{Class, Refusal};
use leasehold_locks::backend::redis::{RedisBackend, RedisConfig};
use leasehold_locks::conformance::guards::{SILENCE, survives_a_silent_connection};
use leasehold_locks::{Error, ExtendRequest, LockBackend, Locks, LookupBy, ReleaseOutcome};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use leasehold_testkit::redis::{Server, Settings};
use tokio_util::sync::CancellationToken;

use super::raw::{LIMIT, Raw, TIMEOUT, connected, key, request, ttl};

struct Store {
    proxy: FaultProxy,
    backend: RedisBackend,
    raw: Raw,
    prefix: String,
}

impl Store {
    async fn start() -> Store {
        let server = Server::shared();
        let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
        let prefix = server.prefix();
        let backend = connected(&format!("redis://{}", proxy.address()), &prefix).await;
        let store = Store { proxy, backend, raw: Raw::connect(&server.url()).await, prefix };
        store.warm_up().await;
        store
    }

    /// The server knows all scripts, so that each operation is one request.
    async fn warm_up(&self) {
        let asked = request("warm");
        self.backend.acquire(&asked).await.expect("answers");
        self.backend
            .extend(&ExtendRequest { lock_id: asked.lock_id, ttl: ttl(1_000) })
            .await
            .expect("answers");
        self.backend.lookup(LookupBy::LockId(&asked.lock_id)).await.expect("answers");
        self.backend.lookup(LookupBy::Key(&asked.key)).await.expect("answers");
        self.backend.release(&asked.lock_id).await.expect("answers");
    }

    fn on_next_script(&self, action: Action) -> leasehold_testkit::proxy::RuleHandle {
        self.proxy.add(Rule::on(Trigger::Request(b"EVALSHA".to_vec())).then(action))
    }
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn lost_reply_to_acquire_is_unknown_and_its_repetition_gets_the_same_grant() {
    let store = Store::start().await;
    let asked = request("billing");
    store.on_next_script(Action::DropReply);
    let error = store.backend.acquire(&asked).await.expect_err("the reply is lost");
    assert!(matches!(error, Error::Indeterminate { operation: "acquire", .. }), "{error:?}");
    let again = store.backend.acquire(&asked).await.expect("answers").acquired().expect("is ours");
    assert_eq!(again.fence.as_u64(), 1, "granted once");
    let found = store.backend.lookup(LookupBy::Key(&asked.key)).await.expect("answers").expect("is held");
    assert_eq!((found.lock_id, found.expires_at), (again.lock_id, again.expires_at));
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn request_that_never_arrived_is_unknown_too_and_can_be_repeated() {
    let store = Store::start().await;
    let asked = request("billing");
    store.on_next_script(Action::Cut);
    let error = store.backend.acquire(&asked).await.expect_err("the connection broke");
    assert_eq!(error.class(), Class::Indeterminate, "{error:?}");
    assert!(!store.backend.is_locked(&asked.key).await.expect("answers"));
    store.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn lost_reply_to_release_and_extend_is_unknown_and_to_lookup_is_not() {
    let store = Store::start().await;
    let asked = request("billing");
    store.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");

    store.on_next_script(Action::DropReply);
    let extend = ExtendRequest { lock_id: asked.lock_id, ttl: ttl(60_000) };
    assert_eq!(store.backend.extend(&extend).await.expect_err("lost").class(), Class::Indeterminate);

    store.on_next_script(Action::DropReply);
    let looked = store.backend.lookup(LookupBy::LockId(&asked.lock_id)).await.expect_err("lost");
    assert_eq!(looked.class(), Class::Unavailable, "{looked:?}");

    store.on_next_script(Action::DropReply);
    let released = store.backend.release(&asked.lock_id).await.expect_err("lost");
    assert!(matches!(released, Error::Indeterminate { operation: "release", .. }), "{released:?}");
    let again = store.backend.release(&asked.lock_id).await.expect("answers");
    assert_eq!(again, ReleaseOutcome::Refused(Refusal::NotFound), "it had been released");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn silent_server_is_given_up_in_time_and_the_next_call_connects_anew() {
    let store = Store::start().await;
    let asked = request("billing");
    let silent = store.on_next_script(Action::Blackhole);
    let started = tokio::time::Instant::now();
    let (answer, ()) = tokio::join!(store.backend.acquire(&asked), async {
        silent.fired().await;
        // Only time can end it now. A clock that is stopped jumps to the next timer as soon as nothing else is to be done.
        tokio::time::pause();
    });
    tokio::time::resume();
    let (error, waited) = (answer.expect_err("no answer"), started.elapsed());
    assert_eq!(error.class(), Class::Indeterminate, "{error:?}");
    assert!((TIMEOUT..TIMEOUT + LIMIT).contains(&waited), "{waited:?}");
    store.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    assert_eq!(store.proxy.accepted(), 2);
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn kept_lock_survives_a_silent_connection() {
    let Store { proxy, backend, raw, prefix } = Store::start().await;
    survives_a_silent_connection(Arc::new(backend), async |lock_id| {
        let asked = Trigger::Request(lock_id.as_str().into());
        proxy.add(Rule::on(asked).then(Action::Blackhole)).fired().await;
        tokio::time::pause();
        tokio::time::advance(SILENCE).await;
        tokio::time::resume();
    })
    .await;
    assert_eq!(proxy.accepted(), 2, "one connection more, and all went over that");
    assert_eq!(raw.ask::<i64>(&["EXISTS", &format!("{prefix}billing")]).await, 0);
}

/// As a server does whose client gives up first.
#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn extension_that_is_dropped_in_silence_leaves_others_their_connection() {
    let store = Store::start().await;
    let asked = request("billing");
    store.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    let extend = ExtendRequest { lock_id: asked.lock_id, ttl: ttl(60_000) };
    let held_back =
        store.proxy.add(Rule::on(Trigger::Request(asked.lock_id.as_str().into())).then(Action::Hold));
    let mut other = Box::pin(store.backend.is_locked(&asked.key));
    {
        let mut extending = Box::pin(store.backend.extend(&extend));
        tokio::select! {
            answer = &mut extending => panic!("{answer:?}"),
            () = held_back.fired() => {}
        }
        assert!(futures_util::poll!(&mut other).is_pending());
    }
    assert!(store.backend.extend(&extend).await.expect("answers").expires_at().is_some());
    held_back.let_go();
    assert!(other.await.expect("its own connection lives on"));
    assert_eq!(store.proxy.accepted(), 2);
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn release_that_is_cancelled_under_way_is_of_unknown_outcome() {
    let store = Store::start().await;
    let asked = request("billing");
    store.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    let under_way = store.on_next_script(Action::Hold);
    let cancel = CancellationToken::new();
    let locks = Locks::new(store.backend).cancelled_by(cancel.clone());
    let (released, ()) = tokio::join!(locks.release(&asked.lock_id), async {
        under_way.fired().await;
        cancel.cancel();
    });
    let error = released.expect_err("is cancelled");
    assert_eq!((error.code(), error.class()), ("lock.aborted", Class::Indeterminate), "{error:?}");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn connection_that_broke_while_idle_is_replaced() {
    let store = Store::start().await;
    for round in 0..5 {
        store.proxy.cut_all();
        // The client learns of it as soon as the end of the stream reaches it.
        while store.proxy.connections() > 0 {
            tokio::task::yield_now().await;
        }
        let asked = request(&format!("idle:{round}"));
        match store.backend.acquire(&asked).await {
            Ok(outcome) => drop(outcome.acquired().expect("is free")),
            // It was sent in the very moment.
            Err(error) => assert_eq!(error.class(), Class::Indeterminate, "{error:?}"),
        }
        store.backend.acquire(&asked).await.expect("answers").acquired().expect("is ours");
    }
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn server_that_is_gone_is_unavailable_for_all_at_once_and_comes_back() {
    let server = Server::start(Settings::volatile()).expect("a server");
    let backend = connected(&server.url(), "syncguard").await;
    server.kill().expect("killed");
    let started = Instant::now();
    let asked: Vec<_> = (0..200).map(|number| request(&number.to_string())).collect();
    let answers = join_all(asked.iter().map(|asked| backend.acquire(asked))).await;
    for answer in answers {
        let class = answer.expect_err("nobody is there").class();
        assert!(matches!(class, Class::Unavailable | Class::Indeterminate), "{class}");
    }
    let error = backend.acquire(&request("billing")).await.expect_err("nobody is there");
    assert_eq!(error.class(), Class::Unavailable, "{error:?}");
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    server.restart().expect("comes back");
    backend.acquire(&request("billing")).await.expect("answers").acquired().expect("is free");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn server_that_does_not_answer_connects_is_given_up_in_time() {
    // Takes connections into its queue and never speaks.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let url = format!("redis://{}", silent.local_addr().expect("address"));
    for (timeout, connect_timeout) in [(300, 60_000), (60_000, 300)] {
        let config = RedisConfig {
            timeout: Duration::from_millis(timeout),
            connect_timeout: Duration::from_millis(connect_timeout),
            ..RedisConfig::new(&url)
        };
        let backend = RedisBackend::new(&config).expect("a configuration");
        let started = Instant::now();
        let asked: Vec<_> = (0..50).map(|number| request(&number.to_string())).collect();
        for answer in join_all(asked.iter().map(|asked| backend.acquire(asked))).await {
            assert_eq!(answer.expect_err("no answer").class(), Class::Unavailable);
        }
        // The other limit is a minute.
        assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
    }
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn fences_grow_across_kill_and_restart_of_a_durable_server() {
    let server = Server::start(Settings::durable()).expect("a server");
    let backend = connected(&server.url(), "syncguard").await;
    let mut last = None;
    for round in 0..4 {
        let asked = request("billing");
        let grant = loop {
            match backend.acquire(&asked).await {
                Ok(outcome) => break outcome.acquired().expect("is free"),
                Err(error) => assert_ne!(error.class(), Class::Rejected, "round {round}: {error:?}"),
            }
        };
        assert!(Some(grant.fence) > last, "{:?} after {last:?}", grant.fence);
        last = Some(grant.fence);
        if round % 2 == 0 {
            assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
        }
        server.kill().expect("killed");
        server.restart().expect("comes back");
        if round % 2 == 1 {
            let released = loop {
                match backend.release(&grant.lock_id).await {
                    Ok(outcome) => break outcome,
                    Err(error) => assert_ne!(error.class(), Class::Rejected, "round {round}: {error:?}"),
                }
            };
            assert!(released.is_released(), "the hold survived as well");
        }
    }
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn forgotten_scripts_are_sent_again() {
    let server = Server::start(Settings::volatile()).expect("a server");
    let (backend, raw) = (connected(&server.url(), "syncguard").await, Raw::connect(&server.url()).await);
    for round in 0..3 {
        raw.ask::<()>(&["SCRIPT", "FLUSH"]).await;
        let asked = request("billing");
        backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
        assert!(backend.release(&asked.lock_id).await.expect("answers").is_released(), "round {round}");
    }
    let calls: String = raw.ask(&["INFO", "commandstats"]).await;
    assert!(calls.contains("cmdstat_evalsha") && calls.contains("cmdstat_eval:calls=6"), "{calls}");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn dropped_calls_leave_the_client_healthy() {
    let store = Store::start().await;
    for polls in 0..8 {
        let asked = request(&format!("dropped:{polls}"));
        {
            let mut acquiring = Box::pin(store.backend.acquire(&asked));
            for _ in 0..polls {
                if futures_util::poll!(&mut acquiring).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        // Whatever became of it: the same id gets it, once.
        let grant = store.backend.acquire(&asked).await.expect("answers").acquired().expect("is ours");
        assert_eq!(grant.fence.as_u64(), 1, "{polls} polls");
        assert!(store.backend.release(&asked.lock_id).await.expect("answers").is_released());
    }
    assert_eq!(store.proxy.accepted(), 1, "one connection served all of it");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn caller_that_gives_up_connecting_does_not_keep_others_from_it() {
    let store = Store::start().await;
    let delayed = store.proxy.add(Rule::on(Trigger::Connect).then(Action::Delay(Duration::from_secs(600))));
    store.proxy.cut_all();
    while store.proxy.connections() > 0 {
        tokio::task::yield_now().await;
    }
    let asked = request("billing");
    loop {
        tokio::select! {
            // It noticed the cut only by sending into it; the next one has to connect.
            answer = store.backend.acquire(&asked) => {
                let error = answer.expect_err("there is no connection");
                assert_ne!(error.class(), Class::Rejected, "{error:?}");
            }
            () = delayed.fired() => break,
        }
    }
    store.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn holds_outlive_the_connection_that_took_them() {
    let store = Store::start().await;
    let asked = request("billing");
    store.backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    drop(store.backend);
    let other = connected(&Server::shared().url(), &store.prefix).await;
    assert!(other.is_locked(&key("billing")).await.expect("answers"));
    assert!(other.release(&asked.lock_id).await.expect("answers").is_released());
    assert_eq!(store.raw.ask::<i64>(&["EXISTS", &format!("{}billing", store.prefix)]).await, 0);
}

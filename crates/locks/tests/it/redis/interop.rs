//! The same entries as SyncGuard writes and reads, byte for byte where bytes count.

use leasehold_core::redis::ReservedKeys;
use leasehold_core::{Class, LockCode, Refusal};
use leasehold_locks::backend::redis::{RedisBackend, RedisConfig};
use leasehold_locks::{
    AcquireOutcome, AcquireRequest, ExtendOutcome, ExtendRequest, Fence, LockBackend, LookupBy,
    ReleaseOutcome, Ttl,
};
use leasehold_testkit::redis::Server;

use super::raw::{Raw, config, connected, key, lock_id, request, ttl};

struct Store {
    raw: Raw,
    backend: RedisBackend,
    /// Without its colon.
    prefix: String,
}

impl Store {
    async fn start() -> Store {
        Store::with(|config| config).await
    }

    async fn with(change: impl FnOnce(RedisConfig) -> RedisConfig) -> Store {
        let server = Server::shared();
        let prefix = server.prefix().trim_end_matches(':').to_owned();
        let config = change(config(&server.url(), &prefix));
        let backend = RedisBackend::connect(&config).await.expect("Redis is there");
        Store { raw: Raw::connect(&server.url()).await, backend, prefix }
    }

    fn named(&self, rest: &str) -> String {
        format!("{}:{rest}", self.prefix)
    }

    async fn get(&self, rest: &str) -> Option<String> {
        self.raw.ask(&["GET", &self.named(rest)]).await
    }

    async fn set(&self, rest: &str, value: &str) {
        self.raw.ask::<()>(&["SET", &self.named(rest), value]).await;
    }

    /// What a peer leaves behind when it acquires `key`.
    async fn peer_acquires(&self, key: &str, fence: u32, ttl: i64) -> Peer {
        let lock_id = lock_id();
        let (now, millis) = (self.raw.now().await, ttl.to_string());
        let expires_at = now + ttl;
        let entry = format!(
            r#"{{"key":"{key}","lockId":"{}","fence":"{fence:015}","acquiredAtMs":{now},"expiresAtMs":{expires_at}}}"#,
            lock_id.as_str()
        );
        let (lock, index) = (self.named(key), self.named(&format!("id:{}", lock_id.as_str())));
        self.raw.ask::<()>(&["SET", &lock, &entry, "PX", &millis]).await;
        self.raw.ask::<()>(&["SET", &index, &lock, "PX", &millis]).await;
        self.set(&format!("fence:{lock}"), &fence.to_string()).await;
        Peer { lock_id, expires_at, acquired_at: now }
    }

    async fn acquire(&self, asked: &AcquireRequest) -> AcquireOutcome {
        self.backend.acquire(asked).await.expect("answers")
    }

    async fn code_of_acquire(&self, text: &str) -> &'static str {
        self.backend.acquire(&request(text)).await.expect_err("is refused").code()
    }
}

struct Peer {
    lock_id: leasehold_locks::LockId,
    expires_at: i64,
    acquired_at: i64,
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn entries_are_those_of_a_peer() {
    let store = Store::start().await;
    let asked = AcquireRequest { ttl: ttl(30_000), ..request("a/b \"c\"\\\u{1}\u{7f}鍵") };
    let grant = store.acquire(&asked).await.acquired().expect("is free");

    let (lock, id) = (store.named(asked.key.as_str()), asked.lock_id.as_str());
    let entry: serde_json::Value =
        serde_json::from_str(&store.get(asked.key.as_str()).await.expect("is kept")).expect("JSON");
    let expires_at = grant.expires_at.as_millis();
    assert_eq!(
        entry,
        serde_json::json!({
            "key": asked.key.as_str(), "lockId": id, "fence": "000000000000001",
            "acquiredAtMs": expires_at - 30_000, "expiresAtMs": expires_at,
        })
    );
    assert_eq!(store.get(&format!("id:{id}")).await.as_deref(), Some(lock.as_str()));
    assert_eq!(store.get(&format!("fence:{lock}")).await.as_deref(), Some("1"));

    let fence_ttl: i64 = store.raw.ask(&["PTTL", &store.named(&format!("fence:{lock}"))]).await;
    assert_eq!(fence_ttl, -1, "a counter has no ttl");
    for name in [&lock, &store.named(&format!("id:{id}"))] {
        let left: i64 = store.raw.ask(&["PTTL", name]).await;
        assert!((20_000..=30_000).contains(&left), "{left}");
    }
    // The reader of a peer's scripts.
    let decode = "return cjson.decode(redis.call('GET', KEYS[1])).key";
    assert_eq!(store.raw.ask::<String>(&["EVAL", decode, "1", &lock]).await, asked.key.as_str());
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn nothing_but_the_counter_is_left_after_release() {
    let store = Store::start().await;
    let asked = request("billing");
    store.acquire(&asked).await.acquired().expect("is free");
    assert_eq!(store.backend.release(&asked.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    let left: Vec<String> = store.raw.ask(&["KEYS", &store.named("*")]).await;
    assert_eq!(left, [store.named(&format!("fence:{}", store.named("billing")))]);
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn peers_hold_is_contended_looked_up_extended_and_released() {
    let store = Store::start().await;
    let peer = store.peer_acquires("billing", 41, 60_000).await;
    assert!(matches!(store.acquire(&request("billing")).await, AcquireOutcome::Held { free_in: Some(_) }));
    assert!(store.backend.is_locked(&key("billing")).await.expect("answers"));
    for by in [LookupBy::Key(&key("billing")), LookupBy::LockId(&peer.lock_id)] {
        let found = store.backend.lookup(by).await.expect("answers").expect("is held");
        assert_eq!(found.fence.as_u64(), 41);
        assert_eq!(
            (found.acquired_at.as_millis(), found.expires_at.as_millis()),
            (peer.acquired_at, peer.expires_at)
        );
    }
    let extend = ExtendRequest { lock_id: peer.lock_id, ttl: ttl(90_000) };
    store.backend.extend(&extend).await.expect("answers").expires_at().expect("is live");
    assert_eq!(store.backend.release(&peer.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    let grant = store.acquire(&request("billing")).await.acquired().expect("is free");
    assert_eq!(grant.fence.as_u64(), 42, "the two products share the counter");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn our_hold_ends_when_a_peer_releases_it() {
    let store = Store::start().await;
    let asked = request("billing");
    store.acquire(&asked).await.acquired().expect("is free");
    let index = store.named(&format!("id:{}", asked.lock_id.as_str()));
    let lock: String = store.raw.ask(&["GET", &index]).await;
    store.raw.ask::<()>(&["DEL", &lock, &index]).await;
    let refused = store.backend.release(&asked.lock_id).await.expect("answers");
    assert_eq!(refused, ReleaseOutcome::Refused(Refusal::NotFound));
    assert_eq!(
        store.acquire(&request("billing")).await.acquired().expect("is free").fence.as_u64(),
        2,
        "fences go on"
    );
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn extend_keeps_fields_of_others_and_writes_plain_numbers() {
    let store = Store::start().await;
    let peer = store.peer_acquires("billing", 7, 60_000).await;
    let entry = store.get("billing").await.expect("is kept").replace('{', r#"{"note":"kept","#);
    store.raw.ask::<()>(&["SET", &store.named("billing"), &entry, "KEEPTTL"]).await;
    let extend = ExtendRequest { lock_id: peer.lock_id, ttl: ttl(90_000_000_000_000) };
    let expires_at =
        store.backend.extend(&extend).await.expect("answers").expires_at().expect("is live").as_millis();
    let text = store.get("billing").await.expect("is kept");
    assert!(text.contains(&format!(r#""expiresAtMs":{expires_at}"#)), "{text}");
    let entry: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&entry["note"], &entry["fence"], &entry["acquiredAtMs"]),
        (&"kept".into(), &"000000000000007".into(), &peer.acquired_at.into())
    );
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn ttl_that_peers_would_round_is_refused_before_anything_is_written() {
    let store = Store::start().await;
    for beyond in [ttl(90_000_000_000_001), Ttl::MAX] {
        let asked = AcquireRequest { ttl: beyond, ..request("billing") };
        assert_eq!(store.backend.acquire(&asked).await.expect_err("refused").code(), "ttl.out_of_range");
        let extend = ExtendRequest { lock_id: asked.lock_id, ttl: beyond };
        assert_eq!(store.backend.extend(&extend).await.expect_err("refused").code(), "ttl.out_of_range");
    }
    assert_eq!(store.raw.ask::<Vec<String>>(&["KEYS", &store.named("*")]).await, [""; 0]);
    let longest = AcquireRequest { ttl: ttl(90_000_000_000_000), ..request("billing") };
    let ends = store.acquire(&longest).await.acquired().expect("is free").expires_at.as_millis();
    assert!(store.get("billing").await.expect("is kept").contains(&ends.to_string()));
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn entry_without_ttl_is_live_until_the_tolerance_and_then_taken_over() {
    let store = Store::start().await;
    let peer = store.peer_acquires("billing", 1, 60_000).await;
    let expired_for = async |millis: i64| {
        let now = store.raw.now().await;
        let entry = store.get("billing").await.expect("is kept");
        let mut entry: serde_json::Value = serde_json::from_str(&entry).expect("JSON");
        entry["expiresAtMs"] = (now - millis).into();
        store.set("billing", &entry.to_string()).await;
    };
    let index = store.named(&format!("id:{}", peer.lock_id.as_str()));
    store.raw.ask::<()>(&["PERSIST", &index]).await;

    // A machine that stands still for a second may miss the tolerance; nothing but the tolerance makes it held.
    let mut held = false;
    for _ in 0..10 {
        expired_for(0).await;
        let answer = store.backend.lookup(LookupBy::Key(&key("billing"))).await.expect("answers");
        held |= answer.is_some_and(|found| found.lock_id == peer.lock_id);
    }
    assert!(held, "within the tolerance it is live");

    expired_for(60_000).await;
    assert_eq!(store.backend.lookup(LookupBy::Key(&key("billing"))).await.expect("answers"), None);
    let extend = ExtendRequest { lock_id: peer.lock_id, ttl: ttl(1_000) };
    let refused = store.backend.extend(&extend).await.expect("answers");
    assert_eq!(refused, ExtendOutcome::Refused(Refusal::Expired));
    assert_eq!(store.get("billing").await, None, "an ended hold is removed with its refusal");

    let peer = store.peer_acquires("billing", 2, 60_000).await;
    expired_for(60_000).await;
    let refused = store.backend.release(&peer.lock_id).await.expect("answers");
    assert_eq!(refused, ReleaseOutcome::Refused(Refusal::Expired));

    store.peer_acquires("billing", 3, 60_000).await;
    expired_for(60_000).await;
    let grant = store.acquire(&request("billing")).await.acquired().expect("is over");
    assert_eq!(grant.fence.as_u64(), 4);
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn counter_at_its_end_gives_overflow_and_writes_nothing() {
    let store = Store::start().await;
    let counter = format!("fence:{}", store.named("billing"));
    store.set(&counter, "899999999999999").await;
    let last = request("billing");
    assert_eq!(store.acquire(&last).await.acquired().expect("the last one").fence, Fence::MAX);
    store.backend.release(&last.lock_id).await.expect("answers");
    for beyond in ["900000000000000", "9000000000000000"] {
        store.set(&counter, beyond).await;
        let error = store.backend.acquire(&request("billing")).await.expect_err("overflow");
        assert_eq!((error.code(), error.lock_code()), ("fence.overflow", LockCode::Internal));
        assert_eq!(store.get(&counter).await.as_deref(), Some(beyond));
        assert_eq!(store.get("billing").await, None, "no orphan is left");
    }
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn foreign_entries_are_told_and_left_alone() {
    let store = Store::start().await;
    for (number, foreign) in ["plain", "17", "[]", "{}", r#"{"lockId":1,"expiresAtMs":2}"#].iter().enumerate()
    {
        let name = format!("foreign{number}");
        store.set(&name, foreign).await;
        assert_eq!(store.code_of_acquire(&name).await, "lock.foreign_entry", "{foreign}");
        let looked = store.backend.lookup(LookupBy::Key(&key(&name))).await.expect_err("not a lock");
        assert_eq!((looked.code(), looked.class()), ("lock.foreign_entry", Class::Rejected));
        assert_eq!(
            store.backend.is_locked(&key(&name)).await.expect_err("not a lock").code(),
            "lock.foreign_entry"
        );

        let id = lock_id();
        store.set(&format!("id:{}", id.as_str()), &store.named(&name)).await;
        let extend = ExtendRequest { lock_id: id, ttl: ttl(1_000) };
        for error in [
            store.backend.release(&id).await.expect_err("not a lock"),
            store.backend.extend(&extend).await.expect_err("not a lock"),
            store.backend.lookup(LookupBy::LockId(&id)).await.expect_err("not a lock"),
        ] {
            assert_eq!(error.code(), "lock.foreign_entry", "{foreign}");
            assert!(error.to_string().contains(&key(&name).key_hash().to_string()), "{error}");
        }
        assert_eq!(store.get(&name).await.as_deref(), Some(*foreign));
    }
    store.raw.ask::<()>(&["RPUSH", &store.named("list"), "x"]).await;
    assert_eq!(store.code_of_acquire("list").await, "lock.foreign_entry");
    store.set(&format!("fence:{}", store.named("counted")), "not a number").await;
    assert_eq!(store.code_of_acquire("counted").await, "lock.foreign_entry");
    assert_eq!(store.get("counted").await, None);
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn lock_id_in_use_for_another_key_is_not_overwritten() {
    let store = Store::start().await;
    let first = request("first");
    store.acquire(&first).await.acquired().expect("is free");
    let second = AcquireRequest { key: key("second"), ..first.clone() };
    assert_eq!(store.backend.acquire(&second).await.expect_err("in use").code(), "lock.id_in_use");
    assert_eq!(store.backend.release(&first.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    // Where the index leads to no lock, it may be no index.
    let odd = request("odd");
    store.set(&format!("id:{}", odd.lock_id.as_str()), "somebody's own").await;
    assert_eq!(store.backend.acquire(&odd).await.expect_err("in use").code(), "lock.foreign_entry");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn reserved_keys_are_refused_or_taken_without_harm() {
    let store = Store::start().await;
    let holder = request("billing");
    store.acquire(&holder).await.acquired().expect("is free");
    let reserved = [format!("id:{}", holder.lock_id.as_str()), format!("fence:{}", store.named("billing"))];
    for text in &reserved {
        assert_eq!(store.code_of_acquire(text).await, "key.reserved");
        let looked = store.backend.lookup(LookupBy::Key(&key(text))).await;
        assert_eq!(looked.expect_err("refused").code(), "key.reserved");
    }
    let allowing =
        RedisConfig { reserved_keys: ReservedKeys::Allow, ..config(&Server::shared().url(), &store.prefix) };
    let allowing = RedisBackend::connect(&allowing).await.expect("Redis is there");
    for text in &reserved {
        let error = allowing.acquire(&request(text)).await.expect_err("is another's entry");
        assert_eq!(error.code(), "lock.foreign_entry", "{text}");
    }
    assert_eq!(store.backend.release(&holder.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    let listed = request("id:mine");
    allowing.acquire(&listed).await.expect("answers").acquired().expect("is free");
    let page = leasehold_locks::ListRequest { after: None, len_max: 10 };
    assert_eq!(allowing.list(&page).await.expect("answers")[0].lock_id, listed.lock_id);
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn cleanup_removes_a_long_ended_hold_with_its_index_and_nothing_else() {
    for prefix_end in ["", ":::"] {
        let store = Store::with(|config| RedisConfig {
            cleanup_in_is_locked: true,
            key_prefix: leasehold_core::redis::KeyPrefix::parse(&format!(
                "{}{prefix_end}",
                config.key_prefix.as_str()
            ))
            .expect("a prefix"),
            ..config
        })
        .await;
        let peer = store.peer_acquires("billing", 5, 60_000).await;
        let index = format!("id:{}", peer.lock_id.as_str());
        let entry = store.get("billing").await.expect("is kept");
        let ended = |at: i64| entry.replace(&peer.expires_at.to_string(), &at.to_string());

        // Over, and not for long: it may still be somebody's to be told about. A machine that stands still for a second may
        // miss that time; nothing but that time keeps it.
        let mut is_kept = false;
        for _ in 0..10 {
            // Both without a ttl.
            store.set(&index, &store.named("billing")).await;
            store.set("billing", &ended(store.raw.now().await - 500)).await;
            store.backend.is_locked(&key("billing")).await.expect("answers");
            is_kept = store.get("billing").await.is_some();
            if is_kept {
                break;
            }
        }
        assert!(is_kept, "removed too soon");

        store.set("billing", &ended(peer.acquired_at - 3_000)).await;
        let silent = connected(&Server::shared().url(), &store.prefix).await;
        assert!(!silent.is_locked(&key("billing")).await.expect("answers"));
        assert!(store.get("billing").await.is_some(), "not asked to clean up");
        assert!(!store.backend.is_locked(&key("billing")).await.expect("answers"));
        assert_eq!((store.get("billing").await, store.get(&index).await), (None, None));
        let counter = store.get(&format!("fence:{}", store.named("billing"))).await;
        assert_eq!(counter.as_deref(), Some("5"));
    }
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn longest_prefix_works_with_hashed_keys() {
    let server = Server::shared();
    let prefix = format!("{}{}", server.prefix().trim_end_matches(':'), "p".repeat(951));
    let prefix = &prefix[..951];
    let backend = connected(&server.url(), prefix).await;
    let asked = request(&"k".repeat(512));
    let grant = backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    assert!(matches!(
        backend.acquire(&request(&"k".repeat(512))).await.expect("answers"),
        AcquireOutcome::Held { .. }
    ));
    let found = backend.lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").expect("is held");
    assert_eq!(found.key, asked.key);
    assert_eq!(backend.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    let error = backend.list(&leasehold_locks::ListRequest { after: None, len_max: 1 }).await;
    assert_eq!(error.expect_err("has no order").code(), "lock.rejected");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn list_shows_locks_only_whatever_else_is_under_the_prefix() {
    let server = Server::shared();
    // Characters that mean something in a pattern.
    let prefix = format!("{}*[x]?", server.prefix().trim_end_matches(':'));
    let backend = connected(&server.url(), &prefix).await;
    let raw = Raw::connect(&server.url()).await;
    let asked = request("billing");
    backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    for name in [format!("{prefix}:plain"), prefix.replace('*', "any") + ":billing"] {
        raw.ask::<()>(&["SET", &name, "x"]).await;
    }
    raw.ask::<()>(&["RPUSH", &format!("{prefix}:list"), "x"]).await;
    let page = backend.list(&leasehold_locks::ListRequest { after: None, len_max: 10 }).await;
    let listed: Vec<_> = page.expect("answers").into_iter().map(|record| record.lock_id).collect();
    assert_eq!(listed, [asked.lock_id]);
}

//! Beside SyncGuard on the same rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use leasehold_locks::backend::postgres::Mode;
use leasehold_locks::{
    ExtendOutcome, ExtendRequest, LockBackend, LookupBy, Refusal, ReleaseOutcome, Timestamp,
};
use parking_lot::Mutex;

use super::fixture::{Fixture, acquired, is_held, key, lock_id, request, session, ttl};
use super::peer::Peer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn rows_are_what_a_peer_would_have_written() {
    for mode in [Mode::Shared, Mode::Exclusive] {
        let fixture = Fixture::start().await;
        let backend = fixture.backend(mode);
        let first = acquired(&backend, "bücher:1").await;
        backend.release(&first.lock_id).await.expect("answers");
        let grant = acquired(&backend, "bücher:1").await;
        let row = fixture.outside.query_one("SELECT * FROM syncguard_locks", &[]).await.expect("one row");
        assert_eq!(row.get::<_, &str>("key"), "bücher:1");
        assert_eq!(row.get::<_, &str>("user_key"), "bücher:1");
        assert_eq!(row.get::<_, &str>("lock_id"), grant.lock_id.as_str());
        assert_eq!(row.get::<_, &str>("fence"), "000000000000002");
        assert_eq!(Timestamp::from_millis(row.get("expires_at_ms")), grant.expires_at);
        assert_eq!(row.get::<_, i64>("expires_at_ms") - row.get::<_, i64>("acquired_at_ms"), 30_000);
        let counter =
            fixture.outside.query_one("SELECT * FROM syncguard_fence_counters", &[]).await.expect("one row");
        assert_eq!(counter.get::<_, &str>("fence_key"), "fence:bücher:1");
        assert_eq!(counter.get::<_, i64>("fence"), 2);
        assert_eq!(counter.get::<_, Option<&str>>("key_debug"), Some("bücher:1"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn hold_of_a_peer_is_respected_and_may_be_ended_with_its_id() {
    let fixture = Fixture::start().await;
    let (backend, mut peer) = (fixture.backend(Mode::Shared), Peer(session(fixture.url()).await));
    let theirs = lock_id();
    assert_eq!(peer.acquire("billing", &theirs, 30_000).await.as_deref(), Some("000000000000001"));
    assert!(is_held(backend.acquire(&request("billing")).await.expect("answers")));
    let billing = key("billing");
    let found = backend.lookup(LookupBy::Key(&billing)).await.expect("answers").expect("is held");
    assert_eq!((found.lock_id, found.fence.as_u64()), (theirs, 1));
    let extended =
        backend.extend(&ExtendRequest { lock_id: theirs, ttl: ttl(60_000) }).await.expect("answers");
    assert!(matches!(extended, ExtendOutcome::Extended { .. }), "{extended:?}");
    assert_eq!(backend.release(&theirs).await.expect("answers"), ReleaseOutcome::Released);
    assert!(!peer.release(&theirs).await);
    assert_eq!(acquired(&backend, "billing").await.fence.as_u64(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn hold_of_ours_is_respected_by_a_peer_and_may_be_ended_with_its_id() {
    let fixture = Fixture::start().await;
    let (backend, mut peer) = (fixture.backend(Mode::Shared), Peer(session(fixture.url()).await));
    let ours = acquired(&backend, "billing").await;
    assert_eq!(peer.acquire("billing", &lock_id(), 30_000).await, None);
    assert!(peer.extend(&ours.lock_id, 60_000).await);
    assert!(peer.release(&ours.lock_id).await);
    let refused = backend.release(&ours.lock_id).await.expect("answers");
    assert_eq!(refused, ReleaseOutcome::Refused(Refusal::NotFound));
    assert_eq!(peer.acquire("billing", &lock_id(), 30_000).await.as_deref(), Some("000000000000002"));
}

/// What a holder does in the race below.
struct Key {
    held: AtomicBool,
    fences: Mutex<Vec<u64>>,
}

impl Key {
    fn enter(&self, fence: u64) {
        assert!(!self.held.swap(true, Ordering::SeqCst), "two holders, the second with fence {fence}");
        let mut fences = self.fences.lock();
        assert!(fences.last().is_none_or(|last| *last < fence), "{fence} after {:?}", fences.last());
        fences.push(fence);
    }

    fn leave(&self) {
        self.held.store(false, Ordering::SeqCst);
    }
}

/// Peers and backends, absent rows and present ones, for as long as it takes to give each key out many times.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn peers_and_backends_race_and_never_both_hold() {
    const KEYS: usize = 6;
    const GRANTS: usize = 40;
    for function in [true, false] {
        let fixture = Fixture::start().await;
        if !function {
            fixture.drop_functions().await;
        }
        let keys: Arc<[Key; KEYS]> =
            Arc::new([const { Key { held: AtomicBool::new(false), fences: Mutex::new(Vec::new()) } }; KEYS]);
        let enough = |keys: &[Key; KEYS]| keys.iter().all(|key| key.fences.lock().len() >= GRANTS);
        let mut racing = Vec::new();
        for _ in 0..4 {
            let (mut peer, theirs, name) =
                (Peer(session(fixture.url()).await), keys.clone(), fixture.name.clone());
            racing.push(tokio::spawn(async move {
                while !enough(&theirs) {
                    for (number, key) in theirs.iter().enumerate() {
                        let lock_id = lock_id();
                        let Some(fence) = peer.acquire(&format!("{name}:{number}"), &lock_id, 30_000).await
                        else {
                            continue;
                        };
                        key.enter(fence.parse().expect("a number"));
                        key.leave();
                        assert!(peer.release(&lock_id).await);
                    }
                }
            }));
            let (backend, keys, name) = (fixture.backend(Mode::Shared), keys.clone(), fixture.name.clone());
            racing.push(tokio::spawn(async move {
                while !enough(&keys) {
                    for (number, key) in keys.iter().enumerate() {
                        let asked = request(&format!("{name}:{number}"));
                        let Some(grant) = backend.acquire(&asked).await.expect("answers").acquired() else {
                            continue;
                        };
                        key.enter(grant.fence.as_u64());
                        key.leave();
                        assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
                    }
                }
            }));
        }
        for ended in join_all(racing).await {
            ended.expect("nobody met another holder");
        }
    }
}

/// Shared and exclusive processes of ours may be mixed, as during a change from one to the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn both_modes_race_and_never_both_hold() {
    let fixture = Fixture::start().await;
    let key = Arc::new(Key { held: AtomicBool::new(false), fences: Mutex::default() });
    let racing = (0..8).map(|number| {
        let mode = if number % 2 == 0 { Mode::Shared } else { Mode::Exclusive };
        let (backend, key, text) = (fixture.backend(mode), key.clone(), fixture.name.clone());
        tokio::spawn(async move {
            while key.fences.lock().len() < 200 {
                let Some(grant) = backend.acquire(&request(&text)).await.expect("answers").acquired() else {
                    continue;
                };
                key.enter(grant.fence.as_u64());
                key.leave();
                assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
            }
        })
    });
    for ended in join_all(racing).await {
        ended.expect("nobody met another holder");
    }
    // Nothing was counted that was not granted.
    let granted = key.fences.lock().len() as i64;
    assert_eq!(fixture.number("SELECT fence FROM syncguard_fence_counters").await, granted);
}

/// The session's default must not turn contention into errors.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn level_of_the_session_does_not_matter() {
    let fixture = Fixture::start().await;
    let url = format!("{}%20-c%20default_transaction_isolation%3Dserializable", fixture.url());
    for mode in [Mode::Shared, Mode::Exclusive] {
        let config = leasehold_locks::backend::postgres::Config { mode, ..Default::default() };
        let backend =
            leasehold_locks::backend::postgres::PostgresBackend::new(super::fixture::pool(&url, 8), config);
        for round in 0..10 {
            let text = format!("{}:{mode:?}:{round}", fixture.name);
            let outcomes = join_all((0..8).map(|_| async { backend.acquire(&request(&text)).await })).await;
            let won = outcomes.into_iter().map(|outcome| outcome.expect("no serialization failure"));
            assert_eq!(won.filter(|outcome| outcome.acquired().is_some()).count(), 1, "round {round}");
        }
    }
}

/// Nothing is written for a key that is held: no row, no lock on a row.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn refusal_writes_nothing() {
    for (mode, function) in
        [(Mode::Shared, true), (Mode::Shared, false), (Mode::Exclusive, true), (Mode::Exclusive, false)]
    {
        let fixture = Fixture::start().await;
        if !function {
            fixture.drop_functions().await;
        }
        let backend = fixture.backend(mode);
        acquired(&backend, "billing").await;
        // A row lock or a new version would show in these.
        let rows = "SELECT string_agg(xmin::text || ':' || xmax::text || ':' || ctid::text, ' ') FROM
            (SELECT xmin, xmax, ctid FROM syncguard_locks UNION ALL SELECT xmin, xmax, ctid FROM syncguard_fence_counters) AS all_rows";
        let before = fixture.text(rows).await;
        for _ in 0..10 {
            assert!(is_held(backend.acquire(&request("billing")).await.expect("answers")));
        }
        assert_eq!(fixture.text(rows).await, before, "{mode:?} {function}");
    }
}

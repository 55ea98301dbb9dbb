//! The windows in which a lock statement can be wrong, held open on purpose: rows that are not there yet, and snapshots
//! older than what a statement waited for. A form that is known to be wrong goes through the same windows, and must be
//! caught there.

use std::sync::Arc;

use futures_util::future::join_all;
use leasehold_core::KeyHash;
use leasehold_locks::backend::postgres::{Config, Mode, PostgresBackend};
use leasehold_locks::{AcquireRequest, LockBackend};
use tokio_postgres::Client;

use super::fixture::{Fixture, PATIENCE, is_held, lock_id, request, session};
use super::peer::decide;

const CONTENDERS: usize = 8;

/// The advisory lock inside the statement it is to protect: the snapshot is older than the wait.
const BROKEN: &str = "
    WITH guarded AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtext($1)) IS NULL AS taken),
    free AS MATERIALIZED (SELECT taken FROM guarded WHERE NOT EXISTS (
        SELECT FROM syncguard_locks
         WHERE key = $1 AND expires_at_ms > floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1000)),
    counted AS (
        INSERT INTO syncguard_fence_counters AS counter (fence_key, fence, key_debug)
        SELECT 'fence:' || $1, 1, $1 FROM free
            ON CONFLICT (fence_key) DO UPDATE SET fence = counter.fence + 1 RETURNING fence)
    INSERT INTO syncguard_locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
    SELECT $1, $2, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 30000, 0,
           lpad(fence::text, 15, '0'), $1 FROM counted
        ON CONFLICT (key) DO UPDATE SET lock_id = EXCLUDED.lock_id, expires_at_ms = EXCLUDED.expires_at_ms,
           fence = EXCLUDED.fence
    RETURNING fence";

/// Whoever asks for a lock.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Shared,
    SharedWithoutFunctions,
    Exclusive,
    ExclusiveWithoutFunctions,
    Broken,
}

const RIGHT: [Form; 4] =
    [Form::Shared, Form::SharedWithoutFunctions, Form::Exclusive, Form::ExclusiveWithoutFunctions];

struct Arena {
    fixture: Fixture,
    form: Form,
    /// Its hash is this test's alone: advisory locks are the whole database's.
    key: String,
    contenders: Vec<Arc<Contender>>,
}

enum Contender {
    Backend(Box<PostgresBackend>),
    Broken(Client),
}

impl Contender {
    /// The fence, if the key was free.
    async fn acquire(&self, request: &AcquireRequest) -> Option<u64> {
        match self {
            Contender::Backend(backend) => {
                let outcome = backend.acquire(request).await.expect("answers");
                outcome.acquired().map(|grant| grant.fence.as_u64())
            }
            Contender::Broken(client) => {
                let (key, lock_id) = (request.key.as_str(), request.lock_id.as_str());
                let row = client.query_opt(BROKEN, &[&key, &lock_id]).await.expect("answers");
                row.map(|row| row.get::<_, &str>(0).parse().expect("a number"))
            }
        }
    }
}

impl Arena {
    async fn open(form: Form) -> Self {
        let fixture = Fixture::start().await;
        if matches!(form, Form::SharedWithoutFunctions | Form::ExclusiveWithoutFunctions) {
            fixture.drop_functions().await;
        }
        let key = fixture.text("SELECT current_schema() || ':contended'").await;
        let mut contenders = Vec::new();
        for _ in 0..CONTENDERS {
            contenders.push(Arc::new(match form {
                Form::Broken => Contender::Broken(session(fixture.url()).await),
                _ => {
                    let alone = matches!(form, Form::Exclusive | Form::ExclusiveWithoutFunctions);
                    let mode = if alone { Mode::Exclusive } else { Mode::Shared };
                    Contender::Backend(Box::new(PostgresBackend::new(
                        fixture.pool(),
                        Config { mode, ..Config::default() },
                    )))
                }
            }));
        }
        let arena = Arena { fixture, form, key, contenders };
        // Connected and prepared, so that nothing but the window holds them up.
        for contender in &arena.contenders {
            contender.acquire(&request(&format!("{}:{}", arena.key, KeyHash::of("warm")))).await;
        }
        arena
    }

    /// Lets all contenders run into the window that `blocker` holds open, then closes it; the fences that were granted.
    async fn race(&self, blocker: Client, close: &str) -> Vec<u64> {
        let racing = join_all(self.contenders.iter().map(|contender| {
            let (contender, request) = (contender.clone(), request(&self.key));
            tokio::spawn(async move { contender.acquire(&request).await })
        }));
        let racing = tokio::spawn(racing);
        self.fixture.waits_for(&blocker, CONTENDERS).await;
        blocker.batch_execute(close).await.expect("closes");
        let outcomes = tokio::time::timeout(PATIENCE, racing).await.expect("all end").expect("none panicked");
        outcomes.into_iter().filter_map(|outcome| outcome.expect("answers")).collect()
    }

    async fn blocker(&self, open: &str) -> Client {
        let blocker = session(self.fixture.url()).await;
        blocker.batch_execute("BEGIN").await.expect("begins");
        blocker.batch_execute(&open.replace("{key}", &self.key)).await.expect("opens the window");
        blocker
    }

    /// A hold that ended long ago, and its counter.
    async fn expired_hold(&self) {
        for sql in [COUNTER_AT_FIVE, EXPIRED] {
            self.fixture.outside.batch_execute(&sql.replace("{key}", &self.key)).await.expect("rows");
        }
    }

    /// The lock row and the counter tell the same story.
    async fn counter_and_row(&self) -> (i64, i64) {
        let counter =
            format!("SELECT max(fence) FROM syncguard_fence_counters WHERE fence_key = 'fence:{}'", self.key);
        let row = format!("SELECT max(fence)::bigint FROM syncguard_locks WHERE key = '{}'", self.key);
        (self.fixture.number(&counter).await, self.fixture.number(&row).await)
    }
}

const ADVISORY: &str = "SELECT pg_advisory_xact_lock(hashtext('{key}'))";
const COUNTER: &str =
    "INSERT INTO syncguard_fence_counters (fence_key, fence, key_debug) VALUES ('fence:{key}', 1, '{key}')";
const COUNTER_AT_FIVE: &str =
    "INSERT INTO syncguard_fence_counters (fence_key, fence, key_debug) VALUES ('fence:{key}', 5, '{key}')";

const EXPIRED: &str = "INSERT INTO syncguard_locks VALUES ('{key}', 'AAAAAAAAAAAAAAAAAAAAAA', 0, 0, '000000000000005', '{key}')";

/// Nobody ever held the key; all wait for the advisory lock with the rows absent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn absent_rows_behind_the_advisory_lock_have_one_winner() {
    for form in [Form::Shared, Form::SharedWithoutFunctions] {
        let arena = Arena::open(form).await;
        let blocker = arena.blocker(ADVISORY).await;
        assert_eq!(arena.race(blocker, "COMMIT").await, [1], "{form:?}");
        assert_eq!(arena.counter_and_row().await, (1, 1), "{form:?}");
    }
}

/// The very same window, and a form that must not survive it: if this test fails, the attack is blunt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn advisory_lock_inside_its_statement_is_caught() {
    let arena = Arena::open(Form::Broken).await;
    let blocker = arena.blocker(ADVISORY).await;
    let granted = arena.race(blocker, "COMMIT").await;
    assert!(
        granted.len() > 1,
        "the broken form granted {granted:?} to {CONTENDERS} contenders of {:?}",
        arena.form
    );
}

/// All wait for a counter that another transaction is about to insert, and then does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn absent_counter_that_never_came_has_one_winner() {
    for form in RIGHT {
        let arena = Arena::open(form).await;
        let blocker = arena.blocker(COUNTER).await;
        assert_eq!(arena.race(blocker, "ROLLBACK").await, [1], "{form:?}");
        assert_eq!(arena.counter_and_row().await, (1, 1), "{form:?}");
    }
}

/// The same, and it came: with a lock, which none of the waiters' snapshots shows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn hold_behind_an_absent_counter_keeps_all_out() {
    for form in RIGHT {
        let arena = Arena::open(form).await;
        let mut blocker = session(arena.fixture.url()).await;
        // A whole acquire of a peer, not yet committed; in the modes with an advisory lock that is where they wait.
        let transaction = blocker.transaction().await.expect("begins");
        decide(&transaction, &arena.key, &lock_id(), 30_000).await.expect("is free");
        // Left open: committed by the race.
        std::mem::forget(transaction);
        assert_eq!(arena.race(blocker, "COMMIT").await, [0_u64; 0], "{form:?}");
        assert_eq!(arena.counter_and_row().await, (1, 1), "{form:?}");
    }
}

/// All wait for the counter's row; meanwhile the key was held and released, so that the counter moved and the lock row
/// is as absent as before. The fence must be read after the wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn fence_is_counted_after_the_wait() {
    for form in RIGHT {
        let arena = Arena::open(form).await;
        arena
            .fixture
            .outside
            .batch_execute(&COUNTER_AT_FIVE.replace("{key}", &arena.key))
            .await
            .expect("counter");
        let blocker = arena
            .blocker("UPDATE syncguard_fence_counters SET fence = 9 WHERE fence_key = 'fence:{key}'")
            .await;
        assert_eq!(arena.race(blocker, "COMMIT").await, [10], "{form:?}");
        assert_eq!(arena.counter_and_row().await, (10, 10), "{form:?}");
    }
}

/// All saw an expired hold, and wait for its row while its holder, who was in time, extends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn extension_on_its_way_is_not_overwritten() {
    for form in RIGHT {
        let arena = Arena::open(form).await;
        arena.expired_hold().await;
        let extend = "UPDATE syncguard_locks SET expires_at_ms = 9000000000000 WHERE key = '{key}'";
        let blocker = arena.blocker(extend).await;
        assert_eq!(arena.race(blocker, "COMMIT").await, [0_u64; 0], "{form:?}");
        assert_eq!(arena.counter_and_row().await, (5, 5), "{form:?}");
        let refused = match &*arena.contenders[0] {
            Contender::Backend(backend) => backend.acquire(&request(&arena.key)).await.expect("answers"),
            Contender::Broken(_) => unreachable!("only right forms are here"),
        };
        assert!(is_held(refused));
    }
}

/// All saw an expired hold, and wait for its row while its holder, who was in time, releases it: the row is gone for
/// those who come to overwrite it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn release_on_its_way_leaves_one_taker() {
    for form in RIGHT {
        for close in ["COMMIT", "ROLLBACK"] {
            let arena = Arena::open(form).await;
            arena.expired_hold().await;
            let blocker = arena.blocker("DELETE FROM syncguard_locks WHERE key = '{key}'").await;
            assert_eq!(arena.race(blocker, close).await, [6], "{form:?} {close}");
            assert_eq!(arena.counter_and_row().await, (6, 6), "{form:?} {close}");
        }
    }
}

/// And one of them may take it if the extension did not happen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn expired_hold_behind_a_row_lock_has_one_taker() {
    for form in RIGHT {
        let arena = Arena::open(form).await;
        arena.expired_hold().await;
        let blocker = arena.blocker("SELECT FROM syncguard_locks WHERE key = '{key}' FOR UPDATE").await;
        assert_eq!(arena.race(blocker, "COMMIT").await, [6], "{form:?}");
        assert_eq!(arena.counter_and_row().await, (6, 6), "{form:?}");
    }
}

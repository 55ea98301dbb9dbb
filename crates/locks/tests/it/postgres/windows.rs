//! A release or an extension against the end of its hold and the next one's acquire: the window between looking and writing,
//! held open on purpose. On the server by a transaction that keeps the row, on the wire by a proxy that keeps the request.

use std::sync::Arc;
use std::time::Duration;

use leasehold_locks::backend::postgres::{Config, Mode, PostgresBackend};
use leasehold_locks::{
    ExtendOutcome, ExtendRequest, Fence, Grant, LockBackend, LockId, LookupBy, Refusal, ReleaseOutcome, Ttl,
};
use leasehold_testkit::postgres::Cluster;
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, RuleHandle, Trigger};
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use super::fixture::{FORMS, Fixture, PATIENCE, acquired, is_held, key, lock_id, pool, request, session};

/// Past the end of any hold here.
const PAST_THE_END: Duration = Duration::from_secs(3_600);

/// How a hold is ended.
#[derive(Debug, Clone, Copy)]
enum Release {
    Alone,
    /// In one statement with another one.
    Together,
}

const RELEASES: [Release; 2] = [Release::Alone, Release::Together];

/// A hold, and the clock that judges it, which stands still.
struct Window {
    fixture: Fixture,
    backend: Arc<PostgresBackend>,
    held: Grant,
}

impl Window {
    async fn open(mode: Mode, functions: bool) -> Self {
        let fixture = Fixture::frozen().await;
        if !functions {
            fixture.drop_functions().await;
        }
        let backend = Arc::new(fixture.backend(mode));
        let held = acquired(&*backend, "billing").await;
        Window { fixture, backend, held }
    }

    /// A transaction that has done something to the row of the hold and is not at its end.
    async fn blocker(&self, sql: &str) -> Client {
        let blocker = session(self.fixture.url()).await;
        blocker.batch_execute("BEGIN").await.expect("begins");
        blocker.batch_execute(sql).await.expect("opens the window");
        blocker
    }

    fn release(&self, how: Release) -> JoinHandle<ReleaseOutcome> {
        let (backend, lock_id) = (self.backend.clone(), self.held.lock_id);
        tokio::spawn(async move { release(&backend, how, lock_id).await })
    }

    fn extend(&self) -> JoinHandle<ExtendOutcome> {
        let (backend, request) = (self.backend.clone(), extension(self.held.lock_id));
        tokio::spawn(async move { backend.extend(&request).await.expect("answers") })
    }

    /// Nobody holds the key, and the next one to ask does, with the next fence.
    async fn next_is_granted(&self) {
        let next = acquired(&*self.backend, "billing").await;
        assert_eq!(Ok(next.fence), self.held.fence.next());
    }

    async fn rows(&self) -> i64 {
        self.fixture.number("SELECT count(*) FROM syncguard_locks").await
    }
}

/// What a take-over does to the row of a hold, and to its counter.
fn take_over(next: LockId) -> String {
    format!(
        "UPDATE syncguard_fence_counters SET fence = 2 WHERE fence_key = 'fence:billing';
         UPDATE syncguard_locks SET lock_id = '{}', fence = '000000000000002', expires_at_ms = expires_at_ms + 10000000
          WHERE key = 'billing'",
        next.as_str()
    )
}

/// The hold of the next one is as it was granted, and is its own to end.
async fn is_untouched(
    backend: &PostgresBackend,
    next: LockId,
    expires_at: Option<leasehold_core::Timestamp>,
) {
    let found = backend.lookup(LookupBy::Key(&key("billing"))).await.expect("answers").expect("is held");
    assert_eq!((found.lock_id, Ok(found.fence)), (next, Fence::FIRST.next()));
    if let Some(expires_at) = expires_at {
        assert_eq!(found.expires_at, expires_at);
    }
    assert_eq!(backend.release(&next).await.expect("answers"), ReleaseOutcome::Released);
}

async fn release(backend: &PostgresBackend, how: Release, lock_id: LockId) -> ReleaseOutcome {
    match how {
        Release::Alone => backend.release(&lock_id).await.expect("answers"),
        Release::Together => {
            let ends = backend.release_many(&[self::lock_id(), lock_id]).await.expect("answers");
            ends.into_iter().next_back().expect("as many as asked").expect("answers")
        }
    }
}

fn extension(lock_id: LockId) -> ExtendRequest {
    ExtendRequest { lock_id, ttl: Ttl::DEFAULT }
}

async fn ended<T>(work: JoinHandle<T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("ends").expect("does not panic")
}

const KEEP_ROW: &str = "SELECT FROM syncguard_locks WHERE key = 'billing' FOR UPDATE";
const DELETE: &str = "DELETE FROM syncguard_locks WHERE key = 'billing'";
const EXTEND: &str =
    "UPDATE syncguard_locks SET expires_at_ms = expires_at_ms + 7200000 WHERE key = 'billing'";

/// It was in time when it was asked for. When it gets to the row, the hold has ended and the key is another one's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn release_that_waited_leaves_the_next_hold_alone() {
    for (mode, functions) in FORMS {
        for how in RELEASES {
            let window = Window::open(mode, functions).await;
            let (blocker, next) = (window.blocker(KEEP_ROW).await, lock_id());
            let releasing = window.release(how);
            window.fixture.waits_for(&blocker, 1).await;
            window.fixture.advance(PAST_THE_END).await;
            for sql in [&*take_over(next), "COMMIT"] {
                blocker.batch_execute(sql).await.expect("takes over");
            }
            let outcome = ended(releasing).await;
            assert!(
                matches!(outcome, ReleaseOutcome::Refused(_)),
                "{mode:?} {functions} {how:?}: {outcome:?}"
            );
            is_untouched(&window.backend, next, None).await;
        }
    }
}

/// The same for an extension, which must not make the next one's hold last either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn extension_that_waited_leaves_the_next_hold_alone() {
    for (mode, functions) in FORMS {
        let window = Window::open(mode, functions).await;
        let (blocker, next) = (window.blocker(KEEP_ROW).await, lock_id());
        let extending = window.extend();
        window.fixture.waits_for(&blocker, 1).await;
        window.fixture.advance(PAST_THE_END).await;
        for sql in [&*take_over(next), "COMMIT"] {
            blocker.batch_execute(sql).await.expect("takes over");
        }
        let outcome = ended(extending).await;
        assert_eq!(outcome, ExtendOutcome::Refused(Refusal::NotFound), "{mode:?} {functions}");
        let expires_at = window.held.expires_at.saturating_add(Duration::from_millis(10_000_000));
        is_untouched(&window.backend, next, Some(expires_at)).await;
    }
}

/// The hold ends while its release waits, and nobody takes it over: it is ended by one or the other, and the answer tells
/// by which.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn release_across_the_end_of_its_hold_answers_what_it_did() {
    for (mode, functions) in FORMS {
        for how in RELEASES {
            let window = Window::open(mode, functions).await;
            let blocker = window.blocker(KEEP_ROW).await;
            let releasing = window.release(how);
            window.fixture.waits_for(&blocker, 1).await;
            window.fixture.advance(PAST_THE_END).await;
            blocker.batch_execute("COMMIT").await.expect("closes");
            let rows = match ended(releasing).await {
                ReleaseOutcome::Released => 0,
                ReleaseOutcome::Refused(refusal) => {
                    assert_eq!(refusal, Refusal::Expired, "{mode:?} {functions} {how:?}");
                    1
                }
            };
            assert_eq!(window.rows().await, rows, "{mode:?} {functions} {how:?}");
            window.next_is_granted().await;
        }
    }
}

/// The hold ends while its extension waits: an ended hold stays ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn extension_across_the_end_of_its_hold_is_refused() {
    for (mode, functions) in FORMS {
        for close in ["COMMIT", "ROLLBACK"] {
            let window = Window::open(mode, functions).await;
            let blocker = window.blocker(KEEP_ROW).await;
            let extending = window.extend();
            window.fixture.waits_for(&blocker, 1).await;
            window.fixture.advance(PAST_THE_END).await;
            blocker.batch_execute(close).await.expect("closes");
            let outcome = ended(extending).await;
            assert_eq!(outcome, ExtendOutcome::Refused(Refusal::Expired), "{mode:?} {functions} {close}");
            window.next_is_granted().await;
        }
    }
}

/// The hold would have ended, but its extension is about to be committed: a release that says "expired" now would leave a
/// live hold that nobody knows of.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn release_waits_for_the_extension_on_its_way() {
    for (mode, functions) in FORMS {
        for how in RELEASES {
            for (close, outcome) in [
                ("COMMIT", ReleaseOutcome::Released),
                ("ROLLBACK", ReleaseOutcome::Refused(Refusal::Expired)),
            ] {
                let window = Window::open(mode, functions).await;
                let blocker = window.blocker(EXTEND).await;
                window.fixture.advance(PAST_THE_END).await;
                let releasing = window.release(how);
                window.fixture.waits_for(&blocker, 1).await;
                blocker.batch_execute(close).await.expect("closes");
                assert_eq!(ended(releasing).await, outcome, "{mode:?} {functions} {how:?} {close}");
                window.next_is_granted().await;
            }
        }
    }
}

/// Two releases of one hold: one of them ends it, also if the first is taken back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn release_waits_for_the_release_on_its_way() {
    for (mode, functions) in FORMS {
        for how in RELEASES {
            for (close, outcome) in [
                ("COMMIT", ReleaseOutcome::Refused(Refusal::NotFound)),
                ("ROLLBACK", ReleaseOutcome::Released),
            ] {
                let window = Window::open(mode, functions).await;
                let blocker = window.blocker(DELETE).await;
                let releasing = window.release(how);
                window.fixture.waits_for(&blocker, 1).await;
                blocker.batch_execute(close).await.expect("closes");
                assert_eq!(ended(releasing).await, outcome, "{mode:?} {functions} {how:?} {close}");
                window.next_is_granted().await;
            }
        }
    }
}

/// An extension and a release of one hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn extension_waits_for_the_release_on_its_way() {
    for (mode, functions) in FORMS {
        for close in ["COMMIT", "ROLLBACK"] {
            let window = Window::open(mode, functions).await;
            let blocker = window.blocker(DELETE).await;
            let extending = window.extend();
            window.fixture.waits_for(&blocker, 1).await;
            blocker.batch_execute(close).await.expect("closes");
            let outcome = ended(extending).await;
            if close == "COMMIT" {
                assert_eq!(outcome, ExtendOutcome::Refused(Refusal::NotFound), "{mode:?} {functions}");
                window.next_is_granted().await;
            } else {
                assert!(
                    matches!(outcome, ExtendOutcome::Extended { .. }),
                    "{mode:?} {functions}: {outcome:?}"
                );
                assert!(is_held(window.backend.acquire(&request("billing")).await.expect("answers")));
            }
        }
    }
}

/// A release that is not committed has not happened, and does not hold up whoever asks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn key_is_held_until_its_release_is_committed() {
    for (mode, functions) in FORMS {
        let window = Window::open(mode, functions).await;
        let blocker = window.blocker(DELETE).await;
        let asked = tokio::time::timeout(PATIENCE, window.backend.acquire(&request("billing"))).await;
        assert!(is_held(asked.expect("does not wait").expect("answers")), "{mode:?} {functions}");
        blocker.batch_execute("COMMIT").await.expect("commits");
        window.next_is_granted().await;
    }
}

/// A hold whose holder talks through a proxy that can keep a message back.
struct Wire {
    window: Window,
    proxy: FaultProxy,
    through: Arc<PostgresBackend>,
}

impl Wire {
    async fn lay(mode: Mode, functions: bool) -> Self {
        let window = Window::open(mode, functions).await;
        let server = Cluster::shared().address();
        let proxy = FaultProxy::start(server).await.expect("a proxy");
        let url = window.fixture.url().replace(&server.to_string(), &proxy.address().to_string());
        let through = PostgresBackend::new(pool(&url, 1), Config { mode, ..Config::default() });
        Wire { window, proxy, through: Arc::new(through) }
    }

    /// What names the hold is kept on its way to the server, or its answer on the way back.
    fn on_hold(&self, action: Action) -> RuleHandle {
        let named = Trigger::Request(self.window.held.lock_id.as_str().into());
        self.proxy.add(Rule::on(named).then(action))
    }

    /// The hold ends, and another one gets the key.
    async fn next(&self) -> Grant {
        self.window.fixture.advance(PAST_THE_END).await;
        acquired(&*self.window.backend, "billing").await
    }
}

/// A message that was on its way for an hour is judged when it arrives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn late_messages_leave_the_next_hold_alone() {
    for (mode, functions) in FORMS {
        for how in RELEASES {
            let wire = Wire::lay(mode, functions).await;
            let (through, lock_id) = (wire.through.clone(), wire.window.held.lock_id);
            let late = wire.on_hold(Action::Hold);
            let releasing = tokio::spawn(async move { release(&through, how, lock_id).await });
            tokio::time::timeout(PATIENCE, late.fired()).await.expect("it is on its way");
            let next = wire.next().await;
            late.let_go();
            let outcome = ended(releasing).await;
            assert_eq!(outcome, ReleaseOutcome::Refused(Refusal::NotFound), "{mode:?} {functions} {how:?}");
            is_untouched(&wire.window.backend, next.lock_id, Some(next.expires_at)).await;
        }
        let wire = Wire::lay(mode, functions).await;
        let (through, request) = (wire.through.clone(), extension(wire.window.held.lock_id));
        let late = wire.on_hold(Action::Hold);
        let extending = tokio::spawn(async move { through.extend(&request).await.expect("answers") });
        tokio::time::timeout(PATIENCE, late.fired()).await.expect("it is on its way");
        let next = wire.next().await;
        late.let_go();
        let outcome = ended(extending).await;
        assert_eq!(outcome, ExtendOutcome::Refused(Refusal::NotFound), "{mode:?} {functions}");
        is_untouched(&wire.window.backend, next.lock_id, Some(next.expires_at)).await;
    }
}

/// Who never heard of its release or extension asks again, when the key is long another one's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn repeated_messages_leave_the_next_hold_alone() {
    for (mode, functions) in FORMS {
        let wire = Wire::lay(mode, functions).await;
        let lost = wire.on_hold(Action::DropReply);
        let request = extension(wire.window.held.lock_id);
        wire.through.extend(&request).await.expect_err("the answer was lost");
        tokio::time::timeout(PATIENCE, lost.fired()).await.expect("the answer was lost");
        let next = wire.next().await;
        let again = wire.through.extend(&request).await.expect("answers");
        assert_eq!(again, ExtendOutcome::Refused(Refusal::NotFound), "{mode:?} {functions}");
        let again = wire.through.release(&request.lock_id).await.expect("answers");
        assert_eq!(again, ReleaseOutcome::Refused(Refusal::NotFound), "{mode:?} {functions}");
        is_untouched(&wire.window.backend, next.lock_id, Some(next.expires_at)).await;
    }
}

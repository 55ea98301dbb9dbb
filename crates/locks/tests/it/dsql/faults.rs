//! Conflicts, schema changes and lost answers, one at a time and counted.

use std::time::Duration;

use leasehold_core::{Class, Fence};
use leasehold_dsql_sim::rules::Level;
use leasehold_locks::backend::BackendLocation;
use leasehold_locks::backend::dsql::Config;
use leasehold_locks::{
    AcquireOutcome, ExtendRequest, ListRequest, LockBackend, LookupBy, ReleaseOutcome, Ttl,
};
use leasehold_txn::Policy;

use super::fixture::{Fixture, request};

/// Three attempts, and no time lost between them.
fn three_attempts() -> Config {
    let retries = Policy::new(3, Duration::ZERO, Duration::ZERO).expect("a policy");
    Config { retries, ..Config::default() }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn conflicts_within_the_budget_are_not_seen() {
    for action in ["conflict_at_commit", "schema_conflict_at_commit", "schema_conflict_at_statement"] {
        let fixture = Fixture::start(Level::L2026_09).await;
        let backend = fixture.backend_with(three_attempts());
        let asked = request("billing");
        fixture
            .cluster
            .arm(&format!(r#"{{"name": "a", "action": "{action}", "kind": "insert", "times": 2}}"#));
        let grant = backend.acquire(&asked).await.expect("answers").acquired().expect("free");
        assert_eq!(grant.fence, Fence::FIRST, "{action}: an attempt without effect used up a fence");
        fixture
            .cluster
            .arm(&format!(r#"{{"name": "b", "action": "{action}", "kind": "update", "times": 2}}"#));
        assert_eq!(backend.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn losing_to_others_until_the_budget_is_used_up_is_held() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let backend = fixture.backend_with(three_attempts());
    fixture.cluster.arm(r#"{"name": "a", "action": "conflict_at_commit", "kind": "insert", "times": 3}"#);
    let outcome = backend.acquire(&request("billing")).await.expect("contention is an answer");
    assert!(matches!(outcome, AcquireOutcome::Held { free_in: None }), "{outcome:?}");
    assert_eq!(fixture.number("SELECT count(*) FROM syncguard_locks").await, 0);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_schema_that_keeps_changing_is_an_error_without_effect() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let backend = fixture.backend_with(three_attempts());
    fixture
        .cluster
        .arm(r#"{"name": "a", "action": "schema_conflict_at_commit", "kind": "insert", "times": 3}"#);
    let error = backend.acquire(&request("billing")).await.expect_err("nobody holds it, and nobody can");
    assert_ne!(error.class(), Class::Indeterminate, "{error:?}");
    assert_eq!(fixture.number("SELECT count(*) FROM syncguard_locks").await, 0);
}

/// Some versions of DSQL were seen to give their own codes as the SQLSTATE. The simulator does not; a trigger behind it can.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn conflicts_told_by_their_sqlstate_are_told_apart_too() {
    for (sqlstate, is_held) in [("OC000", true), ("OC001", false)] {
        let fixture = Fixture::start(Level::L2026_09).await;
        let backend = fixture.backend_with(three_attempts());
        let trigger = format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN RAISE EXCEPTION 'in other words' USING ERRCODE = '{sqlstate}'; END $$;
             CREATE TRIGGER refuse BEFORE INSERT ON syncguard_locks FOR EACH ROW EXECUTE FUNCTION refuse();"
        );
        fixture.outside.batch_execute(&trigger).await.expect("a trigger");
        match backend.acquire(&request("billing")).await {
            Ok(outcome) => {
                assert!(is_held, "{sqlstate}: {outcome:?}, and nobody wrote the row");
                assert!(matches!(outcome, AcquireOutcome::Held { free_in: None }), "{outcome:?}");
            }
            Err(error) => {
                assert!(!is_held, "{sqlstate}: {error:?}");
                assert_ne!(error.class(), Class::Indeterminate, "{error:?}");
            }
        }
    }
}

/// A read is a transaction too, and a schema change at its COMMIT is nothing that its caller should see.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn reads_that_lose_at_commit_are_run_again() {
    for action in ["conflict_at_commit", "schema_conflict_at_commit"] {
        let fixture = Fixture::start(Level::L2026_09).await;
        let backend = fixture.backend_with(three_attempts());
        let key = request("billing").key;
        let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
        let strike = |times| {
            let rule =
                format!(r#"{{"name": "a", "action": "{action}", "kind": "select", "times": {times}}}"#);
            fixture.cluster.arm(&rule);
        };
        strike(2);
        let outcome = backend.acquire(&request("billing")).await.expect("answers");
        assert!(matches!(outcome, AcquireOutcome::Held { free_in: Some(_) }), "{action}: {outcome:?}");
        assert_eq!(fixture.cluster.fired(), 2, "{action}: the read behind a refusal");
        strike(2);
        assert!(backend.is_locked(&key).await.expect("answers"));
        assert_eq!(fixture.cluster.fired(), 2, "{action}: is_locked");
        strike(2);
        assert!(backend.lookup(LookupBy::Key(&key)).await.expect("answers").is_some());
        assert_eq!(fixture.cluster.fired(), 2, "{action}: lookup by key");
        strike(2);
        assert!(backend.lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").is_some());
        assert_eq!(fixture.cluster.fired(), 2, "{action}: lookup by lock id");
        strike(2);
        let page = ListRequest { after: None, len_max: 10 };
        assert_eq!(backend.list(&page).await.expect("answers").len(), 1);
        assert_eq!(fixture.cluster.fired(), 2, "{action}: list");
        strike(3);
        let error = backend.is_locked(&key).await.expect_err("used up");
        assert_ne!(error.class(), Class::Indeterminate, "{error:?}");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_lost_answer_is_unknown_and_the_same_request_finds_its_grant() {
    for (action, rows) in [("cut_after_commit", 1), ("cut_before_commit", 0)] {
        let fixture = Fixture::start(Level::L2026_09).await;
        let backend = fixture.backend();
        let asked = request("billing");
        fixture
            .cluster
            .arm(&format!(r#"{{"name": "a", "action": "{action}", "kind": "insert", "times": 1}}"#));
        let error = backend.acquire(&asked).await.expect_err("the answer was lost");
        assert_eq!(error.class(), Class::Indeterminate, "{action}: {error:?}");
        assert_eq!(fixture.number("SELECT count(*) FROM syncguard_locks").await, rows, "{action}");
        let grant = backend.acquire(&asked).await.expect("answers").acquired().expect("it is ours, or free");
        assert_eq!(grant.fence, Fence::FIRST, "{action}");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_server_that_may_have_done_it_leaves_it_unknown() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let backend = fixture.backend();
    fixture.cluster.arm(r#"{"name": "a", "action": "unavailable", "kind": "insert", "times": 1}"#);
    let error = backend.acquire(&request("billing")).await.expect_err("XX000");
    assert_eq!(error.class(), Class::Indeterminate, "{error:?}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn lost_answers_to_release_and_extend_are_unknown_too() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let backend = fixture.backend();
    let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
    let cut = r#"{"name": "a", "action": "cut_after_commit", "kind": "update", "times": 1}"#;
    fixture.cluster.arm(cut);
    let extend = ExtendRequest { lock_id: grant.lock_id, ttl: Ttl::from_millis(3_600_000).expect("an hour") };
    assert_eq!(backend.extend(&extend).await.expect_err("lost").class(), Class::Indeterminate);
    let found = backend.lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").expect("held");
    assert!(found.expires_at > grant.expires_at, "it was extended");
    fixture.cluster.arm(cut);
    assert_eq!(backend.release(&grant.lock_id).await.expect_err("lost").class(), Class::Indeterminate);
    assert!(
        backend.lookup(LookupBy::LockId(&grant.lock_id)).await.expect("answers").is_none(),
        "it was released"
    );
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_refusal_writes_nothing_and_the_row_outlives_the_hold() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let backend = fixture.backend();
    let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
    let version = "SELECT xmin::text::bigint FROM syncguard_locks";
    let before = fixture.number(version).await;
    for _ in 0..3 {
        let outcome = backend.acquire(&request("billing")).await.expect("answers");
        assert!(matches!(outcome, AcquireOutcome::Held { free_in: Some(_) }), "{outcome:?}");
    }
    assert_eq!(fixture.number(version).await, before, "a refusal wrote the row");
    assert_eq!(backend.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    assert_eq!(fixture.number("SELECT count(*) FROM syncguard_locks WHERE lock_id IS NULL").await, 1);
    assert_eq!(fixture.number("SELECT max(fence::bigint) FROM syncguard_locks").await, 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn used_up_fences_are_refused() {
    let fixture = Fixture::start(Level::L2026_09).await;
    let backend = fixture.backend();
    let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
    assert_eq!(backend.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
    let last = Fence::MAX.as_u64();
    let sql = format!("UPDATE syncguard_locks SET fence = '{last:015}'");
    fixture.outside.batch_execute(&sql).await.expect("as if used up");
    let error = backend.acquire(&request("billing")).await.expect_err("no fence is left");
    assert!(error.to_string().contains("fence"), "{error}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn a_url_is_enough() {
    let fixture = Fixture::start(Level::L2025_05).await;
    let location: BackendLocation = fixture.url().parse().expect("a location");
    let backend = location.open().await.expect("opens");
    assert_eq!(backend.capabilities().backend, "dsql");
    let grant = backend.acquire(&request("billing")).await.expect("answers").acquired().expect("free");
    assert_eq!(backend.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
}

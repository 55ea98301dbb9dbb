//! The contract of a lock backend, as public test functions over a [`Harness`].
//!
//! [`lock_conformance!`](crate::lock_conformance) makes a named test of each, so that one failure hides nothing.
//! A backend of your own passes when they all do.
//!
//! Cases panic when the promise is broken: they are tests, and this module is only there with the feature
//! `conformance`.

pub mod concurrency;
pub mod expiry;
pub mod fencing;
pub mod guards;
pub mod history;
pub mod keys;
pub mod lookups;
pub mod ownership;
pub mod waiting;

mod linearizability;
mod warnings;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::{Fence, Key, LockId, Ttl};

use crate::{AcquireOutcome, AcquireRequest, ExtendOutcome, ExtendRequest, Grant, LockBackend, Locks};

/// One store, empty at the start, that nobody else uses.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// Prepares the store.
    async fn start() -> Self
    where
        Self: Sized;

    /// A client of the store, as another process would be: each call a new one.
    async fn client(&self) -> Arc<dyn LockBackend>;

    /// Moves the clock that judges expiry, or what amounts to it.
    async fn advance(&self, duration: Duration);

    /// Sets the counter of a key that nobody holds, as if its last hold had had this fence: nobody can count so far.
    async fn count_to(&self, key: &Key, fence: Fence);

    /// Those of [`keys::HOSTILE`] that the store refuses, in that order.
    fn refused_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// How far the clock may move by itself during a case: zero if it stands still.
    fn clock_slack(&self) -> Duration;
}

/// Prepares a store of a kind that only the test knows: a case is compiled once, whatever runs it.
pub type Start = fn() -> Pin<Box<dyn Future<Output = Box<dyn Harness>> + Send>>;

/// The [`Start`] of a kind of store.
#[must_use]
pub fn start<H: Harness>() -> Pin<Box<dyn Future<Output = Box<dyn Harness>> + Send>> {
    Box::pin(async { Box::new(H::start().await) as Box<dyn Harness> })
}

/// A harness with a client at hand.
pub struct Store {
    harness: Box<dyn Harness>,
    backend: Arc<dyn LockBackend>,
}

impl Store {
    /// Starts the harness.
    pub async fn start(start: Start) -> Self {
        let harness = start().await;
        let backend = harness.client().await;
        Store { harness, backend }
    }

    fn backend(&self) -> &dyn LockBackend {
        &*self.backend
    }

    /// What a service would use, over a client of its own.
    async fn locks(&self) -> Locks {
        Locks::with_config(self.harness.client().await, crate::Config::default())
    }

    async fn advance(&self, duration: Duration) {
        self.harness.advance(duration).await;
    }

    async fn acquire(&self, key: &str, ttl: Ttl) -> AcquireOutcome {
        self.backend.acquire(&request(key, ttl)).await.expect("acquire answers")
    }

    async fn acquired(&self, key: &str) -> Grant {
        self.acquired_for(key, TTL).await
    }

    async fn acquired_for(&self, key: &str, ttl: Ttl) -> Grant {
        self.acquire(key, ttl).await.acquired().expect("the key is free")
    }

    async fn extend(&self, lock_id: &LockId, ttl: Ttl) -> ExtendOutcome {
        self.backend.extend(&ExtendRequest { lock_id: *lock_id, ttl }).await.expect("extend answers")
    }
}

/// Long enough that nothing ends unless a case wants it to.
const TTL: Ttl = Ttl::DEFAULT;

fn ttl(millis: u64) -> Ttl {
    Ttl::from_millis(millis).expect("a ttl of a case is in range")
}

fn key(text: &str) -> Key {
    Key::parse(text).expect("a key of a case is valid")
}

fn lock_id() -> LockId {
    LockId::generate().expect("the system gives random bytes")
}

fn request(text: &str, ttl: Ttl) -> AcquireRequest {
    AcquireRequest { key: key(text), lock_id: lock_id(), ttl }
}

/// Makes a test of every case over the harness; attributes in brackets go to each of them.
///
/// A kind of store runs them all, or leaves out what cannot differ there: `[store waiting]` is for one more backend, whose
/// guards are the same code, and `[store]` for one more way to talk to a store whose notifications were tested elsewhere.
///
/// ```ignore
/// lock_conformance!(harness::Postgres, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
/// lock_conformance!(harness::Pooled, [ignore = "needs PostgreSQL: cargo xtask test postgres"], [store waiting]);
/// ```
#[macro_export]
macro_rules! lock_conformance {
    ($harness:ty) => { $crate::lock_conformance!($harness, [allow(unused)]); };
    ($harness:ty, [$attribute:meta]) => {
        $crate::lock_conformance!($harness, [$attribute], [store waiting guards]);
    };
    ($harness:ty, [$attribute:meta], [store]) => {
        $crate::lock_conformance!(@list store tests [$harness] [$attribute]);
    };
    ($harness:ty, [$attribute:meta], [store waiting]) => {
        $crate::lock_conformance!($harness, [$attribute], [store]);
        $crate::lock_conformance!(@list waiting tests [$harness] [$attribute]);
    };
    ($harness:ty, [$attribute:meta], [store waiting guards]) => {
        $crate::lock_conformance!($harness, [$attribute], [store waiting]);
        $crate::lock_conformance!(@list guards tests [$harness] [$attribute]);
    };
    // What a backend does in one step.
    (@list store $($into:tt)+) => {
        $crate::lock_conformance!(@$($into)+
            ownership: free_key_is_acquired,
            ownership: held_key_is_refused_to_every_client,
            ownership: release_frees_the_key,
            ownership: second_release_is_refused,
            ownership: release_of_an_unknown_id_is_refused,
            ownership: refused_id_leaves_the_holder_alone,
            ownership: extend_replaces_the_remaining_time,
            ownership: extend_of_an_unknown_id_is_refused,
            ownership: extend_keeps_fence_and_beginning,
            ownership: repeated_acquire_returns_the_same_grant,
            ownership: lock_id_of_a_live_hold_is_refused_for_another_key,
            ownership: lock_id_of_an_ended_hold_stands_for_the_new_one,
            ownership: keys_do_not_contend_with_each_other,
            fencing: first_fence_is_one,
            fencing: fence_grows_across_release,
            fencing: fence_grows_across_expiry,
            fencing: refused_acquire_uses_up_no_fence,
            fencing: fences_of_two_keys_are_independent,
            fencing: fence_of_a_thousand_contenders_only_grows,
            fencing: fence_near_its_maximum_warns,
            fencing: fence_after_the_maximum_is_refused,
            expiry: hold_keeps_others_out_until_its_end,
            expiry: hold_ends_after_the_tolerance,
            expiry: late_holder_may_extend_within_the_tolerance,
            expiry: expired_hold_is_not_extended,
            expiry: expired_hold_is_not_released,
            expiry: taken_over_hold_is_refused_to_its_old_holder,
            expiry: extend_counts_from_now_and_not_from_the_old_end,
            expiry: remaining_time_is_told_to_the_refused,
            lookups: hold_is_found_by_key_and_by_id,
            lookups: nothing_is_found_where_nothing_is_held,
            lookups: ended_hold_is_not_found,
            lookups: info_shows_hashes_only,
            lookups: extension_shows_in_lookups,
            lookups: list_pages_through_live_holds_in_order,
            keys: hostile_keys_lock_or_are_refused_as_invalid,
            keys: hostile_keys_do_not_meet,
            keys: longest_key_works,
            keys: equal_text_in_another_unicode_form_is_the_same_key,
            concurrency: one_winner_among_contenders,
            concurrency: one_taker_of_an_expired_hold,
            concurrency: one_release_succeeds,
            concurrency: release_and_take_over_never_both_succeed,
            history: concurrent_history_is_linearizable,
            history: random_operations_answer_as_the_model,
        );
    };
    // What is built on its notifications, and on calls that are given up.
    (@list waiting $($into:tt)+) => {
        $crate::lock_conformance!(@$($into)+
            waiting: waiter_gets_the_key_when_it_is_released,
            waiting: waiter_gets_the_key_when_the_hold_expires,
            waiting: waiters_of_one_process_are_served_in_order,
            waiting: waiting_ends_at_the_timeout,
            waiting: zero_timeout_asks_once,
            waiting: cancelled_waiter_is_told_and_leaves_no_lock,
            waiting: dropped_waiter_leaves_no_lock,
            waiting: cancelled_operations_do_nothing,
            waiting: cancelled_write_has_a_true_class,
        );
    };
    // What is built on any backend and asks it nothing that the others do not.
    (@list guards $($into:tt)+) => {
        $crate::lock_conformance!(@$($into)+
            guards: released_guard_frees_the_key,
            guards: dropped_guard_frees_the_key,
            guards: disposed_guard_frees_the_key,
            guards: forgotten_guard_keeps_the_key,
            guards: release_goes_on_when_its_caller_is_gone,
            guards: lock_runs_the_work_and_frees_the_key,
            guards: kept_guard_outlives_its_ttl,
            guards: kept_guard_tells_of_its_loss,
            guards: kept_guard_stops_at_its_maximum_hold,
            guards: lost_lock_cancels_the_work,
        );
    };
    (@tests [$harness:ty] [$attribute:meta] $($promise:ident: $case:ident,)+) => {
        $(
            #[test]
            #[$attribute]
            fn $case() {
                $crate::conformance::cases::$case($crate::conformance::start::<$harness>);
            }
        )+
    };
    (@cases $($promise:ident: $case:ident,)+) => {
        $(
            pub fn $case(start: Start) {
                run(start, |store| Box::pin(super::$promise::$case(store)));
            }
        )+
    };
}

/// Each case as the body of a test, compiled here and not again for every store.
#[doc(hidden)]
#[allow(missing_docs, reason = "each is documented in the module of its promise")]
pub mod cases {
    use std::future::Future;
    use std::pin::Pin;

    use super::{Start, Store};

    /// Runs a case as a test of its own, on two threads.
    fn run(start: Start, case: for<'a> fn(&'a Store) -> Pin<Box<dyn Future<Output = ()> + 'a>>) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let store = Store::start(start).await;
            case(&store).await;
        });
    }

    lock_conformance!(@list store cases);
    lock_conformance!(@list waiting cases);
    lock_conformance!(@list guards cases);
}

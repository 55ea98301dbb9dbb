//! What the engine promises over every store.

pub mod answers;
pub mod changes;
pub mod concurrency;
pub mod crowds;
pub mod death;
pub mod failures;
pub mod history;
pub mod inspection;
pub mod leases;
pub mod management;
pub mod model;
pub mod order;
pub mod settling;
pub mod takeovers;
pub mod writes;

mod dice;
mod faulty;
mod linearizability;
mod reference;
mod served;

pub use faulty::{Fault, Faults};
pub use served::Served;

/// Makes a test of each promise of the engine, over a [`Harness`](crate::conformance::Harness).
///
/// `[store]` leaves out what the engine decides in memory: whose turn it is, and how long an answer may be. That runs over
/// memory and one remote store.
///
/// ```ignore
/// queue_conformance!(Memory);
/// queue_conformance!(Postgres, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
/// queue_conformance!(Dsql, [ignore = "needs PostgreSQL: cargo xtask test dsql"], [store]);
/// ```
#[macro_export]
macro_rules! queue_conformance {
    ($harness:ty) => { $crate::queue_conformance!($harness, [allow(unused)]); };
    ($harness:ty, [$attribute:meta]) => {
        $crate::queue_conformance!($harness, [$attribute], [store]);
        $crate::queue_conformance!(@list engine tests [$harness] [$attribute]);
    };
    ($harness:ty, [$attribute:meta], [store]) => {
        $crate::queue_conformance!(@list store tests [$harness] [$attribute]);
    };
    // What the engine makes of its store.
    (@list store $($into:tt)+) => {
        $crate::queue_conformance!(@$($into)+
            order: items_are_leased_in_the_order_produced,
            order: retried_item_goes_to_the_tail_under_a_new_id,
            order: expired_lease_goes_to_the_tail_under_a_new_id,
            order: scheduled_items_of_one_time_keep_their_order,
            order: scheduled_item_keeps_its_id_until_it_is_due,
            order: later_schedules_come_in_their_turn,
            order: near_enqueue_time_means_now,
            order: attempts_count_leases_only,
            order: produced_items_are_kept_whole,
            order: items_of_one_produce_stay_together,
            order: line_goes_on_after_a_restart,
            changes: completed_items_do_not_come_back,
            changes: complete_happens_as_a_whole_or_not_at_all,
            changes: completes_of_one_batch_are_independent,
            changes: bad_changes_are_refused_in_order,
            changes: holder_of_an_expired_lease_can_do_nothing,
            changes: complete_at_the_deadline_counts,
            changes: retry_for_later_schedules,
            changes: retry_for_soon_is_ready_at_once,
            changes: retry_happens_as_a_whole_or_not_at_all,
            changes: extended_lease_ends_later,
            changes: extend_needs_a_lease,
            death: item_declared_dead_moves_to_the_dead_queue,
            death: dead_items_of_two_queues_are_all_kept,
            death: waiting_lease_of_the_dead_queue_is_woken,
            death: item_declared_dead_is_deleted_without_a_dead_queue,
            death: item_declared_dead_is_no_longer_held,
            death: expired_ready_item_moves_and_is_not_leasable,
            death: expired_leased_item_moves,
            death: expired_item_is_deleted_without_a_dead_queue,
            death: last_attempt_lasts_until_its_deadline,
            death: last_attempt_dies_after_its_deadline,
            death: retry_after_the_last_attempt_is_a_death,
            death: scheduled_item_does_not_expire_before_its_time,
            death: import_without_expire_deadline_never_dies,
            death: missing_dead_queue_holds_up_only_the_dying,
            death: frozen_items_do_not_stop_time,
            death: update_frees_the_frozen,
            death: death_does_not_delay_the_next,
            death: item_is_declared_dead_once_in_a_request,
            death: item_declared_dead_is_not_returned_in_the_same_turn,
            death: repeated_move_makes_no_second_item,
            death: repeated_move_makes_no_second_item_of_a_completed_one,
            death: dead_queue_without_partitions_holds_up_only_the_dying,
            death: dying_items_survive_a_restart,
            inspection: stats_are_true,
            inspection: stats_are_per_partition,
            inspection: long_list_is_read_in_pages_beside_the_work,
            inspection: list_beyond_its_bounds_is_refused,
            inspection: failed_list_does_not_fail_the_partition,
            inspection: slow_stats_hold_up_nobody,
            inspection: failed_stats_do_not_fail_the_partition,
            inspection: waiting_requests_are_counted,
            inspection: overview_counts_what_happened,
            inspection: lists_start_at_the_pivot,
            inspection: imported_items_are_leasable_at_once,
            inspection: imported_lease_runs_out,
            inspection: known_source_id_is_imported_once,
            inspection: items_are_deleted_by_id,
            inspection: clear_takes_what_it_is_told,
            inspection: clear_of_many_items_lets_others_work,
            inspection: pause_holds_requests_and_serves_figures,
            inspection: reload_keeps_everything,
            management: created_queue_serves_at_once,
            management: bad_queues_are_refused,
            management: queue_is_opened_once_on_first_use,
            management: update_goes_on_with_the_merged_record,
            management: update_takes_effect_as_promised,
            management: bad_updates_are_refused,
            management: deleted_queue_takes_its_items_along,
            management: leftovers_are_dropped_when_a_queue_is_created,
            management: create_that_cannot_look_is_known_not_to_have_happened,
            management: update_whose_answer_is_lost_is_in_force,
            management: update_whose_outcome_is_unknown_is_in_force_once_it_is_read,
            management: update_of_a_caller_who_left_is_in_force,
            management: update_does_not_wait_for_a_partition,
            management: queue_is_created_and_deleted_although_its_caller_left,
            management: create_whose_answer_is_lost_is_settled,
            management: queues_are_listed_by_namespace,
            management: hostile_names_are_found_or_not,
            failures: failed_produce_goes_to_another_partition,
            failures: produce_times_out_when_every_partition_fails,
            failures: produce_waits_for_a_partition_to_recover,
            failures: store_that_takes_no_writes_is_told_also_between_them,
            failures: lost_answer_of_a_produce_is_settled,
            failures: lost_answer_of_a_lease_is_settled,
            failures: lost_answer_of_a_complete_is_settled,
            failures: lost_answer_does_not_complete_what_was_not_held,
            failures: lost_answer_of_a_retry_is_settled,
            failures: store_that_hangs_does_not_hang_callers,
            failures: outcome_that_stays_unknown_is_said_to_be,
            failures: client_may_ask_again_after_an_unknown_outcome,
            failures: lease_of_a_client_that_left_takes_nothing,
            failures: produce_of_a_client_that_left_stores_nothing,
            failures: fenced_partition_steps_down_until_reload,
            failures: record_is_read_without_taking_the_partitions,
            failures: fenced_partition_stays_down_when_time_passes,
            failures: two_servers_lose_nothing,
            takeovers: lease_is_not_settled_by_what_another_server_leased,
            takeovers: produce_is_not_repeated_when_another_server_completed_it,
            takeovers: complete_is_not_settled_by_what_another_server_completed,
            takeovers: create_does_not_drop_what_another_server_stored,
            takeovers: update_through_another_server_counts_after_a_reload,
            takeovers: update_through_another_server_counts_after_a_takeover,
            takeovers: import_is_not_repeated_when_another_server_completed_it,
            settling: lost_answer_about_large_items_is_settled_without_reading_them,
            settling: refusal_beside_large_items_reads_none_of_them,
            settling: write_that_cannot_be_settled_is_unknown_and_the_partition_goes_on,
            settling: write_that_nobody_waits_for_is_not_settled,
            writes: turn_writes_so_many_bytes_and_the_next_goes_on,
            writes: import_takes_as_many_writes_as_it_needs,
            writes: turn_answers_leases_with_so_many_bytes_and_the_next_goes_on,
            writes: batch_of_unknown_outcome_is_halved,
            failures: partitions_are_opened_a_few_at_once,
            failures: partition_that_waits_to_be_opened_is_stopped,
            takeovers: complete_of_a_former_holder_ends_no_later_item,
            takeovers: deleted_queue_is_not_opened_by_whoever_has_read_its_record,
            takeovers: deleted_queue_is_gone_for_the_server_that_serves_it,
            takeovers: queue_is_created_although_the_deleted_one_is_still_open,
            failures: lifecycle_goes_on_after_a_failure,
            failures: lost_answers_of_cold_requests_are_settled,
            failures: slow_partition_does_not_block_its_neighbours,
            failures: slow_partition_does_not_keep_leases_from_others,
            failures: lease_that_runs_out_during_a_slow_pass_is_reclaimed,
            failures: quiet_queue_asks_nothing_of_its_store,
            crowds: thousand_waiting_consumers_are_served,
            crowds: many_queues_are_served,
            crowds: producers_and_consumers_lose_nothing,
            crowds: small_requests_share_their_writes,
            crowds: overload_is_refused_at_once,
            crowds: items_that_wait_are_bounded_in_bytes,
            crowds: hundred_queues_are_served,
            crowds: shutdown_answers_everyone,
            crowds: shutdown_finishes_what_is_being_written,
            crowds: shutdown_is_bounded_when_the_store_hangs,
            crowds: shutdown_while_everything_fails,
            history: random_work_over_a_failing_store_keeps_every_promise,
            concurrency: concurrent_history_is_linearizable,
            concurrency: concurrent_history_over_a_failing_store_is_linearizable,
            model: random_requests_answer_as_the_reference,
            model: random_requests_without_a_dead_queue_answer_as_the_reference,
        );
    };
    // What the engine decides in memory.
    (@list engine $($into:tt)+) => {
        $crate::queue_conformance!(@$($into)+
            leases: waiting_lease_is_woken_by_a_produce,
            leases: produced_items_go_straight_to_waiting_leases,
            leases: waiting_lease_is_woken_by_a_retry,
            leases: waiting_lease_is_woken_by_an_expired_lease,
            leases: waiting_lease_is_woken_by_a_schedule,
            leases: waiting_lease_is_woken_by_an_import,
            leases: lease_times_out_by_real_time,
            leases: lease_does_not_wait_to_fill_its_batch,
            leases: second_waiting_lease_of_a_client_is_refused,
            leases: client_may_ask_again_once_it_was_answered,
            leases: dropped_lease_is_forgotten,
            leases: waiting_leases_share_in_rotation,
            leases: waiting_leases_follow_the_items_to_their_partition,
            leases: lease_comes_from_the_fullest_partition,
            leases: scheduled_items_do_not_attract_leases,
            leases: lease_finds_what_is_ready_in_any_partition,
            leases: lease_timeout_may_be_chosen_by_the_request,
            leases: bad_requests_are_refused_in_order,
            answers: answer_ends_at_so_many_bytes_and_the_next_goes_on,
            answers: one_item_is_answered_however_large,
            answers: produced_items_go_straight_to_waiting_leases_up_to_so_many_bytes,
            answers: waiting_lease_gets_what_a_shorter_answer_left,
            answers: cut_answers_do_not_hide_items_among_expired_ones,
            answers: lease_without_room_is_refused_and_nothing_is_leased,
            answers: waiting_lease_without_room_is_refused_and_its_items_stay_ready,
            answers: answer_is_as_long_as_there_is_room,
            answers: room_is_shared_by_all_queues,
            answers: item_larger_than_all_room_is_leased_when_nobody_else_has_any,
            answers: answer_that_nobody_takes_leaves_its_room,
            answers: lease_over_a_failing_store_has_its_room_once,
            answers: crowd_over_the_limit_stays_within_it_and_loses_nothing,
        );
    };
    (@tests [$harness:ty] [$attribute:meta] $($promise:ident: $case:ident,)+) => {
        $(
            #[test]
            #[$attribute]
            fn $case() {
                $crate::conformance::engine::cases::$case($crate::conformance::start::<$harness>);
            }
        )+
    };
    (@cases $($promise:ident: $case:ident,)+) => {
        $(
            pub fn $case(start: Start) {
                over_an_engine(start, |served| Box::pin(super::$promise::$case(served)));
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

    use super::Served;
    use crate::conformance::{Start, run};

    fn over_an_engine(
        start: Start,
        case: for<'a> fn(&'a mut Served) -> Pin<Box<dyn Future<Output = ()> + 'a>>,
    ) {
        run(Box::pin(async move {
            let mut served = Served::start(start).await;
            case(&mut served).await;
            served.stop().await;
        }));
    }

    queue_conformance!(@list store cases);
    queue_conformance!(@list engine cases);
}

//! What every store of partitions and queues promises.

pub mod changes;
pub mod lifecycle;
pub mod lists;
pub mod model;
pub mod order;
pub mod ownership;
pub mod placement;
pub mod records;
pub mod restart;
pub mod sizes;

mod line;

pub use line::Line;

/// Makes a test of each promise of a store, over a [`Harness`](crate::conformance::Harness).
///
/// ```ignore
/// store_conformance!(Memory);
/// store_conformance!(Postgres, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
/// ```
#[macro_export]
macro_rules! store_conformance {
    ($harness:ty) => { $crate::store_conformance!($harness, [allow(unused)]); };
    ($harness:ty, [$attribute:meta]) => {
        $crate::store_conformance!(@list tests [$harness] [$attribute]);
    };
    (@list $($into:tt)+) => {
        $crate::store_conformance!(@$($into)+
            placement: produced_item_reads_back_whole,
            placement: batch_is_placed_in_order_of_ids,
            placement: known_source_id_is_left_out,
            placement: source_id_twice_in_a_batch_is_placed_once,
            placement: source_id_is_free_again_when_its_item_is_gone,
            placement: largest_and_empty_payloads_are_kept,
            placement: hostile_text_is_kept,
            placement: ten_thousand_items_are_placed_at_once,
            placement: batch_beyond_the_limits_is_refused_whole,
            order: ready_items_come_in_order,
            order: expired_items_are_passed_over,
            order: scheduled_and_leased_items_are_not_ready,
            order: items_at_the_tail_come_last,
            order: ready_items_are_found_behind_many_leased_ones,
            order: lease_sets_deadline_and_counts_the_attempt,
            order: lease_leaves_out_what_is_not_ready,
            changes: completed_items_are_gone,
            changes: request_with_an_unknown_id_changes_nothing,
            changes: request_with_an_unleased_id_changes_nothing,
            changes: first_bad_id_decides,
            changes: requests_do_not_affect_each_other,
            changes: scheduled_item_does_not_exist_for_a_change,
            changes: same_id_twice_in_a_request_is_refused,
            changes: id_taken_by_an_earlier_request_is_gone,
            changes: returned_item_is_ready_at_the_tail,
            changes: scheduled_item_keeps_its_id_and_waits,
            changes: extended_item_is_held_longer,
            changes: expired_mark_makes_a_held_item_due,
            changes: mixed_changes_of_one_request_happen_together,
            lifecycle: lease_is_due_strictly_after_its_deadline,
            lifecycle: last_attempt_dies_only_after_its_deadline,
            lifecycle: expired_item_dies_whatever_its_state,
            lifecycle: scheduled_item_is_due_at_its_time_and_does_not_expire,
            lifecycle: due_items_come_longest_due_first,
            lifecycle: due_is_limited,
            lifecycle: item_without_expire_deadline_never_dies,
            lifecycle: requeued_item_keeps_all_but_its_place,
            lifecycle: requeue_skips_what_is_not_here,
            lifecycle: deadlines_are_the_earliest,
            lifecycle: removed_items_are_gone_whatever_their_state,
            lifecycle: clear_takes_only_what_it_is_told,
            lifecycle: clear_goes_on_where_it_stopped,
            lists: list_starts_at_the_pivot,
            lists: page_of_a_list_ends_at_so_many_items_or_bytes,
            lists: scheduled_items_have_their_own_list,
            lists: headers_are_those_of_the_items,
            lists: counts_and_ages_are_true,
            ownership: second_owner_fences_the_first,
            ownership: owner_may_open_again,
            ownership: open_tells_whether_another_was_the_owner_meanwhile,
            ownership: ousted_owner_fetches_nothing,
            ownership: dropped_partition_fences_its_owner_and_is_empty_afterwards,
            ownership: leftover_is_dropped_unless_somebody_took_it,
            ownership: partitions_do_not_see_each_other,
            ownership: open_tells_what_is_there,
            ownership: no_id_comes_twice_over_takeovers_and_steps_of_the_clock,
            ownership: partitions_give_out_different_ids_in_one_second,
            sizes: size_is_that_of_payload_and_texts,
            sizes: size_stays_when_an_item_moves,
            sizes: size_is_known_to_the_next_owner,
            sizes: size_is_known_after_a_restart,
            restart: everything_acknowledged_is_there_after_a_restart,
            records: record_reads_back_whole,
            records: name_is_given_once,
            records: replace_needs_a_record,
            records: list_is_in_byte_order_from_the_pivot,
            records: namespace_is_filtered_before_the_limit,
            records: deleted_record_is_gone,
            records: record_of_a_later_queue_is_left_alone,
            records: deletion_of_a_record_fences_the_owners_of_its_partitions,
            records: partition_of_a_deleted_queue_is_not_opened_and_not_made,
            records: concurrent_adds_of_one_name_have_one_winner,
            model: random_operations_answer_as_the_model,
        );
    };
    (@tests [$harness:ty] [$attribute:meta] $($promise:ident: $case:ident,)+) => {
        $(
            #[test]
            #[$attribute]
            fn $case() {
                $crate::conformance::store::cases::$case($crate::conformance::start::<$harness>);
            }
        )+
    };
    (@cases $($promise:ident: $case:ident,)+) => {
        $(
            pub fn $case(start: Start) {
                run(Box::pin(super::$promise::$case(start)));
            }
        )+
    };
}

/// Each case as the body of a test, compiled here and not again for every store.
#[doc(hidden)]
#[allow(missing_docs, reason = "each is documented in the module of its promise")]
pub mod cases {
    use crate::conformance::{Start, run};

    store_conformance!(@list cases);
}

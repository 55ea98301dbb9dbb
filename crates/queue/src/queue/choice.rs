//! Which partition takes a request: the opportunistic rule.
//!
//! Partitions stand in a line ordered by failures and by how many items can be leased from them. A produce goes to the
//! first, a lease to the last one without failures. The order is stable: of two partitions that are alike, the one
//! that was behind stays behind, so leases that wait together go where the items just went.

/// What is known of one partition.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// As it was last told.
    ready: u64,
    /// Items on their way to it.
    arriving: u64,
    /// Items promised to leases on their way to it.
    promised: u64,
    failures: u32,
    read_only: bool,
    /// It has not answered for a while.
    is_slow: bool,
    /// The round that the next two are about.
    round: u64,
    /// Items sent in this round: a lease sent along with them gets them in the same write.
    fresh: u64,
    /// How many more leases may be sent in this round.
    leases_left: Option<u64>,
}

impl Standing {
    /// What it has, or is about to have.
    fn items(&self) -> u64 {
        (self.ready + self.arriving).saturating_sub(self.promised)
    }

    fn rank(&self) -> (u32, u64) {
        (self.failures, self.items())
    }

    /// What a lease would find. Items that were sent earlier and are not stored yet do not count: nobody knows how
    /// long that takes.
    fn leasable(&self, round: u64) -> u64 {
        let fresh = if self.round == round { self.fresh } else { 0 };
        (self.ready + fresh).saturating_sub(self.promised)
    }

    fn leases_left(&self, round: u64) -> u64 {
        let left = if self.round == round { self.leases_left } else { None };
        left.unwrap_or_else(|| self.leasable(round))
    }

    fn enter(&mut self, round: u64) {
        if self.round != round {
            self.round = round;
            self.fresh = 0;
            self.leases_left = None;
        }
    }
}

/// What a partition tells about itself after a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// How many items can be leased, truly.
    pub(crate) ready: u64,
    /// Zero when it is well.
    pub(crate) failures: u32,
    /// Items that are no longer on their way.
    pub(crate) arrived: u64,
    /// Promises that were kept or broken.
    pub(crate) settled: u64,
}

/// The partitions of a queue in their order.
#[derive(Debug)]
pub(crate) struct Choice {
    standings: Vec<Standing>,
    order: Vec<usize>,
    round: u64,
}

impl Choice {
    /// One partition per entry; true for one that takes no new items.
    pub(crate) fn new(read_only: impl IntoIterator<Item = bool>) -> Self {
        let standings: Vec<_> =
            read_only.into_iter().map(|read_only| Standing { read_only, ..Standing::default() }).collect();
        Choice { order: (0..standings.len()).collect(), standings, round: 0 }
    }

    /// Whether the partition is not well.
    pub(crate) fn is_failing(&self, partition: usize) -> bool {
        self.standings[partition].failures > 0
    }

    /// What is sent in one round is sent together. Leases of a round share what a partition has: it gets as many as
    /// it has items.
    pub(crate) fn begin_round(&mut self) {
        self.round += 1;
    }

    /// One that has not answered for a while is passed over as long as there is another.
    pub(crate) fn set_slow(&mut self, partition: usize, is_slow: bool) {
        self.standings[partition].is_slow = is_slow;
    }

    /// The partition for so many items; none if all have failed.
    pub(crate) fn produce(&mut self, ready_items: u64) -> Option<usize> {
        let healthy = self.order.partition_point(|index| !self.is_failing(*index));
        let mut takers = self.order[..healthy].iter().filter(|index| !self.standings[**index].read_only);
        let first = *takers.clone().next()?;
        let partition = *takers.find(|index| !self.standings[**index].is_slow).unwrap_or(&first);
        let round = self.round;
        self.update(partition, |standing| {
            standing.enter(round);
            standing.arriving += ready_items;
            standing.fresh += ready_items;
        });
        Some(partition)
    }

    /// The partition for a lease of so many items, and how many it is likely to get; none if nothing is ready.
    pub(crate) fn lease(&mut self, batch_size: u64) -> Option<(usize, u64)> {
        let round = self.round;
        let healthy = self.order.partition_point(|index| !self.is_failing(*index));
        let serves = |index: &&usize| {
            let standing = &self.standings[**index];
            !standing.is_slow && standing.leases_left(round) > 0
        };
        let partition = *self.order[..healthy].iter().rev().find(serves)?;
        let promised = self.standings[partition].leasable(round).min(batch_size);
        self.update(partition, |standing| {
            standing.enter(round);
            standing.leases_left = Some(standing.leases_left(round) - 1);
            standing.promised += promised;
        });
        Some((partition, promised))
    }

    /// The truth about a partition.
    pub(crate) fn tell(&mut self, partition: usize, told: Told) {
        self.update(partition, |standing| {
            standing.ready = told.ready;
            standing.failures = told.failures;
            standing.arriving = standing.arriving.saturating_sub(told.arrived);
            standing.promised = standing.promised.saturating_sub(told.settled);
        });
    }

    /// Changes one partition and moves it to where a stable sort would put it.
    fn update(&mut self, partition: usize, change: impl FnOnce(&mut Standing)) {
        change(&mut self.standings[partition]);
        let rank = self.standings[partition].rank();
        let mut at =
            self.order.iter().position(|index| *index == partition).expect("every partition is in line");
        while at > 0 && self.standings[self.order[at - 1]].rank() > rank {
            self.order.swap(at - 1, at);
            at -= 1;
        }
        while at + 1 < self.order.len() && self.standings[self.order[at + 1]].rank() < rank {
            self.order.swap(at, at + 1);
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(partitions: usize) -> Choice {
        Choice::new(vec![false; partitions])
    }

    fn well(ready: u64) -> Told {
        Told { ready, ..Told::default() }
    }

    fn failed() -> Told {
        Told { failures: 1, ..Told::default() }
    }

    #[test]
    fn five_produces_over_two_empty_partitions_give_three_and_two() {
        let mut choice = choice(2);
        let chosen: Vec<_> = (0..5).map(|_| choice.produce(10).expect("a partition")).collect();
        assert_eq!(chosen[..2], [0, 1]);
        assert_eq!(chosen.iter().filter(|partition| **partition == 0).count(), 3, "{chosen:?}");
    }

    #[test]
    fn ten_produces_over_ten_partitions_give_one_each() {
        let mut choice = choice(10);
        let mut chosen: Vec<_> = (0..10).map(|_| choice.produce(1).expect("a partition")).collect();
        chosen.sort_unstable();
        assert_eq!(chosen, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn lease_comes_from_the_fullest() {
        let mut choice = choice(2);
        choice.begin_round();
        assert_eq!((choice.produce(10), choice.produce(11)), (Some(0), Some(1)));
        assert_eq!(choice.lease(10), Some((1, 10)));
        assert_eq!(choice.lease(10), Some((0, 10)));
    }

    #[test]
    fn waiting_leases_follow_the_items_of_one_produce() {
        let mut choice = choice(5);
        choice.begin_round();
        let partition = choice.produce(10).expect("a partition");
        let sent: Vec<_> = (0..5).map(|_| choice.lease(10).expect("as many leases as items").0).collect();
        assert_eq!(sent, [partition; 5]);
    }

    #[test]
    fn partition_gets_no_more_leases_in_a_round_than_it_has_items() {
        let mut choice = choice(3);
        choice.tell(1, well(2));
        choice.begin_round();
        assert_eq!(choice.lease(5), Some((1, 2)));
        assert_eq!(choice.lease(5), Some((1, 0)));
        assert_eq!(choice.lease(5), None);
        choice.begin_round();
        assert_eq!(choice.lease(5), None, "both items are promised");
    }

    #[test]
    fn other_partitions_serve_when_the_fullest_has_no_more_room_for_leases() {
        let mut choice = choice(2);
        choice.tell(0, well(1));
        choice.tell(1, well(2));
        choice.begin_round();
        let mut sent: Vec<_> =
            std::iter::from_fn(|| choice.lease(5)).map(|(partition, _)| partition).collect();
        sent.sort_unstable();
        assert_eq!(sent, [0, 1, 1]);
    }

    #[test]
    fn failed_partitions_are_skipped_until_they_are_well() {
        let mut choice = choice(2);
        choice.tell(0, failed());
        assert_eq!((choice.produce(1), choice.produce(1)), (Some(1), Some(1)));
        choice.tell(1, failed());
        assert_eq!(choice.produce(1), None);
        choice.begin_round();
        assert_eq!(choice.lease(1), None);
        choice.tell(0, well(1));
        assert_eq!(choice.lease(1), Some((0, 1)));
    }

    #[test]
    fn truth_replaces_what_was_on_its_way() {
        let mut choice = choice(1);
        choice.produce(10);
        choice.tell(0, Told { ready: 4, arrived: 10, ..Told::default() });
        choice.begin_round();
        assert_eq!(choice.lease(10), Some((0, 4)));
        choice.tell(0, Told { ready: 0, settled: 4, ..Told::default() });
        choice.begin_round();
        assert_eq!(choice.lease(10), None);
    }

    #[test]
    fn lease_is_not_sent_after_items_that_are_not_stored_yet() {
        let mut choice = choice(2);
        choice.begin_round();
        assert_eq!(choice.produce(5), Some(0));
        choice.tell(1, well(1));
        choice.begin_round();
        assert_eq!(choice.lease(1), Some((1, 1)));
        assert_eq!(choice.lease(1), None);
        choice.tell(0, Told { ready: 5, arrived: 5, ..Told::default() });
        assert_eq!(choice.lease(1), Some((0, 1)));
    }

    #[test]
    fn slow_partition_is_passed_over_while_there_is_another() {
        let mut choice = choice(2);
        choice.tell(0, well(1));
        choice.tell(1, well(9));
        for (slow, expected) in [(0, 1), (1, 0)] {
            choice.set_slow(slow, true);
            choice.begin_round();
            assert_eq!(choice.produce(0), Some(expected));
            assert_eq!(choice.lease(1).map(|(partition, _)| partition), Some(expected));
            choice.set_slow(slow, false);
        }
        choice.set_slow(0, true);
        choice.set_slow(1, true);
        assert!(choice.produce(0).is_some());
        assert_eq!(choice.lease(1), None, "it waits where it can be sent elsewhere");
    }

    #[test]
    fn read_only_partition_is_leased_from_and_not_produced_to() {
        let mut choice = Choice::new([true, false]);
        choice.tell(0, well(1));
        assert_eq!((choice.produce(5), choice.produce(5)), (Some(1), Some(1)));
        let mut only = Choice::new([true]);
        assert_eq!(only.produce(1), None);
    }

    proptest::proptest! {
        /// Moving one entry is the same as a stable sort of all.
        #[test]
        fn order_is_that_of_a_stable_sort(steps in proptest::collection::vec((0..6_usize, 0..4_u64, 0..2_u32), 1..60)) {
            let mut choice = choice(6);
            for (partition, ready, failures) in steps {
                let mut sorted = choice.order.clone();
                choice.tell(partition, Told { ready, failures, ..Told::default() });
                sorted.sort_by_key(|index| choice.standings[*index].rank());
                proptest::prop_assert_eq!(&choice.order, &sorted);
            }
        }
    }
}

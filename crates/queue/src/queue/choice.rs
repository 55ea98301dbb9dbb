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
    /// The last round in which a lease was sent to it, and how many more it may get in that round.
    round: u64,
    leases_left: u64,
}

impl Standing {
    fn leasable(&self) -> u64 {
        (self.ready + self.arriving).saturating_sub(self.promised)
    }

    fn rank(&self) -> (u32, u64) {
        (self.failures, self.leasable())
    }

    fn leases_left(&self, round: u64) -> u64 {
        if self.round == round { self.leases_left } else { self.leasable() }
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

    /// The partition for so many items; none if all have failed.
    pub(crate) fn produce(&mut self, ready_items: u64) -> Option<usize> {
        let takes = |index: &&usize| !self.standings[**index].read_only;
        let partition = *self.order.iter().find(takes)?;
        if self.is_failing(partition) {
            return None;
        }
        self.update(partition, |standing| standing.arriving += ready_items);
        Some(partition)
    }

    /// Leases sent in one round share what a partition has: it gets as many as it has items.
    pub(crate) fn begin_round(&mut self) {
        self.round += 1;
    }

    /// The partition for a lease of so many items, and how many it is likely to get; none if nothing is ready.
    pub(crate) fn lease(&mut self, batch_size: u64) -> Option<(usize, u64)> {
        let round = self.round;
        let healthy = self.order.partition_point(|index| !self.is_failing(*index));
        let partition = *self.order[..healthy]
            .iter()
            .rev()
            .find(|index| self.standings[**index].leases_left(round) > 0)?;
        let promised = self.standings[partition].leasable().min(batch_size);
        self.update(partition, |standing| {
            standing.leases_left = standing.leases_left(round) - 1;
            standing.round = round;
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
        assert_eq!((choice.produce(10), choice.produce(11)), (Some(0), Some(1)));
        choice.begin_round();
        assert_eq!(choice.lease(10), Some((1, 10)));
        assert_eq!(choice.lease(10), Some((0, 10)));
    }

    #[test]
    fn waiting_leases_follow_the_items_of_one_produce() {
        let mut choice = choice(5);
        let partition = choice.produce(10).expect("a partition");
        choice.begin_round();
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

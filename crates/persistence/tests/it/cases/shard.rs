//! Shards: made once, owned by one, at a range that only grows.

use leasehold_persistence::{Blob, Error, Shard, ShardLease, Shards};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

use crate::fixture::{Dice, Fixture, together};

/// The whole statement, and its answer once it has happened: `BEGIN … READ COMMITTED` has its letters too.
const COMMIT: &[u8] = b"COMMIT\0";
const COMMITTED: &[u8] = b"COMMIT\0Z";

macro_rules! shard_cases {
    ($target:ident) => {
        $target!(
            shard:
            missing_shard_is_not_found,
            first_maker_decides_what_a_shard_begins_with,
            lease_stores_what_its_owner_keeps,
            lost_lease_stores_nothing_and_is_told_the_range,
            shard_at_the_last_range_is_not_taken_over,
            missing_shard_is_not_taken_over,
            lost_answer_of_a_takeover_leaves_one_owner,
            ownership_is_told_apart,
            one_of_many_contenders_takes_a_shard_over,
        );
    };
}

fn blob(data: u8) -> Blob {
    Blob::proto3(vec![data])
}

async fn stored(fixture: &Fixture) -> (i64, Blob) {
    let shard = fixture.shards().get(1).await.expect("a shard");
    (shard.range_id, shard.blob)
}

pub(crate) async fn missing_shard_is_not_found(fixture: &Fixture) {
    let error = fixture.shards().get(7).await.expect_err("no shard");
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
}

pub(crate) async fn first_maker_decides_what_a_shard_begins_with(fixture: &Fixture) {
    let made = fixture.shard(1).await;
    let found = fixture.shards().get_or_create(1, || (9, Blob::proto3(vec![9]))).await.expect("a shard");
    assert_eq!(found, made);

    let makers = (0..8_u8).map(|maker| {
        let shards = fixture.shards();
        tokio::spawn(async move {
            shards.get_or_create(2, || (i64::from(maker) + 1, Blob::proto3(vec![maker]))).await
        })
    });
    let mut seen = Vec::new();
    for maker in makers.collect::<Vec<_>>() {
        seen.push(maker.await.expect("no panic").expect("a shard"));
    }
    assert!(seen.iter().all(|shard| *shard == seen[0]), "{seen:?}");
    assert_eq!(fixture.shards().get(2).await.expect("a shard"), seen[0]);
}

pub(crate) async fn lease_stores_what_its_owner_keeps(fixture: &Fixture) {
    let mut lease = fixture.lease(1).await;
    assert_eq!((lease.shard_id(), lease.range_id()), (1, 1));
    lease.sync_state(blob(2)).await.expect("a change");
    assert_eq!(stored(fixture).await, (1, blob(2)));
    lease.renew(blob(3)).await.expect("a renewal");
    assert_eq!((lease.range_id(), stored(fixture).await), (2, (2, blob(3))));
    lease.sync_state(blob(4)).await.expect("a change");
    assert_eq!(stored(fixture).await, (2, blob(4)));
}

pub(crate) async fn lost_lease_stores_nothing_and_is_told_the_range(fixture: &Fixture) {
    let mut first = fixture.lease(1).await;
    let found = fixture.shards().get(1).await.expect("a shard");
    let mut second = fixture.shards().take_over(&found, blob(2)).await.expect("a lease");
    second.renew(blob(3)).await.expect("a renewal");
    let errors = [
        first.sync_state(blob(9)).await,
        first.renew(blob(9)).await,
        fixture.shards().take_over(&found, blob(9)).await.map(drop),
    ];
    for error in errors {
        let error = error.expect_err("another's");
        assert!(
            matches!(error, Error::ShardOwnershipLost { shard_id: 1, expected: 1, actual: 3 }),
            "{error:?}"
        );
    }
    assert_eq!((first.range_id(), stored(fixture).await), (1, (3, blob(3))));
}

pub(crate) async fn shard_at_the_last_range_is_not_taken_over(fixture: &Fixture) {
    let last = fixture.shards().get_or_create(1, || (i64::MAX, blob(1))).await.expect("a shard");
    let error = fixture.shards().take_over(&last, blob(2)).await.expect_err("no range above");
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert_eq!(stored(fixture).await, (i64::MAX, blob(1)));
}

pub(crate) async fn missing_shard_is_not_taken_over(fixture: &Fixture) {
    let shard = Shard { shard_id: 5, range_id: 1, blob: blob(1) };
    let error = fixture.shards().take_over(&shard, blob(2)).await.expect_err("no shard");
    assert!(matches!(error, Error::Missing { .. }), "{error:?}");
}

/// Two owners found the same range and stored the same content, and one of them has no answer. Whether its take-over happened
/// or not, the range that is stored afterwards is in the hands of at most one.
pub(crate) async fn lost_answer_of_a_takeover_leaves_one_owner(fixture: &Fixture) {
    let shards = fixture.shards();
    for trigger in [Trigger::Request(COMMIT.to_vec()), Trigger::Reply(COMMITTED.to_vec())] {
        let found = fixture.shard(1).await;
        let proxy = FaultProxy::start(fixture.address()).await.expect("a proxy");
        let unsure = Shards::new(fixture.by_way_of(proxy.address(), None).await);
        let cut = proxy.add(Rule::on(trigger.clone()).then(Action::Cut));
        let error = unsure.take_over(&found, blob(2)).await.expect_err("a lost answer");
        assert!(error.may_have_been_committed(), "{error:?}");
        assert_eq!(cut.count(), 1);
        proxy.clear();
        // The other owner, who looks as soon as the first has come to an end, however that was.
        let other = loop {
            let found = shards.get(1).await.expect("a shard");
            match shards.take_over(&found, blob(2)).await {
                Err(Error::ShardOwnershipLost { .. }) => {}
                taken => break taken.expect("a lease"),
            }
        };
        // Range and content are what the first had asked for, if its take-over never happened.
        let found = shards.get(1).await.expect("a shard");
        let mut leases = vec![other];
        leases.push(unsure.take_over(&found, blob(2)).await.expect("a lease"));
        let mut ranges: Vec<i64> = leases.iter().map(ShardLease::range_id).collect();
        let mut owners = Vec::new();
        for lease in &leases {
            if lease.sync_state(blob(2)).await.is_ok() {
                owners.push(lease.range_id());
            }
        }
        ranges.dedup();
        assert_eq!(ranges.len(), 2, "{trigger:?}: one range, two leases");
        assert_eq!(owners, ranges[1..], "{trigger:?}");
    }
}

pub(crate) async fn ownership_is_told_apart(fixture: &Fixture) {
    fixture.shard(1).await;
    fixture.shards().assert_ownership(1, 1).await.expect("owned");
    let error = fixture.shards().assert_ownership(1, 2).await.expect_err("another range");
    assert!(matches!(error, Error::ShardOwnershipLost { expected: 2, actual: 1, .. }), "{error:?}");
    let error = fixture.shards().assert_ownership(2, 1).await.expect_err("no shard");
    assert!(matches!(error, Error::Missing { .. }), "{error:?}");
}

/// Property 4: concurrency safety. In each round several who know the same range want the next.
pub(crate) async fn one_of_many_contenders_takes_a_shard_over(fixture: &Fixture) {
    let watched = fixture.watched().await;
    let shards = Shards::new(watched.database.clone());
    let mut shard = fixture.shard(1).await;
    for seed in fixture.rounds() {
        let mut dice = Dice(seed);
        let (previous, next) = (shard.range_id, shard.range_id + 1);
        let contenders = (0..u8::try_from(dice.between(2..=6)).expect("a few")).map(|contender| {
            let (shards, found) = (shards.clone(), shard.clone());
            dice.late(async move { shards.take_over(&found, blob(contender)).await.map(|_| blob(contender)) })
        });
        let mut won = Vec::new();
        for answer in together(contenders.collect::<Vec<_>>()).await {
            match answer {
                Ok(blob) => won.push((next, blob)),
                Err(Error::ShardOwnershipLost { shard_id: 1, expected, actual }) => {
                    assert_eq!((expected, actual), (previous, next), "seed {seed}");
                }
                Err(error) => panic!("seed {seed}: {error:?}"),
            }
        }
        assert_eq!(won, [stored(fixture).await], "seed {seed}");
        shard = shards.get(1).await.expect("a shard");
    }
    watched.expect_only_conflicts_tried_again();
}

//! Shards: made once, owned by one, at a range that only grows.

use leasehold_persistence::{Blob, Error, Shard, Shards};

use crate::fixture::{Dice, Fixture, together};

macro_rules! shard_cases {
    ($target:ident) => {
        $target!(
            shard:
            missing_shard_is_not_found,
            first_maker_decides_what_a_shard_begins_with,
            update_at_the_known_range_is_stored,
            update_at_another_range_is_refused_with_the_stored_one,
            range_never_goes_down,
            update_of_a_missing_shard_says_so,
            ownership_is_told_apart,
            one_of_many_contenders_takes_a_shard_over,
        );
    };
}

fn at(shard: &Shard, range_id: i64, data: u8) -> Shard {
    Shard { range_id, blob: Blob::proto3(vec![data]), ..shard.clone() }
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

pub(crate) async fn update_at_the_known_range_is_stored(fixture: &Fixture) {
    let shard = fixture.shard(1).await;
    for (previous, next) in [(1, at(&shard, 1, 2)), (1, at(&shard, 2, 3)), (2, at(&shard, 5, 4))] {
        fixture.shards().update(&next, previous).await.expect("an update");
        assert_eq!(fixture.shards().get(1).await.expect("a shard"), next);
    }
}

pub(crate) async fn update_at_another_range_is_refused_with_the_stored_one(fixture: &Fixture) {
    let shard = fixture.shard(1).await;
    fixture.shards().update(&at(&shard, 4, 1), 1).await.expect("an update");
    for (previous, range_id) in [(1, 1), (1, 5), (3, 4)] {
        let error =
            fixture.shards().update(&at(&shard, range_id, 9), previous).await.expect_err("an old range");
        assert!(
            matches!(error, Error::ShardOwnershipLost { shard_id: 1, expected, actual: 4 } if expected == previous),
            "{error:?}"
        );
    }
    assert_eq!(fixture.shards().get(1).await.expect("a shard"), at(&shard, 4, 1));
}

pub(crate) async fn range_never_goes_down(fixture: &Fixture) {
    let shard = fixture.shard(1).await;
    fixture.shards().update(&at(&shard, 4, 1), 1).await.expect("an update");
    let error = fixture.shards().update(&at(&shard, 3, 1), 4).await.expect_err("a lower range");
    assert!(matches!(error, Error::InvalidRequest { field: "range_id", .. }), "{error:?}");
}

pub(crate) async fn update_of_a_missing_shard_says_so(fixture: &Fixture) {
    let shard = Shard { shard_id: 5, range_id: 2, blob: Blob::proto3(vec![]) };
    let error = fixture.shards().update(&shard, 1).await.expect_err("no shard");
    assert!(matches!(error, Error::Missing { .. }), "{error:?}");
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
        let (previous, next) = (shard.range_id, shard.range_id + dice.between(1..=3));
        let contenders = (0..u8::try_from(dice.between(2..=6)).expect("a few")).map(|contender| {
            let (shards, wanted) = (shards.clone(), at(&shard, next, contender));
            dice.late(async move { shards.update(&wanted, previous).await.map(|()| wanted) })
        });
        let mut won = Vec::new();
        for answer in together(contenders.collect::<Vec<_>>()).await {
            match answer {
                Ok(shard) => won.push(shard),
                Err(Error::ShardOwnershipLost { shard_id: 1, expected, actual }) => {
                    assert_eq!((expected, actual), (previous, next), "seed {seed}");
                }
                Err(error) => panic!("seed {seed}: {error:?}"),
            }
        }
        assert_eq!(won.len(), 1, "seed {seed}: {won:?}");
        shard = shards.get(1).await.expect("a shard");
        assert_eq!(shard, won[0], "seed {seed}");
    }
    watched.expect_only_conflicts_tried_again();
}

//! Namespaces: each name once, and every change at the version that its maker knows.

use std::collections::BTreeSet;

use leasehold_persistence::{
    Blob, Error, NamespaceBy, NamespaceId, NamespaceRecord, Namespaces, PageSize, PageToken,
};

use crate::fixture::{Dice, Fixture, all_pages, together};

macro_rules! namespace_cases {
    ($target:ident) => {
        $target!(
            namespace:
            made_namespace_is_found_by_id_and_by_name,
            name_and_id_are_taken_once,
            update_at_the_known_version_is_stored_and_raises_it,
            update_at_another_version_is_a_condition_that_names_both,
            update_of_a_missing_namespace_is_not_found_and_raises_nothing,
            name_of_another_is_a_condition,
            name_can_be_given_back_and_taken_again,
            deletion_raises_nothing,
            missing_version_is_said,
            pages_have_every_namespace_once,
            token_of_another_list_is_refused,
            one_of_sixteen_makers_of_a_name_wins,
            makers_of_many_names_all_win_at_a_version_of_their_own,
            one_of_many_updates_at_a_version_wins,
        );
    };
}

fn store(fixture: &Fixture) -> Namespaces {
    Namespaces::new(fixture.database.clone())
}

fn record(id: u8, name: &str, data: u8) -> NamespaceRecord {
    let id = NamespaceId::from_bytes([id; 16]);
    NamespaceRecord::new(id, name, Blob::proto3(vec![data]), data % 2 == 1).expect("a record")
}

/// One of more than a byte can number.
fn numbered(number: u64, name: &str) -> NamespaceRecord {
    let id = NamespaceId::from_bytes(u128::from(number).to_be_bytes());
    NamespaceRecord::new(id, name, Blob::proto3(number.to_be_bytes().to_vec()), false).expect("a record")
}

pub(crate) async fn made_namespace_is_found_by_id_and_by_name(fixture: &Fixture) {
    let namespaces = store(fixture);
    assert_eq!(namespaces.notification_version().await.expect("a version"), 1);
    let orders = record(1, "orders", 3);
    assert_eq!(namespaces.create(&orders).await.expect("a namespace"), 1);
    assert_eq!(namespaces.notification_version().await.expect("a version"), 2);
    for by in [NamespaceBy::Id(orders.id()), NamespaceBy::Name("orders")] {
        let found = namespaces.get(by).await.expect("a namespace");
        assert_eq!((found.record, found.notification_version), (orders.clone(), 1));
    }
    for by in [NamespaceBy::Id(NamespaceId::from_bytes([9; 16])), NamespaceBy::Name("Orders")] {
        let error = namespaces.get(by).await.expect_err("no namespace");
        assert!(matches!(error, Error::NamespaceNotFound), "{error:?}");
    }
}

pub(crate) async fn name_and_id_are_taken_once(fixture: &Fixture) {
    let namespaces = store(fixture);
    namespaces.create(&record(1, "orders", 1)).await.expect("a namespace");
    for again in [record(1, "other", 2), record(2, "orders", 2), record(1, "orders", 1)] {
        let error = namespaces.create(&again).await.expect_err("taken");
        assert!(matches!(error, Error::NamespaceAlreadyExists), "{error:?}");
    }
    assert_eq!(namespaces.notification_version().await.expect("a version"), 2);
    assert_eq!(namespaces.get(NamespaceBy::Name("orders")).await.expect("it").record, record(1, "orders", 1));
}

pub(crate) async fn update_at_the_known_version_is_stored_and_raises_it(fixture: &Fixture) {
    let namespaces = store(fixture);
    namespaces.create(&record(1, "orders", 1)).await.expect("a namespace");
    for (version, changed) in
        [(2, record(1, "orders", 2)), (3, record(1, "renamed", 3)), (4, record(1, "renamed", 4))]
    {
        namespaces.update(&changed, version).await.expect("an update");
        let found = namespaces.get(NamespaceBy::Id(changed.id())).await.expect("a namespace");
        assert_eq!((found.record, found.notification_version), (changed, version));
        assert_eq!(namespaces.notification_version().await.expect("a version"), version + 1);
    }
    let error = namespaces.get(NamespaceBy::Name("orders")).await.expect_err("renamed");
    assert!(matches!(error, Error::NamespaceNotFound), "{error:?}");
}

/// Not as upstream, which reports it as unavailable and so hides it from whoever would read again and retry.
pub(crate) async fn update_at_another_version_is_a_condition_that_names_both(fixture: &Fixture) {
    let namespaces = store(fixture);
    namespaces.create(&record(1, "orders", 1)).await.expect("a namespace");
    for version in [0, 1, 3] {
        let error = namespaces.update(&record(1, "orders", 9), version).await.expect_err("another version");
        assert!(
            matches!(error, Error::ConditionFailed { expected: Some(expected), actual: Some(2), .. } if expected == version),
            "{error:?}"
        );
    }
    assert_eq!(namespaces.get(NamespaceBy::Name("orders")).await.expect("it").record, record(1, "orders", 1));
}

pub(crate) async fn update_of_a_missing_namespace_is_not_found_and_raises_nothing(fixture: &Fixture) {
    let namespaces = store(fixture);
    let error = namespaces.update(&record(1, "orders", 1), 1).await.expect_err("no namespace");
    assert!(matches!(error, Error::NotFound { what: "namespace" }), "{error:?}");
    assert_eq!(namespaces.notification_version().await.expect("a version"), 1);
}

pub(crate) async fn name_of_another_is_a_condition(fixture: &Fixture) {
    let namespaces = store(fixture);
    namespaces.create(&record(1, "orders", 1)).await.expect("a namespace");
    namespaces.create(&record(2, "billing", 1)).await.expect("a namespace");
    let error = namespaces.update(&record(2, "orders", 2), 3).await.expect_err("taken");
    assert!(matches!(error, Error::ConditionFailed { .. }), "{error:?}");
    assert_eq!(namespaces.notification_version().await.expect("a version"), 3);
    assert_eq!(
        namespaces.get(NamespaceBy::Name("billing")).await.expect("it").record,
        record(2, "billing", 1)
    );
}

pub(crate) async fn name_can_be_given_back_and_taken_again(fixture: &Fixture) {
    let namespaces = store(fixture);
    namespaces.create(&record(1, "orders", 1)).await.expect("a namespace");
    namespaces.delete(NamespaceBy::Name("orders")).await.expect("a deletion");
    namespaces.create(&record(2, "orders", 2)).await.expect("a namespace");
    assert_eq!(namespaces.get(NamespaceBy::Name("orders")).await.expect("it").record, record(2, "orders", 2));
}

pub(crate) async fn deletion_raises_nothing(fixture: &Fixture) {
    let namespaces = store(fixture);
    namespaces.create(&record(1, "orders", 1)).await.expect("a namespace");
    for _ in 0..2 {
        namespaces.delete(NamespaceBy::Id(NamespaceId::from_bytes([1; 16]))).await.expect("a deletion");
        namespaces.delete(NamespaceBy::Name("nobody")).await.expect("a deletion");
    }
    assert_eq!(namespaces.notification_version().await.expect("a version"), 2);
    let error = namespaces.get(NamespaceBy::Name("orders")).await.expect_err("deleted");
    assert!(matches!(error, Error::NamespaceNotFound), "{error:?}");
}

pub(crate) async fn missing_version_is_said(fixture: &Fixture) {
    let namespaces = store(fixture);
    fixture.outside().await.batch_execute("DELETE FROM namespace_metadata").await.expect("a deletion");
    for error in [
        namespaces.notification_version().await.expect_err("no version"),
        namespaces.create(&record(1, "orders", 1)).await.expect_err("no version"),
        namespaces.update(&record(1, "orders", 1), 1).await.expect_err("no version"),
    ] {
        assert!(matches!(error, Error::Missing { .. }), "{error:?}");
    }
    let error = namespaces.get(NamespaceBy::Name("orders")).await.expect_err("not made");
    assert!(matches!(error, Error::NamespaceNotFound), "{error:?}");
}

pub(crate) async fn pages_have_every_namespace_once(fixture: &Fixture) {
    let namespaces = store(fixture);
    let mut made = Vec::new();
    for id in [7, 1, 200, 3, 128, 127, 255, 0] {
        let record = record(id, &format!("namespace {id}"), id);
        namespaces.create(&record).await.expect("a namespace");
        made.push(record);
    }
    made.sort_by_key(NamespaceRecord::id);
    for size in 1..=9 {
        let listed = all_pages(size, |size, token| {
            let namespaces = namespaces.clone();
            async move { namespaces.list(size, token.as_ref()).await.expect("a page") }
        })
        .await;
        let listed: Vec<_> = listed.into_iter().map(|namespace| namespace.record).collect();
        assert_eq!(listed, made, "pages of {size}");
    }
}

pub(crate) async fn token_of_another_list_is_refused(fixture: &Fixture) {
    for bytes in [vec![], vec![1; 15], vec![1; 17]] {
        let token = PageToken::from_bytes(bytes);
        let error = store(fixture).list(PageSize::MAX, Some(&token)).await.expect_err("a bad token");
        assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    }
}

/// Property 4: concurrency safety. Sixteen in the first round, a few in the others.
pub(crate) async fn one_of_sixteen_makers_of_a_name_wins(fixture: &Fixture) {
    let watched = fixture.watched().await;
    let namespaces = Namespaces::new(watched.database.clone());
    for seed in fixture.rounds() {
        let (mut dice, name) = (Dice(seed), format!("orders {seed}"));
        let makers = if seed == 0 { 16 } else { u8::try_from(dice.between(2..=4)).expect("a few") };
        let makers = (0..makers).map(|maker| {
            let (namespaces, record) = (namespaces.clone(), numbered(seed * 16 + u64::from(maker), &name));
            dice.late(async move { namespaces.create(&record).await.map(|_| record) })
        });
        let mut won = Vec::new();
        for answer in together(makers.collect::<Vec<_>>()).await {
            match answer {
                Ok(record) => won.push(record),
                Err(Error::NamespaceAlreadyExists) => {}
                Err(error) => panic!("seed {seed}: {error:?}"),
            }
        }
        assert_eq!(won.len(), 1, "seed {seed}: {won:?}");
        let found = namespaces.get(NamespaceBy::Name(&name)).await.expect("a namespace");
        assert_eq!(found.record, won[0], "seed {seed}");
        let version = i64::try_from(seed).expect("small") + 2;
        assert_eq!(namespaces.notification_version().await.expect("a version"), version, "seed {seed}");
    }
    watched.expect_only_conflicts_tried_again();
}

/// Property 4: concurrency safety. One row counts the changes of all namespaces, so all of these meet there: sixteen in the
/// first round, a few in the others.
pub(crate) async fn makers_of_many_names_all_win_at_a_version_of_their_own(fixture: &Fixture) {
    let watched = fixture.watched().await;
    let namespaces = Namespaces::new(watched.database.clone());
    let mut before = 0;
    for seed in fixture.rounds() {
        let mut dice = Dice(seed);
        let makers = if seed == 0 { 16 } else { dice.between(2..=4) };
        let all = (0..makers).map(|maker| {
            let number = seed * 16 + u64::try_from(maker).expect("a few");
            let (namespaces, record) = (namespaces.clone(), numbered(number, &format!("namespace {number}")));
            dice.late(async move { namespaces.create(&record).await.expect("a namespace") })
        });
        let versions: BTreeSet<i64> = together(all.collect::<Vec<_>>()).await.into_iter().collect();
        assert_eq!(versions, (before + 1..=before + makers).collect(), "seed {seed}");
        before += makers;
        assert_eq!(namespaces.notification_version().await.expect("a version"), before + 1, "seed {seed}");
    }
    watched.expect_only_conflicts_tried_again();
}

/// Property 2: conditional atomicity.
pub(crate) async fn one_of_many_updates_at_a_version_wins(fixture: &Fixture) {
    let watched = fixture.watched().await;
    let namespaces = Namespaces::new(watched.database.clone());
    namespaces.create(&record(1, "orders", 0)).await.expect("a namespace");
    for (seed, version) in fixture.rounds().zip(2_i64..) {
        let mut dice = Dice(seed);
        let writers = (1..=u8::try_from(dice.between(2..=5)).expect("a few")).map(|writer| {
            let record = record(1, &format!("orders {seed} {writer}"), writer);
            let namespaces = namespaces.clone();
            dice.late(async move { namespaces.update(&record, version).await.map(|()| record) })
        });
        let mut won = Vec::new();
        for answer in together(writers.collect::<Vec<_>>()).await {
            match answer {
                Ok(record) => won.push(record),
                Err(Error::ConditionFailed { expected: Some(expected), actual: Some(actual), .. }) => {
                    assert_eq!((expected, actual), (version, version + 1), "seed {seed}");
                }
                Err(error) => panic!("seed {seed}: {error:?}"),
            }
        }
        assert_eq!(won.len(), 1, "seed {seed}: {won:?}");
        let found = namespaces.get(NamespaceBy::Id(won[0].id())).await.expect("a namespace");
        assert_eq!((&found.record, found.notification_version), (&won[0], version), "seed {seed}");
    }
    watched.expect_only_conflicts_tried_again();
}

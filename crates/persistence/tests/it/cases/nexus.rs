//! Nexus endpoints: every change at the version of the table and of the endpoint that its maker knows.

use leasehold_persistence::{Blob, Endpoint, EndpointId, Endpoints, Error, PageSize, PageToken};

use crate::fixture::{Dice, Fixture, all_pages, together};

macro_rules! nexus_cases {
    ($target:ident) => {
        $target!(
            nexus:
            saved_endpoint_is_found_at_its_version,
            save_at_another_version_of_the_table_is_a_condition,
            save_at_another_version_of_the_endpoint_is_a_condition_and_raises_nothing,
            deletion_needs_the_version_of_the_table,
            list_is_of_one_version_of_the_table,
            pages_have_every_endpoint_once,
            token_of_another_list_is_refused,
            one_of_many_first_savers_wins,
            one_of_many_savers_at_a_version_wins,
            random_operations_agree_with_a_model,
        );
    };
}

fn store(fixture: &Fixture) -> Endpoints {
    Endpoints::new(fixture.database.clone())
}

fn id(number: u8) -> EndpointId {
    EndpointId::from_bytes([number; 16])
}

fn endpoint(number: u8, version: i64, data: u8) -> Endpoint {
    Endpoint { id: id(number), blob: Blob::proto3(vec![data]), version }
}

fn is_condition(error: &Error, wanted: i64, found: Option<i64>) -> bool {
    matches!(error, Error::ConditionFailed { expected: Some(expected), actual, .. }
        if (*expected, *actual) == (wanted, found))
}

pub(crate) async fn saved_endpoint_is_found_at_its_version(fixture: &Fixture) {
    let endpoints = store(fixture);
    assert_eq!(endpoints.table_version().await.expect("a version"), 0);
    let error = endpoints.get(id(1)).await.expect_err("not saved");
    assert!(matches!(error, Error::NotFound { what: "nexus endpoint" }), "{error:?}");
    for version in 0..3_u8 {
        let saved = endpoint(1, version.into(), version);
        endpoints.save(&saved, version.into()).await.expect("an endpoint");
        let wanted = Endpoint { version: saved.version + 1, ..saved };
        assert_eq!(endpoints.get(id(1)).await.expect("an endpoint"), wanted);
        assert_eq!(endpoints.table_version().await.expect("a version"), i64::from(version) + 1);
    }
}

pub(crate) async fn save_at_another_version_of_the_table_is_a_condition(fixture: &Fixture) {
    let endpoints = store(fixture);
    let error = endpoints.save(&endpoint(1, 0, 1), 4).await.expect_err("no table yet");
    assert!(is_condition(&error, 4, None), "{error:?}");
    endpoints.save(&endpoint(1, 0, 1), 0).await.expect("an endpoint");
    for version in [0, 2] {
        let error = endpoints.save(&endpoint(2, 0, 2), version).await.expect_err("another version");
        assert!(is_condition(&error, version, Some(1)), "{error:?}");
    }
    assert!(matches!(endpoints.get(id(2)).await, Err(Error::NotFound { .. })));
    assert_eq!(endpoints.table_version().await.expect("a version"), 1);
}

pub(crate) async fn save_at_another_version_of_the_endpoint_is_a_condition_and_raises_nothing(
    fixture: &Fixture,
) {
    let endpoints = store(fixture);
    endpoints.save(&endpoint(1, 0, 1), 0).await.expect("an endpoint");
    for (wrong, found) in
        [(endpoint(1, 0, 9), Some(1)), (endpoint(1, 2, 9), Some(1)), (endpoint(2, 3, 9), None)]
    {
        let error = endpoints.save(&wrong, 1).await.expect_err("another version");
        assert!(is_condition(&error, wrong.version, found), "{error:?}");
    }
    assert_eq!(endpoints.table_version().await.expect("a version"), 1);
    assert_eq!(endpoints.get(id(1)).await.expect("an endpoint"), endpoint(1, 1, 1));
}

/// Not as upstream, which reports another version as an internal error.
pub(crate) async fn deletion_needs_the_version_of_the_table(fixture: &Fixture) {
    let endpoints = store(fixture);
    assert!(matches!(endpoints.delete(id(1), 0).await, Err(Error::NotFound { .. })));
    assert_eq!(endpoints.table_version().await.expect("a version"), 0, "nothing made the table's version");
    endpoints.save(&endpoint(1, 0, 1), 0).await.expect("an endpoint");
    for version in [0, 2] {
        let error = endpoints.delete(id(1), version).await.expect_err("another version");
        assert!(is_condition(&error, version, Some(1)), "{error:?}");
    }
    let error = endpoints.delete(id(2), 1).await.expect_err("no endpoint");
    assert!(matches!(error, Error::NotFound { what: "nexus endpoint" }), "{error:?}");
    assert_eq!(endpoints.table_version().await.expect("a version"), 1, "what was not there raises nothing");
    endpoints.delete(id(1), 1).await.expect("a deletion");
    assert_eq!(endpoints.table_version().await.expect("a version"), 2);
    assert!(matches!(endpoints.get(id(1)).await, Err(Error::NotFound { .. })));
}

pub(crate) async fn list_is_of_one_version_of_the_table(fixture: &Fixture) {
    let endpoints = store(fixture);
    let list = |version| endpoints.list(PageSize::MAX, None, version);
    let empty = list(0).await.expect("a list");
    assert_eq!((empty.table_version, empty.page.items), (0, vec![]));
    endpoints.save(&endpoint(1, 0, 1), 0).await.expect("an endpoint");
    endpoints.save(&endpoint(2, 0, 2), 1).await.expect("an endpoint");
    for version in [0, 2] {
        let listed = list(version).await.expect("a list");
        assert_eq!(listed.table_version, 2);
        assert_eq!(listed.page.items, [endpoint(1, 1, 1), endpoint(2, 1, 2)]);
    }
    let error = list(1).await.expect_err("another version");
    assert!(is_condition(&error, 1, Some(2)), "{error:?}");
}

pub(crate) async fn pages_have_every_endpoint_once(fixture: &Fixture) {
    let endpoints = &store(fixture);
    for (number, version) in [200, 1, 127, 128, 3, 255].into_iter().zip(0..) {
        endpoints.save(&endpoint(number, 0, number), version).await.expect("an endpoint");
    }
    for size in 1..=7 {
        let listed = all_pages(size, |size, token| async move {
            endpoints.list(size, token.as_ref(), 6).await.expect("a page").page
        })
        .await;
        let wanted = [1, 3, 127, 128, 200, 255].map(|number| endpoint(number, 1, number));
        assert_eq!(listed, wanted, "pages of {size}");
    }
}

pub(crate) async fn token_of_another_list_is_refused(fixture: &Fixture) {
    for len in [0, 8, 15, 17] {
        let token = PageToken::from_bytes(vec![1; len]);
        let error = store(fixture).list(PageSize::MAX, Some(&token), 0).await.expect_err("a bad token");
        assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    }
}

/// Property 2: conditional atomicity. Half of them save one endpoint, half one of their own: one of all may.
async fn contend(fixture: &Fixture, version: i64) {
    let savers = (0..10_u8).map(|saver| {
        let endpoints = store(fixture);
        let saved = match saver % 2 {
            0 => endpoint(1, 0, saver),
            _ => endpoint(100 + u8::try_from(version).expect("small") * 10 + saver, 0, saver),
        };
        async move { endpoints.save(&saved, version).await.map(|()| saved) }
    });
    let mut won = Vec::new();
    for answer in together(savers).await {
        match answer {
            Ok(saved) => won.push(saved),
            Err(error) => assert!(is_condition(&error, version, Some(version + 1)), "{error:?}"),
        }
    }
    assert_eq!(won.len(), 1, "{won:?}");
    let listed = store(fixture).list(PageSize::MAX, None, version + 1).await.expect("a list");
    let wanted = Endpoint { version: 1, ..won[0].clone() };
    assert!(listed.page.items.contains(&wanted), "{listed:?}");
    assert_eq!(listed.page.items.len() as i64, version + 1);
}

/// Property 4: concurrency safety. There is no row of the table's version yet: its key decides.
pub(crate) async fn one_of_many_first_savers_wins(fixture: &Fixture) {
    contend(fixture, 0).await;
}

pub(crate) async fn one_of_many_savers_at_a_version_wins(fixture: &Fixture) {
    let endpoints = store(fixture);
    endpoints.save(&endpoint(2, 0, 0), 0).await.expect("an endpoint");
    contend(fixture, 1).await;
    // Once endpoint 1 is there, saving it as new fails by its own version, or by the table's: only one says so.
    for version in 2..5 {
        let savers = (0..8_u8).map(|saver| {
            let endpoints = endpoints.clone();
            let saved = endpoint(2, version - 1, saver);
            async move { endpoints.save(&saved, version).await.map(|()| saved) }
        });
        let won: Vec<_> = together(savers).await.into_iter().filter_map(Result::ok).collect();
        assert_eq!(won.len(), 1, "{won:?}");
        let stored = endpoints.get(id(2)).await.expect("an endpoint");
        assert_eq!((stored.blob, stored.version), (won[0].blob.clone(), version));
    }
}

pub(crate) async fn random_operations_agree_with_a_model(fixture: &Fixture) {
    let (endpoints, mut dice) = (store(fixture), Dice(3));
    let (mut model, mut table) = (std::collections::BTreeMap::<u8, (i64, u8)>::new(), 0_i64);
    for _ in 0..80 {
        let number = u8::try_from(dice.between(1..=4)).expect("a number");
        let known_table = table + dice.between(-1..=1) * i64::from(dice.once_in(4));
        let stored = model.get(&number).map(|(version, _)| *version);
        if dice.once_in(4) {
            let deleted = endpoints.delete(id(number), known_table).await;
            if known_table == table && stored.is_some() {
                deleted.expect("a deletion");
                model.remove(&number);
                table += 1;
            } else {
                deleted.expect_err("no deletion");
            }
        } else {
            let version = stored.unwrap_or(0) + dice.between(-1..=1) * i64::from(dice.once_in(4));
            let data = u8::try_from(dice.roll(250)).expect("a byte");
            let saved = endpoints.save(&endpoint(number, version, data), known_table).await;
            if known_table == table && version == stored.unwrap_or(0) {
                saved.expect("an endpoint");
                model.insert(number, (version + 1, data));
                table += 1;
            } else {
                let error = saved.expect_err("no endpoint");
                assert!(matches!(error, Error::ConditionFailed { .. }), "{error:?}");
            }
        }
        let listed = endpoints.list(PageSize::MAX, None, 0).await.expect("a list");
        let wanted: Vec<_> =
            model.iter().map(|(number, (version, data))| endpoint(*number, *version, *data)).collect();
        assert_eq!((listed.table_version, listed.page.items), (table, wanted));
    }
}

//! What is known of clusters: stored at the version that its writer read.

use leasehold_persistence::{Blob, ClusterMetadata, ClusterMetadatas, Error, PageSize, PageToken};

use crate::fixture::{Fixture, all_pages, together};

macro_rules! cluster_metadata_cases {
    ($target:ident) => {
        $target!(
            cluster_metadata:
            saved_metadata_is_found_at_its_version,
            save_at_another_version_is_a_condition_that_names_both,
            save_over_nothing_at_a_version_is_a_condition,
            bad_name_is_refused,
            deleted_metadata_is_gone,
            pages_have_every_cluster_once,
            one_of_many_first_savers_wins,
            one_of_many_savers_at_a_version_wins,
        );
    };
}

fn store(fixture: &Fixture) -> ClusterMetadatas {
    ClusterMetadatas::new(fixture.database.clone())
}

fn blob(data: u8) -> Blob {
    Blob::proto3(vec![data])
}

pub(crate) async fn saved_metadata_is_found_at_its_version(fixture: &Fixture) {
    let clusters = store(fixture);
    let error = clusters.get("east").await.expect_err("not saved");
    assert!(matches!(error, Error::NotFound { what: "cluster" }), "{error:?}");
    for (version, data) in [(0, 1), (1, 2), (2, 3)] {
        assert_eq!(clusters.save("east", &blob(data), version).await.expect("a version"), version + 1);
        let wanted = ClusterMetadata { name: "east".to_owned(), blob: blob(data), version: version + 1 };
        assert_eq!(clusters.get("east").await.expect("metadata"), wanted);
    }
}

/// Not as upstream, which reports it as unavailable.
pub(crate) async fn save_at_another_version_is_a_condition_that_names_both(fixture: &Fixture) {
    let clusters = store(fixture);
    clusters.save("east", &blob(1), 0).await.expect("a version");
    for version in [0, 2, -1] {
        let error = clusters.save("east", &blob(9), version).await.expect_err("another version");
        assert!(
            matches!(error, Error::ConditionFailed { expected: Some(expected), actual: Some(1), .. } if expected == version),
            "{error:?}"
        );
    }
    assert_eq!(clusters.get("east").await.expect("metadata").blob, blob(1));
}

/// Not as upstream, which crashes on it.
pub(crate) async fn save_over_nothing_at_a_version_is_a_condition(fixture: &Fixture) {
    let error = store(fixture).save("east", &blob(1), 5).await.expect_err("nothing there");
    assert!(matches!(error, Error::ConditionFailed { expected: Some(5), actual: None, .. }), "{error:?}");
    assert!(store(fixture).get("east").await.is_err());
}

pub(crate) async fn bad_name_is_refused(fixture: &Fixture) {
    for name in ["", &"x".repeat(256), "a\0b"] {
        let error = store(fixture).save(name, &blob(1), 0).await.expect_err("a bad name");
        assert!(matches!(error, Error::InvalidRequest { field: "cluster_name", .. }), "{error:?}");
    }
}

pub(crate) async fn deleted_metadata_is_gone(fixture: &Fixture) {
    let clusters = store(fixture);
    clusters.save("east", &blob(1), 0).await.expect("a version");
    clusters.save("west", &blob(1), 0).await.expect("a version");
    for _ in 0..2 {
        clusters.delete("east").await.expect("a deletion");
    }
    assert!(matches!(clusters.get("east").await, Err(Error::NotFound { .. })));
    assert_eq!(clusters.get("west").await.expect("metadata").version, 1);
    assert_eq!(clusters.save("east", &blob(2), 0).await.expect("a version"), 1);
}

/// Not as upstream, whose token is always empty, so that every page is the first.
pub(crate) async fn pages_have_every_cluster_once(fixture: &Fixture) {
    let clusters = &store(fixture);
    let names = ["a", "aa", "b", "c d", "e_f", "g"];
    for (name, data) in names.into_iter().zip(0..) {
        clusters.save(name, &blob(data), 0).await.expect("a version");
    }
    for size in 1..=7 {
        let mut listed = all_pages(size, |size, token| async move {
            clusters.list(size, token.as_ref()).await.expect("a page")
        })
        .await;
        listed.sort_by(|one, other| one.name.cmp(&other.name));
        let wanted = names.into_iter().zip(0..).map(|(name, data)| ClusterMetadata {
            name: name.to_owned(),
            blob: blob(data),
            version: 1,
        });
        assert_eq!(listed, wanted.collect::<Vec<_>>(), "pages of {size}");
    }
    let token = PageToken::from_bytes(vec![0xff]);
    let error = clusters.list(PageSize::MAX, Some(&token)).await.expect_err("a bad token");
    assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
}

async fn contend(fixture: &Fixture, version: i64) {
    let savers = (0..10_u8).map(|saver| {
        let clusters = store(fixture);
        async move { clusters.save("east", &blob(saver), version).await.map(|_| saver) }
    });
    let mut won = Vec::new();
    for answer in together(savers).await {
        match answer {
            Ok(saver) => won.push(saver),
            Err(Error::ConditionFailed { expected: Some(expected), actual: Some(actual), .. }) => {
                assert_eq!((expected, actual), (version, version + 1));
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(won.len(), 1, "{won:?}");
    let stored = store(fixture).get("east").await.expect("metadata");
    assert_eq!((stored.blob, stored.version), (blob(won[0]), version + 1));
}

/// Property 4: concurrency safety. There is no row to lock yet: the key decides.
pub(crate) async fn one_of_many_first_savers_wins(fixture: &Fixture) {
    contend(fixture, 0).await;
}

/// Property 2: conditional atomicity.
pub(crate) async fn one_of_many_savers_at_a_version_wins(fixture: &Fixture) {
    for version in 0..5 {
        contend(fixture, version).await;
    }
}

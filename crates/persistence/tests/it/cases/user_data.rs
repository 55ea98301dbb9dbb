//! User data of task queues: changed together or not at all, and never over somebody else's change.

use leasehold_persistence::{
    Blob, Error, NamespaceId, PageSize, PageToken, UserData, UserDataStore, UserDataUpdate,
};

use crate::fixture::{Dice, Fixture, all_pages, together};

macro_rules! user_data_cases {
    ($target:ident) => {
        $target!(
            user_data:
            user_data_reads_back_with_its_version,
            update_of_another_version_names_the_queue_and_changes_nothing,
            build_ids_follow_their_queues,
            list_of_user_data_holds_every_queue_once_at_any_size,
            one_of_many_contenders_updates_a_version,
            many_updates_of_many_queues_do_not_block_each_other,
        );
    };
}

impl Fixture {
    pub(crate) fn user_data(&self) -> UserDataStore {
        UserDataStore::new(self.database.clone())
    }
}

pub(crate) const NAMESPACE: NamespaceId = NamespaceId::from_bytes([3; 16]);

pub(crate) fn update(task_queue: &str, version: i64, data: u8) -> UserDataUpdate {
    UserDataUpdate::new(task_queue, version, Blob::proto3(vec![data])).expect("an update")
}

fn user_data(version: i64, data: u8) -> UserData {
    UserData { version, blob: Blob::proto3(vec![data]) }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

pub(crate) async fn user_data_reads_back_with_its_version(fixture: &Fixture) {
    let store = fixture.user_data();
    let error = store.get(NAMESPACE, "orders").await.expect_err("none");
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    for version in 0..3 {
        let data = u8::try_from(version).expect("small");
        store.update(NAMESPACE, &[update("orders", version, data)]).await.expect("an update");
        assert_eq!(store.get(NAMESPACE, "orders").await.expect("some"), user_data(version + 1, data));
    }
    assert!(store.get(NamespaceId::from_bytes([4; 16]), "orders").await.is_err());
}

pub(crate) async fn update_of_another_version_names_the_queue_and_changes_nothing(fixture: &Fixture) {
    let store = fixture.user_data();
    store.update(NAMESPACE, &[update("b", 0, 1), update("c", 0, 1)]).await.expect("updates");
    let with_builds = |update: UserDataUpdate| update.build_ids(names(&["new"]), vec![]).expect("build ids");
    for (b, c, conflicting) in [(0, 1, "b"), (1, 0, "c"), (1, 2, "c"), (2, 2, "b"), (7, 1, "b")] {
        let updates = [update("c", c, 9), with_builds(update("a", 0, 9)), update("b", b, 9)];
        let error = store.update(NAMESPACE, &updates).await.expect_err("another version");
        let expected_version = if conflicting == "b" { b } else { c };
        assert!(
            matches!(&error, Error::UserDataConflict { task_queue, expected }
                if task_queue == conflicting && *expected == expected_version),
            "{error:?}"
        );
        assert!(store.get(NAMESPACE, "a").await.is_err());
        for name in ["b", "c"] {
            assert_eq!(store.get(NAMESPACE, name).await.expect("some"), user_data(1, 1));
        }
        assert_eq!(store.count_task_queues_by_build_id(NAMESPACE, "new").await.expect("a number"), 0);
    }
    let error = store.update(NAMESPACE, &[update("x", 5, 1)]).await.expect_err("there is none");
    assert!(matches!(error, Error::UserDataConflict { expected: 5, .. }), "{error:?}");
}

pub(crate) async fn build_ids_follow_their_queues(fixture: &Fixture) {
    let store = fixture.user_data();
    let change = |name, version, added: &[&str], removed: &[&str]| {
        update(name, version, 1).build_ids(names(added), names(removed)).expect("build ids")
    };
    let updates = [change("b", 0, &["1", "2", "2"], &[]), change("a", 0, &["2"], &["1"])];
    store.update(NAMESPACE, &updates).await.expect("updates");
    let queues = async |build_id| {
        let queues = store.task_queues_by_build_id(NAMESPACE, build_id).await.expect("names");
        let count = store.count_task_queues_by_build_id(NAMESPACE, build_id).await.expect("a number");
        assert_eq!(usize::try_from(count).expect("small"), queues.len());
        queues
    };
    assert_eq!(queues("1").await, ["b"]);
    assert_eq!(queues("2").await, ["a", "b"]);
    let updates = [change("b", 1, &["2", "3"], &["1", "none"]), change("a", 1, &[], &["2"])];
    store.update(NAMESPACE, &updates).await.expect("updates");
    assert_eq!(queues("1").await, names(&[]));
    assert_eq!(queues("2").await, ["b"]);
    assert_eq!(queues("3").await, ["b"]);
}

/// Property 2: what is listed is what is stored, at any size of page.
pub(crate) async fn list_of_user_data_holds_every_queue_once_at_any_size(fixture: &Fixture) {
    let store = fixture.user_data();
    let updates: Vec<_> = (0..37).map(|at| update(&format!("queue-{at}"), 0, at)).collect();
    store.update(NAMESPACE, &updates).await.expect("updates");
    store.update(NamespaceId::from_bytes([4; 16]), &updates[..1]).await.expect("an update");
    let wanted: std::collections::BTreeSet<_> = (0..37).map(|at| (format!("queue-{at}"), vec![at])).collect();
    for size in [1, 2, 5, 36, 37, 38, 1000] {
        let store = &store;
        let listed = all_pages(size, |page_size, token| async move {
            store.list(NAMESPACE, page_size, token.as_ref()).await.expect("a page")
        });
        let mut listed: Vec<_> = listed
            .await
            .into_iter()
            .map(|listed| (listed.task_queue, listed.user_data.blob.data().to_vec()))
            .collect();
        listed.sort_unstable();
        assert!(listed.iter().eq(&wanted), "in pages of {size}: {listed:?}");
    }
    for token in [vec![0xff], vec![b'a', 0]] {
        let token = PageToken::from_bytes(token);
        let error = store.list(NAMESPACE, PageSize::MAX, Some(&token)).await.expect_err("no token");
        assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    }
}

/// Property 4: one success per version.
pub(crate) async fn one_of_many_contenders_updates_a_version(fixture: &Fixture) {
    for version in 0..10 {
        let contenders = (0..8).map(|contender| {
            let store = fixture.user_data();
            async move { store.update(NAMESPACE, &[update("orders", version, contender)]).await }
        });
        let mut won = Vec::new();
        for (contender, answer) in (0..).zip(together(contenders).await) {
            match answer {
                Ok(()) => won.push(contender),
                Err(Error::UserDataConflict { expected, .. }) if expected == version => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(won.len(), 1, "{won:?} of version {version}");
        let stored = fixture.user_data().get(NAMESPACE, "orders").await.expect("some");
        assert_eq!(stored, user_data(version + 1, won[0]));
    }
}

/// Property 2 and 4: writers of overlapping queues, in whatever order they name them: each wins or is told, nobody waits for
/// ever, and the versions are the successes.
pub(crate) async fn many_updates_of_many_queues_do_not_block_each_other(fixture: &Fixture) {
    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
    let writers = (0..6).map(|seed| {
        let store = fixture.user_data();
        async move {
            let (mut dice, mut successes) = (Dice(seed), [0_i64; NAMES.len()]);
            for _ in 0..10 {
                let mut chosen: Vec<usize> = (0..NAMES.len()).filter(|_| !dice.once_in(3)).collect();
                let turn = usize::try_from(dice.roll(5)).expect("small").min(chosen.len());
                chosen.rotate_left(turn);
                let mut updates = Vec::new();
                for at in &chosen {
                    let version = match store.get(NAMESPACE, NAMES[*at]).await {
                        Ok(stored) => stored.version,
                        Err(Error::NotFound { .. }) => 0,
                        Err(error) => panic!("{error:?}"),
                    };
                    updates.push(update(NAMES[*at], version, 1));
                }
                if updates.is_empty() {
                    continue;
                }
                match store.update(NAMESPACE, &updates).await {
                    Ok(()) => chosen.iter().for_each(|at| successes[*at] += 1),
                    Err(Error::UserDataConflict { .. }) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            successes
        }
    });
    let mut versions = [0; NAMES.len()];
    for successes in together(writers).await {
        versions.iter_mut().zip(successes).for_each(|(version, more)| *version += more);
    }
    for (name, version) in NAMES.iter().zip(versions) {
        let stored = fixture.user_data().get(NAMESPACE, name).await.map_or(0, |stored| stored.version);
        assert_eq!(stored, version, "{name}");
    }
}

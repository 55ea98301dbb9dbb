//! Changes the user data of several task queues, all or none.

use leasehold_txn::tokio_postgres::types::ToSql;
use leasehold_txn::{Abort, Operation, Parameters};

use super::UserDataStore;
use crate::{Blob, Error, NamespaceId, Result, bounds};

const UPDATE: Operation = Operation::new("state.update_user_data");
const INSERT_DATA: &str = include_str!("sql/insert.sql");
const UPDATE_DATA: &str = include_str!("sql/update.sql");
const ADD_BUILD_IDS: &str = include_str!("sql/add_build_ids.sql");
const REMOVE_BUILD_IDS: &str = include_str!("sql/remove_build_ids.sql");

/// The most task queues of one request.
pub const USER_DATA_UPDATES_MAX: usize = 100;

/// New user data of a task queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserDataUpdate {
    task_queue: String,
    version: i64,
    blob: Blob,
    build_ids_added: Vec<String>,
    build_ids_removed: Vec<String>,
}

impl UserDataUpdate {
    /// New user data in place of that with `version`, which is 0 where there is none yet.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the name is empty, too long or has a zero byte in it, or the version is below 0.
    pub fn new(task_queue: impl Into<String>, version: i64, blob: Blob) -> Result<Self> {
        let task_queue = task_queue.into();
        bounds::name("task_queue", &task_queue)?;
        if !(0..i64::MAX).contains(&version) {
            return Err(Error::invalid("version", format!("must be at least 0 and can grow, is {version}")));
        }
        let (build_ids_added, build_ids_removed) = (Vec::new(), Vec::new());
        Ok(Self { task_queue, version, blob, build_ids_added, build_ids_removed })
    }

    /// Builds that the queue knows from now on, and others that it knows no longer.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when a build id is empty, too long or has a zero byte in it.
    pub fn build_ids(self, added: Vec<String>, removed: Vec<String>) -> Result<Self> {
        for build_id in added.iter().chain(&removed) {
            bounds::name("build_id", build_id)?;
        }
        Ok(Self { build_ids_added: added, build_ids_removed: removed, ..self })
    }

    /// Where there is nothing yet, something must be made, and nobody else's may be there; where there is something, its
    /// version must be the one that is known. Exactly one row is touched, or the queue is in conflict.
    fn write(&self) -> &'static str {
        if self.version == 0 { INSERT_DATA } else { UPDATE_DATA }
    }

    fn build_id_changes<'a>(
        &'a self,
        namespace_id: &'a NamespaceId,
    ) -> impl Iterator<Item = (&'static str, [&'a (dyn ToSql + Sync); 3])> {
        [(ADD_BUILD_IDS, &self.build_ids_added), (REMOVE_BUILD_IDS, &self.build_ids_removed)]
            .into_iter()
            .filter(|(_, build_ids)| !build_ids.is_empty())
            .map(move |(sql, build_ids)| -> (_, [&'a (dyn ToSql + Sync); 3]) {
                (sql, [namespace_id, &self.task_queue, build_ids])
            })
    }
}

impl UserDataStore {
    /// Changes the user data of task queues of a namespace, all or none. Versions grow by one.
    ///
    /// # Errors
    /// [`Error::UserDataConflict`] with the first queue, by name, whose version is another;
    /// [`Error::InvalidRequest`] when there are no updates, more than [`USER_DATA_UPDATES_MAX`], or two of one queue.
    pub async fn update(&self, namespace_id: NamespaceId, updates: &[UserDataUpdate]) -> Result<()> {
        let updates = &in_order(updates)?;
        let namespace_id = &namespace_id;
        self.database
            .run(UPDATE, |tx| {
                Box::pin(async move {
                    // One after the other: statements that are sent together may overtake each other.
                    for update in updates {
                        let UserDataUpdate { task_queue, version, blob, .. } = update;
                        let values: Parameters<'_> =
                            &[namespace_id, task_queue, version, &blob.data(), &blob.encoding()];
                        if tx.execute(update.write(), values).await? != 1 {
                            return Err(Abort::Condition(Error::UserDataConflict {
                                task_queue: task_queue.clone(),
                                expected: *version,
                            }));
                        }
                    }
                    let build_ids: Vec<_> =
                        updates.iter().flat_map(|update| update.build_id_changes(namespace_id)).collect();
                    let build_ids: Vec<_> =
                        build_ids.iter().map(|(sql, values)| (*sql, values.as_slice())).collect();
                    tx.execute_all(&build_ids).await?;
                    Ok(())
                })
            })
            .await
    }
}

/// By name: two requests with the same queues come to them in the same order, so that neither waits for the other's.
fn in_order(updates: &[UserDataUpdate]) -> Result<Vec<&UserDataUpdate>> {
    if !(1..=USER_DATA_UPDATES_MAX).contains(&updates.len()) {
        let reason = format!("must be 1 to {USER_DATA_UPDATES_MAX}, are {}", updates.len());
        return Err(Error::invalid("updates", reason));
    }
    let mut updates: Vec<_> = updates.iter().collect();
    updates.sort_by(|one, other| one.task_queue.cmp(&other.task_queue));
    if updates.windows(2).any(|pair| pair[0].task_queue == pair[1].task_queue) {
        return Err(Error::invalid("updates", "must have each task queue once".to_owned()));
    }
    Ok(updates)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(task_queue: &str) -> UserDataUpdate {
        UserDataUpdate::new(task_queue, 0, Blob::proto3(vec![])).expect("an update")
    }

    #[test]
    fn queues_come_by_name_and_once() {
        let updates = [update("b"), update("c"), update("a")];
        let names: Vec<_> = in_order(&updates).expect("an order").iter().map(|it| &it.task_queue).collect();
        assert_eq!(names, ["a", "b", "c"]);
        for updates in [vec![], vec![update("a"), update("a")], vec![update("a"); USER_DATA_UPDATES_MAX + 1]]
        {
            assert!(matches!(in_order(&updates), Err(Error::InvalidRequest { field: "updates", .. })));
        }
    }

    #[test]
    fn impossible_updates_are_refused_by_name() {
        let blob = Blob::proto3(vec![]);
        for (name, version, wrong) in [
            ("", 0, "task_queue"),
            (&*"x".repeat(256), 0, "task_queue"),
            ("a\0", 0, "task_queue"),
            ("a", -1, "version"),
            ("a", i64::MAX, "version"),
        ] {
            let error = UserDataUpdate::new(name, version, blob.clone()).expect_err("impossible");
            assert!(matches!(error, Error::InvalidRequest { field, .. } if field == wrong), "{error}");
        }
        let error = update("a").build_ids(vec!["1".to_owned()], vec![String::new()]).expect_err("impossible");
        assert!(matches!(error, Error::InvalidRequest { field: "build_id", .. }), "{error}");
    }
}

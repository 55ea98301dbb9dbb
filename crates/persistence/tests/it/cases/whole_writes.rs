//! Writes of history, task queues and user data happen whole or not at all, also when their answer is lost.

use leasehold_persistence::{
    AppendNode, Blob, BranchRange, Database, Error, History, Result, TaskQueues, UserDataStore,
};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

use super::history::node;
use super::task_queue::{key, queue, task};
use super::user_data::{NAMESPACE, update};
use crate::fixture::Fixture;
use crate::fixture::runs::branch;

macro_rules! whole_write_cases {
    ($target:ident) => {
        $target!(
            whole_writes:
            write_is_whole_or_not_at_all_and_can_be_told_by_trying_again,
        );
    };
}

/// A write of several rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    FirstNode,
    DeleteBranch,
    TakeQueueOver,
    CreateTasks,
    CreateFairTasks,
    UserData,
}

pub(crate) const WRITES: [Write; 6] = [
    Write::FirstNode,
    Write::DeleteBranch,
    Write::TakeQueueOver,
    Write::CreateTasks,
    Write::CreateFairTasks,
    Write::UserData,
];

impl Write {
    pub(crate) async fn run(self, database: Database) -> Result<()> {
        let history = History::new(database.clone());
        match self {
            Self::FirstNode => {
                let first = AppendNode::new_branch(branch(1, 2, 1), node(1, 9, 0), Blob::proto3(vec![1]));
                history.append(&first).await
            }
            Self::DeleteBranch => {
                let range = BranchRange { branch_id: branch(1, 1, 1).branch_id, begin_node_id: 2 };
                history.delete_branch(&branch(1, 1, 1), &[range]).await
            }
            Self::TakeQueueOver => TaskQueues::new(database).update(&key("orders"), &queue(4, 9), 3).await,
            Self::CreateTasks => {
                let tasks = [task(0, 0, 301), task(7, 0, 302)];
                TaskQueues::new(database).create_tasks(&key("orders"), 3, &tasks).await
            }
            Self::CreateFairTasks => {
                let tasks = [task(0, 1, 301), task(7, 2, 302)];
                TaskQueues::fair(database).create_tasks(&key("orders"), 3, &tasks).await
            }
            Self::UserData => {
                let known = update("a", 1, 9).build_ids(vec!["2".to_owned()], vec!["1".to_owned()])?;
                UserDataStore::new(database).update(NAMESPACE, &[known, update("b", 0, 9)]).await
            }
        }
    }

    /// Trying again what happened is repeated to the same effect, or answered by what it would have to find.
    fn is_told(self, again: &Result<()>) -> bool {
        match self {
            Self::FirstNode | Self::DeleteBranch => again.is_ok(),
            Self::TakeQueueOver => matches!(again, Err(Error::ConditionFailed { actual: Some(4), .. })),
            Self::CreateTasks | Self::CreateFairTasks => matches!(again, Err(Error::Refused { .. })),
            Self::UserData => matches!(again, Err(Error::UserDataConflict { .. })),
        }
    }
}

const TABLES: [&str; 8] = [
    "history_node",
    "history_tree",
    "task_queues",
    "task_queues_v2",
    "tasks",
    "tasks_v2",
    "task_queue_user_data",
    "build_id_to_task_queue",
];

/// The state that every write begins with.
pub(crate) async fn seed(fixture: &Fixture) {
    let outside = fixture.outside().await;
    for table in TABLES {
        outside.batch_execute(&format!("DELETE FROM {table}")).await.expect("an empty table");
    }
    let history = fixture.history();
    let first = AppendNode::new_branch(branch(1, 1, 1), node(1, 1, 0), Blob::proto3(vec![1]));
    history.append(&first).await.expect("a node");
    history.append(&AppendNode::existing(branch(1, 1, 1), node(5, 2, 1))).await.expect("a node");
    for (queues, _) in fixture.task_queues() {
        queues.create(&key("orders"), &queue(3, 1)).await.expect("a queue");
    }
    let known = update("a", 0, 1).build_ids(vec!["1".to_owned()], vec![]).expect("build ids");
    fixture.user_data().update(NAMESPACE, &[known]).await.expect("user data");
}

pub(crate) async fn content(fixture: &Fixture) -> Vec<String> {
    let outside = fixture.outside().await;
    let each = TABLES.map(|table| format!("SELECT '{table} ' || row::text FROM {table} AS row"));
    let rows = outside.query(&format!("{} ORDER BY 1", each.join(" UNION ALL ")), &[]).await.expect("rows");
    rows.iter().map(|row| row.get(0)).collect()
}

/// Runs a write whose answer to COMMIT is lost, with or without the commit.
async fn struck(fixture: &Fixture, write: Write, happens: bool) -> Result<()> {
    if fixture.is_dsql() {
        let action = if happens { "cut_after_commit" } else { "cut_before_commit" };
        fixture.arm(&format!(r#"{{"name": "a", "action": "{action}", "times": 1}}"#));
        let answer = write.run(fixture.database.clone()).await;
        fixture.disarm();
        return answer;
    }
    let proxy = FaultProxy::start(fixture.address()).await.expect("a proxy");
    let database = fixture.by_way_of(proxy.address(), None).await;
    // The whole statement, and the whole of its answer: `BEGIN … READ COMMITTED` has its letters too.
    let trigger = if happens { Trigger::Reply } else { Trigger::Request };
    let rule = proxy.add(Rule::on(trigger(b"COMMIT\0".to_vec())).then(Action::Cut));
    let answer = write.run(database).await;
    assert_eq!(rule.count(), 1, "{write:?}");
    answer
}

/// Property 6: around COMMIT the state is the one before or the whole one after, the error says that it is not known which,
/// and nothing is tried again without being asked.
pub(crate) async fn write_is_whole_or_not_at_all_and_can_be_told_by_trying_again(fixture: &Fixture) {
    for write in WRITES {
        seed(fixture).await;
        let before = content(fixture).await;
        write.run(fixture.database.clone()).await.expect("a write");
        let after = content(fixture).await;
        assert_ne!(before, after, "{write:?}");
        for happens in [false, true] {
            seed(fixture).await;
            let error = struck(fixture, write, happens).await.expect_err("no answer");
            assert!(matches!(error, Error::UnknownOutcome { .. }), "{write:?}: {error:?}");
            assert!(error.may_have_been_committed());
            assert_eq!(
                content(fixture).await,
                if happens { after.clone() } else { before.clone() },
                "{write:?}"
            );
            let again = write.run(fixture.database.clone()).await;
            assert!(if happens { write.is_told(&again) } else { again.is_ok() }, "{write:?}: {again:?}");
            assert_eq!(content(fixture).await, after, "{write:?}");
        }
        // A connection that goes before COMMIT is sent takes everything with it, and that is known.
        if fixture.is_dsql() {
            for nth in 1..=2 {
                seed(fixture).await;
                let close = format!(r#"{{"name": "a", "action": "close", "nth": {nth}}}"#);
                fixture.arm(&close);
                let answer = write.run(fixture.database.clone()).await;
                fixture.disarm();
                assert!(matches!(answer, Err(Error::Unavailable { .. })), "{write:?}: {answer:?}");
                assert_eq!(content(fixture).await, before, "{write:?}");
            }
        }
    }
}

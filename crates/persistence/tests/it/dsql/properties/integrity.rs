//! Property 6: integrity under failures. Whenever the connection breaks, a write is whole or absent, and who does not know
//! which is told that nobody does.

use leasehold_persistence::Error;
use leasehold_txn::DsqlLevel;

use crate::fixture::together;
use crate::properties::{About, Bench};
use crate::writes::all;

/// Lost before COMMIT took effect, and after. Then the same request again, as after the read that tells which it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn lost_commit_is_unknown_and_the_write_is_whole_or_absent() {
    for level in [DsqlLevel::UpdateOnly, DsqlLevel::KeyShare] {
        let mut bench = Bench::dsql(level).await;
        for (action, happened) in [("cut_before_commit", false), ("cut_after_commit", true)] {
            for write in all() {
                let about = bench.about(write).await;
                // Reads end too; what is meant is the end of what writes.
                bench.fixture.arm(&format!(
                    r#"{{"name": "cut", "action": "{action}", "times": 1, "kind": "{}"}}"#,
                    kind(&about)
                ));
                let error = (about.prepared)(bench.fixture.database.clone()).await.expect_err(action);
                assert_eq!(bench.fixture.fired(), 1, "{} {action}", about.name);
                bench.fixture.disarm();
                assert!(matches!(error, Error::UnknownOutcome { .. }), "{} {action}: {error:?}", about.name);
                assert!(error.may_have_been_committed(), "{} {action}", about.name);
                if happened {
                    assert_eq!(about.change(&bench.outside).await, about.wanted, "{} {action}", about.name);
                    let again = (about.prepared)(bench.fixture.database.clone()).await;
                    let code = again.as_ref().err().map(Error::code);
                    assert_eq!(code, about.again, "{} {action}: {again:?}", about.name);
                } else {
                    about.expect_nothing_then_do(&bench.fixture.database, &bench.outside, action).await;
                }
            }
        }
    }
}

/// The kind of statement that the write has and its reads have not.
fn kind(about: &About) -> &'static str {
    let name = about.name.split('.').nth(1).expect("a verb");
    match name {
        _ if name.starts_with("delete") || name == "prune" => "delete",
        "update" | "take_over" | "rename" | "update_ack_levels" | "save" | "conflict_resolve" | "set"
        | "continue" => "update",
        _ => "insert",
    }
}

/// The connection is closed in front of the first statement, the second, and so on until none is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn broken_at_any_statement_a_write_is_absent() {
    let mut bench = Bench::dsql(DsqlLevel::KeyShare).await;
    let mut broken = 0;
    for write in all() {
        for nth in 1.. {
            let about = bench.about(write).await;
            bench.fixture.arm(&format!(r#"{{"name": "close", "action": "close", "nth": {nth}}}"#));
            let answer = (about.prepared)(bench.fixture.database.clone()).await;
            let fired = bench.fixture.fired();
            bench.fixture.disarm();
            if fired == 0 {
                answer.unwrap_or_else(|error| panic!("{}: {error:?}", about.name));
                assert_eq!(about.change(&bench.outside).await, about.wanted, "{}", about.name);
                assert!(nth > 1, "{} has no statement", about.name);
                break;
            }
            broken += 1;
            let case = format!("broken at statement {nth}");
            let error = answer.expect_err(&case);
            let code = error.code();
            assert!(
                ["state.unavailable", "state.unknown_outcome"].contains(&code),
                "{} {case}: {error:?}",
                about.name
            );
            about.expect_nothing_then_do(&bench.fixture.database, &bench.outside, &case).await;
        }
    }
    assert!(broken > 100, "{broken} cases");
}

/// Many write to the same few rows while every third COMMIT fails in one way or another. Whatever each was told, the rows
/// are as if those that happened had happened one after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn storm_of_failures_leaves_a_history_that_could_have_been() {
    use leasehold_persistence::{Blob, NamespaceId, NamespaceRecord, Namespaces, PageSize, Queue, QueueType};

    for level in [DsqlLevel::UpdateOnly, DsqlLevel::KeyShare] {
        let bench = Bench::dsql(level).await;
        let queue = Queue::new(bench.fixture.database.clone(), QueueType::NAMESPACE_REPLICATION);
        queue.init(&Blob::proto3(vec![])).await.expect("a queue");
        for (action, probability) in [
            ("conflict_at_commit", 0.2),
            ("cut_after_commit", 0.1),
            ("cut_before_commit", 0.1),
            ("unavailable", 0.02),
        ] {
            bench.fixture.arm(&format!(
                r#"{{"name": "{action}", "action": "{action}", "probability": {probability}}}"#
            ));
        }
        let writers = (0..8_u8).map(|writer| {
            let database = bench.fixture.database.clone();
            async move {
                let queue = Queue::new(database.clone(), QueueType::NAMESPACE_REPLICATION);
                let namespaces = Namespaces::new(database);
                let (mut enqueued, mut created) = (Vec::new(), Vec::new());
                for message in 0..8_u8 {
                    let mark = writer * 8 + message;
                    match queue.enqueue(&Blob::proto3(vec![mark])).await {
                        Ok(id) => enqueued.push((id, mark)),
                        Err(error) => assert!(!matches!(error, Error::OccExhausted { .. }), "{error:?}"),
                    }
                    let id = NamespaceId::from_bytes([mark; 16]);
                    let record = NamespaceRecord::new(
                        id,
                        format!("namespace {mark}"),
                        Blob::proto3(vec![mark]),
                        false,
                    );
                    if let Ok(version) = namespaces.create(&record.expect("a record")).await {
                        created.push((version, mark));
                    }
                }
                (enqueued, created)
            }
        });
        let answers = together(writers).await;
        bench.fixture.disarm();

        let messages = queue.read(-1, PageSize::MAX).await.expect("messages");
        let ids: Vec<i64> = messages.iter().map(|message| message.id).collect();
        assert_eq!(ids, (0..).take(ids.len()).collect::<Vec<_>>(), "no hole");
        let namespaces = Namespaces::new(bench.fixture.database.clone());
        let listed = namespaces.list(PageSize::MAX, None).await.expect("namespaces").items;
        let mut versions: Vec<i64> = listed.iter().map(|namespace| namespace.notification_version).collect();
        versions.sort_unstable();
        assert_eq!(versions, (1..).take(versions.len()).collect::<Vec<_>>(), "each at a version of its own");
        let version = namespaces.notification_version().await.expect("a version");
        assert_eq!(version, versions.len() as i64 + 1);

        let mut marks: Vec<&[u8]> = messages.iter().map(|message| message.blob.data()).collect();
        marks.sort_unstable();
        assert!(marks.windows(2).all(|pair| pair[0] != pair[1]), "nothing was done twice");
        for (enqueued, created) in answers {
            for (id, mark) in enqueued {
                let place = usize::try_from(id).expect("an id");
                assert_eq!(messages[place].blob.data(), [mark], "what was answered is there");
            }
            for (version, mark) in created {
                let found = listed.iter().find(|namespace| namespace.notification_version == version);
                assert_eq!(
                    found.expect("a namespace").record.blob().data(),
                    [mark],
                    "what was answered is there"
                );
            }
        }
    }
}

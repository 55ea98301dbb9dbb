//! The server is killed and stopped under load, on its embedded store; an auditor proves what it must.

use crate::audit::{Blow, audit, blows};

fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("data").to_str().expect("text").to_owned();
    (folder, store)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_server_loses_nothing_and_hands_out_nothing_twice() {
    let (_folder, store) = folder();
    audit(&store, Blow::Kill, blows(8), |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_server_answers_ends_well_and_loses_nothing() {
    let (_folder, store) = folder();
    audit(&store, Blow::Terminate, blows(5), |_| {}).await;
}

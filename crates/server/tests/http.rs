//! Queues and who may use them, over real sockets, on the stores that need no server.

#[path = "wire/access.rs"]
mod access;
#[path = "wire/administration.rs"]
mod administration;
#[path = "wire/connections.rs"]
mod connections;
#[path = "wire/encodings.rs"]
mod encodings;
#[path = "wire/openapi.rs"]
mod openapi;
#[path = "wire/operators.rs"]
mod operators;
#[path = "wire/permissions.rs"]
mod permissions;
#[path = "wire/placement.rs"]
mod placement;
#[path = "wire/test_hooks.rs"]
mod test_hooks;
#[allow(dead_code, reason = "each test target uses its part")]
mod wire;

mod memory {
    use crate::wire::cases::queue_cases;
    use crate::wire::{Running, config};

    async fn start() -> (Running, ()) {
        (Running::start(config("memory:")).await, ())
    }

    queue_cases!(start);
}

mod embedded {
    use crate::wire::cases::queue_cases;
    use crate::wire::{Running, config};

    async fn start() -> (Running, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("data");
        (Running::start(config(store.to_str().expect("text"))).await, folder)
    }

    queue_cases!(start);

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn queues_locks_and_rights_outlive_the_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("data");
        let config = config(store.to_str().expect("text"));
        crate::wire::restart::queues_locks_and_rights_outlive_the_server(config).await;
    }
}

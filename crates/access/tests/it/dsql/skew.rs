//! What foreign keys would refuse, set against each other one step apart: each of the two reads what the other writes, and
//! neither waits. Without a row that both claim or write, both would commit.

use std::fmt::Debug;
use std::time::Duration;

use leasehold_access::store::dsql::Config;
use leasehold_access::store::{ApiKeyAdded, Deleted, RoleAdded, RoleBindingAdded, Withdrawn};
use leasehold_dsql_sim::rules::Level;
use tokio_postgres::Client;

use super::fixture::Fixture;
use super::writes::{All, TIME, api_key, binding, fill, namespace, role};

/// Long enough for the other one on a busy machine; a pair that was too slow is tried again.
const DELAY_MS: u64 = 1_000;
const TRIES_MAX: usize = 5;

impl Fixture {
    /// Holds up the next statement of this kind, in the middle of its transaction.
    fn hold_up(&self, kind: &str, table: &str) {
        self.cluster.arm(&format!(
            r#"{{"name": "hold", "action": "delay", "kind": "{kind}", "table": "{table}", "times": 1, "delay_ms": {DELAY_MS}}}"#
        ));
    }

    /// Until a statement is held up.
    async fn held_up(&self) {
        while self.cluster.fired() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

struct Pair {
    fixture: Fixture,
    outside: Client,
    all: All,
}

impl Pair {
    async fn start(level: Level) -> Self {
        let fixture = Fixture::with_tables(level).await;
        let (outside, all) = (fixture.cluster.behind().await, All::from(fixture.stores(Config::default())));
        Pair { fixture, outside, all }
    }

    /// Starts `slow`, holds it up at the statement, runs `fast`, and lets `slow` go on; until that came about in this order.
    async fn overtaken<S, F>(
        &self,
        (kind, table): (&str, &str),
        slow: impl AsyncFn(&All) -> S + Copy,
        fast: impl AsyncFn(&All) -> F,
        expected: (S, F),
    ) where
        S: Debug + PartialEq,
        F: Debug + PartialEq,
    {
        let mut seen = Vec::new();
        for _ in 0..TRIES_MAX {
            fill(&self.outside, &self.all).await;
            self.fixture.hold_up(kind, table);
            let overtaking = async {
                self.fixture.held_up().await;
                fast(&self.all).await
            };
            let found = tokio::join!(slow(&self.all), overtaking);
            self.fixture.cluster.disarm();
            self.nothing_dangles().await;
            if found == expected {
                return;
            }
            seen.push(found);
        }
        panic!("{kind} {table}: never {expected:?}, but {seen:?}");
    }

    async fn nothing_dangles(&self) {
        let sql = "SELECT (SELECT count(*) FROM leasehold_roles WHERE namespace NOT IN (SELECT name FROM leasehold_namespaces))
                        + (SELECT count(*) FROM leasehold_api_keys WHERE user_id NOT IN (SELECT id FROM leasehold_users))
                        + (SELECT count(*) FROM leasehold_role_bindings
                            WHERE user_id NOT IN (SELECT id FROM leasehold_users)
                               OR role_id NOT IN (SELECT id FROM leasehold_roles))";
        let dangling: i64 = self.outside.query_one(sql, &[]).await.expect("a number").get(0);
        assert_eq!(dangling, 0, "records that name nothing");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn role_and_its_namespace() {
    for level in Level::ALL {
        let pair = Pair::start(*level).await;
        let add = async |all: &All| all.roles().add(&role("new", "empty")).await.expect("answers");
        let delete = async |all: &All| all.namespaces().delete(&namespace("empty")).await.expect("answers");
        let missing = (RoleAdded::NamespaceMissing, Deleted::Deleted);
        pair.overtaken(("insert", "leasehold_roles"), add, delete, missing).await;
        let in_use = (Deleted::InUse, RoleAdded::Added);
        pair.overtaken(("delete", "leasehold_namespaces"), delete, add, in_use).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn binding_and_its_role() {
    for level in Level::ALL {
        let pair = Pair::start(*level).await;
        let add = async |all: &All| {
            all.role_bindings().add(&binding("new", "used", "unused")).await.expect("answers")
        };
        let once = async |all: &All| {
            all.role_bindings().add_once("mark", &binding("new", "used", "unused")).await.expect("answers")
        };
        let delete = async |all: &All| all.roles().delete("unused").await.expect("answers");
        let missing = RoleBindingAdded::RoleMissing;
        let at_insert = ("insert", "leasehold_role_bindings");
        pair.overtaken(at_insert, add, delete, (missing, Deleted::Deleted)).await;
        pair.overtaken(at_insert, once, delete, (Some(missing), Deleted::Deleted)).await;
        let at_delete = ("delete", "leasehold_roles");
        pair.overtaken(at_delete, delete, add, (Deleted::InUse, RoleBindingAdded::Added)).await;
        pair.overtaken(at_delete, delete, once, (Deleted::InUse, Some(RoleBindingAdded::Added))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn key_or_binding_and_their_user() {
    for level in Level::ALL {
        let pair = Pair::start(*level).await;
        let add_key = async |all: &All| all.api_keys().add(&api_key("new", "used")).await.expect("answers");
        let bind = async |all: &All| {
            all.role_bindings().add(&binding("new", "used", "unused")).await.expect("answers")
        };
        let delete = async |all: &All| all.users().delete("used", TIME).await.expect("answers");
        pair.overtaken(
            ("insert", "leasehold_api_keys"),
            add_key,
            delete,
            (ApiKeyAdded::UserMissing, Withdrawn::Done),
        )
        .await;
        pair.overtaken(
            ("insert", "leasehold_role_bindings"),
            bind,
            delete,
            (RoleBindingAdded::UserMissing, Withdrawn::Done),
        )
        .await;
        // It goes with its user, who is deleted last.
        let at_delete = ("delete", "leasehold_users");
        pair.overtaken(at_delete, delete, add_key, (Withdrawn::Done, ApiKeyAdded::Added)).await;
        pair.overtaken(at_delete, delete, bind, (Withdrawn::Done, RoleBindingAdded::Added)).await;
    }
}

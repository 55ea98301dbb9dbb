//! What one server takes away, the others do not honour any longer than until they look again.

use std::time::Duration;

use leasehold_access::store::Change;
use leasehold_access::store::dsql::Config;
use leasehold_access::{Access, Permission, Principal, Stores};
use leasehold_dsql_sim::rules::Level;

use super::fixture::Fixture;
use crate::heard::{self, Heard};
use crate::people::{anyone, as_worker, authenticate, is_unknown, user_with_key, worker};

/// One server, and another that hears of what it does.
async fn two_servers(fixture: &Fixture) -> (Access, Access, Heard) {
    let one = heard::server(fixture.stores(Config::default()), &fixture.clock);
    let often = Config { look_every: Duration::from_millis(20), ..Config::default() };
    let (other, heard) = heard::hearing_server(fixture.stores(often), &fixture.clock).await;
    (one, other, heard)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn key_and_user_deleted_on_one_server_are_refused_on_the_other() {
    let fixture = Fixture::with_tables(Level::L2025_05).await;
    let (one, other, mut heard) = two_servers(&fixture).await;
    let (_, gone) = user_with_key(&one, "ann").await;
    let (user_id, later) = user_with_key(&one, "bob").await;
    let (_, stays) = user_with_key(&one, "eve").await;
    for key in [&gone, &later, &stays] {
        authenticate(&other, key).await.expect("is valid, and known from now on");
    }
    one.delete_api_key(&anyone(), &gone.id).await.expect("deletes");
    heard.wait_for(&Change::Everything).await;
    let refused = authenticate(&other, &gone).await;
    assert!(is_unknown(&refused), "{refused:?}");
    authenticate(&other, &later).await.expect("is valid");
    one.delete_user(&anyone(), &user_id).await.expect("deletes");
    heard.wait_for(&Change::Everything).await;
    let refused = authenticate(&other, &later).await;
    assert!(is_unknown(&refused), "{refused:?}");
    authenticate(&other, &stays).await.expect("is valid");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn permissions_changed_on_one_server_count_on_the_other() {
    let fixture = Fixture::with_tables(Level::L2026_09).await;
    let (one, other, mut heard) = two_servers(&fixture).await;
    let (user_id, _) = user_with_key(&one, "ann").await;
    let ann = Principal::user(user_id.clone(), None);
    let may = async |permission| other.authorise(&ann, "", permission).await.is_ok();
    let binding = as_worker(user_id);
    assert!(!may(Permission::QueueLease).await, "and that is known from now on");

    one.create_role(&anyone(), &worker(Permission::QueueLease)).await.expect("creates");
    one.create_role_binding(&anyone(), &binding).await.expect("binds");
    assert_eq!(heard.next().await, Change::Permissions, "and keys are still known");
    assert!(may(Permission::QueueLease).await);

    one.update_role(&anyone(), &worker(Permission::QueueProduce)).await.expect("updates");
    assert_eq!(heard.next().await, Change::Permissions);
    assert!(!may(Permission::QueueLease).await && may(Permission::QueueProduce).await);

    one.delete_role_binding(&anyone(), &binding).await.expect("unbinds");
    assert_eq!(heard.next().await, Change::Permissions);
    assert!(!may(Permission::QueueProduce).await);
}

/// What changes nothing that is remembered does not make others forget.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn changes_that_had_no_effect_are_not_told() {
    let fixture = Fixture::with_tables(Level::L2026_09).await;
    let (one, _other, mut heard) = two_servers(&fixture).await;
    let (user_id, key) = user_with_key(&one, "ann").await;
    one.delete_api_key(&anyone(), "nothing").await.expect_err("there is none");
    one.delete_user(&anyone(), "nobody").await.expect_err("there is none");
    one.create_role(&anyone(), &worker(Permission::QueueLease)).await.expect("creates");
    one.delete_role_binding(&anyone(), &as_worker(user_id)).await.expect_err("there is none");
    one.create_role_binding(&anyone(), &as_worker("nobody".to_owned())).await.expect_err("there is no user");
    one.update_role(&anyone(), &worker(Permission::QueueRetry)).await.expect("updates");
    assert_eq!(heard.next().await, Change::Permissions, "the first that is heard");
    one.delete_api_key(&anyone(), &key.id).await.expect("deletes");
    assert_eq!(heard.next().await, Change::Everything, "the second");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn server_that_cannot_look_is_bounded_by_the_life_of_what_is_known() {
    let fixture = Fixture::with_tables(Level::L2026_09).await;
    let one = heard::server(fixture.stores(Config::default()), &fixture.clock);
    let deaf = Stores { changes: None, ..fixture.stores(Config::default()) };
    let deaf = heard::server(deaf, &fixture.clock);
    let (_, key) = user_with_key(&one, "ann").await;
    authenticate(&deaf, &key).await.expect("is valid");
    one.delete_api_key(&anyone(), &key.id).await.expect("deletes");
    fixture.clock.advance(Duration::from_secs(5 * 60) - Duration::from_millis(1));
    authenticate(&deaf, &key).await.expect("it did not look");
    fixture.clock.advance(Duration::from_millis(1));
    let refused = authenticate(&deaf, &key).await;
    assert!(is_unknown(&refused), "{refused:?}");
}

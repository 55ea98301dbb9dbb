//! What one server takes away, the others do not honour any longer.

use std::time::Duration;

use leasehold_access::conformance::Harness;
use leasehold_access::store::Change;
use leasehold_access::{Permission, Principal, Stores};

use super::fixture::Postgres;
use crate::people::{anyone, as_worker, authenticate, is_unknown, user_with_key, worker};

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn key_deleted_on_one_server_is_refused_on_the_other() {
    let postgres = Postgres::start().await;
    let one = postgres.server(postgres.stores().await);
    let (other, mut heard) = postgres.hearing_server().await;
    let (_, gone) = user_with_key(&one, "ann").await;
    let (_, stays) = user_with_key(&one, "bob").await;
    authenticate(&other, &gone).await.expect("is valid, and known from now on");
    authenticate(&other, &stays).await.expect("is valid");
    one.delete_api_key(&anyone(), &gone.id).await.expect("deletes");
    heard.wait_for(&Change::ApiKey { id: gone.id.clone() }).await;
    let refused = authenticate(&other, &gone).await;
    assert!(is_unknown(&refused), "{refused:?}");
    authenticate(&other, &stays).await.expect("is valid");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn user_deleted_on_one_server_is_refused_on_the_other() {
    let postgres = Postgres::start().await;
    let one = postgres.server(postgres.stores().await);
    let (other, mut heard) = postgres.hearing_server().await;
    let (user_id, key) = user_with_key(&one, "ann").await;
    authenticate(&other, &key).await.expect("is valid, and known from now on");
    one.delete_user(&anyone(), &user_id).await.expect("deletes");
    heard.wait_for(&Change::User { id: user_id }).await;
    let refused = authenticate(&other, &key).await;
    assert!(is_unknown(&refused), "{refused:?}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn permissions_changed_on_one_server_count_on_the_other() {
    let postgres = Postgres::start().await;
    let one = postgres.server(postgres.stores().await);
    let (other, mut heard) = postgres.hearing_server().await;
    let (user_id, _) = user_with_key(&one, "ann").await;
    let ann = Principal::user(user_id.clone(), None);
    let may = async |permission| other.authorise(&ann, "", permission).await.is_ok();
    let binding = as_worker(user_id);
    assert!(!may(Permission::QueueLease).await, "and that is known from now on");

    one.create_role(&anyone(), &worker(Permission::QueueLease)).await.expect("creates");
    one.create_role_binding(&anyone(), &binding).await.expect("binds");
    heard.wait_for(&Change::Permissions).await;
    assert!(may(Permission::QueueLease).await);

    one.update_role(&anyone(), &worker(Permission::QueueProduce)).await.expect("updates");
    heard.wait_for(&Change::Permissions).await;
    assert!(!may(Permission::QueueLease).await && may(Permission::QueueProduce).await);

    one.delete_role_binding(&anyone(), &binding).await.expect("unbinds");
    heard.wait_for(&Change::Permissions).await;
    assert!(!may(Permission::QueueProduce).await);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_news_are_bounded_by_the_life_of_what_is_known() {
    let postgres = Postgres::start().await;
    let one = postgres.server(postgres.stores().await);
    let deaf = postgres.server(Stores { changes: None, ..postgres.stores().await });
    let (_, key) = user_with_key(&one, "ann").await;
    authenticate(&deaf, &key).await.expect("is valid");
    one.delete_api_key(&anyone(), &key.id).await.expect("deletes");
    postgres.clock.advance(Duration::from_secs(5 * 60) - Duration::from_millis(1));
    authenticate(&deaf, &key).await.expect("it did not hear");
    postgres.clock.advance(Duration::from_millis(1));
    let refused = authenticate(&deaf, &key).await;
    assert!(is_unknown(&refused), "{refused:?}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn broken_connection_is_opened_again_and_nothing_old_is_trusted() {
    let postgres = Postgres::start().await;
    let one = postgres.server(Stores { changes: None, ..postgres.stores().await });
    let (other, mut heard) = postgres.hearing_server().await;
    let (_, gone) = user_with_key(&one, "ann").await;
    authenticate(&other, &gone).await.expect("is valid, and known from now on");

    // Deleted past every server, so that the news of it are the reconnection itself.
    let outside = postgres.outside().await;
    outside.execute("DELETE FROM leasehold_api_keys WHERE id = $1", &[&gone.id]).await.expect("deletes");
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE application_name = $1 AND query LIKE 'LISTEN leasehold_access_%'";
    let cuts: i64 = outside.query_one(cut, &[&postgres.name]).await.expect("cuts").get(0);
    assert_eq!(cuts, 1, "one server listens");
    heard.wait_for(&Change::Everything).await;
    let refused = authenticate(&other, &gone).await;
    assert!(is_unknown(&refused), "{refused:?}");

    let (_, key) = user_with_key(&one, "bob").await;
    authenticate(&other, &key).await.expect("is valid");
    one.delete_api_key(&anyone(), &key.id).await.expect("deletes");
    heard.wait_for(&Change::ApiKey { id: key.id.clone() }).await;
    assert!(is_unknown(&authenticate(&other, &key).await));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn servers_of_another_schema_do_not_hear() {
    let (here, elsewhere) = (Postgres::start().await, Postgres::start().await);
    let (one, mut heard) = here.hearing_server().await;
    let (other, mut heard_there) = elsewhere.hearing_server().await;
    let (_, there) = user_with_key(&other, "ann").await;
    other.delete_api_key(&anyone(), &there.id).await.expect("deletes");
    heard_there.wait_for(&Change::ApiKey { id: there.id.clone() }).await;
    let (_, key) = user_with_key(&one, "ann").await;
    one.delete_api_key(&anyone(), &key.id).await.expect("deletes");
    assert_eq!(heard.next().await, Change::ApiKey { id: key.id }, "the first that is heard");
}
